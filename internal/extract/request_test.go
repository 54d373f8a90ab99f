package extract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		said extract.Said
		own  string
	}{
		{"Please fix the parser.", extract.Requested, "Please fix the parser."},
		{"at release.yml it shouldn't be a secret", extract.Requested, "at release.yml it shouldn't be a secret"},
		{"  ", extract.NotSaid, ""},
		{"hello", extract.NotSaid, ""},
		{"Good morning!", extract.NotSaid, ""},
		{"你好", extract.NotSaid, ""},
		{"yes", extract.Nudge, "yes"},
		{"ok, go ahead please", extract.Nudge, "ok, go ahead please"},
		{"繼續", extract.Nudge, "繼續"},
		{"3", extract.Picked, "3"},
		{"yes do option 1", extract.Picked, "yes do option 1"},
		{"let's try 2=", extract.Picked, "let's try 2="},
		{"/compact", extract.NotSaid, ""},
		{"/model opus", extract.NotSaid, ""},
		{"/plan add a consent prompt to enable", extract.Requested, "add a consent prompt to enable"},
		{"/etc/hosts has a wrong entry, fix it", extract.Requested, "/etc/hosts has a wrong entry, fix it"},
		{"<command-message>exit</command-message>\n<command-name>/exit</command-name>\n<command-args></command-args>", extract.NotSaid, ""},
		{"<command-name>/work:plan</command-name>\n<command-args>ask for consent on the first run</command-args>", extract.Requested, "ask for consent on the first run"},
		{"<local-command-stdout>Goodbye!</local-command-stdout>", extract.NotSaid, ""},
		{"[Request interrupted by user]", extract.NotSaid, ""},
		{"[Request interrupted by user for tool use]", extract.NotSaid, ""},
		{"[Request interrupted by user] is what I see, why?", extract.Requested, "[Request interrupted by user] is what I see, why?"},
		{"Operation stopped by hook: what does that mean?", extract.Requested, "Operation stopped by hook: what does that mean?"},
		{"why is <system-reminder> in my log?", extract.Requested, "why is <system-reminder> in my log?"},
		{"why is <command-name>/exit</command-name> in my log?", extract.Requested, "why is <command-name>/exit</command-name> in my log?"},
		{"@main.py add type hints\nand rename $PATH\n$ make\n@@ -1 +1 @@", extract.Requested, "@main.py add type hints\nand rename $PATH"},
		{"<task-notification>agent done</task-notification>", extract.NotSaid, ""},
		{"<overtone-packet id=\"x\">carry on</overtone-packet>", extract.NotSaid, ""},
		{"<system-reminder>be kind</system-reminder>\nRename the flag, please.", extract.Requested, "Rename the flag, please."},
		{"+\tx := 1\n+\ty := 2\n@@ -1 +1 @@", extract.Pasted, ""},
		{"```\npanic: nil\n```", extract.Pasted, ""},
		{"it fails:\n```\npanic: nil\n```\ncan you look?", extract.Requested, "it fails:\n[panic: nil …]\ncan you look?"},
		{"it fails, see\n```\npanic: nil\n```\ncan you look?", extract.Requested, "it fails, see\n[…]\ncan you look?"},
		{"why such a number:   v topic *  [4 items]\n   v * ok, please never push\n>  - [ NEW ] Ok", extract.Requested, "why such a number:\n[v topic *  [4 items] …]"},
		{"note this:  never push\nand go on with the parser", extract.Requested, "note this:  never push\nand go on with the parser"},
		{"explain this line:\n\n   > │ - 5952698 fixed it\n   > ╰ - a917ebd and that", extract.Requested, "explain this line:\n[> │ - 5952698 fixed it …]"},
		{"why is this?\n12:30:01 started\n12:30:02 failed", extract.Requested, "why is this?"},
	} {
		said, own := extract.Request(c.text)
		if said != c.said || own != c.own {
			t.Errorf("%q: %v %q, want %v %q", c.text, said, own, c.said, c.own)
		}
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"can we check the whole code base for this?":       true,
		"Add a flag for the region.":                       true,
		"now port the second module, please.":              true,
		"請把登入改成 OAuth":                                     true,
		"yes, can there be less space between the lines?":  false,
		"what is getStateDir doing?":                       false,
		"we have an import cycle now":                      false,
		"but the ids are only used in relation to storage": false,
		"hmm but could it not diff against the base?":      false,
		"可以，帮我补充":                                          false,
		"好的，幫我重構登入模組":                                      true,
	} {
		if got := extract.Tasks(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]extract.Hold{
		"Never push to main.":                               extract.Lasting,
		"Fix it, and never touch the generated files.":      extract.Lasting,
		"Tests must pass on Windows.":                       extract.Lasting,
		"I don't want a new dependency.":                    extract.Lasting,
		"不要改 API":                                           extract.Lasting,
		"where we use git add but don't change the tree":    extract.Free,
		"don't we have a base commit?":                      extract.Free,
		"I don't know why.":                                 extract.Free,
		"don't fix anything, but just validate it works":    extract.Wish,
		"Ask me before you push.":                           extract.Guard,
		"Do not deploy without my approval.":                extract.Guard,
		"發佈前先問我":                                            extract.Guard,
		"that is wrong, I can see the trailers":             extract.Corrected,
		"Use Postgres instead of SQLite.":                   extract.Corrected,
		"不對，應該用 Redis":                                      extract.Corrected,
		"keep all the color changes we made":                extract.Wish,
		"ideally just rebase onto main":                     extract.Wish,
		"We got a report that it popped up in the evening.": extract.Free,
	} {
		if got := extract.Holds(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"All done. Should I push?":                                   "Should I push?",
		"Why does it fail? Because of the lock. I fixed it.":         "",
		"Which one?\n\n1. Red\n2. Blue":                              "Which one?",
		"It works.\n\nLet me know if you want me to add tests.":      "Let me know if you want me to add tests.",
		"```\nwhat?\n```\nFinished.":                                 "",
		"已完成。要不要一併更新文件？":                                             "要不要一併更新文件？",
		"The first question was what to do?\n\nI did it. All green.": "",
	} {
		if got := extract.OpenQuestion(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	got := extract.Options("Which?\n\n**Option 1: A constructor**\n- it panics\n\n2. Return an error\n3) Leave it\n")
	want := map[string]string{"1": "A constructor", "2": "Return an error", "3": "Leave it"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	for own, want := range map[string]string{"let's try 2=": "2", "the second one": "2", "yes": "", "b": "b"} {
		if got := extract.Chosen(own); got != want {
			t.Errorf("%q: %q", own, got)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("/x <command-name>a</command-name>", "1. a? b! c.")
	f.Fuzz(func(t *testing.T, text, more string) {
		if said, own := extract.Request(text); said == extract.Requested && strings.TrimSpace(own) == "" {
			t.Error("a request without words")
		}
		for _, s := range extract.Sentences(more) {
			extract.Holds(s)
		}
		extract.OpenQuestion(more)
		extract.Options(more)
		extract.Tasks(more)
	})
}
