package workflow

import (
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Guard keeps the main agent a relay: while a workflow is active it may read,
// ask, plan and delegate, but not change files. It is asked for the main thread
// only: edits says that the tool changes files, command is the line that it runs,
// if it runs one. readOnly judges that; nil refuses none.
func Guard(s *State, edits bool, command string, readOnly func(string) bool) (allowed bool) {
	if s == nil || !s.Active {
		return true
	}
	if command != "" {
		return readOnly == nil || readOnly(command)
	}
	return !edits
}

// GuardText tells the main agent what to do instead, and what was wrong with the
// line it wanted to run.
func GuardText(s *State, tool, reason string, lang message.Lang) string {
	next := message.GuardCancel.In(lang)
	if reason != "" {
		next = reason + "\n" + next
	}
	if line := DelegateLine(s, lang); line != "" {
		next = line + "\n" + next
	}
	return message.GuardBlocked.Format(lang, s.WorkflowType, tool, next)
}
