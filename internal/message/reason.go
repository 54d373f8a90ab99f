package message

// Reason is a text with its arguments, kept apart until the reader's language
// is known.
type Reason struct {
	Text Text
	Args []any
}

// Because makes a reason.
func Because(t Text, args ...any) Reason { return Reason{t, args} }

// In renders the reason; the zero reason is "".
func (r Reason) In(l Lang) string {
	if r.Text == (Text{}) {
		return ""
	}
	return r.Text.Format(l, r.Args...)
}
