package message

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Error is an error whose text is in the catalogue: whoever prints it chooses
// the language.
type Error struct{ Reason Reason }

func (e Error) Error() string { return e.In(EN) }

// In is the error in a language.
func (e Error) In(l Lang) string { return e.Reason.In(l) }

// Fail makes an error of a text.
func Fail(t Text, args ...any) error { return Error{Because(t, args...)} }

// ErrorText is what a person reads of an error: in a language, where it knows it.
func ErrorText(err error, l Lang) string {
	if spoken, ok := errors.AsType[interface {
		error
		In(l Lang) string
	}](err); ok {
		return spoken.In(l)
	}
	text := err.Error()
	// What stands around the system's reason (which call, which file) stays as the system says it.
	eachText(nameTexts, func(name string, t Text) {
		if strings.HasPrefix(name, "system.") {
			text = strings.Replace(text, t.EN, t.In(l), 1)
		}
	})
	return text
}

// Hinted is an error with advice on what to do about it.
type Hinted struct {
	Err  error
	Hint Reason
}

func (h Hinted) Error() string { return h.Err.Error() }
func (h Hinted) Unwrap() error { return h.Err }

// WithHint adds advice to an error.
func WithHint(err error, t Text, args ...any) error { return Hinted{err, Because(t, args...)} }

// HintOf is the advice that an error carries, or what there is to say about a disk
// that is full or may not be written; "" for none.
func HintOf(err error, l Lang) string {
	var h Hinted
	switch {
	case errors.As(err, &h):
		return h.Hint.In(l)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return HintFull.In(l)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return HintClosed.In(l)
	}
	return ""
}

// Misuse is a wrong call of a command, not a failure: exit code 2.
type Misuse struct{ Err error }

func (m Misuse) Error() string { return m.Err.Error() }
func (m Misuse) Unwrap() error { return m.Err }
