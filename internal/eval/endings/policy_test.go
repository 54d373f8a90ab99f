package endings

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// older is the project of the samples that were there before the corpus.
const older = "older samples"

// played are the recorded sessions whose files tell what requests used.
type played struct {
	files   []transcript.File
	project map[string]string // by path
	cache   string
}

func unpack(t *testing.T) played {
	home := t.TempDir()
	p := played{project: map[string]string{}, cache: filepath.Join(home, "cache")}
	add := func(path, project string, host transcript.Host, id string) {
		data, err := samples.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(home, fmt.Sprintf("%d-%s.jsonl", len(p.files), id))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p.project[file] = project
		p.files = append(p.files, transcript.File{Path: file, Host: host, ID: id, Size: int64(len(data)), ModTime: time.Now()})
	}
	for _, path := range samples.Find("real/*.jsonl", "compactions/*.jsonl.gz") {
		host := transcript.Claude
		if strings.HasPrefix(samples.Name(path), "codex") {
			host = transcript.Codex
		}
		add(path, older, host, samples.Name(path))
	}
	hosts := map[string]transcript.Host{"claude": transcript.Claude, "codex": transcript.Codex, "copilot": transcript.Copilot}
	for _, s := range samples.Corpus() {
		if host, ok := hosts[s.Host]; ok {
			add(s.Path, s.Project, host, s.ID)
		}
	}
	return p
}

