package compress

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Passage is one text of a conversation.
type Passage struct {
	User bool
	// Summary is what a compaction left: it has a share of its own.
	Summary bool
	// Amid is true for the agent's where the next one is his, too, in the same turn.
	Amid bool
	Text string
}

// Shortened are the texts of a conversation after [Dir.Shorten], in their order.
type Shortened struct {
	Texts []string
	dir   Dir
	kept  *originalFile
}

// Shorten makes texts shorter with the built-in provider, to so many percent of their
// length together, and summaries to so many of theirs. What they were is kept where marks lead to, once Keep says for which
// session; a folder without a name keeps nothing.
func (d Dir) Shorten(ctx context.Context, percent, summaries int, said []Passage, now time.Time) (*Shortened, error) {
	s := &Shortened{Texts: make([]string, len(said)), dir: d}
	jobs := make([]job, len(said))
	for i, t := range said {
		s.Texts[i] = t.Text
		jobs[i] = job{Role: role(t.User), Level: HeavyCompress, Tokens: EstimateTokens(t.Text), amid: t.Amid}
		if t.Summary {
			jobs[i].Level, jobs[i].band = Compress, 1
		}
	}
	pool := Pool{Concurrency: 1, MaxAttempts: 1, LargeThreshold: largeThreshold, TargetHeavy: percent, TargetStandard: summaries}
	if d != "" {
		pool.Cache = d
		var err error
		if s.kept, err = d.keep("unnamed", now); err != nil {
			return nil, err
		}
	}
	originals := slices.Clone(s.Texts)
	err := pool.work(ctx, Builtin{}, jobs, func(n int) (string, error) { return originals[n], nil }, func(out outcome) error {
		if !Stands(out.Status, out.Text) {
			return nil // it stays as it was
		}
		s.Texts[out.job] = out.Text
		return s.kept.add(out.Original, out.hash, out.Text)
	})
	if err != nil {
		s.Drop()
		return nil, err
	}
	return s, nil
}

// Keep gives the originals their name, that of the session which refers to them.
func (s *Shortened) Keep(session string) error {
	if s.kept == nil {
		return nil
	}
	s.kept.path = s.dir.originalsOf(session)
	return s.kept.done()
}

// Drop forgets the originals.
func (s *Shortened) Drop() {
	if s.kept != nil && s.kept.path == s.dir.originalsOf("unnamed") {
		s.kept.drop()
	}
}

// IsMark reports whether a text is the mark of a message of which nothing was kept.
func IsMark(text string) bool {
	return text == markAgain || markDigits(text) != ""
}

// markDigits are those of a mark, "" for any other text.
func markDigits(text string) string {
	sign, count, several := strings.Cut(text, timesSign)
	digits, ok := strings.CutPrefix(sign, markSign)
	number := several == (count != "") && strings.Trim(count, "0123456789") == ""
	if !ok || !number || len(digits) != markUnits-2 || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return digits
}
