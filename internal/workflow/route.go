package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Verdicts and routes of the protocol.
const (
	Pass = "PASS"
	Fail = "FAIL"

	Next     = "NEXT"
	Dev      = "DEV"
	Barrier  = "BARRIER"
	Complete = "COMPLETE"
	Abort    = "ABORT"
)

// severities, worst first.
var severities = [...]string{"CRITICAL", "HIGH", "MEDIUM", "LOW"}

const hintMax = 200

// Route is the answer of a stage: the payload of its PIPELINE_ROUTE marker.
// Fields that this version does not know are kept.
type Route struct {
	Verdict      string `file:"verdict"`
	Route        string `file:"route"`
	Severity     string `file:"severity,omit"`
	ContextFile  string `file:"context_file,omit"`
	Hint         string `file:"hint,omit"`
	BarrierGroup string `file:"barrierGroup,omit"`
	// Warning lists every correction made to the answer, joined by "; ".
	Warning string `file:"warning,omit"`
	// Unverified marks a PASS that the agent did not say.
	Unverified bool `file:"unverified,omit"`

	raw object
}

func (r *Route) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if r.Warning != "" {
		w = r.Warning + "; " + w
	}
	r.Warning = w
}

// object is the known fields over the ones that the agent sent.
func (r Route) object() object {
	o := r.raw.clone()
	o.fields(r)
	return o
}

// MarshalJSON never fails.
func (r Route) MarshalJSON() ([]byte, error) { return r.object().compact(), nil }

// UnmarshalJSON reads a route; fields of a wrong type read as empty, so that
// Validate can correct them and say so.
func (r *Route) UnmarshalJSON(data []byte) error {
	o, err := parseObject(data)
	if err == nil {
		*r = routeOf(o)
	}
	return err
}

func routeOf(o object) Route {
	r := Route{raw: o}
	readFields(o.member, &r)
	return r
}

func (r *Route) read(v gjson.Result) bool {
	*r = routeOf(objectOf(v))
	return true
}

// Limits on what a route is looked for in: an agent's text may be megabytes of
// anything, and the marker stands at its end.
const (
	maxPayload = 16 << 10
	maxMarkers = 128
)

// ParseRoute finds the last valid marker in an assistant's text. A payload is
// one JSON object, over any number of lines, with anything inside its strings.
func ParseRoute(text string) (Route, bool) {
	var starts []int
	for _, rest, ok := strings.Cut(text, "<!--"); ok; _, rest, ok = strings.Cut(rest, "<!--") {
		if said, marked := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "PIPELINE_ROUTE:"); marked {
			starts = append(starts, len(text)-len(said))
		}
	}
	starts = starts[max(0, len(starts)-maxMarkers):]
	var (
		last  Route
		found bool
		end   int
	)
	for _, s := range starts {
		// A marker inside the payload of the one before is only a string.
		if s < end {
			continue
		}
		if r, n, ok := payload(text[s:]); ok {
			last, found, end = r, true, s+n
		}
	}
	return last, found
}

// payload reads a JSON object and the closing of the comment.
func payload(text string) (Route, int, bool) {
	head := text[:min(len(text), maxPayload)]
	d := json.NewDecoder(strings.NewReader(head))
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return Route{}, 0, false
	}
	rest := strings.TrimLeft(head[d.InputOffset():], " \t\r\n")
	var r Route
	ok := strings.HasPrefix(rest, "-->") && r.UnmarshalJSON(raw) == nil
	return r, len(head) - len(rest), ok
}

// RouteLines is how many lines of an agent's transcript a route is looked for in.
const RouteLines = 30

// LastRoute finds the route in an agent's last texts, oldest first. Only what
// the assistant said counts: a marker quoted by a prompt or a tool result is not
// a verdict.
func LastRoute(texts []string) (Route, bool) {
	for _, text := range slices.Backward(texts) {
		if r, ok := ParseRoute(text); ok {
			return r, true
		}
	}
	return Route{}, false
}

// ValidateRoute is the first layer: the form. Whatever is wrong is set right,
// and every correction is recorded in the warning. A verdict that had to be
// invented is marked as unverified.
func ValidateRoute(r Route) Route {
	if r.Verdict != Pass && r.Verdict != Fail {
		r.warn("verdict %s is not PASS or FAIL, taken as PASS", r.shown("verdict"))
		r.Verdict, r.Unverified = Pass, true
	}
	switch r.Route {
	case Next, Dev, Barrier, Complete, Abort:
	default:
		said := r.shown("route")
		if r.Route = Next; r.Verdict == Fail {
			r.Route = Dev
		}
		r.warn("route %s is unknown, taken as %s", said, r.Route)
	}
	if r.Verdict == Fail && !slices.Contains(severities[:], r.Severity) {
		r.warn("severity %s, taken as MEDIUM", r.shown("severity"))
		r.Severity = "MEDIUM"
	}
	if r.Verdict == Pass {
		r.Severity = ""
	}
	if message.Units(r.Hint) > hintMax {
		r.Hint = message.Cut(r.Hint, hintMax)
		r.warn("hint cut to %d characters", hintMax)
	}
	if strings.Contains(r.Hint, "-->") {
		r.Hint = strings.ReplaceAll(r.Hint, "-->", "→")
		r.warn("--> in the hint replaced")
	}
	return r
}

// shown is the raw value of a field for a warning.
func (r Route) shown(key string) string {
	raw, ok := r.raw.Get(key)
	if !ok || bytes.Equal(raw, []byte("null")) {
		return "missing"
	}
	return message.Cut(string(raw), 40)
}

// EnforcePolicy is the second layer: the logic. Its rules hold in this order: a
// PASS does not go back, the retry limit, a DEV to go back to, and a barrier
// stage votes in its own barrier. An ABORT is never changed.
func (rules Rules) EnforcePolicy(r Route, s *State, stage string) Route {
	if r.Route == Abort {
		return r
	}
	if s == nil {
		s = &State{}
	}
	node, known := s.DAG.Get(stage)
	if r.Verdict == Pass && r.Route == Dev {
		r.Route = Next
		r.warn("policy override: a PASS cannot go back to DEV, forcing NEXT")
	}
	if limit := rules.limit(node); r.Route == Dev && known && s.Retries[stage] >= limit {
		r.Route = Next
		r.warn("policy override: retry limit reached (%d/%d), forcing NEXT", s.Retries[stage], limit)
	}
	if r.Route == Dev && s.DAG.Rework(stage) == "" {
		r.Route = Next
		r.warn("policy override: no DEV to go back to, forcing NEXT")
	}
	if node.Barrier != nil {
		if r.Route != Barrier {
			r.warn("policy override: %s votes in barrier %s, forcing BARRIER", stage, node.Barrier.Group)
			r.Route = Barrier
		} else if r.BarrierGroup != node.Barrier.Group {
			r.warn("policy override: barrierGroup is %s", node.Barrier.Group)
		}
		r.BarrierGroup = node.Barrier.Group
	}
	return r
}
