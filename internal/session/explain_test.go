package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// 000: the size that counts is that of the main transcript since its last compaction,
// without what is no conversation.
func TestTranscriptSize(t *testing.T) {
	t.Parallel()
	file := func(lines ...string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := func(n int) string {
		return `{"type":"user","message":{"content":"` + strings.Repeat("x", n-40) + `"}}`
	}
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b","compactMetadata":{"trigger":"auto"}}`
	noise := `{"type":"prompt_snapshot","data":"` + strings.Repeat("y", 500) + `"}`
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	plain, compacted, noisy := file(text(1000)), file(text(1000), boundary, text(600)), file(text(1000), noise)
	for name, tc := range map[string]struct {
		m     Memory
		path  string
		limit int64
		want  int64
		known bool
	}{
		"no file":                      {Memory{}, filepath.Join(t.TempDir(), "none"), 100, 0, false},
		"a folder":                     {Memory{}, t.TempDir(), 100, 0, false},
		"no path":                      {Memory{}, "", 100, 0, false},
		"below the threshold":          {Memory{}, plain, 5000, size(plain), true},
		"above it":                     {Memory{}, plain, 100, size(plain), true},
		"after a compaction we know":   {Memory{Offset: 400}, plain, 100, size(plain) - 400, true},
		"after one before our time":    {Memory{}, compacted, 100, int64(len(text(600))) + 1, true},
		"which was looked for already": {Memory{Searched: true}, compacted, 100, size(compacted), true},
		"of another file":              {Memory{Offset: 1 << 20, Noise: Noise{Bytes: 900}}, plain, 100, size(plain), true},
		"without what is noise":        {Memory{}, noisy, 100, size(noisy) - int64(len(noise)) - 1, true},
		"noise counts below":           {Memory{}, noisy, 5000, size(noisy), true},
	} {
		got, known := tc.m.size(tc.path, tc.limit)
		if got != tc.want || known != tc.known {
			t.Errorf("%s: %d, %v, want %d", name, got, known, tc.want)
		}
	}
}

// 000: stages are counted since the last compaction, and since the last suggestion. A
// compaction that failed does not count.
func TestStagesSinceACompaction(t *testing.T) {
	t.Parallel()
	const stage, compacted, failed, suggested = message.EventStageComplete, message.EventSessionCompact, message.EventSessionCompactFailed, message.EventSessionCompactSuggest
	for _, tc := range []struct {
		events []string
		want   compact.SuggestInput
	}{
		{nil, compact.SuggestInput{}},
		{[]string{stage, stage}, compact.SuggestInput{}},
		{[]string{stage, compacted, stage, stage}, compact.SuggestInput{Compacted: true, SinceCompact: 2}},
		{[]string{compacted, stage, compacted}, compact.SuggestInput{Compacted: true}},
		{[]string{compacted, stage, compacted, failed, stage}, compact.SuggestInput{Compacted: true, SinceCompact: 2}},
		{[]string{compacted, failed, stage}, compact.SuggestInput{}},
		{[]string{stage, suggested, stage, message.EventAgentComplete}, compact.SuggestInput{Suggested: true, SinceSuggest: 1}},
		{[]string{compacted, stage, suggested, stage, suggested}, compact.SuggestInput{Compacted: true, SinceCompact: 2, Suggested: true}},
		{[]string{suggested, stage, compacted, stage}, compact.SuggestInput{Compacted: true, SinceCompact: 1}},
	} {
		s, _ := open(t)
		update(t, s, func(tx *Tx) error {
			for _, e := range tc.events {
				if err := tx.Emit(store.On(e, "stage", "DEV")); err != nil {
					return err
				}
			}
			return nil
		})
		var got compact.SuggestInput
		if err := countStages(s, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%v: -want +got\n%s", tc.events, d)
		}
	}
}

// 000: with a timeline that is damaged nothing is suggested; a line that broke off
// costs that line only.
func TestDamagedTimeline(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults().Compact
	cfg.ThresholdBytes = 10
	path := claudeFile(t, "s1", 1000)
	state := &workflow.State{}
	state.Stages.Set("DEV", workflow.StageState{Status: workflow.Pending})
	for broken, fails := range map[int]bool{0: false, 1: false, 2: true} {
		s, memory := open(t)
		update(t, s, func(tx *Tx) error { return tx.Emit(store.On(message.EventStageComplete, "stage", "DEV")) })
		f, err := os.OpenFile(filepath.Join(filepath.Dir(memory), "timeline.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, strings.Repeat("{broken\n", broken))
		f.Close()
		in, err := new(Memory).SuggestInput(s, state, cfg, path)
		if (err != nil) != fails || !in.Pending || !in.SizeKnown {
			t.Errorf("%d broken lines: %+v, %v", broken, in, err)
		}
		if in, _ := new(Memory).SuggestInput(s, nil, cfg, path); in.Pending {
			t.Error("something is pending without a workflow")
		}
	}
}

// Explaining decides as the hooks would, and changes nothing.
func TestExplain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	home := store.New(root, t.TempDir(), func() time.Time { return noon })
	s, err := home.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	path := claudeFile(t, "s1", 150_000)
	filled := ""
	in, err := Explain(home, s, config.Defaults().Compact, noon, "", path, func(p string, _ *compact.Input) bool { filled = p; return false })
	if err != nil || in.Workflow || in.Receipt != nil || filled != path {
		t.Errorf("%+v, %v, filled %q", in, err, filled)
	}
	if in.Input.Usage.Used != 150_000 || in.Decision.Verdict == "" {
		t.Errorf("%+v", in.Input.Usage)
	}
	if list, err := os.ReadDir(root); err != nil || len(list) != 0 {
		t.Errorf("written: %v, %v", list, err)
	}
	o := Options{Lang: message.EN, Now: noon, Warn: func(error) {}}
	err = Update(s, o, func(tx *Tx) error {
		tx.Observe(host.SessionSeen{Transcript: path}, compact.Settings{})
		tx.BeginCompaction("auto", compact.Packet{ID: "hooks", Text: "know", Created: noon})
		_, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV"}, At: noon})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if in, err = Explain(home, s, config.Defaults().Compact, noon, "", "/elsewhere", nil); err != nil || !in.Workflow || in.Receipt == nil || in.Receipt.ID != "hooks" || in.Input.Usage.Used != 150_000 {
		t.Errorf("%+v, %v", in, err)
	}
	// Of two receipts the newer one is shown.
	for id, at := range map[string]int{"older": -60, "newer": 60} {
		_, _, err = UpdateWatched(s, false, func(w *Watched, _ *compact.Thread) []store.Event {
			w.Delivery.Receipt = compact.NewReceipt(compact.Packet{ID: id, Text: "x", Created: noon.Add(time.Duration(at) * time.Minute)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"older": "hooks", "newer": "newer"}[id]
		if in, err = Explain(home, s, config.Defaults().Compact, noon, "", "", nil); err != nil || in.Receipt.ID != want {
			t.Errorf("beside one that is %s: %+v, %v", id, in.Receipt, err)
		}
	}
}

// What waits for the end of a turn is told: with the next message where the host asks before
// each request, when the turn has ended elsewhere.
func TestExplainNext(t *testing.T) {
	t.Parallel()
	prompt := []host.Event{host.TurnStarted{ID: "1"}, host.UserMessage{Text: "port it"}, host.ToolActivity{}}
	over := append(prompt, host.AgentMessage{Text: "There are two ways."}, host.TurnEnded{})
	auto := config.Defaults().Compact
	auto.Mode = compact.ModeAuto
	patient := auto
	patient.AtPrompt = false
	for name, c := range map[string]struct {
		set     config.Compact
		events  []host.Event
		used    int
		asks    bool
		verdict compact.Verdict
		next    compact.Next
	}{
		"it works":                   {auto, prompt, 145_000, true, compact.Wait, compact.AtNextPrompt},
		"it has ended":               {auto, over, 145_000, true, compact.DoCompact, compact.AtNextPrompt},
		"it works, with room":        {auto, prompt, 20_000, true, compact.Wait, ""},
		"not at the prompt":          {patient, over, 145_000, true, compact.Wait, ""},
		"it works, elsewhere":        {auto, prompt, 145_000, false, compact.Wait, compact.AtTurnEnd},
		"it has ended, elsewhere":    {auto, over, 145_000, false, compact.DoCompact, ""},
		"suggested when it ends":     {config.Defaults().Compact, prompt, 145_000, true, compact.Wait, compact.AtTurnEnd},
		"suggested, and it has":      {config.Defaults().Compact, over, 145_000, true, compact.DoSuggest, ""},
		"not at the prompt, but ask": {func() config.Compact { s := patient; s.Mode = compact.ModeSuggest; return s }(), over, 145_000, true, compact.DoSuggest, ""},
	} {
		home := store.New(t.TempDir(), t.TempDir(), func() time.Time { return noon })
		s, err := home.Session("s1")
		if err != nil {
			t.Fatal(err)
		}
		path := claudeFile(t, "s1", c.used)
		err = Update(s, Options{Lang: message.EN, Now: noon, Warn: func(error) {}}, func(tx *Tx) error {
			for _, e := range append([]host.Event{host.SessionSeen{Transcript: path, Window: 200_000}}, c.events...) {
				tx.Observe(e, c.set)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		in, err := Explain(home, s, c.set, noon, "", "", func(string, *compact.Input) bool { return c.asks })
		if err != nil || in.Decision.Verdict != c.verdict || in.Next != c.next {
			t.Errorf("%s: %s (%s), next %q, %v", name, in.Decision.Verdict, in.Decision.Reason.In(message.EN), in.Next, err)
		}
		if words := in.Next.In(message.ZH); (words == "") != (in.Next == "") || words == in.Next.In(message.EN) && words != "" {
			t.Errorf("%s: %q", name, words)
		}
	}
}
