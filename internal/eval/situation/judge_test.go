package situation

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// The measures, in the order in which they are printed.
const (
	latest   = "latest"
	referent = "referent"
	state    = "state"
	failing  = "failing"
	standing = "standing"
	// What there are no goals for.
	explained = "failing and why"
	committed = "commits"
	planned   = "open steps"
)

// False claims, by kind.
const (
	falseTree      = "commit state"
	falseCommit    = "replaced commit"
	falseFailure   = "stale failure"
	falseStep      = "done step"
	falseCompleted = "open step"
)

// verdict is what a hand-over is worth at one place.
type verdict struct {
	hits, of map[string]int
	misses   []string
	claims   []claim
}

// claim is something that a hand-over says and that is not so.
type claim struct{ kind, what string }

func (v *verdict) count(measure string, hit bool, missed string) {
	v.of[measure]++
	if hit {
		v.hits[measure]++
		return
	}
	v.misses = append(v.misses, measure+": "+missed)
}

// judge compares what a hand-over tells with what a reader found. What the summary
// states of commits is left out of a hand-over on purpose.
type judge struct {
	data    []byte
	l       *label
	s       Situation
	summary string
}

func (j judge) verdict() *verdict {
	v := &verdict{hits: map[string]int{}, of: map[string]int{}}
	if len(j.l.Latest) > 0 && j.l.Shape != "compact-text" { // what is typed with /compact has a place of its own
		v.count(latest, len(j.s.Request) <= 3 && j.quoted(j.s.Request, j.l.Latest),
			fmt.Sprintf("want %q, the request is %.80q", j.text(j.l.Latest[0]), j.s.Request))
	}
	if len(j.l.Referent) > 0 {
		v.count(referent, j.quoted(j.s.Words, j.l.Referent), fmt.Sprintf("want %q", j.text(j.l.Referent[0])))
	}
	// Elsewhere the file does not tell whether the turn is over.
	if j.l.State != "unknown" && j.l.Real {
		v.count(state, j.state(), fmt.Sprintf("is %s, the hand-over %s %.80q", j.l.State, j.s.State, j.s.Question))
	}
	for _, f := range j.l.Failing {
		told := slices.DeleteFunc(slices.Clone(j.s.Failing), func(c Failure) bool { return !j.about(c, f.Command) })
		v.count(failing, len(told) > 0, fmt.Sprintf("want %q, told are %.100q", j.text(f.Command), j.s.Failing))
		v.count(explained, slices.ContainsFunc(told, func(c Failure) bool { return j.quoted([]string{c.Said}, f.Said) }),
			fmt.Sprintf("want %q, told is %.100q", j.text(f.Said[0]), told))
	}
	for _, alternatives := range j.l.Standing {
		v.count(standing, j.quoted(j.s.Words, alternatives), fmt.Sprintf("want %q", j.text(alternatives[0])))
	}
	for _, c := range j.l.Commits {
		v.count(committed, strings.Contains(j.summary, j.text(c)) || slices.ContainsFunc(j.s.Tree.Commits, func(hash string) bool { return sameHash(hash, j.text(c)) }), j.text(c))
	}
	for _, o := range j.l.Open {
		v.count(planned, slices.ContainsFunc(j.s.Plan.Next, func(step string) bool { return j.isStep(step, []span{o}) }), j.text(o))
	}
	v.claims = j.claims()
	return v
}

func (j judge) state() bool {
	if j.l.State == "working" {
		return j.s.State == Goes
	}
	return j.s.State == Waits || j.s.State == Asks
}

// claims are what is said falsely. What is told of texts and files that the label does
// not know counts for rules only: a rule is what the user said, and all of that was read.
func (j judge) claims() []claim {
	var out []claim
	claims := func(kind, what string) { out = append(out, claim{kind, what}) }
	wrong := slices.DeleteFunc(slices.Clone(j.s.Tree.Uncommitted), func(file string) bool {
		return !j.l.TreeClean && !slices.ContainsFunc(j.l.Clean, func(s span) bool { return sameFile(file, j.text(s)) })
	})
	if len(wrong) > 0 {
		claims(falseTree, strings.Join(wrong, ", "))
	}
	for _, hash := range j.s.Tree.Commits {
		if slices.ContainsFunc(j.l.Gone, func(s span) bool { return sameHash(hash, j.text(s)) }) {
			claims(falseCommit, hash)
		}
	}
	for _, f := range j.s.Failing {
		red := func(l failure) bool { return j.about(f, l.Command) }
		if slices.ContainsFunc(j.l.Repaired, red) && !slices.ContainsFunc(j.l.Failing, red) {
			claims(falseFailure, f.Command)
		}
	}
	for _, step := range j.s.Plan.Next {
		if j.isStep(step, j.l.Done) && !j.isStep(step, j.l.Open) {
			claims(falseStep, step)
		}
	}
	for _, step := range j.s.Plan.Done {
		if j.isStep(step, j.l.Open) && !j.isStep(step, j.l.Done) {
			claims(falseCompleted, step)
		}
	}
	return out
}

// about reports whether a failure is told of a command, and not of another one whose
// name only begins like it.
func (j judge) about(f Failure, command span) bool {
	want := plain(j.text(command))
	_, rest, ok := strings.Cut(plain(f.Command), want)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \"';|&)"))
}

// isStep reports whether a step that is told, perhaps cut short, is one of the texts.
func (j judge) isStep(step string, of []span) bool {
	head, short := strings.CutSuffix(plain(step), "…")
	return slices.ContainsFunc(of, func(s span) bool {
		text := plain(j.text(s))
		return text == head || short && strings.HasPrefix(text, head)
	})
}

// quoted reports whether one of the texts stands in one of the quotes. A short one
// stands in most texts by chance: a quote has to begin with it.
func (j judge) quoted(in []string, want []span) bool {
	return slices.ContainsFunc(want, func(s span) bool {
		text := plain(j.text(s))
		return slices.ContainsFunc(in, func(q string) bool {
			q = plain(q)
			if utf8.RuneCountInString(text) > 8 {
				return strings.Contains(q, text)
			}
			rest, ok := strings.CutPrefix(q, text)
			next, _ := utf8.DecodeRuneInString(rest)
			return ok && !unicode.IsLetter(next) && !unicode.IsDigit(next)
		})
	})
}

// text is what stands in a session's file.
func (j judge) text(s span) string {
	raw := j.data[s[0] : s[0]+s[1]]
	var text string
	if json.Unmarshal(slices.Concat([]byte(`"`), raw, []byte(`"`)), &text) != nil {
		text = string(raw)
	}
	// What a host keeps as JSON in a string.
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}

// plain is a text as it is compared: emphasis and the kinds of quotes do not count.
func plain(text string) string {
	return strings.ToLower(message.OneLine(strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "`", "'", "*", "", "‹", "<").Replace(text)))
}

func sameHash(a, b string) bool {
	return len(a) > 6 && len(b) > 6 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// sameFile compares a path as it is told with one as a tool was given it.
func sameFile(told, given string) bool {
	given = strings.ReplaceAll(given, `\`, "/")
	told = strings.ReplaceAll(told, `\`, "/")
	return path.Base(told) == path.Base(given) && (strings.HasSuffix(given, "/"+strings.TrimPrefix(told, "/")) || strings.HasSuffix(told, "/"+strings.TrimPrefix(given, "/")) || told == given)
}
