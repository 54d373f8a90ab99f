package transcript

import (
	"cmp"
	"slices"
)

// Live lists the entries that the host would put before the model on resume,
// in that order, as indexes into Entries.
//
// Claude Code: from the last entry of the main thread up to its root or to the
// first compaction, which is included. Messages that the last compaction kept
// hang under its summary, though their parents lead into the old history. Where
// a parent is missing the host takes the entry just before in time, and so does
// this. One answer is spread over several entries and every parallel call has
// its result under its own entry, so a walk over parents misses some of both;
// they are joined by message id and tool id. All this was compared with the
// requests that Claude Code 2.1.197 sends on resume.
//
// Codex: the items after the last compaction (which is included), without turns
// that were rolled back.
func (s *Session) Live() []int32 { return s.live.list }

// liveChain is the context that the host would resume, found once when the file
// was read.
type liveChain struct {
	list   []int32
	end    int32           // where a resumed session goes on
	prev   []int32         // by entry of the chain: the one before it, as the host links them
	joined map[int32]int32 // entries outside the chain → the message they belong to
}

// rescueWindow is how far before an entry with a lost parent Claude Code looks
// for another one to go on from.
const rescueWindow = 5000

// notInChain marks entries for which the chain has no predecessor to tell.
const notInChain = -3

func (s *Session) liveClaude() liveChain {
	w := s.newWalk()
	c := liveChain{list: []int32{}, end: w.leaf()}
	if c.end < 0 {
		return c
	}
	seen := make([]bool, len(s.Entries))
	c.prev = make([]int32, len(s.Entries))
	for i := range c.prev {
		c.prev[i] = notInChain
	}
	for i := c.end; i >= 0; {
		seen[i] = true
		c.list = append(c.list, i)
		if s.Entries[i].Kind == Boundary {
			break
		}
		p := w.parent(i)
		if p == dangling || p >= 0 && seen[p] {
			p = w.rescue(i, seen)
		}
		c.prev[i] = p
		i = p
	}
	slices.Reverse(c.list)
	w.join(&c, seen)
	return c
}

// walk is the tree as the host sees it after the last compaction's overrides.
type walk struct {
	s      *Session
	links  map[int32]int32 // parents that the last compaction overrides
	pruned int32           // entries before this one are gone, unless preserved
	tail   int32           // the last preserved entry, or -1
	byTime []int32         // nodes in order of time, made when first needed
}

func (s *Session) newWalk() *walk {
	w := &walk{s: s, tail: -1}
	p := &s.preserved
	if !p.any {
		return w
	}
	if !p.set {
		// An earlier compaction kept messages, the last one kept none.
		w.pruned = p.boundary
		return w
	}
	list := p.list
	if len(list) == 0 {
		if list = s.segment(p); list == nil {
			return w
		}
	}
	for _, i := range list {
		if i < 0 || s.Entries[i].Kind == Progress {
			// The host gives up on the whole list when a part is missing.
			return w
		}
	}
	if len(list) == 0 {
		w.pruned = p.boundary
		return w
	}
	w.links = map[int32]int32{}
	last := s.at(p.anchor)
	if last < 0 {
		last = dangling
	}
	for _, i := range list {
		w.links[i] = last
		last = i
	}
	w.tail = last
	if anchor := s.at(p.anchor); anchor >= 0 {
		for i := range s.Entries {
			if w.raw(int32(i)) == anchor && int32(i) != list[0] {
				w.links[int32(i)] = w.tail
			}
		}
	}
	w.pruned = p.boundary
	return w
}

// segment walks a preserved segment that is given by its ends only.
func (s *Session) segment(p *preservedSegment) []int32 {
	var list []int32
	w := walk{s: s}
	head := s.at(p.head)
	for i, steps := s.at(p.tail), 0; i >= 0 && steps <= len(s.Entries); i, steps = w.raw(i), steps+1 {
		list = append(list, i)
		if i == head {
			slices.Reverse(list)
			return list
		}
	}
	return nil
}

func (s *Session) at(k key) int32 {
	if i, ok := s.nodes[k]; ok {
		return i
	}
	return -1
}

// raw is the parent as written, passing over progress entries, which the host
// drops.
func (w *walk) raw(i int32) int32 {
	if p, ok := w.links[i]; ok {
		return p
	}
	p := w.s.Entries[i].Parent
	for steps := 0; p >= 0 && w.s.Entries[p].Kind == Progress; steps++ {
		if steps > len(w.s.Entries) {
			return dangling
		}
		p = w.s.Entries[p].Parent
	}
	return p
}

