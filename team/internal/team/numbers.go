package team

import "slices"

// numbers is a set of sequence numbers, as runs: those of a session have few
// holes, so a million of them take no room.
type numbers []run

type run struct{ lo, hi uint64 }

// add puts a number in; false where it is there already.
func (n *numbers) add(x uint64) bool {
	l := *n
	// Nearly always it is the next one.
	if k := len(l); k > 0 && l[k-1].hi+1 == x {
		l[k-1].hi = x
		return true
	}
	i, found := slices.BinarySearchFunc(l, x, func(r run, x uint64) int {
		switch {
		case r.hi < x:
			return -1
		case r.lo > x:
			return 1
		}
		return 0
	})
	if found {
		return false
	}
	left, right := i > 0 && l[i-1].hi+1 == x, i < len(l) && l[i].lo == x+1
	switch {
	case left && right:
		l[i-1].hi = l[i].hi
		l = slices.Delete(l, i, i+1)
	case left:
		l[i-1].hi = x
	case right:
		l[i].lo = x
	default:
		l = slices.Insert(l, i, run{x, x})
	}
	*n = l
	return true
}

func (n numbers) has(x uint64) bool {
	return slices.ContainsFunc(n, func(r run) bool { return r.lo <= x && x <= r.hi })
}

// missing counts the numbers between the first and the last that are not there.
func (n numbers) missing() (count uint64) {
	for i := 1; i < len(n); i++ {
		count += n[i].lo - n[i-1].hi - 1
	}
	return count
}

func (n numbers) count() (count uint64) {
	for _, r := range n {
		count += r.hi - r.lo + 1
	}
	return count
}

// Seen is the ids that a reader has had.
type Seen map[string]*numbers

// add reports whether the event is new.
func (s Seen) add(e Event) bool {
	return s.of(e.Machine + "/" + e.Session).add(e.Seq)
}

func (s Seen) of(key string) *numbers {
	if s[key] == nil {
		s[key] = &numbers{}
	}
	return s[key]
}
