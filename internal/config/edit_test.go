package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, key, value, want string }{
		{"no file", "", "compact.mode", "auto", "compact:\n  mode: auto\n"},
		{"as it is", "compact: {mode: auto}\n", "compact.mode", "auto", "compact: {mode: auto}\n"},
		{"the default, unset", "# x\n", "compact.mode", "suggest", "# x\n"},
		{"set", "a: 1 # mine\ncompact:\n    mode: tag   # why\n    native_window: 200000\n", "compact.mode", "auto", "a: 1 # mine\ncompact:\n    mode: auto   # why\n    native_window: 200000\n"},
		{"commented default", "compact:\n  # how\n  #mode: suggest\n  trigger:\n    #mode: x\n", "compact.mode", "auto", "compact:\n  # how\n  mode: auto\n  trigger:\n    #mode: x\n"},
		{"no such line", "compact:\n  native_percent: 50\nstrict: true\n", "compact.mode", "auto", "compact:\n  mode: auto\n  native_percent: 50\nstrict: true\n"},
		{"no section, no newline", "strict: true", "compact.mode", "auto", "strict: true\n\ncompact:\n  mode: auto\n"},
		{"top level", "strict: true\nlanguage: zh-TW\n", "language", "en", "strict: true\nlanguage: en\n"},
		{"top level, unset", "strict: true\n", "language", "en", "language: en\nstrict: true\n"},
		{"the default language, unset", "strict: true\n", "language", "zh-TW", "language: zh-TW\nstrict: true\n"},
		{"empty section at the end", "compact:\n", "compact.mode", "auto", "compact:\n  mode: auto\n"},
		{"empty section in the middle", "compact: # later\n\nstrict: true\n", "compact.mode", "auto", "compact: # later\n  mode: auto\n\nstrict: true\n"},
		{"section without a newline", "compact:", "compact.mode", "auto", "compact:\n  mode: auto\n"},
		{"windows line ends", "compact:\r\n  mode: tag\r\n", "compact.mode", "auto", "compact:\r\n  mode: auto\r\n"},
		{"comments at the margin", "compact:\n# mode matters\n  mode: tag\n", "compact.mode", "auto", "compact:\n# mode matters\n  mode: auto\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Set([]byte(c.src), c.key, c.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, c := range [][3]string{
		{"compact: {native_percent: 50}\n", "compact.mode", "auto"},
		{"compact:\n  mode: tag\n", "compact.mode", "sometimes"},
		{"compact: nonsense\n", "compact.mode", "auto"},
	} {
		if got, err := Set([]byte(c[0]), c[1], c[2]); err == nil {
			t.Errorf("%q: %q, want an error", c[0], got)
		}
	}
}

// The file that init writes can be edited: one line changes.
func TestSetDefault(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh-TW"} {
		src := Default(lang, true)
		got, err := Set(src, "compact.mode", "auto")
		if err != nil {
			t.Fatal(err)
		}
		a, b := strings.Split(string(src), "\n"), strings.Split(string(got), "\n")
		if len(a) != len(b) {
			t.Fatalf("%d lines became %d", len(a), len(b))
		}
		for i := range a {
			if a[i] != b[i] && (a[i] != "  #mode: suggest" || b[i] != "  mode: auto") {
				t.Errorf("line %d: %q became %q", i+1, a[i], b[i])
			}
		}
		if back, err := Set(got, "compact.mode", "suggest"); err != nil || !strings.Contains(string(back), "\n  mode: suggest\n") {
			t.Errorf("back: %v", err)
		}
	}
}

// Whatever the file holds: it is changed as asked, or not at all.
func FuzzSet(f *testing.F) {
	for _, s := range []string{"", "compact:\n  #mode: x\n", "compact: {mode: tag}", "compact:\n  trigger:\n    x: 1\n mode: tag\n", "compact:\r\n", "? compact\n: mode\n", "---\ncompact:\n  mode: tag\n...\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got, err := Set([]byte(src), "compact.mode", "auto")
		if err != nil {
			return
		}
		want, _ := values([]byte(src))
		want["compact.mode"] = "auto"
		have, _ := values(got)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%q became %q (-want +got):\n%s", src, got, diff)
		}
	})
}

// A key of a group is set like any other: nothing else changes.
func TestSetDeep(t *testing.T) {
	t.Parallel()
	const key = "compact.trigger.asap_percent_remaining_lt"
	for src, want := range map[string]string{
		"":                                "compact:\n  trigger:\n    asap_percent_remaining_lt: 35\n",
		"language: en\n":                  "language: en\n\ncompact:\n  trigger:\n    asap_percent_remaining_lt: 35\n",
		"compact:\n  mode: auto # mine\n": "compact:\n  trigger:\n    asap_percent_remaining_lt: 35\n  mode: auto # mine\n",
		"compact:\n  trigger:\n    early_percent_remaining_lt: 70\n  mode: auto\n":                                         "compact:\n  trigger:\n    asap_percent_remaining_lt: 35\n    early_percent_remaining_lt: 70\n  mode: auto\n",
		"compact:\n  trigger: # tiers\n      asap_percent_remaining_lt: 60 # mine\n  mode: auto\n":                         "compact:\n  trigger: # tiers\n      asap_percent_remaining_lt: 35 # mine\n  mode: auto\n",
		"compact:\n  trigger:\n    early_percent_remaining_lt: 70\n  packet:\n    expiry: 2h\nworkflow:\n  guard: false\n": "compact:\n  trigger:\n    asap_percent_remaining_lt: 35\n    early_percent_remaining_lt: 70\n  packet:\n    expiry: 2h\nworkflow:\n  guard: false\n",
		"compact:\n  trigger:\n    asap_percent_remaining_lt: 35\n":                                                        "compact:\n  trigger:\n    asap_percent_remaining_lt: 35\n",
	} {
		if got, err := Set([]byte(src), key, "35"); err != nil || string(got) != want {
			t.Errorf("%q: %v\n%s", src, err, got)
		}
	}
	for _, src := range []string{"compact: {trigger: {early_percent_remaining_lt: 70}}\n", "compact:\n  trigger: {early_percent_remaining_lt: 70}\n"} {
		if got, err := Set([]byte(src), key, "35"); err == nil {
			t.Errorf("%q: %s", src, got)
		}
	}
	// The commented default gives way to the key, as at the other levels.
	if got, err := Set(Default("en", true), key, "35"); err != nil || strings.Count(string(got), "asap_percent_remaining_lt:") != 1 {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := Set(nil, key, "much"); err == nil {
		t.Errorf("a word: %s", got)
	}
}