func (w *walk) gone(i int32) bool { return i < w.pruned && !w.s.Entries[i].Has(Preserved) }

func (w *walk) parent(i int32) int32 {
	p := w.raw(i)
	if p < 0 || !w.gone(p) {
		return p
	}
	if k := w.s.Entries[i].Kind; w.tail >= 0 && (k == User || k == Assistant) {
		return w.tail
	}
	return dangling
}

func (w *walk) node(i int32) bool {
	e := &w.s.Entries[i]
	return e.Has(Node) && e.Kind != Progress && !w.gone(i)
}

// leaf is where a resumed session goes on: the last entry of the main thread in
// the file, taken back to its nearest message; but where the host noted another
// one (a rewind) and the last entry does not descend from it, that one.
func (w *walk) leaf() int32 {
	s := w.s
	last := int32(-1)
	for i := len(s.Entries) - 1; i >= 0; i-- {
		if w.node(int32(i)) && !s.Entries[i].Has(Sidechain) {
			last = int32(i)
			break
		}
	}
	noted := int32(-1)
	if s.leaf.set {
		if s.leaf.cleared && s.leaf.explicit {
			return -1
		}
		if noted = s.at(s.leaf.id); noted >= 0 && !w.node(noted) {
			noted = -1
		}
	}
	if noted >= 0 && (!s.leaf.explicit || s.Entries[noted].Has(Sidechain)) && w.descends(last, noted) {
		noted = -1
	}
	if w.tail >= 0 && noted >= 0 && !s.leaf.explicit && !w.childless(noted) {
		// After a compaction that kept messages only a true leaf is believed.
		noted = -1
	}
	for _, i := range [...]int32{noted, last} {
		if m := w.message(i); m >= 0 {
			return m
		}
	}
	return -1
}

func (w *walk) descends(i, from int32) bool {
	for steps := 0; i >= 0 && steps <= len(w.s.Entries); steps++ {
		if i == from {
			return true
		}
		i = w.parent(i)
	}
	return false
}

func (w *walk) childless(i int32) bool {
	for j := range w.s.Entries {
		if k := w.s.Entries[j].Kind; (k == User || k == Assistant) && w.node(int32(j)) && w.parent(int32(j)) == i {
			return false
		}
	}
	return true
}

// message is the nearest message at or above i, or -1.
func (w *walk) message(i int32) int32 {
	for steps := 0; i >= 0 && steps <= len(w.s.Entries); steps++ {
		if k := w.s.Entries[i].Kind; k == User || k == Assistant {
			return i
		}
		i = w.parent(i)
	}
	return -1
}

// rescue finds what the host goes on from when a parent is missing: the entry
// of the same thread that is nearest in time, at most five seconds earlier.
func (w *walk) rescue(i int32, seen []bool) int32 {
	s := w.s
	t := s.Entries[i].Time
	if t == 0 {
		return noParent
	}
	if w.byTime == nil {
		for j := range s.Entries {
			if s.Entries[j].Time != 0 && w.node(int32(j)) {
				w.byTime = append(w.byTime, int32(j))
			}
		}
		slices.SortStableFunc(w.byTime, func(a, b int32) int { return cmp.Compare(s.Entries[a].Time, s.Entries[b].Time) })
	}
	n, _ := slices.BinarySearchFunc(w.byTime, t+1, func(j int32, t int64) int { return cmp.Compare(s.Entries[j].Time, t) })
	best := int32(noParent)
	for n--; n >= 0; n-- {
		j := w.byTime[n]
		e := &s.Entries[j]
		if t-e.Time > rescueWindow || best >= 0 && e.Time < s.Entries[best].Time {
			break
		}
		if !seen[j] && e.Has(Sidechain) == s.Entries[i].Has(Sidechain) {
			best = j // of equals the first in the file: the sort is stable and this goes backwards
		}
	}
	return best
}

// join adds the entries of the chain's messages that the walk missed: each
// message's other parts, then the results of its calls, behind the last part
// that the chain holds. The host writes one entry per content block, all with
// the message's id, and hangs the result of each parallel call under its own
// block; so only one of them lies on the way from leaf to root.
func (w *walk) join(c *liveChain, seen []bool) {
	j := joiner{walk: w, seen: seen, last: map[int32]int32{}, calls: map[key]int32{}, missed: map[int32][]int32{}}
	j.read(c.list)
	if len(j.last) == 0 {
		return
	}
	j.parts()
	j.results()
	if len(j.missed) > 0 {
		j.insert(c)
	}
}

type joiner struct {
	*walk
	seen   []bool
	last   map[int32]int32   // message → its last entry in the chain
	calls  map[key]int32     // call without a result so far → message
	missed map[int32][]int32 // message → its entries outside the chain
}

