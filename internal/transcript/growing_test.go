package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who reads while a file is written gets all of it, however late he begins, and
// the writer's error where it breaks off.
func TestGrowingFileIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, end := range map[string]error{"whole": nil, "broken off": broken} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			g := newGrowing(f)
			type got struct {
				b   []byte
				err error
			}
			all := make(chan got)
			read := func() {
				b, err := io.ReadAll(g.reader())
				all <- got{b, err}
			}
			go read()
			var want bytes.Buffer
			for n := range 300 {
				part := []byte(strings.Repeat("x", n*37))
				want.Write(part)
				if _, err := g.Write(part); err != nil {
					t.Fatal(err)
				}
				if n == 150 {
					go read()
				}
			}
			g.end(end)
			go read()
			for range 3 {
				if r := <-all; !errors.Is(r.err, end) || !bytes.Equal(r.b, want.Bytes()) {
					t.Errorf("%d of %d bytes, %v", len(r.b), want.Len(), r.err)
				}
			}
		})
	}
}

// A clone that cannot be written to its end, or is interrupted on the way, ends
// those who read it, and leaves nothing.
func TestCloneThatBreaksOff(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for n := range 3000 {
		b.WriteString(strings.Replace(codexSaid, "shortened", strings.Repeat("x", 500+n%7), 1) + "\n")
	}
	s := mustRead(t, codexFile(t, codexMeta, codexAsked, strings.TrimSuffix(b.String(), "\n")))
	broken := errors.New("broken")
	for name, stop := range map[string]func(context.CancelFunc) error{
		"broken":      func(context.CancelFunc) error { return broken },
		"interrupted": func(cancel context.CancelFunc) error { cancel(); return nil },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ch := Change{ID: NewID(Codex, cloneTime), Now: cloneTime, Touched: []int32{2900}, Rewrite: func(_, _ int, e []byte) ([]byte, error) {
			return e, stop(cancel)
		}}
		ch.Measure = func(*Session) error {
			t.Errorf("%s: measured", name)
			return nil
		}
		_, err := Clone(ctx, s, ch)
		cancel()
		if !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if files, _ := os.ReadDir(filepath.Dir(s.Path)); len(files) != 1 {
			t.Errorf("%s: left %v", name, files)
		}
	}
}
