package handover

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Recovery is what a workflow tells the model after a compaction.
type Recovery struct {
	WorkflowType string
	Bar          string // progress bar
	Stage        string // current stage, described; "" = none
	FailCount    int
	RejectCount  int
	MaxRetries   int      // what the two are counted out of
	Agents       []string // "developer（DEV）"
	Tasks        string   // the block of open tasks; "" = none
	// Wait leaves the directive out: the agent waits for its user.
	Wait bool
}

// Text is the recovery text. When it is too long the tasks are cut first; the
// directive stays, and the mark of the cut comes last.
func (r Recovery) Text(lang message.Lang) string {
	head := []string{
		message.RecoveryTitle.In(lang), message.RecoveryType.Format(lang, r.WorkflowType), message.RecoveryProgress.Format(lang, r.Bar),
	}
	if r.Stage != "" {
		head = append(head, message.RecoveryStage.Format(lang, r.Stage))
	}
	if r.FailCount > 0 {
		head = append(head, message.RecoveryFails.Format(lang, r.FailCount, r.MaxRetries))
	}
	if r.RejectCount > 0 {
		head = append(head, message.RecoveryRejects.Format(lang, r.RejectCount, r.MaxRetries))
	}
	if len(r.Agents) > 0 {
		head = append(head, message.RecoveryAgents.Format(lang, strings.Join(r.Agents, ", ")))
	}
	top := strings.Join(head, "\n")
	directive := "\n\n" + message.RecoveryDirective.In(lang) + "\n" + message.RecoveryGuide.In(lang)
	if r.Wait {
		directive = ""
	}
	tasks := r.Tasks
	if tasks != "" {
		tasks = "\n\n" + tasks
	}
	if text := top + tasks + directive; message.Units(text) <= recoveryMax {
		return text
	}
	mark := "\n" + message.RecoveryCut.In(lang)
	room := recoveryMax - message.Units(directive) - message.Units(mark)
	top = message.Cut(top, room)
	tasks = message.Cut(tasks, room-message.Units(top))
	return top + strings.TrimRight(tasks, "\n") + directive + mark
}
