package compress

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// passages are a conversation with a summary in it.
func passages() []Passage {
	var said []Passage
	for n := range 4 {
		told := ""
		for side := range 8 {
			told += fmt.Sprintf("The table of part %d has column number %d, which nobody reads any more these days. ", n, side)
		}
		said = append(said, Passage{User: true, Text: fmt.Sprintf("Please make the parser in internal/cfg/part%d.go refuse empty keys.", n)}, Passage{Text: told})
	}
	var summary strings.Builder
	for n := range 12 {
		fmt.Fprintf(&summary, "We decided to keep `load_row_%d` in internal/cfg/load%d.go because %d users have it. ", n, n, n+10)
	}
	return append(said, Passage{Text: strings.Repeat("7", 200)}, Passage{Summary: true, Text: summary.String()})
}

// TestShortenedTexts: texts and summaries have a share each, what became a mark is found
// again once it is said for which session, and what is dropped is not.
func TestShortenedTexts(t *testing.T) {
	t.Parallel()
	said := passages()
	share := func(percent, summaries int) (texts, summary int) {
		s, err := Dir("").Shorten(t.Context(), percent, summaries, said, runTime)
		if err != nil || len(s.Texts) != len(said) {
			t.Fatalf("%d texts, %v", len(s.Texts), err)
		}
		if err := s.Keep("nobody"); err != nil { // a folder without a name keeps nothing
			t.Error(err)
		}
		s.Drop()
		before, after := 0, 0
		for n, p := range said[:len(said)-1] {
			before += message.Units(p.Text)
			after += message.Units(s.Texts[n])
		}
		last := len(said) - 1
		return 100 * after / before, 100 * message.Units(s.Texts[last]) / message.Units(said[last].Text)
	}
	if texts, summary := share(20, 90); texts > 40 || summary < 60 {
		t.Errorf("%d %% of the texts, %d %% of the summary", texts, summary)
	}
	if texts, summary := share(90, 20); texts <= 40 || summary > 40 {
		t.Errorf("%d %% of the texts, %d %% of the summary", texts, summary)
	}

	d := Dir(t.TempDir())
	s, err := d.Shorten(t.Context(), 10, 10, said, runTime)
	if err != nil {
		t.Fatal(err)
	}
	if files := d.originalFiles(); len(files) != 0 {
		t.Errorf("kept for nobody: %q", files)
	}
	if err := s.Keep("session"); err != nil {
		t.Fatal(err)
	}
	s.Drop() // what has been kept stays
	if files := tree(t, string(d)); len(files) != 1 || filepath.Base(files[0]) != "session.jsonl" {
		t.Errorf("kept %q", files)
	}
	marks := 0
	for n, text := range s.Texts {
		if text == said[n].Text {
			continue
		}
		if got, ok := d.Originals().Find(textHash(said[n].Text)); !ok || got != said[n].Text {
			t.Errorf("text %d is not found again: %q", n, got)
		}
		if !IsMark(text) {
			continue
		}
		marks++
		if got, ok := d.Originals().Find(strings.TrimPrefix(text, markSign)); !ok || got != said[n].Text {
			t.Errorf("%s: %q", text, got)
		}
	}
	if marks == 0 {
		t.Error("no text became a mark")
	}

	// What is short stays as it was, and so does what was made here before.
	brief := []Passage{{Text: "Fine."}, {Text: s.Texts[len(said)-1]}}
	again, err := d.Shorten(t.Context(), 10, 10, brief, runTime)
	if err != nil || again.Texts[0] != brief[0].Text || again.Texts[1] != brief[1].Text {
		t.Errorf("%q, %v", again.Texts, err)
	}
	again.Drop()
	if files := tree(t, string(d)); len(files) != 1 {
		t.Errorf("left %q", files)
	}
}

// TestShorteningEnds: who interrupts it gets no texts, and nothing is left.
func TestShorteningEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := Dir(t.TempDir())
	if s, err := d.Shorten(ctx, 10, 10, passages(), runTime); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", s, err)
	}
	if files := tree(t, string(d)); len(files) != 0 {
		t.Errorf("left %q", files)
	}
}
