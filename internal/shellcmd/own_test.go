package shellcmd

import (
	"slices"
	"testing"
	"time"
)

// Others commit in the same repository while a line runs: what git printed, the
// line's own message, a failure and the time of its end tell theirs from its own.
func TestCommittedBesideOthers(t *testing.T) {
	t.Parallel()
	const mine, theirs = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	log := func(subjects ...string) func(string) (Head, error) {
		h := Head{GitDir: "/w/.git", LogSize: int64(100 * (len(subjects) + 1))}
		for i, s := range subjects {
			hash := mine
			if s == "theirs" {
				hash = theirs
			}
			h.Hash, h.Log = hash, append(h.Log, logEntry{Offset: int64(100 * (i + 1)), New: hash, Time: at.Add(time.Duration(i) * time.Minute), Action: "commit", Subject: s})
		}
		return func(string) (Head, error) { return h, nil }
	}
	ok, failed := 0, 1
	for name, c := range map[string]struct {
		o    Observation
		want []string
	}{
		"printed":                  {Observation{Line: "git commit -F m", Output: "[main 1111111] mine\n", Exit: &ok, Head: log("theirs", "mine")}, []string{mine}},
		"its message":              {Observation{Line: "git commit -qm mine", Exit: &ok, Head: log("theirs", "mine")}, []string{mine}},
		"its message, with a mark": {Observation{Line: "git commit -qm mine", Exit: &ok, Head: log("theirs", "T-1: mine")}, []string{mine}},
		"message of a hook":        {Observation{Line: "git commit -qm mine", Exit: &ok, Head: log("something else")}, []string{mine}},
		"not known":                {Observation{Line: "git commit -qF m", Exit: &ok, Head: log("mine")}, []string{mine}},
		"failed":                   {Observation{Line: "git commit -F m", Output: "lint", Exit: &failed, Head: log("theirs")}, nil},
		"push failed":              {Observation{Line: "git commit -m mine && git push", Output: "[main 1111111] mine\nrejected", Exit: &failed, Head: log("mine", "theirs")}, []string{mine}},
		"quiet, push failed":       {Observation{Line: "git commit -qm mine && git push", Output: "rejected", Exit: &failed, Head: log("mine", "theirs")}, []string{mine}},
		"nothing to commit":        {Observation{Line: "git commit -F m; true", Output: "nothing to commit, working tree clean", Exit: &ok, Head: log("theirs")}, nil},
		"long output":              {Observation{Line: "git commit -F m", Output: string(make([]byte, outputKept)), Exit: &failed, Head: log("mine")}, []string{mine}},
		"script":                   {Observation{Line: "./release.sh", Exit: &ok, Head: log("mine")}, []string{mine}},
		"script, printed":          {Observation{Line: "./release.sh", Output: "[main 1111111] mine", Exit: &ok, Head: log("theirs", "mine")}, []string{mine}},
		"script, later":            {Observation{Line: "./release.sh", Exit: &ok, Until: at.Add(30 * time.Second), Head: log("mine", "theirs")}, []string{mine}},
		"dated":                    {Observation{Line: "GIT_COMMITTER_DATE=2099-01-01 git commit -qm mine", Exit: &ok, Until: at.Add(-time.Hour), Head: log("mine")}, []string{mine}},
		"unheard script":           {Observation{Line: "./release.sh", Unheard: true, Head: log("mine")}, nil},
		"unheard":                  {Observation{Line: "git commit -m mine", Unheard: true, Head: log("theirs", "mine")}, []string{mine}},
		"unheard, no message":      {Observation{Line: "git commit -F m", Unheard: true, Head: log("theirs")}, nil},
		"taken": {Observation{Line: "./release.sh", Exit: &ok, Head: log("theirs", "mine"), Taken: func(dir, subject string, _ time.Time) bool {
			return dir == "/w/.git" && subject == "theirs"
		}}, []string{mine}},
		"asked for, whoever took it": {Observation{Line: "git commit -qm mine", Exit: &ok, Head: log("mine"), Taken: func(string, string, time.Time) bool { return true }}, []string{mine}},
	} {
		c.o.Cwd, c.o.Before = "/w", []Mark{{GitDir: "/w/.git", Hash: "0", LogSize: 100}}
		v := Committed(c.o)
		var got []string
		for _, m := range v.Commits {
			got = append(got, m.Hash)
		}
		if !slices.Equal(got, c.want) || v.Committed != (c.want != nil) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The subject of a commit is known where its message stands in the line.
func TestAsks(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"git commit -m one":               "one",
		"git commit -qam 'one two'":       "one two",
		"git commit -mone -m body":        "one",
		"git commit --message=one":        "one",
		"git commit -m $'one\\nbody'":     "one",
		"git commit -m \"$M\"":            "",
		"git commit -m \"$M\" -m one":     "",
		"git commit -F one":               "",
		"git commit --amend --no-edit":    "",
		"git commit -C HEAD -- -m":        "",
		"git commit -m 'one' && git push": "one",
	} {
		cmds, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		commits, _ := gitCommits(cmds, nil)
		if len(commits) != 1 || commits[0].Subject != want {
			t.Errorf("%s: %+v, want %q", line, commits, want)
		}
	}
}
