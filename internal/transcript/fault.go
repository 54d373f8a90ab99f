package transcript

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Fault is a mistake of ours that the bytes of a session have brought to light: a panic,
// as an error of one line.
type Fault struct {
	Path   string `json:"path,omitempty"` // of the session's file, where it is known
	Reason string `json:"reason"`
	At     string `json:"at"` // the line of our code
}

func (f *Fault) Error() string { return f.In(message.EN) }

// In is the fault in a language.
func (f *Fault) In(l message.Lang) string {
	text := message.Fault.Format(l, f.Reason, f.At)
	if f.Path != "" {
		text = f.Path + ": " + text
	}
	return text
}

// Catch turns a panic into an error. A goroutine that reads a session defers it with the
// session's file: a panic could not be caught anywhere else, and one session must not end
// the work on all others.
func Catch(path string, err *error) {
	if v := recover(); v != nil {
		reason := strings.Join(strings.Fields(fmt.Sprint(v)), " ")
		*err = message.WithHint(&Fault{Path: path, Reason: reason, At: panicked()}, message.HintFault)
	}
}

// panicked is the line that a panic began in, while that is caught.
func panicked() string {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers[:])])
	for began := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			began = true
		case began && !strings.HasPrefix(f.Function, "runtime."):
			file := f.File
			if i := strings.LastIndex(file, "/internal/"); i >= 0 {
				file = file[i+1:]
			}
			return file + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return "?"
		}
	}
}
