package transcript

// Pair is a tool call, its results and where they are: the unit in which tools
// are removed. A call may lack a result.
type Pair struct {
	id      key
	Call    int32   // position in the view
	Entries []int32 // entries that hold the call or a result
}

// Pairs lists the tool calls of a view in its order. Results count wherever
// they are in the file.
func (s *Session) Pairs(view []int32) []Pair {
	where := map[key][]int32{}
	for i := range s.Entries {
		for _, t := range s.toolsOf(i) {
			if t.result {
				where[t.id] = append(where[t.id], int32(i))
			}
		}
	}
	var pairs []Pair
	seen := map[key]int{}
	for n, i := range view {
		for _, t := range s.toolsOf(int(i)) {
			if t.result {
				continue
			}
			if at, ok := seen[t.id]; ok {
				pairs[at].Entries = append(pairs[at].Entries, i)
				continue
			}
			seen[t.id] = len(pairs)
			pairs = append(pairs, Pair{t.id, int32(n), append([]int32{i}, where[t.id]...)})
		}
	}
	return pairs
}

// Removable reports whether a pair's entries hold nothing else and no
// compaction names them, so that they can go as a whole.
func (s *Session) Removable(p Pair) bool {
	for _, i := range p.Entries {
		e := &s.Entries[i]
		if e.Has(Preserved) || e.Text > 0 || e.Has(Thinking) || len(s.toolsOf(int(i))) != 1 {
			return false
		}
	}
	return true
}
