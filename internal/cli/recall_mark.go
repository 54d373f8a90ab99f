package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// recallMark prints the original behind the eight digits of a mark: from the
// cache, which outlives the source, else through the clone that has the mark.
// done is false when nothing has these digits, so that they may be a query.
func (a *app) recallMark(ctx context.Context, digits string) (done bool, err error) {
	text, found := a.compressCache().Original(digits)
	from := origin{}
	if !found {
		if text, from, found, err = a.markedOriginal(ctx, digits); err != nil || !found {
			return false, err
		}
	}
	if a.json {
		return true, a.printJSON(struct {
			Schema int    `json:"schema"`
			Ref    string `json:"ref"`
			Source string `json:"source,omitempty"`
			Path   string `json:"path,omitempty"`
			Line   int    `json:"line,omitempty"`
			Text   string `json:"text"`
		}{1, digits, from.ref, from.path, from.line, text})
	}
	if a.tty(a.env.Stdout) && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = fmt.Fprint(a.env.Stdout, text)
	return true, err
}

// markedOriginal looks for a line whose marker has the digits.
func (a *app) markedOriginal(ctx context.Context, digits string) (string, origin, bool, error) {
	files, err := transcript.List(a.env.hostDir)
	if err != nil {
		return "", origin{}, false, err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return "", origin{}, false, err
		}
		// A file that cannot be read hides no other.
		if b, err := os.ReadFile(f.Path); err != nil || !bytes.Contains(b, []byte(`"sha256":"`+digits)) {
			continue
		}
		s, err := transcript.Open(ctx, f.Path)
		if err != nil {
			continue
		}
		text, from, ok := a.markedIn(ctx, s, digits)
		s.Close()
		if ok {
			return text, from, true, nil
		}
	}
	return "", origin{}, false, nil
}

func (a *app) markedIn(ctx context.Context, s *transcript.Reader, digits string) (string, origin, bool) {
	for i := range s.Entries {
		if !s.Entries[i].Has(transcript.Marked) {
			continue
		}
		raw, err := s.Line(i)
		if err != nil {
			continue
		}
		if m, ok := transcript.MarkerOf(raw); ok && strings.HasPrefix(m.Hash, digits) {
			text, from, err := a.original(ctx, s, s.Ref(i, raw), 0)
			return text, from, err == nil
		}
	}
	return "", origin{}, false
}
