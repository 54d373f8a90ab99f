package terminal

import (
	"fmt"
	"strings"
	"time"
)

// Bar is a progress line; without a terminal it is silent.
type Bar struct {
	t           *Terminal
	on          bool
	begin, last time.Time
	wait        time.Duration
	width       int
}

// NewBar begins a progress line that shows only after wait: one that nobody has
// time to read is a flicker.
func (t *Terminal) NewBar(wait time.Duration) *Bar {
	return &Bar{t: t, on: !t.JSON && t.Decorated(t.Stderr), begin: t.Now(), wait: wait}
}

// Update shows that so much of a total is done. The line is made of the drawing
// and of how long it has taken so far.
func (b *Bar) Update(done, total int64, line func(drawn string, took time.Duration) string) {
	if !b.on || total == 0 {
		return
	}
	now := b.t.Now()
	took := now.Sub(b.begin)
	if took < b.wait || done < total && now.Sub(b.last) < 100*time.Millisecond {
		return
	}
	b.last = now
	draw := func(cells int64) string {
		full := min(cells, cells*done/total)
		return line("["+strings.Repeat("█", int(full))+strings.Repeat("░", int(cells-full))+"]", took)
	}
	const most = 24
	text := draw(most)
	// A line that breaks cannot be drawn over.
	if room := b.t.Width(b.t.Stderr); Columns(text) >= room {
		text = Cut(draw(max(0, int64(most+room-1-Columns(text)))), room-1)
	}
	pad := max(0, b.width-Columns(text))
	b.width = Columns(text)
	fmt.Fprint(Raw(b.t.Stderr), "\r"+oneLine(text)+strings.Repeat(" ", pad))
}

// Clear takes the line away.
func (b *Bar) Clear() {
	if b.width > 0 {
		fmt.Fprint(Raw(b.t.Stderr), "\r"+strings.Repeat(" ", b.width)+"\r")
	}
}
