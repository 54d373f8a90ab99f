package compress

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Builtin is the provider that needs no model and no network. It keeps whole
// sentences, list items, table rows and lines of code, as they stand and in
// their order, and adds nothing. The target holds for a band, not for each
// message: the space goes where it is worth most, and a message of which nothing
// is kept becomes a short mark that recall takes.
type Builtin struct {
	Weights *Weights // nil for those that are tuned
}

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
func (b Builtin) prepare(ctx context.Context, jobs []job, percent func(job) int, load func(int) (string, error)) (Provider, error) {
	type read struct {
		text  string
		units []extract.Unit
	}
	w := Tuned()
	if b.Weights != nil {
		w = *b.Weights
	}
	s := newSelection(w, jobs, percent)
	err := ahead(ctx, jobs, func(n int) (read, error) {
		text, err := load(n)
		if err != nil {
			return read{}, err
		}
		return read{text, unitsOf(text, func() bool { return ctx.Err() == nil })}, ctx.Err()
	}, func(n int, r read) error {
		s.read(n, r.text, r.units)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.choose(ctx)
}

type chosen struct {
	pieces []piece // of all jobs, one job after another
	first  []int32 // by job: its first piece; one more at the end
	gone   []extract.Losses
	runs   []int // by job: how many messages its mark stands for, 0 where that before it does
}

// piece is a unit that is kept, and what joins it to the one before.
type piece struct {
	start, end int32
	join       byte
	rest       int32 // lines of a fence that are left out, -1 for what is no part of one
}

// asItStood joins two neighbours by what stood between them, apart by a blank line; leftOut
// stands for items of a list of which others are kept; what is named in brackets behind it
// stands in none of the units that are kept.
const asItStood, apart, leftOut, firstName, nextName, noMoreNames = '=', '¶', '.', '(', ',', ')'

func (*chosen) Name() string { return Builtin{}.Name() }

// preparer is implemented by a provider that looks at all texts of a run before
// it shortens the first. Its results depend on each other, so none is taken from
// a cache, and asking again is useless.
type preparer interface {
	prepare(ctx context.Context, jobs []job, percent func(job) int, load func(int) (string, error)) (Provider, error)
}

func (c *chosen) Compress(_ context.Context, r Request) (Reply, error) {
	kept := c.pieces[c.first[r.job]:c.first[r.job+1]]
	reply := Reply{gone: &c.gone[r.job]}
	switch {
	case len(kept) > 0:
		reply.Text = write(r.Text, kept)
	case message.Units(r.Text) <= markUnits:
		reply.Text = r.Text
	case c.runs[r.job] == 0 && !r.alone:
		reply.Text = markAgain
	default:
		reply.Text = r.mark()
		if n := c.runs[r.job]; n > 1 && !r.alone && message.Units(r.Text) > 2*markUnits {
			reply.Text += timesSign + strconv.Itoa(n)
		}
	}
	return reply, nil
}

// write joins the kept units: by what stood between them where they follow each
// other in a line, else by a blank or a new line.
func write(text string, kept []piece) string {
	b := make([]byte, 0, len(text)/2)
	for i, p := range kept {
		switch p.join {
		case 0:
		case asItStood:
			b = append(b, text[kept[i-1].end:p.start]...)
		case apart:
			b = append(b, "\n\n"...)
		case firstName:
			b = append(b, " ("...)
		case nextName:
			b = append(b, ", "...)
		case leftOut:
			b = append(b, "\n…"...)
		default:
			b = append(b, p.join)
		}
		if from := strings.LastIndexByte(text[:p.start], '\n') + 1; i > 0 && (p.join == apart || p.join == '\n') && strings.Trim(text[from:p.start], " ") == "" {
			b = append(b, text[from:p.start]...) // an item of an item stays one
		}
		b = append(b, text[p.start:p.end]...)
		if p.rest > 0 {
			mark := text[p.start:p.end]
			mark = mark[:len(mark)-len(strings.TrimLeft(mark, mark[:1]))]
			b = fmt.Appendf(b, "\n… +%d lines\n%s", p.rest, mark)
		}
	}
	return string(b)
}

// mark stands for a message of which nothing was kept: the first eight digits of
// its text's SHA-256, which recall takes. It is short because at ten percent a
// mark of 36 characters instead of 18 costs a quarter of what could be kept.
func (r *Request) mark() string {
	hash := r.hash
	if hash == [sha256.Size]byte{} {
		hash = sha256.Sum256([]byte(r.Text))
	}
	return markSign + hex.EncodeToString(hash[:4])
}

const markSign = "…#"

// timesSign precedes how many messages a mark stands for that stands for several.
const timesSign = " ×"

// markAgain stands for a message of which nothing was kept, behind one of the same turn of
// which nothing was kept either: the digits of the mark before it print both.
const markAgain = "…"

const markUnits = 10
