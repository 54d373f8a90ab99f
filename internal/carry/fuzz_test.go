package carry

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Whatever the bytes of a session are, what can be told of it is written in every agent's
// format as JSON, and what is whole of it ends where a line does.
func FuzzCarry(f *testing.F) {
	for _, s := range samples.Small() {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	world := World{Dir: func(_, usual string) string { return filepath.Join(dir, usual) }}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "s.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, h := range []transcript.Host{transcript.Claude, transcript.Codex, transcript.Copilot} {
			file := transcript.File{Path: path, ID: "s", Host: h, Size: int64(len(data))}
			turns, err := LastWhole(t.Context(), file)
			if err == nil && (turns.End < 0 || turns.End > file.Size || turns.End > 0 && turns.End < file.Size && data[turns.End-1] != '\n') {
				t.Errorf("%s: the last whole turn ends at %d of %d", h, turns.End, file.Size)
			}
			story, err := Read(t.Context(), file, file.Size)
			if err != nil {
				continue
			}
			told, err := story.Tell(t.Context(), Options{From: "x", Lang: message.EN, Now: midday, Keep: 10})
			if err != nil {
				t.Fatal(err)
			}
			if told.Messages == 0 {
				continue
			}
			for _, target := range Targets() {
				out, err := target.write(world, told.Talk)
				if err != nil {
					t.Fatalf("%s: %v", target.Name, err)
				}
				for line := range bytes.Lines(out) {
					if !json.Valid(line) && !json.Valid(out) {
						t.Errorf("%s in %s: %q", h, target.Name, line)
					}
				}
			}
		}
	})
}
