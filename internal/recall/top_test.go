package recall

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Which documents are among the best does not depend on the order in which they are
// met, also where many are worth the same.
func TestTopOfEquals(t *testing.T) {
	t.Parallel()
	var all []scored
	for i := range 5 * recordsRead {
		all = append(all, scored{score: float64(1 + i%3), n: uint32(i / 7), file: &file{path: fmt.Sprint(i % 7)}})
	}
	kept := func() []string {
		var best top
		for _, c := range all {
			best.add(c)
		}
		var names []string
		for _, c := range best.best() {
			names = append(names, fmt.Sprint(c.score, c.file.path, c.n))
		}
		slices.Sort(names)
		return names
	}
	want := kept()
	for range 20 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := kept(); !slices.Equal(got, want) {
			t.Fatal("another order has other best ones")
		}
	}
}