// audit plays settings over files. The corpus holds some of the older samples, and what two
// files hold counts once: each set is audited by itself.
func (p *played) audit(t *testing.T, files []transcript.File, set compact.Settings) (all []audit.Session) {
	for _, old := range []bool{true, false} {
		some := slices.DeleteFunc(slices.Clone(files), func(f transcript.File) bool { return (p.project[f.Path] == older) != old })
		r, _, err := audit.Run(t.Context(), audit.Options{Files: some, Now: time.Now(), Loc: time.UTC, Settings: set, Workers: 2, Cache: fmt.Sprint(p.cache, old)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Sessions...)
	}
	return all
}

// before plays what was the default until the end of a turn became a boundary: wider
// tiers, and a ceiling of 50,000 tokens below the window.
func (p *played) before(t *testing.T) (all []audit.Session) {
	set := config.Defaults().Compact
	g := &set.Trigger
	g.EarlyPercentRemainingLT, g.ReadyPercentRemainingLT, g.AsapPercentRemainingLT = 65, 50, 40
	g.AutoRequiresAnyBoundary = []string{"commit", "pr_checkpoint", "plan_checkpoint", "agent_done", "stage_complete"}
	windows := map[int64][]string{}
	for _, s := range p.audit(t, p.files, set) {
		windows[s.Window] = append(windows[s.Window], s.Path)
	}
	for window, paths := range windows {
		set.CeilingTokens = int(max(window-50_000, 0))
		all = append(all, p.audit(t, slices.DeleteFunc(slices.Clone(p.files), func(f transcript.File) bool { return !slices.Contains(paths, f.Path) }), set)...)
	}
	return all
}

// sums are what a policy came to, by project and by host.
type sums map[string]*sum

type sum struct {
	happened, happenedAll, struck, all, wasted, refused int
	usd, usdHappened                                    float64
	prompt, work, waited                                int64
}

func (p *played) sums(list []audit.Session) sums {
	out := sums{}
	for i := range list {
		s := &list[i]
		w := &s.WhatIf
		project := p.project[s.Path]
		keys := []string{project}
		if project != older {
			keys = append(keys, "all of the corpus", "· "+s.Host)
		}
		for _, k := range keys {
			if out[k] == nil {
				out[k] = &sum{}
			}
			x := out[k]
			x.happened += w.HappenedMid
			x.happenedAll += w.Happened
			x.struck += w.Forced
			x.all += w.Boundary + w.Forced + w.PolicyBetween + w.Between
			x.wasted += w.Wasted
			x.refused += w.Refused
			x.usd += w.Cost.Policy.USD
			x.usdHappened += w.Cost.Happened.USD
			x.prompt += w.Cost.Policy.PromptMS
			x.work += w.Cost.Policy.WorkMS
			x.waited += w.Cost.Happened.PromptMS + w.Cost.Happened.WorkMS
		}
	}
	return out
}

func (x *sum) String() string {
	return fmt.Sprintf("%2d of %3d (%2d in vain) $%7.2f %3d + %2d min", x.struck, x.all, x.wasted, x.usd, x.prompt/60_000, x.work/60_000)
}

// TestEvalPolicy prints what the defaults come to on recorded sessions, by project and
// host, beside what happened and the defaults before them: compactions that strike in
// mid-work of all, those after which the thread ended, dollars, minutes of waiting at a
// prompt and in mid-work. Each that still strikes is listed. No project has more of them
// than before, none comes after a turn began between line and ceiling, and no request
// would have been refused. docs/internals/policy.md tells how the defaults were chosen.
func TestEvalPolicy(t *testing.T) {
	p := unpack(t)
	if len(p.files) == 0 {
		t.Skip("no recorded sessions")
	}
	set := config.Defaults().Compact
	sessions := p.audit(t, p.files, set)
	was, now := p.sums(p.before(t)), p.sums(sessions)
	t.Logf("%-34s %-28s | %-44s | %s", "", "happened", "before: struck of all, dollars, waiting", fmt.Sprintf("now: %g / %g / %g", set.Trigger.EarlyPercentRemainingLT, set.Trigger.ReadyPercentRemainingLT, set.Trigger.AsapPercentRemainingLT))
	for _, k := range slices.Sorted(maps.Keys(now)) {
		n, w := now[k], was[k]
		if n.all+w.all+n.happenedAll == 0 {
			continue
		}
		t.Logf("%-34s %2d of %2d $%7.2f %4d min | %s | %s", k, n.happened, n.happenedAll, n.usdHappened, n.waited/60_000, w, n)
		if n.struck > w.struck || n.refused > 0 {
			t.Errorf("%s: %d strike, %d before; %d requests are refused", k, n.struck, w.struck, n.refused)
		}
	}
	for i := range sessions {
		s := &sessions[i]
		for _, m := range s.Planned {
			if len(m.Boundary) > 0 || m.Between {
				continue
			}
			t.Logf("strikes: %-30s %-11s %.13s at %s with %dk of %dk: %d requests since the line of the tier ready, and no turn has ended in that time",
				p.project[s.Path], s.Host, s.ID, time.UnixMilli(m.Time).UTC().Format("01-02 15:04"), m.Tokens/1000, s.Window/1000, m.Past)
			if m.Turns > 0 {
				t.Errorf("%s: %d turns began between the line and the ceiling", s.ID, m.Turns)
			}
		}
	}
	if all := now["all of the corpus"]; all != nil && (all.struck > 34 || all.all > 140) {
		t.Errorf("the corpus: %d of %d", all.struck, all.all)
	}
	if all := now["· "+string(transcript.Claude)]; all != nil && (all.struck > 18 || all.all > 80) {
		t.Errorf("Claude Code: %d of %d", all.struck, all.all)
	}
}

// TestEvalMoments compares moments from the same line on: how many names and commands of
// the project the agent needs from memory in its next ten calls after the end of a turn,
// after a commit, and where it is struck in mid-work; and how many of those our hand-over
// lacks. At a played moment there is no summary: one that states nothing stands in its
// place, so that all that is needed is lacking in it.
func TestEvalMoments(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("set OVERTONE_EVAL=1")
	}
	p := unpack(t)
	if len(p.files) == 0 {
		t.Skip("no recorded sessions")
	}
	type tally struct{ moments, needed, lacks int }
	tallies := map[string]*tally{"turn_end": {}, "commit": {}, "mid-work": {}}
	files := map[string]transcript.File{}
	for _, f := range p.files {
		files[f.Path] = f
	}
	measure := func(kind string, sessions []audit.Session) {
		for i := range sessions {
			s := &sessions[i]
			for _, m := range s.Planned {
				if at := slices.Contains(m.Boundary, kind) || kind == "mid-work" && len(m.Boundary) == 0 && !m.Between; !at || m.Wasted {
					continue
				}
				if loss := p.lossAt(t, files[s.Path], m); loss != nil {
					x := tallies[kind]
					x.moments++
					x.needed += loss.Names.Needed + loss.Commands.Needed
					x.lacks += loss.Names.Needed + loss.Commands.Needed - loss.Names.Handover - loss.Commands.Handover
				}
			}
		}
	}
	for kind := range tallies {
		set := config.Defaults().Compact
		line := set.Trigger.ReadyPercentRemainingLT
		set.Trigger.EarlyPercentRemainingLT, set.Trigger.AsapPercentRemainingLT = line, line
		set.Trigger.AutoRequiresAnyBoundary = []string{kind}
		measure(kind, p.audit(t, p.files, set))
	}
	per := func(n int, x *tally) float64 { return float64(n) / float64(max(x.moments, 1)) }
	for _, kind := range []string{"turn_end", "commit", "mid-work"} {
		x := tallies[kind]
		t.Logf("%-8s %3d moments: needed in the next ten calls %.2f each, of which the hand-over lacks %.2f", kind, x.moments, per(x.needed, x), per(x.lacks, x))
	}
	if end, commit := tallies["turn_end"], tallies["commit"]; commit.moments > 0 && per(end.needed, end) > per(commit.needed, commit) {
		t.Errorf("more is needed at the end of a turn than at a commit")
	}
}

