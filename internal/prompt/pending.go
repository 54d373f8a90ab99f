package prompt

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// maxPending is how many open tasks are listed.
const maxPending = 5

// PendingTasks lists a feature's open tasks for the model. It is empty when there
// are none.
func PendingTasks(f Feature, header message.Text, lang message.Lang) string {
	if len(f.Unchecked) == 0 {
		return ""
	}
	tasks := f.Unchecked[:min(len(f.Unchecked), maxPending)]
	lines := []string{
		message.PendingHeader.Format(lang, header.In(lang)),
		message.PendingFeature.Format(lang, Shown(f.Name), f.Checked, f.Total),
	}
	for _, task := range tasks {
		lines = append(lines, "- [ ] "+task)
	}
	if more := len(f.Unchecked) - len(tasks); more > 0 {
		lines = append(lines, message.PendingMore.Format(lang, more))
	}
	lines = append(lines, message.PendingAction.In(lang))
	return strings.Join(lines, "\n")
}
