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
	for _, w := range ways() {
		if _, err := list[0].shrunk(w); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
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

// TestRemembered: what nobody has to remember is told apart: a name of a library, unless
// the project has one of that name, and one that an edit defines.
func TestRemembered(t *testing.T) {
	t.Parallel()
	call := func(id, input string) string {
		return `{"type":"assistant","uuid":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t` + id + `","name":"Edit","input":` + input + `}]}}`
	}
	lines := []string{
		`{"type":"user","uuid":"1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"WriteString, func OpenFile, maxRows lastRow rowCount keptRow readRows newTable foundRow"}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"2","timestamp":"2026-01-01T00:00:00.000Z"}`,
		`{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-01-01T00:00:00.000Z","isCompactSummary":true,"message":{"role":"user","content":"a summary"}}`,
		call("4", `{"old_string":"keptRow := 1","new_string":"keptRow := 2\nmaxRows, err := rowCount(lastRow)\nvar newTable = OpenFile(WriteString)"}`),
		call("5", `{"pattern":"func readRows"}`),
		call("6", `{"content":"foundRow = call(); a := 1"}`),
	}
	list, err := recorded("s", []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	var got []string
	for _, n := range list[0].needed {
		switch {
		case n.library:
			got = append(got, n.text+" library")
		case n.coined:
			got = append(got, n.text+" coined")
		default:
			got = append(got, n.text)
		}
	}
	if want := "keptRow,maxRows coined,rowCount,lastRow,newTable coined,OpenFile,WriteString library,readRows,foundRow"; strings.Join(got, ",") != want {
		t.Errorf("%v", got)
	}
}
