package catalog

import (
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// CloneNote is what a clone tells its model: what it is a copy of, what a mark stands
// for and how to ask for originals, and the names that its own text lacks.
type CloneNote struct {
	*handover.Record
	Moved  string // says that the clone goes on in another folder; may be empty
	source string
	lang   message.Lang
}

// noteNames is the room for names: with it, messages at ten percent and no tools state
// more than 95 of a hundred names that are needed later.
const noteNames = 4500

// NewCloneNote begins the note of a clone of a session that works in cwd.
func NewCloneNote(source, cwd string, l message.Lang) CloneNote {
	return CloneNote{Record: handover.NewNames(cwd), source: source, lang: l}
}

// Note is its text.
func (n CloneNote) Note(states func(name string) bool) string {
	text := "<overtone-clone>\n" + message.CloneNote.Format(n.lang, n.source)
	if n.Moved != "" {
		text += " " + n.Moved
	}
	if names := n.Lacking(states, message.CloneNames, noteNames, n.lang); names != "" {
		text += "\n\n" + names
	}
	return text + "\n</overtone-clone>"
}
