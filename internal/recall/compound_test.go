package recall

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is asked for in other words is found: compounds joined and apart; what was
// typed comes before them.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	plant(t, c, 90, "the platypus sees to the cache and the queue of the parser")
	for i, w := range []struct{ ask, first, second string }{
		{"front matter ostrich", "the front matter of the ostrich", "the frontmatter of the ostrich"},
		{"pagelayout ostrich heron", "a pagelayout for ostrich and heron", "a page with a layout for ostrich and heron"},
		{"grebeling of the lake", "a grebeling of the lake", "a grebelink of the lake"},
	} {
		second := plant(t, c, 100+2*i, w.second)
		alone := search(t, c.open(), w.ask)
		if len(alone.Hits) == 0 || alone.Hits[0].Path != second {
			t.Errorf("%q does not find %q: %+v", w.ask, w.second, alone.Hits)
		}
		first := plant(t, c, 101+2*i, w.first)
		both := search(t, c.open(), w.ask)
		if at := slices.Index(paths(both), first); at != 0 {
			t.Errorf("%q: %q is at place %d of %v", w.ask, w.first, at+1, both.Total)
		}
	}
}

// A word that nobody wrote is told with what is shown in its place; a word that somebody
// began so, or wrote joined with its neighbour, is no such word.
func TestInstead(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	plant(t, c, 90, "the quota of the platypus is used up, says the frontmatter")
	for _, w := range []struct {
		ask    string
		want   []Instead
		unsaid bool
	}{
		{"quota", nil, false},
		{"platyp", nil, false},
		{"quotaa", []Instead{{"quotaa", "quota"}}, true},
		{"zyzzyva xylograph", []Instead{{"zyzzyva", ""}, {"xylograph", ""}}, true},
		{"platypus zyzzyva", []Instead{{"zyzzyva", ""}}, false},
		{"front matter platypus", nil, false},
	} {
		if got := search(t, c.open(), w.ask); !slices.Equal(got.Instead, w.want) || got.Unsaid != w.unsaid {
			t.Errorf("%q: %+v, unsaid %v", w.ask, got.Instead, got.Unsaid)
		}
	}
}

// Where nothing has enough of the words, what has some is found, and that is said.
func TestFewerWords(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	one := plant(t, c, 1, "the dunlin sleeps")
	two := plant(t, c, 2, "the dunlin and the sanderling sleep")
	res := search(t, c.open(), "dunlin sanderling quuxzip zyzzyvaq blorptang")
	if got := paths(res); !res.Fewer || len(got) != 2 || got[0] != two || got[1] != one {
		t.Errorf("%v, fewer %v", got, res.Fewer)
	}
	if res := search(t, c.open(), "dunlin sanderling"); res.Fewer || len(res.Hits) == 0 || res.Hits[0].Path != two {
		t.Errorf("all words: %+v", res)
	}
	if res := search(t, c.open(), "quuxzip zyzzyvaq blorptang"); res.Total != 0 || res.Fewer {
		t.Errorf("none of the words: %+v", res)
	}
}

// What stood in a clone when it was made is told by its source; what was added to it
// later, and a clone without its source, is found. A title is told where it is asked for.
func TestClonesAreFolded(t *testing.T) {
	t.Parallel()
	c := newCorpus(t, t.TempDir())
	source := plant(t, c, 1, "the oystercatcher waits for the tide")
	clone := plant(t, c, 2, "the oystercatcher waits")
	info, err := os.Stat(clone)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, clone, strings.Replace(lastLine(t, clone), "the oystercatcher waits", "the turnstone came later", 1))
	x := Open(Options{Root: filepath.Join(c.home, ".overtone"), Dir: c.dir, Clone: func(id string) (string, int64) {
		if id == sessionID(2) {
			return sessionID(1), info.Size()
		}
		return "", 0
	}})
	if got := paths(search(t, x, "oystercatcher")); !slices.Equal(got, []string{source}) {
		t.Errorf("a clone beside its source: %v", got)
	}
	if got := paths(search(t, x, "turnstone")); !slices.Equal(got, []string{clone}) {
		t.Errorf("what was added to a clone: %v", got)
	}
	res, err := x.Search(context.Background(), Query{Text: "oystercatcher", Titles: true})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Title == "" {
		t.Errorf("%+v, %v", res, err)
	}
	if err := os.Remove(source); err != nil {
		t.Fatal(err)
	}
	if got := paths(search(t, x, "oystercatcher")); !slices.Equal(got, []string{clone}) {
		t.Errorf("a clone without its source: %v", got)
	}
}

func lastLine(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(string(b), "\n")
	return text[strings.LastIndexByte(text, '\n')+1:] + "\n"
}
