package extract

import "testing"

func TestUndirected(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Done.": "Done.",
		"Done.\n\n::git-stage{cwd=\"/w\"}\n::git-push{cwd=\"/w\" branch=\"a{b}\"}":                   "Done.\n\n",
		"Done.\n  ::created-thread{threadId=\"1\"} \nAnd more.":                                      "Done.\nAnd more.",
		"::code-comment{title=\"[P2] Why?\" body=\"Is it so?\" file=\"/w/a.go\" start=10}\nRead it.": "Read it.",
		// These are somebody's words, or code.
		"Use ::git-push{cwd=\"/w\"} for it.":                                                    "Use ::git-push{cwd=\"/w\"} for it.",
		"::std::vector{a=1}\n::name{...}\n::Name{a=1}\n::{a=1}\n::name{1, 2}\n::name{a=1} then": "::std::vector{a=1}\n::name{...}\n::Name{a=1}\n::{a=1}\n::name{1, 2}\n::name{a=1} then",
	} {
		if got := Undirected(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
