package workflow

import (
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Guard keeps the main agent a relay: while a workflow is active it may read,
// ask, plan and delegate, but not change files. It is asked for the main thread
// only. readOnly judges a shell command; nil refuses none.
func Guard(s *State, tool, command string, readOnly func(string) bool) (allowed bool) {
	if s == nil || !s.Active {
		return true
	}
	switch tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return false
	case "Bash":
		return readOnly == nil || readOnly(command)
	}
	return true
}

// GuardText tells the main agent what to do instead.
func GuardText(s *State, tool string, lang message.Lang) string {
	next := message.GuardCancel.In(lang)
	if line := DelegateLine(s, lang); line != "" {
		next = line + "\n" + next
	}
	return message.GuardBlocked.Format(lang, s.WorkflowType, tool, next)
}
