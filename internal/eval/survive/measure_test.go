package main

import (
	"strings"
	"testing"
)

// The made-up corpus has everything that the measure needs, and a hand-over
// helps on it.
func TestMeasureOnMadeUpSessions(t *testing.T) {
	t.Parallel()
	var list []*compaction
	for name, data := range corpus() {
		cs, err := recorded(name, data)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, cs...)
	}
	if len(list) != 6 {
		t.Fatalf("%d compactions", len(list))
	}
	summary := share(list, nil, func(c *compaction) []string { return []string{c.summary} })
	both := share(list, nil, func(c *compaction) []string { return []string{c.summary, c.handover(0).Text()} })
	if summary <= 0 || summary >= both || both < 0.9 {
		t.Errorf("summary %.2f, with hand-over %.2f", summary, both)
	}
}

// needed counts what is used from memory: known before, used in a tool input,
// and not told again before that.
func TestNeeded(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"user","uuid":"1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"about oldName toldName usedName inputName"}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"2","timestamp":"2026-01-01T00:00:00.000Z"}`,
		`{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-01-01T00:00:00.000Z","isCompactSummary":true,"message":{"role":"user","content":"a summary of usedName"}}`,
		`{"type":"user","uuid":"4","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"take toldName"}}`,
		`{"type":"assistant","uuid":"5","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"I use spokenName"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"run toldName usedName inputName newName"}}]}}`,
		`{"type":"assistant","uuid":"6","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"Bash","input":{"command":"run usedName inputName"}}]}}`,
	}
	list, err := recorded("s", []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	var got []string
	for _, n := range list[0].needed {
		got = append(got, n.text)
	}
	if strings.Join(got, " ") != "usedName inputName" {
		t.Errorf("needed: %v", got)
	}
	if n, of := list[0].covered(nil, list[0].summary); n != 1 || of != 2 {
		t.Errorf("covered %d of %d", n, of)
	}
}
