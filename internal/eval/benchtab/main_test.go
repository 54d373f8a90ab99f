package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const printed = `== internal/store
BenchmarkLatest-2      	     200	         0 ns/op	        12.50 µs-1000	         1.100 ratio
BenchmarkUpdate/emit-2 	     200	     15000 ns/op
`

func TestPageIsReadBack(t *testing.T) {
	t.Parallel()
	rows, err := parse(strings.NewReader(printed))
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	again := read(page(rows, "a machine", time.Now()))
	if !slices.Equal(rows, again) {
		t.Errorf("%v, want %v", again, rows)
	}
	if p := compare(rows, again); len(p) > 0 {
		t.Error(p)
	}
	slow := slices.Clone(rows)
	slow[0].Value *= 10 // no ratio
	if p := compare(rows, slow); len(p) > 0 {
		t.Error(p)
	}
	slow[1].Value *= 1.3
	if p := compare(rows, slow); len(p) != 1 || !strings.Contains(p[0], "Latest") {
		t.Error(p)
	}
	if p := compare(rows, rows[:1]); len(p) != 1 {
		t.Error(p)
	}
}
