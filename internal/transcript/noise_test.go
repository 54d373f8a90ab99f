package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a host keeps of its requests is not conversation: whole lines of those
// types are left out, counted from where the last count ended and in bounded
// steps; half a line waits.
func TestCountNoise(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	said := `{"type":"user","message":{"role":"user","content":"\"type\":\"api-request-blob\""}}` + "\n"
	blob := `{"type":"api-request-blob","hash":"x","data":"` + strings.Repeat("y", 500) + `"}` + "\n"
	shape := `{"type":"api-request-shape","n":1}` + "\n"
	snap := `{"type":"prompt_snapshot","n":1}` + "\n"
	text := said + blob + said + shape + snap + said + blob[:40]
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := int64(len(blob) + len(shape) + len(snap))
	for _, within := range []int64{700, 1 << 20} {
		var size, read int64
		for range 20 {
			n, at, err := CountNoise(path, read, within)
			if err != nil {
				t.Fatal(err)
			}
			size, read = size+n, at
		}
		if size != want || read != int64(len(text)-40) {
			t.Errorf("within %d: %d bytes up to %d, want %d up to %d", within, size, read, want, len(text)-40)
		}
	}
}

// What came after the last usage is counted by what the model reads of it.
func TestGrowth(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	lines := []string{
		`{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", 5000) + `"}}`,
		`{"type":"assistant","timestamp":"2026-01-01T00:00:01.000Z","version":"2.1.325","message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}],"usage":{"input_tokens":10}}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"` + strings.Repeat("y", 900) + `"},{"type":"image","source":{"data":"` + strings.Repeat("z", 90000) + `"}}]},"toolUseResult":"` + strings.Repeat("y", 900) + `"}`,
		`{"type":"api-request-blob","data":"` + strings.Repeat("y", 9000) + `"}`,
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if size, seen := Growth(path, "t1"); size != 900+pictureSize || !seen {
		t.Errorf("grown by %d, seen %v", size, seen)
	}
	if _, seen := Growth(path, "t2"); seen {
		t.Error("a result that is not there was seen")
	}
	// What was said before a compaction is no growth since.
	lines = append(lines[:3], `{"type":"system","subtype":"compact_boundary","uuid":"b"}`, `{"type":"user","message":{"role":"user","content":"`+strings.Repeat("s", 70)+`"}}`)
	compacted := write(t, lines...)
	if size, seen := Growth(compacted, "t1"); size != 70 || seen {
		t.Errorf("since a compaction grown by %d, seen %v", size, seen)
	}
	if v := Version(path); v != "2.1.325" {
		t.Errorf("version %q", v)
	}
	if _, calling := Calling(path); calling {
		t.Error("its tools have answered")
	}
}
