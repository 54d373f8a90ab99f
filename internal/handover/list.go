package handover

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// One rule ranks names, by what each is worth for the room that it takes: a tool's input
// that holds it counts four times as much as any other piece, each piece the less the more
// names it holds, and what was met last when the slice began half of what was met last at
// its end. Every finer rule that was tried helped the sessions it was made on and hurt
// others; `make eval` shows what a change does.
const worthTyped = 4

// worth is how likely a name is to be needed again, for each character of it.
func (r *Record) worth(e *nameStat) float64 {
	age := float64(r.size-e.last) / float64(max(1, r.size))
	return e.count * math.Exp2(-age) / float64(len(e.text)+1)
}

// ranked are the names that stated does not know, best first.
func (r *Record) ranked(stated func(string) bool) []string {
	r.names.share()
	list := make([]*nameStat, 0, len(r.names.list))
	for i := range r.names.list {
		if e := &r.names.list[i]; !e.secret {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *nameStat) int {
		return cmp.Or(cmp.Compare(r.worth(b), r.worth(a)), strings.Compare(a.text, b.text))
	})
	var out []string
	for _, e := range list {
		if !stated(e.text) {
			out = append(out, r.written(e))
		}
	}
	return out
}

// written is a name as it stands in the hand-over. A file has its folder only where two
// files share the name.
func (r *Record) written(e *nameStat) string {
	files := r.byBase[e.text]
	if len(files) < 2 {
		return e.text
	}
	best := slices.MaxFunc(files, func(a, b int32) int { return cmp.Compare(r.files[a].uses(), r.files[b].uses()) })
	return inline(r.files[best].path, 120)
}

func (f *touched) uses() int32 { return f.reads + 3*f.writes }

// Lacking is the names that a text does not state, under a title, the best that fit into
// the room; a name that does not fit is passed over.
func (r *Record) Lacking(states func(name string) bool, title message.Text, room int, l message.Lang) string {
	r.rebase()
	head := "## " + title.In(l) + "\n"
	room -= message.Units(head)
	var list []string
	for _, name := range r.ranked(states) {
		if room < shortest {
			break
		}
		if n := message.Units(name) + 1; n <= room && !slices.Contains(list, name) && !secretName(name) {
			list = append(list, name)
			room -= n
		}
	}
	if len(list) == 0 {
		return ""
	}
	return head + strings.Join(list, " ")
}

// shortest is the room below which no name is looked for.
const shortest = 6

// secretName reports what only looks like a name.
func secretName(name string) bool {
	_, found := redact.Text(name)
	return len(found) > 0
}

// Top is the names that are most likely to be needed again, stated elsewhere or not.
func (r *Record) Top(n int) []string {
	list := r.ranked(func(string) bool { return false })
	return list[:min(n, len(list))]
}

func folderOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }
