package config

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func env(kv ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1]
			}
		}
		return ""
	}
}

// texts shows problems as a user sees them, without the folder of the test.
func texts(problems []Problem) []string {
	var out []string
	for _, p := range problems {
		if p.File != "" {
			p.File = filepath.Base(p.File)
		}
		out = append(out, p.Error())
	}
	return out
}

func TestLoad(t *testing.T) {
	t.Parallel()
	boundaries, _ := reflect.TypeFor[Trigger]().FieldByName("AutoRequiresAnyBoundary")
	with := func(change func(*Config)) Config {
		c := Defaults()
		change(&c)
		return c
	}
	for _, tc := range []struct {
		name, file string
		env        []string
		want       Config
		problems   []string
	}{
		{name: "empty file", want: Defaults()},
		{name: "comments only", file: "# nothing\n\n# here\n", want: Defaults()},
		{name: "section without keys", file: "compact:\n  # mode: auto\nworkflow:\n", want: Defaults()},
		{
			name: "every kind of value",
			file: "---\nlanguage: en\nstrict: true\nworkflow:\n  max_retries: 5\n  barrier_timeout: 90s\n  guard: false\n" +
				"compact:\n  threshold_bytes: 3_000_000\n  mode: auto\n  packet_author: agent\n  trigger:\n" +
				"    early_percent_remaining_lt: 90\n    auto_requires_any_boundary: [commit]\ncompress:\n  model: \"x/y\"\n  min_tokens: 1e2\n",
			want: with(func(c *Config) {
				c.Language, c.Strict = "en", true
				c.Workflow.MaxRetries, c.Workflow.BarrierTimeout, c.Workflow.Guard = 5, 90*time.Second, false
				c.Compact.ThresholdBytes, c.Compact.Mode, c.Compact.PacketAuthor = 3_000_000, "auto", "agent"
				c.Compact.Trigger.EarlyPercentRemainingLT = 90
				c.Compact.Trigger.AutoRequiresAnyBoundary = []string{"commit"}
				c.Compress.Model, c.Compress.MinTokens = "x/y", 100
			}),
		},
		{
			name: "prices",
			file: "prices:\n  gpt-x: {input: 1, output: 2.5}\n  \"claude-sonnet-5[1m]\":\n    input: 2\n    output: 10\n    cache_write: 2.5\n    cache_read: 0\n  5: {input: 0, output: 0}\nstrict: true\n",
			want: with(func(c *Config) {
				c.Strict = true
				c.Prices = map[string]Price{
					"gpt-x":               {Input: 1, Output: 2.5, CacheWrite: 1, CacheRead: 1},
					"claude-sonnet-5[1m]": {Input: 2, Output: 10, CacheWrite: 2.5},
					"5":                   {},
				}
			}),
		},
		{
			name: "a price with a problem is left out whole",
			file: "prices:\n  a: {input: 1}\n  b: {input: -1, output: 2}\n  c: 3\n  d:\n  e: {input: 1, output: 2, cach_read: 3}\n  f: {input: , output: 1}\n  g: {input: x, output: 1}\n" +
				"  \"\": {input: 1, output: 2}\n  good: {input: 1, output: 2}\n  good: {input: 3, output: 4}\nprices: 5\n",
			want: with(func(c *Config) {
				c.Prices = map[string]Price{"good": {Input: 1, Output: 2, CacheWrite: 1, CacheRead: 1}}
			}),
			problems: []string{
				`config.yaml:2: prices.a: output is missing`,
				`config.yaml:3: prices.b.input: want a number of at least 0, got -1`,
				`config.yaml:4: prices.c: want a section of keys, got 3`,
				`config.yaml:5: prices.d: want a section of keys, got nothing`,
				`config.yaml:6: prices.e.cach_read: unknown key; did you mean "prices.e.cache_read"?`,
				`config.yaml:7: prices.f: input is missing`,
				`config.yaml:8: prices.g.input: want a number, got "x"`,
				`config.yaml:9: prices: want a name`,
				`config.yaml:11: prices.good: set twice, first on line 10`,
				`config.yaml:12: prices: section appears twice, first on line 1`,
				`config.yaml:12: prices: want a section of keys, got 5`,
			},
		},
		{
			name: "CRLF and byte order mark",
			file: "\ufeffstrict: true\r\nworkflow:\r\n  max_retries: 4\r\n",
			want: with(func(c *Config) { c.Strict, c.Workflow.MaxRetries = true, 4 }),
		},
		{
			name: "an empty list is a value", file: "compact:\n  markers:\n    agent_done: []\n",
			want: with(func(c *Config) { c.Compact.Markers.AgentDone = []string{} }),
		},
		{
			name: "wrong values keep the defaults, good keys stay",
			file: "language: fr\nstrict: maybe\nworkflow:\n  max_retries: -1\n  barrier_timeout: 300\n  max_crashes: 7\n" +
				"compact:\n  threshold_bytes: \"abc\"\n  mode: never\n  trigger:\n    asap_percent_remaining_lt: 101\n" +
				"    auto_requires_any_boundary: [commit, comit]\ncompress:\n  base_url: ftp://x\n  concurrency: 2.5\n  model: [a]\ncleanup: 3\n",
			want: with(func(c *Config) { c.Workflow.MaxCrashes = 7 }),
			problems: []string{
				`config.yaml:1: language: want zh-TW or en, got "fr"`,
				`config.yaml:2: strict: want true or false, got "maybe"`,
				`config.yaml:4: workflow.max_retries: want a whole number from 0 to 100, got -1`,
				`config.yaml:5: workflow.barrier_timeout: want a duration such as 90s or 5m, got 300`,
				`config.yaml:8: compact.threshold_bytes: want a whole number, got "abc"`,
				`config.yaml:9: compact.mode: want one of off, tag, suggest, auto, got "never"`,
				`config.yaml:11: compact.trigger.asap_percent_remaining_lt: want a number from 0 to 100, got 101`,
				`config.yaml:12: compact.trigger.auto_requires_any_boundary: item 2: want one of ` +
					strings.ReplaceAll(boundaries.Tag.Get("oneof"), " ", ", ") + `, got "comit"`,
				`config.yaml:14: compress.base_url: want text that starts with https:// or http://, got "ftp://x"`,
				`config.yaml:15: compress.concurrency: want a whole number, got 2.5`,
				`config.yaml:16: compress.model: want text, got a list`,
				`config.yaml:17: cleanup: want a section of keys, got 3`,
			},
		},
		{
			name: "unknown keys", file: "strickt: true\nworkflow:\n  max_retrys: 9\n  colour: red\nstrict: true\n",
			want: with(func(c *Config) { c.Strict = true }),
			problems: []string{
				`config.yaml:1: strickt: unknown key; did you mean "strict"?`,
				`config.yaml:3: workflow.max_retrys: unknown key; did you mean "workflow.max_retries"?`,
				`config.yaml:4: workflow.colour: unknown key`,
			},
		},
		{
			name: "duplicates", file: "strict: true\nworkflow:\n  max_retries: 4\nstrict: true\nworkflow:\n  max_crashes: 5\n",
			want: with(func(c *Config) { c.Workflow.MaxRetries, c.Workflow.MaxCrashes = 4, 5 }),
			problems: []string{
				`config.yaml:4: strict: set twice, first on line 1; the default is used`,
				`config.yaml:5: workflow: section appears twice, first on line 2`,
			},
		},
		{
			name: "malformed in the middle: sections above and below are kept",
			file: "strict: true\nworkflow:\n  max_retries: [1, 2\n  max_crashes: 4\ncompact:\n\tmode: auto\ncleanup:\n  after_days: 9\n",
			want: with(func(c *Config) { c.Strict, c.Cleanup.AfterDays = true, 9 }),
			problems: []string{
				`config.yaml:4: workflow: not YAML: brackets [ ] do not match`,
				`config.yaml:6: compact: not YAML: a tab cannot indent a line; indent with blanks`,
			},
		},
		{
			name: "malformed at the end", file: "strict: true\ncompress:\n  model: \"open\n",
			want:     with(func(c *Config) { c.Strict = true }),
			problems: []string{`config.yaml:3: compress: could not find end character of double-quoted text`},
		},
		{
			name: "stray words", file: "strict: true\nhello there\nlanguage: en\n",
			want:     with(func(c *Config) { c.Strict, c.Language = true, "en" }),
			problems: []string{`config.yaml:2: want lines of the form "key: value", got "hello there"`},
		},
		{
			name: "not a mapping", file: "- a\n- b\n", want: Defaults(),
			problems: []string{`config.yaml:1: want lines of the form "key: value", got a list`},
		},
		{
			name: "anchors are refused, not expanded", file: "strict: &a true\nworkflow:\n  guard: *a\n", want: Defaults(),
			problems: []string{
				`config.yaml:1: strict: want true or false, got an anchor, alias or tag, which are not supported here`,
				`config.yaml:3: workflow.guard: want true or false, got an anchor, alias or tag, which are not supported here`,
			},
		},
		{
			name: "second document", file: "strict: true\n---\nlanguage: en\n",
			want:     with(func(c *Config) { c.Strict = true }),
			problems: []string{`config.yaml:3: only the first YAML document is read`},
		},
		{
			name: "not text at all", file: "strict: true\n\xff\xfe\x00: 1\n",
			want:     with(func(c *Config) { c.Strict = true }),
			problems: []string{`config.yaml:2: not valid UTF-8`},
		},
		{
			name: "environment wins over the file", file: "language: en\nstrict: true\ncompact:\n  mode: tag\n  threshold_bytes: 1\nworkflow:\n  max_retries: 9\n",
			env: []string{
				"OVERTONE_LANG", "zh_TW.UTF-8", "OVERTONE_STRICT", "0", "OVERTONE_COMPACT_THRESHOLD_MB", "3.5",
				"OVERTONE_COMPACT_MODE", "auto", "CLAUDE_PIPELINE_MAX_RETRIES", "5",
			},
			want: with(func(c *Config) {
				c.Compact.ThresholdBytes, c.Compact.Mode, c.Workflow.MaxRetries = 3_500_000, "auto", 5
			}),
		},
		{
			name: "bad variables are named and ignored", file: "compact:\n  threshold_bytes: 7\n",
			env: []string{
				"OVERTONE_LANG", "de", "OVERTONE_STRICT", "perhaps", "OVERTONE_COMPACT_THRESHOLD_MB", "NaN",
				"OVERTONE_COMPACT_MODE", "AUTO!", "CLAUDE_PIPELINE_MAX_RETRIES", "3.5",
			},
			want: with(func(c *Config) { c.Compact.ThresholdBytes = 7 }),
			problems: []string{
				`OVERTONE_LANG: want zh-TW or en, got "de"`,
				`OVERTONE_STRICT: want true or false, got "perhaps"`,
				`OVERTONE_COMPACT_THRESHOLD_MB: want a number of megabytes above 0, got "NaN"`,
				`OVERTONE_COMPACT_MODE: want one of off, tag, suggest, auto, got "AUTO!"`,
				`CLAUDE_PIPELINE_MAX_RETRIES: want a whole number, got "3.5"`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, problems := Load(write(t, tc.file), env(tc.env...))
			got.Compact.Set = nil // see TestSetKeys
			got.Chosen = false    // see TestChosen
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.problems, texts(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			for _, p := range problems {
				if zh := p.In("zh-TW"); !regexp.MustCompile(`\p{Han}`).MatchString(zh) || strings.Contains(zh, "%!") || !strings.Contains(zh, p.Key) {
					t.Errorf("%q in Chinese is %q", p, zh)
				}
			}
		})
	}
}

func TestThresholdVariable(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]int64{
		"3": 3_000_000, "0.5": 500_000, " 2 ": 2_000_000, "1e1": 10_000_000,
		"0": 0, "-1": 0, "nan": 0, "Inf": 0, "-Inf": 0, "1e300": 0, "abc": 0, "0.0000001": 0,
	} {
		c, problems := Load("", env("OVERTONE_COMPACT_THRESHOLD_MB", v))
		if bad := want == 0; bad != (len(problems) == 1) {
			t.Errorf("%q: problems %v", v, problems)
		}
		if want == 0 {
			want = Defaults().Compact.ThresholdBytes
		}
		if c.Compact.ThresholdBytes != want {
			t.Errorf("%q: threshold %d, want %d", v, c.Compact.ThresholdBytes, want)
		}
	}
}

func TestLoadWithoutAUsableFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, []byte(strings.Repeat("# x\n", maxSource/4+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"":                                nil,
		filepath.Join(dir, "missing"):     nil,
		filepath.Join(dir, "no", "where"): nil,
		dir:                               {filepath.Base(dir) + ": not a regular file"},
		big:                               {"big.yaml: larger than 64 KiB"},
		os.DevNull:                        {"null: not a regular file"},
	} {
		c, problems := Load(path, nil)
		if diff := cmp.Diff(Defaults(), c); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		if diff := cmp.Diff(want, texts(problems)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// Only good values count as set: all else is left to the prompt file.
func TestSetKeys(t *testing.T) {
	t.Parallel()
	c, _ := Load(write(t, "strict: true\ncompact:\n  mode: auto\n  packet_author: me\n  trigger:\n    early_percent_remaining_lt: 85\n    ready_percent_remaining_lt: 200\n"+
		"  packet:\n    expiry: 1h\n    expiry: 2h\n    max_tail_chars:\n  markers:\n    topic_shift: []\n"), nil)
	if diff := cmp.Diff([]string{"mode", "trigger.early_percent_remaining_lt", "markers.topic_shift"}, c.Compact.Set); diff != "" {
		t.Error(diff)
	}
	file := Defaults().Compact
	file.Mode, file.Trigger.EarlyPercentRemainingLT, file.Trigger.ReadyPercentRemainingLT, file.PacketAuthor = "tag", 20, 10, "agent"
	want := file
	want.Mode, want.Trigger.EarlyPercentRemainingLT, want.Markers.TopicShift, want.Set = "auto", 85, []string{}, c.Compact.Set
	if diff := cmp.Diff(want, c.Compact.Over(file)); diff != "" {
		t.Error(diff)
	}
}

// A hook reads the settings on every call: no text may cost it noticeable time.
func TestHostileTextIsCheap(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"[", "{", "{a: ", "- ", "? ", "&a ", "& ", "*", "! ", ":", ": ", "a: ", "\"a\" ", "'", "|", "\t", "a: 1\n", "- - - -\n", "a:\n", "[\n", "- [\n",
		"x\n", "%\n", "---\n", "\"a\"\n", "a: \"\n", "? a\n", "!a\n", "a: [\n", " a: [\n  b\n",
	} {
		n := maxSource / len(unit)
		if strings.Contains(unit, "\n") {
			n = min(n, maxLines/strings.Count(unit, "\n"))
		}
		src := strings.Repeat(unit, n)
		// The best of some: the machine may be busy with something else. What grows
		// with the square of the text takes minutes.
		best := time.Duration(math.MaxInt64)
		for try := 0; try < 5 && best > 2*time.Second; try++ {
			start := time.Now()
			c := Defaults()
			DecodeYAML([]byte(src), "f", 1, &c)
			best = min(best, time.Since(start))
		}
		if best > 10*time.Second {
			t.Errorf("%q repeated: %v", unit, best)
		}
	}
}

func TestFirstLineShiftsPositions(t *testing.T) {
	t.Parallel()
	var v struct {
		N int `yaml:"n"`
	}
	got := DecodeYAML([]byte("\nn: x\n"), "p.md", 2, &v)
	want := []Problem{{File: "p.md", Line: 3, Key: "n", Msg: `want a whole number, got "x"`, ZH: `要整數，這裡是 "x"`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Who names a language, in the file or in a variable, has chosen one; another key, or a
// line that cannot be read, is no such choice.
func TestChosen(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		path, variable string
		want           bool
	}{
		{"", "", false},
		{filepath.Join(t.TempDir(), "missing.yaml"), "", false},
		{"", "en", true},
		{"", "de", false},
		{write(t, ""), "", false},
		{write(t, "compact:\n  mode: tag\n"), "", false},
		{write(t, "language: de\n"), "", false},
		{write(t, "language: en\nlanguage: zh-TW\n"), "", false},
		{write(t, "{[\n"), "", false},
		{write(t, "language: zh-TW\n"), "", true},
		{write(t, string(Default("zh-TW", true))), "", true},
		{write(t, string(Default("en", false))), "", false},
		{write(t, "compact:\n  mode: tag\n"), "zh", true},
	} {
		if c, _ := Load(row.path, env("OVERTONE_LANG", row.variable)); c.Chosen != row.want {
			t.Errorf("%+v: %v", row, c.Chosen)
		}
	}
}