// lossAt is what the next ten calls need after a compaction at a moment: the session is
// cut there, and its file goes on behind a made-up compaction.
func (p *played) lossAt(t *testing.T, f transcript.File, m audit.Planned) *audit.Loss {
	data, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(m.Time).UTC()
	stamp := at.Format("2006-01-02T15:04:05.000Z")
	lines := map[transcript.Host]string{
		transcript.Claude: `{"type":"system","subtype":"compact_boundary","uuid":"00000000-0000-4000-8000-00000000c0de","timestamp":"` + stamp + `","compactMetadata":{"trigger":"auto","preTokens":1}}` + "\n" +
			`{"type":"user","isCompactSummary":true,"uuid":"00000000-0000-4000-8000-00000000c0df","timestamp":"` + stamp + `","message":{"role":"user","content":"(nothing)"}}` + "\n",
		transcript.Codex: `{"timestamp":"` + stamp + `","type":"compacted","payload":{"message":"(nothing)"}}` + "\n",
	}
	var out bytes.Buffer
	cut, calls := false, 0
	for line := range bytes.Lines(data) {
		if !cut && out.Len() > 0 {
			when := gjson.GetBytes(line, "timestamp").Time()
			// The words that open the turn come behind a compaction at their prompt.
			if when.After(at) || m.Between && f.Host == transcript.Claude && when.Equal(at) {
				out.WriteString(lines[f.Host])
				cut = true
			}
		}
		out.Write(line)
		if cut {
			calls += bytes.Count(line, []byte(`"type":"tool_use"`)) + bytes.Count(line, []byte(`"type":"function_call"`)) + bytes.Count(line, []byte(`"type":"custom_tool_call"`))
			if calls >= 10 {
				break
			}
		}
	}
	if !cut || calls == 0 || lines[f.Host] == "" {
		return nil
	}
	g := f
	g.Path, g.Size = filepath.Join(t.TempDir(), "s.jsonl"), int64(out.Len())
	if err := os.WriteFile(g.Path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _, err := audit.Run(t.Context(), audit.Options{Files: []transcript.File{g}, Now: time.Now(), Loc: time.UTC, Settings: config.Defaults().Compact, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Sessions[0].Compactions {
		if c.Time == at.Truncate(time.Second).Format(time.RFC3339) && c.Loss != nil && c.Loss.Compactions == 1 {
			return c.Loss
		}
	}
	return nil
}
