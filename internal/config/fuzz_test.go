package config

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"", "strict: true\n", "compact:\n  mode: auto\n", "a: [1, 2\nb: 3\n", "a: \"x\nb: 2\n", "\tx: 1\n", "- a\n- b\n", "a: &x 1\nb: *x\n",
		"? a\n: b\n", "a: |\n  x\n", "%YAML 1.2\n---\na: 1\n", "workflow: {max_retries: 3, guard: [}\n", "\ufeffstrict: yes\r\n", "<<: *x\n", "a: !!binary x\n",
		"compact:\n  markers:\n    agent_done:\n    - a\n   - b\n", "prices:\n  m: {input: 1, output: 2}\n  n: {input: -1}\n", "prices: {\"a\\nb\": 1}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c := Defaults()
		start := time.Now()
		defer func() {
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		}()
		for _, p := range DecodeYAML(src, "f", 1, &c) {
			if p.Msg == "" || strings.Contains(p.Error(), "\n") {
				t.Errorf("problem %q", p.Error())
			}
			if p.Line < 1 || p.Line > strings.Count(string(src), "\n")+strings.Count(string(src), "\r")+2 {
				t.Errorf("line %d of %q", p.Line, src)
			}
			if utf8.Valid(src) && !utf8.ValidString(p.Error()) {
				t.Errorf("problem %q", p.Error())
			}
		}
		if c.Compact.ThresholdBytes < 1 || c.Workflow.MaxRetries < 0 || c.Language != "en" && c.Language != "zh-TW" {
			t.Errorf("a value outside its limits: %+v", c)
		}
	})
}

// One broken line among good top-level keys costs no other key.
func TestBrokenLineCostsNoOtherKey(t *testing.T) {
	t.Parallel()
	good := []string{"strict: true\n", "language: en\n", "cleanup:\n  after_days: 9\n", "workflow:\n  max_retries: 7\n  guard: false\n"}
	bad := []string{
		"compress: [1, 2\n", "compress: \"x\n", "compress: {a\n", "compress:\n\tmodel: x\n", "compress: @x\n", "compress\n", "compress: 'x\n  y: z\n",
		"compress: a: b\n", "compress: %x\n", "*compress: 1\n", "compress: ]\n", "- compress\n", "}\n", "\xff: 1\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.Permutation(good).Draw(t, "order")
		at := rapid.IntRange(0, len(entries)).Draw(t, "at")
		line := rapid.SampledFrom(bad).Draw(t, "bad")
		src := strings.Join(entries[:at], "") + line + strings.Join(entries[at:], "")
		c := Defaults()
		problems := DecodeYAML([]byte(src), "f", 1, &c)
		if len(problems) == 0 {
			t.Fatalf("no problem in\n%s", src)
		}
		// An item or a bracket at the margin belongs to the entry above it.
		loose := strings.ContainsAny(line[:1], "-}")
		if !loose && !(c.Strict && c.Language == "en" && c.Cleanup.AfterDays == 9 && c.Workflow.MaxRetries == 7 && !c.Workflow.Guard) {
			t.Fatalf("a good key was lost in\n%s\n%+v\n%v", src, c, problems)
		}
	})
}
