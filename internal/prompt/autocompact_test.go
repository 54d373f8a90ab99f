package prompt

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/config"
)

func save(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auto-compact.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBuiltinAutoCompact(t *testing.T) {
	t.Parallel()
	// Read over nothing, the file says all that the defaults say.
	front, line, fileBody, _ := splitFront([]byte(config.AutoCompact))
	a, problems := parse(config.Compact{}, front, line, "auto-compact.md")
	if a.Prompt = fileBody; len(problems) > 0 {
		t.Fatal(problems)
	}
	want := builtin()
	if diff := cmp.Diff(config.Compact{PacketAuthor: want.PacketAuthor, Trigger: want.Trigger, Packet: want.Packet, Markers: want.Markers, Prompt: want.Prompt}, a); diff != "" {
		t.Errorf("the defaults in config and auto-compact.md differ (-config +file):\n%s", diff)
	}
	_, body, _ := strings.Cut(config.AutoCompact, "\n---\n")
	if a.Prompt != body || len(body) < 500 {
		t.Errorf("body is not the file's: %q", a.Prompt)
	}
	for name, list := range map[string][]string{
		"agent_done": a.Markers.AgentDone, "agent_done_negative": a.Markers.AgentDoneNegative,
		"topic_shift": a.Markers.TopicShift, "concluding_thought": a.Markers.ConcludingThought,
	} {
		english, chinese := 0, 0
		seen := map[string]bool{}
		for _, m := range list {
			if m != strings.ToLower(m) || m != strings.TrimSpace(m) || seen[m] {
				t.Errorf("%s: %q is not a plain lower case phrase, or is there twice", name, m)
			}
			seen[m] = true
			if m[0] < 0x80 {
				english++
			} else {
				chinese++
			}
		}
		if english < 5 || chinese < 5 {
			t.Errorf("%s: %d English and %d Chinese phrases", name, english, chinese)
		}
	}
	// The prompt asks for the packet in words of its own; it must not read like a
	// finished piece of work, or sending it would be a boundary itself.
	for _, m := range a.Markers.AgentDone {
		if strings.Contains(strings.ToLower(a.Prompt), m) {
			t.Errorf("the body contains the marker %q", m)
		}
	}
}

// Whatever the prompt file may hold, the settings may override.
func TestSettingsCoverThePromptFile(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, k := range config.Keys() {
		if k.Prompt != "" {
			checked++
		}
	}
	if want := leaves(reflect.TypeFor[frontMatter]()) - 1; checked != want { // version is not for users
		t.Errorf("%d keys of the settings override the prompt file, which has %d", checked, want)
	}
}

func leaves(t reflect.Type) int {
	n := 0
	for i := range t.NumField() {
		if f := t.Field(i); f.Type.Kind() == reflect.Struct {
			n += leaves(f.Type)
		} else {
			n++
		}
	}
	return n
}

func TestLoadAutoCompact(t *testing.T) {
	t.Parallel()
	with := func(change func(*config.Compact)) config.Compact {
		a := builtin()
		change(&a)
		return a
	}
	for _, tc := range []struct {
		name, file string
		want       config.Compact
		problem    string
	}{
		{
			name: "good file", file: "---\ntrigger:\n  ready_percent_remaining_lt: 45.5\nmarkers:\n  agent_done: [ship it]\n---\n\nWrite *it*.\n",
			want: with(func(a *config.Compact) {
				a.Trigger.ReadyPercentRemainingLT = 45.5
				a.Markers.AgentDone = []string{"ship it"}
				a.Prompt = "\nWrite *it*.\n"
			}),
		},
		{
			name: "no front matter", file: "Just a prompt.\r\n",
			want: with(func(a *config.Compact) { a.Prompt = "Just a prompt.\r\n" }),
		},
		{
			name: "empty body keeps the built-in one", file: "---\npacket:\n  max_tail_chars: 10\n---\n \n\n",
			want: with(func(a *config.Compact) { a.Packet.MaxTailChars = 10 }),
		},
		{name: "empty file", file: "", want: builtin()},
		{
			name:    "malformed YAML: one problem, other sections kept",
			file:    "---\nversion: 1\ntrigger:\n  early_percent_remaining_lt: 90\n  ready_percent_remaining_lt: [75\n  asap_percent_remaining_lt: 60\npacket:\n  author: agent\n---\nbody",
			want:    with(func(a *config.Compact) { a.PacketAuthor, a.Prompt = "agent", "body" }),
			problem: "auto-compact.md:6: trigger: not YAML: brackets [ ] do not match",
		},
		{
			name: "several problems are one line", file: "---\nx: 1\ntrigger: 5\npacket:\n  author: me\n  max_tail_chars: 7\n---\nbody",
			want:    with(func(a *config.Compact) { a.Packet.MaxTailChars, a.Prompt = 7, "body" }),
			problem: "auto-compact.md:2: x: unknown key (and 2 more)",
		},
		{
			name: "unclosed front matter", file: "---\nversion: 1\nbody\n",
			want:    with(func(a *config.Compact) { a.Prompt = "---\nversion: 1\nbody\n" }),
			problem: `auto-compact.md:1: front matter is not closed by a line "---"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, problems := LoadAutoCompact(save(t, tc.file), config.Defaults().Compact)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			var want []string
			if tc.problem != "" {
				want = []string{tc.problem}
			}
			var have []string
			for _, p := range problems {
				p.File = filepath.Base(p.File)
				have = append(have, p.Error())
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadAutoCompactWithoutAUsableFile(t *testing.T) {
	t.Parallel()
	for path, problems := range map[string]int{"": 0, filepath.Join(t.TempDir(), "none.md"): 0, t.TempDir(): 1, save(t, strings.Repeat("x", maxPrompt+1)): 1} {
		got, have := LoadAutoCompact(path, config.Defaults().Compact)
		if diff := cmp.Diff(builtin(), got); diff != "" || len(have) != problems {
			t.Errorf("%s: %v %s", path, have, diff)
		}
	}
}

func TestOverridesKeyByKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	settings := filepath.Join(dir, "config.yaml")
	text := "compact:\n  packet_author: agent\n  trigger:\n    emergency_percent_remaining_lt: 5\n    auto_requires_any_boundary: []\n" +
		"  packet:\n    expiry: 1h\n  markers:\n    topic_shift: [anyway]\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(settings, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got, problems := LoadAutoCompact(save(t, "---\ntrigger:\n  emergency_percent_remaining_lt: 20\n  asap_percent_remaining_lt: 32\n---\n"), c.Compact)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := builtin()
	want.PacketAuthor, want.Packet.Expiry = "agent", time.Hour
	want.Trigger.EmergencyPercentRemainingLT, want.Trigger.AsapPercentRemainingLT = 5, 32
	want.Trigger.AutoRequiresAnyBoundary = []string{}
	want.Markers.TopicShift = []string{"anyway"}
	want.Set = c.Compact.Set
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Tiers that hide each other are told, with the key and the order that is needed, and
// hold all the same.
func TestTiersOutOfOrder(t *testing.T) {
	t.Parallel()
	const order = "; the order is early ≥ ready ≥ asap ≥ emergency"
	path := save(t, "---\ntrigger:\n  asap_percent_remaining_lt: 10\n---\n")
	for _, row := range []struct{ prompt, settings, want string }{
		{"", "early_percent_remaining_lt: 10", "compact.trigger.early_percent_remaining_lt: 10 is below ready_percent_remaining_lt (35), so that the tier early is never reached" + order},
		{"", "emergency_percent_remaining_lt: 80", "compact.trigger.asap_percent_remaining_lt: 30 is below emergency_percent_remaining_lt (80), so that the tier asap is never reached" + order},
		{"", "ready_percent_remaining_lt: 45", ""},
		{"", "early_percent_remaining_lt: 0", ""}, // a tier that nobody wants
		{"", "{ready_percent_remaining_lt: 0, asap_percent_remaining_lt: 70}", "compact.trigger.early_percent_remaining_lt: 50 is below asap_percent_remaining_lt (70), so that the tier early is never reached" + order},
		{path, "{}", path + ": trigger.asap_percent_remaining_lt: 10 is below emergency_percent_remaining_lt (15), so that the tier asap is never reached" + order},
		{path, "emergency_percent_remaining_lt: 5", ""},
	} {
		settings := filepath.Join(t.TempDir(), "config.yaml")
		text := "compact:\n  trigger:\n    " + row.settings + "\n"
		if row.settings[0] == '{' {
			text = "compact:\n  trigger: " + row.settings + "\n"
		}
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := config.Load(settings, nil)
		_, more := LoadAutoCompact(row.prompt, c.Compact)
		got := ""
		for _, p := range append(problems, more...) {
			got += p.Error()
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.settings, got, row.want)
		}
	}
}

func FuzzAutoCompact(f *testing.F) {
	for _, s := range []string{
		"", "---\n", "---\n---\n", "---\nversion: 1\n---\nx", "---\ntrigger:\n  early_percent_remaining_lt: [\n---\nb", "---\n\t\n---\n", "\ufeff---\r\na: b\r\n---\r\nc",
		"---\nmarkers:\n  agent_done:\n  - a\n  -\n---\n", config.AutoCompact,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		a, _ := ParseAutoCompact(src, "f")
		if strings.TrimSpace(a.Prompt) == "" {
			t.Error("empty body")
		}
		if a.Prompt != builtin().Prompt && !strings.HasSuffix(string(src), a.Prompt) {
			t.Error("the body is not the end of the file")
		}
		for _, p := range []float64{a.Trigger.EarlyPercentRemainingLT, a.Trigger.ReadyPercentRemainingLT, a.Trigger.AsapPercentRemainingLT, a.Trigger.EmergencyPercentRemainingLT} {
			if !(p >= 0 && p <= 100) {
				t.Errorf("percentage %v", p)
			}
		}
	})
}

func BenchmarkLoadAutoCompact(b *testing.B) {
	path := filepath.Join(b.TempDir(), "auto-compact.md")
	if err := os.WriteFile(path, []byte(config.AutoCompact), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		LoadAutoCompact(path, config.Defaults().Compact)
	}
}
