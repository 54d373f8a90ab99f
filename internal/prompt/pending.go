package prompt

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// maxPending is how many open tasks are listed.
const maxPending = 5

// PendingTasks lists a feature's open tasks for the model. It is empty when there
// are none. An empty header stands for the usual one.
func PendingTasks(f Feature, header string, lang message.Lang) string {
	if len(f.Unchecked) == 0 {
		return ""
	}
	if header == "" {
		header = message.PendingTasks.In(lang)
	}
	shown := f.Unchecked[:min(len(f.Unchecked), maxPending)]
	lines := []string{
		message.PendingHeader.Format(lang, header),
		message.PendingFeature.Format(lang, f.Name, f.Checked, f.Total),
	}
	for _, task := range shown {
		lines = append(lines, "- [ ] "+task)
	}
	if more := len(f.Unchecked) - len(shown); more > 0 {
		lines = append(lines, message.PendingMore.Format(lang, more))
	}
	lines = append(lines, message.PendingAction.In(lang))
	return strings.Join(lines, "\n")
}

// PendingTasksFor is PendingTasks of the active feature; empty when there is none
// or it cannot be read, because the text around it must go out all the same.
func PendingTasksFor(projectRoot, prefer, header string, lang message.Lang) string {
	f, ok, err := ActiveFeature(projectRoot, prefer)
	if err != nil || !ok {
		return ""
	}
	return PendingTasks(f, header, lang)
}