// open reports whether an entry is still to be placed.
func (j *joiner) open(i int) bool { return !j.seen[i] && j.node(int32(i)) }

func (j *joiner) take(i int, msg int32) {
	j.seen[i] = true
	j.missed[msg] = append(j.missed[msg], int32(i))
}

func (j *joiner) noteCalls(i int32) {
	for _, t := range j.s.toolsOf(int(i)) {
		if !t.result {
			j.calls[t.id] = j.s.Entries[i].msg
		}
	}
}

func (j *joiner) read(chain []int32) {
	for _, i := range chain {
		if e := &j.s.Entries[i]; e.Kind == Assistant && e.msg > 0 {
			j.last[e.msg] = i
			j.noteCalls(i)
		}
	}
	for _, i := range chain {
		for _, t := range j.s.toolsOf(int(i)) {
			if t.result {
				delete(j.calls, t.id)
			}
		}
	}
}

func (j *joiner) parts() {
	for i := range j.s.Entries {
		e := &j.s.Entries[i]
		if e.Kind != Assistant || e.msg == 0 || !j.open(i) {
			continue
		}
		if _, ok := j.last[e.msg]; ok {
			j.take(i, e.msg)
			j.noteCalls(int32(i))
		}
	}
}

// results takes the results that hang under those messages or answer one of
// their calls.
func (j *joiner) results() {
	for i := range j.s.Entries {
		if e := &j.s.Entries[i]; e.Kind == User && e.Has(ToolResult) && j.open(i) {
			if msg, ok := j.answers(i); ok {
				j.take(i, msg)
			}
		}
	}
}

// answers finds the message that a result belongs to: its parent's, else that of
// the call it names. The call alone does not bring in a sub-agent's entry.
func (j *joiner) answers(i int) (msg int32, ok bool) {
	s := j.s
	if p := j.parent(int32(i)); p >= 0 && s.Entries[p].Kind == Assistant && j.seen[p] {
		msg = s.Entries[p].msg
		_, ok = j.last[msg]
	}
	for _, t := range s.toolsOf(i) {
		if m, called := j.calls[t.id]; called && (ok || !s.Entries[i].Has(Sidechain)) {
			if !ok {
				msg, ok = m, true
			}
			delete(j.calls, t.id)
		}
	}
	return msg, ok
}

// insert puts what was missed behind the last part of its message.
func (j *joiner) insert(c *liveChain) {
	c.joined = map[int32]int32{}
	out := make([]int32, 0, len(c.list)+len(j.missed))
	for _, i := range c.list {
		out = append(out, i)
		msg := j.s.Entries[i].msg
		if msg == 0 || j.last[msg] != i {
			continue
		}
		for _, m := range j.missed[msg] {
			c.joined[m] = msg
			out = append(out, m)
		}
	}
	c.list = out
}

func (s *Session) liveCodex() []int32 {
	live := []int32{}
	rolled := s.rolled
	for i := range s.Entries {
		e := &s.Entries[i]
		for len(rolled) > 0 && rolled[0].entry == int32(i) {
			live = s.dropTurns(live, rolled[0].turns)
			rolled = rolled[1:]
		}
		switch e.Kind {
		case Boundary:
			live = append(live[:0], int32(i))
		case User, Assistant, System, Call, Output, Reasoning:
			live = append(live, int32(i))
		}
	}
	return live
}

func (s *Session) dropTurns(live []int32, turns int64) []int32 {
	for n := len(live) - 1; n >= 0 && turns > 0; n-- {
		if s.Entries[live[n]].Has(TurnStart) {
			live = live[:n]
			turns--
		}
	}
	return live
}

// All lists every entry in file order: the view of the whole file.
func (s *Session) All() []int32 {
	all := make([]int32, len(s.Entries))
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// Turns cuts a list of entries into turns. A turn begins at a prompt and runs
// to the entry before the next; what precedes the first belongs to none.
func (s *Session) Turns(view []int32) []Turn {
	turns := []Turn{}
	for n, i := range view {
		// A rollout that was compacted in mid-turn goes on without a prompt.
		resumed := !chained(s.Host) && n == 1 && s.Entries[view[0]].Kind == Boundary
		if s.Entries[i].Has(TurnStart) || resumed {
			if len(turns) > 0 {
				turns[len(turns)-1].End = n - 1
			}
			turns = append(turns, Turn{Start: n})
		}
	}
	if len(turns) > 0 {
		turns[len(turns)-1].End = len(view) - 1
	}
	return turns
}
