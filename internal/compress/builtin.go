package compress

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Builtin is the provider that needs no model and no network. It keeps whole
// sentences, list items, table rows and lines of code, as they stand and in
// their order, and adds nothing. The target holds for a band, not for each
// message: the space goes where it is worth most, and a message of which nothing
// is kept becomes a short mark that recall takes.
type Builtin struct{}

// Name is how the provider is chosen.
func (Builtin) Name() string { return "builtin" }

// Compress shortens one text that stands for a band of its own.
func (b Builtin) Compress(ctx context.Context, r Request) (Reply, error) {
	p, err := b.prepare(ctx, []job{{Role: r.Role}}, func(job) int { return r.TargetPercent }, func(int) (string, error) { return r.Text, nil })
	if err != nil {
		return Reply{}, err
	}
	r.job = 0
	return p.Compress(ctx, r)
}

// prepare reads all texts once and decides what is kept of each.
func (Builtin) prepare(ctx context.Context, jobs []job, percent func(job) int, load func(int) (string, error)) (Provider, error) {
	s := newSelection(jobs, percent)
	for n := range jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := load(n)
		if err != nil {
			return nil, err
		}
		s.read(n, text)
	}
	return &chosen{kept: s.choose()}, nil
}

// chosen writes what a selection kept.
type chosen struct{ kept [][]int32 } // by job: its units, ascending

func (*chosen) Name() string { return Builtin{}.Name() }

// preparer is implemented by a provider that looks at all texts of a run before
// it shortens the first. Its results depend on each other, so none is taken from
// a cache, and asking again is useless.
type preparer interface {
	prepare(ctx context.Context, jobs []job, percent func(job) int, load func(int) (string, error)) (Provider, error)
}

func (c *chosen) Compress(ctx context.Context, r Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	kept := c.kept[r.job]
	switch {
	case len(kept) == 0 && message.Units(r.Text) <= markUnits:
		return Reply{Text: r.Text}, nil
	case len(kept) == 0:
		return Reply{Text: Mark(r.Text)}, nil
	}
	return Reply{Text: write(r.Text, extract.Split(r.Text), kept)}, nil
}

// write joins the kept units: by what stood between them where they follow each
// other in a line, else by a blank or a new line.
func write(text string, units []extract.Unit, kept []int32) string {
	var b strings.Builder
	for n, i := range kept {
		u := units[i]
		if n > 0 {
			last := units[kept[n-1]]
			switch {
			case last.Line != u.Line:
				b.WriteByte('\n')
			case kept[n-1] == i-1:
				b.WriteString(text[last.End:u.Start])
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(text[u.Start:u.End])
	}
	return b.String()
}

// Mark stands for a message of which nothing was kept: the first eight digits of
// its text's SHA-256, which recall takes. It is short because at ten percent a
// mark of 36 characters instead of 18 costs a quarter of what could be kept.
func Mark(text string) string {
	h := sha256.Sum256([]byte(text))
	return "…#" + hex.EncodeToString(h[:4])
}

// markUnits is the length of a mark.
const markUnits = 10
