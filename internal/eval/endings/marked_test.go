package endings

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// TestEvalMarked prints ten recorded sessions with the moments at which the defaults compact
// them, each between the twenty events before and the ten after it, for somebody who looks
// whether a compaction is wanted there. $OVERTONE_MARKED is the seed by which they are drawn:
// from each project and host in turn.
func TestEvalMarked(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("OVERTONE_MARKED"), 10, 64)
	if err != nil {
		t.Skip("set OVERTONE_MARKED to a number")
	}
	p := unpack(t)
	groups := map[string][]audit.Session{}
	names := []string{}
	for _, s := range p.audit(t, p.files, config.Defaults().Compact) {
		if name := s.Host + " " + p.project[s.Path]; len(s.Planned) > 0 && p.project[s.Path] != older {
			groups[name] = append(groups[name], s)
			names = append(names, name)
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		slices.SortFunc(groups[name], func(a, b audit.Session) int { return cmp.Compare(a.ID, b.ID) })
		r.Shuffle(len(groups[name]), func(i, j int) { groups[name][i], groups[name][j] = groups[name][j], groups[name][i] })
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	drawn := []audit.Session{}
	for n := 0; len(drawn) < 10 && n < len(p.files); n++ {
		for _, name := range names {
			if n < len(groups[name]) && len(drawn) < 10 {
				drawn = append(drawn, groups[name][n])
			}
		}
	}
	for i := range drawn {
		p.mark(t, &drawn[i])
	}
}

// mark prints the moments of one session.
func (p *played) mark(t *testing.T, s *audit.Session) {
	f, err := os.Open(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type line struct {
		text string
		time int64
		user bool
	}
	lines, requests, seen := []line{}, 0, map[uint64]bool{}
	_, err = transcript.Events(t.Context(), f, 0, transcript.Host(s.Host), transcript.Want{}, func(e *transcript.Event) {
		if e.Kind == transcript.Counted && !seen[e.Key] {
			seen[e.Key] = e.Key != 0
			requests++
		}
		if e.Side || e.Kind == transcript.Counted || e.Kind == transcript.About {
			return
		}
		text := strings.Join(strings.Fields(e.Text()), " ")
		if e.Kind == transcript.ToolEnded || e.Kind == transcript.ToolBegan {
			text = string([]rune(text)[:min(160, len([]rune(text)))])
		}
		if u := []rune(text); len(u) > 900 {
			text = string(u[:450]) + " […] " + string(u[len(u)-450:])
		}
		at := time.UnixMilli(e.Time).UTC().Format("01-02 15:04:05")
		lines = append(lines, line{fmt.Sprintf("%s %-11s r%-4d %s %s", at, kindOf(e), requests, e.Tool, text), e.Time, e.Kind == transcript.UserSaid})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("######## %s %s %s: %d requests, window %dk, %d moments", p.project[s.Path], s.Host, s.ID, requests, s.Window/1000, len(s.Planned))
	for n, m := range s.Planned {
		// The words that open the turn come behind a compaction at their prompt.
		at := slices.IndexFunc(lines, func(l line) bool { return l.time > m.Time || m.Between && l.user && l.time == m.Time })
		if at < 0 {
			at = len(lines)
		}
		t.Logf("==== moment %d of %s: %s %s between=%v in vain=%v with %dk, past the line %d requests, before request %d", n+1, s.ID, m.Tier, strings.Join(m.Boundary, "+"), m.Between, m.Wasted, m.Tokens/1000, m.Past, m.Request)
		for i := max(0, at-20); i < min(len(lines), at+10); i++ {
			if i == at {
				t.Log("  >>>>>>>> compacted here")
			}
			t.Log("  " + lines[i].text)
		}
	}
}

func kindOf(e *transcript.Event) string {
	return map[transcript.EventKind]string{
		transcript.UserSaid: "USER", transcript.HostSaid: "host", transcript.AgentSaid: "AGENT", transcript.ToolBegan: "call", transcript.ToolEnded: "result",
		transcript.Compacted: "COMPACTED", transcript.Summarised: "summary", transcript.Interrupted: "INTERRUPTED", transcript.TurnEnded: "turn ended",
	}[e.Kind]
}
