package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
)

// The made-up corpus has everything that the measure needs, and a hand-over
// helps on it.
func TestMeasureOnMadeUpSessions(t *testing.T) {
	t.Parallel()
	var list []*compaction
	for name, data := range corpus() {
		cs, err := recorded(t.TempDir(), samples.Session{Path: name, Project: "made-up", Host: "claude"}, data)
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
	if alone, all := share(list, nil, host), share(list, nil, both); alone <= 0 || alone >= all || all < 0.9 || mean(list, nil, both) < 0.9 {
		t.Errorf("summary %.2f, with hand-over %.2f, in the mean %.2f", alone, all, mean(list, nil, both))
	}
	page, err := filled("before\n"+begins+"old\n"+ends+"behind\n", list, nil)
	if err != nil || !strings.HasPrefix(page, "before\n"+begins) || !strings.HasSuffix(page, ends+"behind\n") || strings.Contains(page, "old\n") || !strings.Contains(page, "| made-up | 6 |") {
		t.Errorf("%v\n%s", err, page)
	}
	if _, err := filled("no marks", list, nil); err == nil {
		t.Error("a page without marks was filled")
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
	list, err := recorded(t.TempDir(), samples.Session{Path: "s", Project: "p", Host: "claude"}, []byte(strings.Join(lines, "\n")+"\n"))
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
	if n, of := list[0].covered(nil, list[0].kept); n != 1 || of != 2 {
		t.Errorf("covered %d of %d", n, of)
	}
}

// TestCoined: what an edit or a patch defines nobody has to remember.
func TestCoined(t *testing.T) {
	t.Parallel()
	call := func(id, input string) string {
		return `{"type":"assistant","uuid":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t` + id + `","name":"Edit","input":` + input + `}]}}`
	}
	lines := []string{
		`{"type":"user","uuid":"1","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"maxRows lastRow rowCount keptRow readRows newTable foundRow madeRow leftRow usedRow"}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"2","timestamp":"2026-01-01T00:00:00.000Z"}`,
		`{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-01-01T00:00:00.000Z","isCompactSummary":true,"message":{"role":"user","content":"a summary"}}`,
		call("4", `{"old_string":"keptRow := 1","new_string":"keptRow := 2\nmaxRows, err := rowCount(lastRow)\nvar newTable = 1"}`),
		call("5", `{"pattern":"func readRows"}`),
		call("6", `{"content":"foundRow = call(); a := 1"}`),
		call("7", `{"input":"*** Begin Patch\n func leftRow() {\n+let madeRow = usedRow;\n*** End Patch"}`),
	}
	list, err := recorded(t.TempDir(), samples.Session{Path: "s", Project: "p", Host: "claude"}, []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	var got []string
	for _, n := range list[0].needed {
		got = append(got, n.text)
	}
	if want := "keptRow,rowCount,lastRow,readRows,foundRow,leftRow,usedRow"; strings.Join(got, ",") != want {
		t.Errorf("%v", got)
	}
}

// TestClaim: a name is a project's own where no other owner's session holds it.
func TestClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var sessions []samples.Session
	for i, s := range []struct{ project, text string }{{"a/one", "ownName sharedName"}, {"a/two", "ownName"}, {"b/three", "sharedName"}} {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(s.text), 0o600); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, samples.Session{Path: path, Project: s.project})
	}
	c := &compaction{of: sessions[0], needed: []need{{text: "ownName"}, {text: "sharedName"}}}
	if err := claim([]*compaction{c}, sessions); err != nil || !c.needed[0].own || c.needed[1].own {
		t.Errorf("%+v, %v", c.needed, err)
	}
}

// TestEvalPage: the page about compactions says what is measured today.
func TestEvalPage(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" || len(samples.Corpus()) == 0 {
		t.Skip("set OVERTONE_EVAL=1, with a corpus")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "internals", "compactions.md"))
	if err != nil {
		t.Fatal(err)
	}
	list, cuts, err := sets()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := filled(string(page), list, cuts); err != nil || text != string(page) {
		t.Errorf("make compactions: %v", err)
	}
	in := of(list, "claude", "")
	if stated, size := share(in, nil, both), meanUnits(in, text); stated < 0.93 || size > 5000 {
		t.Errorf("%.3f of the names in %d characters", stated, size)
	}
	for _, p := range projects(in) {
		if one := of(in, "claude", p); wanted(one, nil) >= enough && share(one, nil, both) < 0.86 {
			t.Errorf("%s: %.3f", p, share(one, nil, both))
		}
	}
}
