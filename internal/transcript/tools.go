package transcript

import "slices"

// CallID stands for the id of a tool call.
type CallID struct{ k key }

// Pair is a tool call and its results: the unit in which tools are removed. A
// call may lack a result.
type Pair struct {
	ID      CallID
	Call    int     // position in the view
	Entries []int32 // entries that hold the call or a result
}

// Pairs lists the tool calls of a view in its order. What belongs to a call
// counts wherever it is in the file: an answer may hang on a dead branch, and a
// copied history repeats the ids.
func (s *Session) Pairs(view []int32) []Pair {
	var pairs []Pair
	at := map[key]int{}
	for n, i := range view {
		for _, t := range s.toolsOf(int(i)) {
			if _, known := at[t.id]; !t.result && !known {
				at[t.id] = len(pairs)
				pairs = append(pairs, Pair{ID: CallID{t.id}, Call: n})
			}
		}
	}
	for i := range s.Entries {
		for _, t := range s.toolsOf(i) {
			if n, ok := at[t.id]; ok {
				pairs[n].Entries = append(pairs[n].Entries, int32(i))
			}
		}
	}
	return pairs
}

// Fixed reports whether a compaction names one of the pair's entries as kept:
// such an entry has to stay where it is.
func (s *Session) Fixed(p Pair) bool {
	return slices.ContainsFunc(p.Entries, func(i int32) bool { return s.Entries[i].Has(Named) })
}

// Spoken reports whether the pair holds words of the user's: his answer to what the tool
// asked, or what he said while refusing it.
func (s *Session) Spoken(p Pair) bool {
	return slices.ContainsFunc(p.Entries, func(i int32) bool { return s.Entries[i].Has(Spoken) })
}

// CallIDOf is the id of the first call or result in an entry.
func (s *Session) CallIDOf(i int) CallID {
	if t := s.toolsOf(i); len(t) > 0 {
		return CallID{t[0].id}
	}
	return CallID{}
}
