package message

// The contract counts text in UTF-16 units, as the origins' language does.

// Units is the length of s in UTF-16 units.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Cut is the beginning of s, at most n UTF-16 units long and never ending inside
// a surrogate pair.
func Cut(s string, n int) string {
	units := 0
	for i, r := range s {
		w := 1
		if r > 0xFFFF {
			w = 2
		}
		if units+w > n {
			return s[:i]
		}
		units += w
	}
	return s
}
