package workflow

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Limits of a reflection memory, in UTF-16 units.
const (
	roundMax        = 500
	reflectionMax   = 3000
	reflectionKeeps = 5
)

// Reflection is one FAIL, to be remembered by whoever mends it.
type Reflection struct {
	Stage string
	Round int
	Route *Route // nil = the stage failed without an answer
	At    time.Time
}

// WriteReflection appends a round to the text of a reflection memory. A round
// is bounded, and so is the whole: when it grows too long, the oldest rounds go
// and the newest five stay.
func WriteReflection(old string, r Reflection, lang message.Lang) string {
	head, rounds := splitRounds(old)
	head = cmp.Or(head, message.ReflectionTitle.Format(lang, r.Stage)+"\n\n")
	rounds = append(rounds, roundText(r, lang))
	if message.Units(head)+message.Units(strings.Join(rounds, "")) >= reflectionMax {
		rounds = rounds[max(0, len(rounds)-reflectionKeeps):]
	}
	return head + strings.Join(rounds, "")
}

const roundHeading = "## Round "

func roundText(r Reflection, lang message.Lang) string {
	verdict, severity, hint, file := Fail, "", "", ""
	if r.Route != nil {
		verdict, severity, hint, file = r.Route.Verdict, r.Route.Severity, r.Route.Hint, r.Route.ContextFile
	}
	if severity != "" {
		verdict += ":" + severity
	}
	head := roundHeading + strconv.Itoa(r.Round) + "（" + Stamp(r.At) + "）\n" +
		message.ReflectionVerdict.Format(lang, verdict) + "\n" +
		message.ReflectionStage.Format(lang, r.Stage) + "\n"
	tail := ""
	if file != "" {
		tail = message.ReflectionFile.Format(lang, message.Cut(file, 200)) + "\n"
	}
	tail += "\n"
	problem := ""
	if hint != "" {
		// A heading inside a hint must not look like a round of its own.
		problem = message.ReflectionProblem.Format(lang, strings.ReplaceAll(hint, "\n", " ")) + "\n"
	}
	if room := roundMax - message.Units(head) - message.Units(tail); message.Units(problem) > room {
		problem = message.Cut(problem, max(0, room-2)) + "…\n"
	}
	return head + problem + tail
}

func splitRounds(text string) (head string, rounds []string) {
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, roundHeading):
			rounds = append(rounds, line)
		case len(rounds) == 0:
			head += line
		default:
			rounds[len(rounds)-1] += line
		}
	}
	return head, rounds
}
