package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func (a *app) recallCmd() *cobra.Command {
	var session string
	limit := 20
	cmd := &cobra.Command{
		Use: "recall REF|QUERY", Short: message.HelpRecall.In(a.lang), Long: message.HelpRecallLong.In(a.lang),
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := strings.Join(args, " ")
			if digits, ok := compress.MarkDigits(query); ok {
				if done, err := a.recallMark(cmd.Context(), digits); done || err != nil {
					return err
				}
			}
			if id, ref, ok := strings.Cut(query, "#"); ok && len(args) == 1 && id != "" && ref != "" && !strings.ContainsAny(query, " \t\n") {
				done, err := a.recallRef(cmd.Context(), id, ref)
				if done || err != nil {
					return err
				}
			}
			return a.recallQuery(cmd.Context(), query, session, limit)
		},
	}
	cmd.Flags().StringVar(&session, "session", "", message.HelpRecallSession.In(a.lang))
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, message.HelpLimit.In(a.lang))
	return cmd
}

// recallRef prints the original of one message. done is false when the left
// side names no session, so that the words may be a query.
func (a *app) recallRef(ctx context.Context, id, ref string) (done bool, err error) {
	file, err := a.resolve(id)
	if errors.Is(err, transcript.ErrNotFound) {
		if looksLikeID(ref) {
			return true, err
		}
		return false, nil
	}
	if err != nil {
		return true, err
	}
	s, err := transcript.Open(ctx, file.Path)
	if err != nil {
		return true, err
	}
	defer s.Close()
	text, from, err := a.original(ctx, s, ref, 0)
	if err != nil {
		return true, err
	}
	if a.json {
		return true, a.printJSON(struct {
			Schema int    `json:"schema"`
			Ref    string `json:"ref"`
			Source string `json:"source"`
			Path   string `json:"path,omitempty"`
			Line   int    `json:"line,omitempty"`
			Text   string `json:"text"`
		}{1, id + "#" + ref, from.ref, from.path, from.line, text})
	}
	// Exactly the text: only a terminal gets a newline that is not part of it.
	if a.tty(a.env.Stdout) && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = fmt.Fprint(a.env.Stdout, text)
	return true, err
}

func looksLikeID(ref string) bool {
	return len(ref) == 36 && strings.Count(ref, "-") == 4 || len(ref) > 1 && ref[0] == 'L' && strings.Trim(ref[1:], "0123456789") == ""
}

// origin says where an original was found.
type origin struct {
	ref, path string
	line      int
}

// original follows the markers from a compressed message to the text it stands
// for. The source may be gone, for hosts clean up; the cache remembers it then.
func (a *app) original(ctx context.Context, s *transcript.Reader, ref string, depth int) (string, origin, error) {
	i, ok := s.Find(ref)
	if !ok {
		return "", origin{}, message.Fail(message.RecallNoRef, s.ID, ref)
	}
	raw, err := s.Line(i)
	if err != nil {
		return "", origin{}, err
	}
	text := transcript.Text(raw)
	m, marked := transcript.MarkerOf(raw)
	if !marked {
		if text == "" {
			text = transcript.AllText(raw)
		}
		return text, origin{s.ID + "#" + ref, s.Path, int(s.Entries[i].Line)}, nil
	}
	if kept, ok := a.compressCache().Original(m.Hash); ok {
		return kept, origin{ref: m.Source + "#" + m.UUID}, nil
	}
	file, err := transcript.Resolve(m.Source, a.env.hostDir)
	if err != nil || depth > 100 {
		// The clone stands beside its source, wherever that is.
		if file, err = besideOf(s.Session, m.Source); err != nil {
			return "", origin{}, message.Fail(message.RecallGone, m.Source)
		}
	}
	src, err := transcript.Open(ctx, file.Path)
	if err != nil {
		return "", origin{}, err
	}
	defer src.Close()
	text, from, err := a.original(ctx, src, m.UUID, depth+1)
	if err == nil && hashOf(text) != m.Hash {
		err = message.Fail(message.RecallChanged, m.Source)
	}
	return text, from, err
}

func besideOf(s *transcript.Session, id string) (transcript.File, error) {
	dir := s.Path[:strings.LastIndexAny(s.Path, `/\`)+1]
	entries, err := os.ReadDir(dir)
	if err != nil {
		return transcript.File{}, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), id+".jsonl") {
			return transcript.Resolve(dir+e.Name(), nil) // a path
		}
	}
	return transcript.File{}, transcript.ErrNotFound
}

func hashOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// hit is one message that a search found.
type hit struct {
	Ref     string `json:"ref"`
	Session string `json:"session"`
	Host    string `json:"host"`
	Project string `json:"project"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Time    string `json:"time,omitempty"`
	Role    string `json:"role"`
	Snippet string `json:"snippet"`
	at      int64
}

func (a *app) recallQuery(ctx context.Context, query, session string, limit int) error {
	files, err := transcript.List(a.env.hostDir)
	if session != "" {
		var f transcript.File
		f, err = a.resolve(session)
		files = []transcript.File{f}
	}
	if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(query))
	hits := []hit{}
	for _, f := range files {
		found, err := searchCompacted(ctx, f, words)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // one file that cannot be read hides no other
		}
		hits = append(hits, found...)
	}
	slices.SortStableFunc(hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(y.at, x.at), cmp.Compare(x.Path, y.Path), cmp.Compare(y.Line, x.Line))
	})
	total := len(hits)
	hits = hits[:min(total, max(limit, 0))]
	if a.json {
		return a.printJSON(struct {
			Schema int    `json:"schema"`
			Query  string `json:"query"`
			Total  int    `json:"total"`
			Hits   []hit  `json:"hits"`
		}{1, query, total, hits})
	}
	if total == 0 {
		return message.WithHint(message.Fail(message.RecallNone, query), message.HintRecallNone)
	}
	for _, h := range hits {
		when := ""
		if h.at != 0 {
			when = transcript.Time(h.at).Local().Format(time.DateTime)
		}
		fmt.Fprintf(a.env.Stdout, "%s  %s  %s\n    %s:%d\n    %s\n", h.Ref, when, h.Role, h.Path, h.Line, h.Snippet)
	}
	if total > len(hits) {
		a.note(message.RecallMore, total-len(hits))
	}
	return nil
}

// searchCompacted searches what compactions removed from one session.
func searchCompacted(ctx context.Context, f transcript.File, words []string) ([]hit, error) {
	if ok, err := maybeCompacted(f.Path); err != nil || !ok {
		return nil, err
	}
	s, err := transcript.Open(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var hits []hit
	for _, i := range s.Compacted() {
		raw, err := s.Line(int(i))
		if err != nil {
			return hits, err
		}
		text := transcript.AllText(raw)
		lower := strings.ToLower(text)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, w) }) {
			e := &s.Entries[i]
			h := hit{
				Ref: s.ID + "#" + s.Ref(int(i), raw), Session: s.ID, Host: string(s.Host), Project: cmp.Or(s.CWD, f.Folder),
				Path: s.Path, Line: int(e.Line), Role: roleOf(e), Snippet: snippet(text, lower, words), at: e.Time,
			}
			if e.Time != 0 {
				h.Time = transcript.Time(e.Time).Format(time.RFC3339)
			}
			hits = append(hits, h)
		}
	}
	return hits, nil
}

func roleOf(e *transcript.Entry) string {
	switch {
	case e.Kind == transcript.Call || e.Kind == transcript.Output || e.Has(transcript.ToolResult):
		return "tool"
	case e.Kind == transcript.User:
		return "user"
	}
	return "assistant"
}

// maybeCompacted passes over files without a compaction at the speed of a byte
// search.
func maybeCompacted(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	const overlap = 32
	buf := make([]byte, 1<<20)
	kept := 0
	for {
		n, err := f.Read(buf[kept:])
		b := buf[:kept+n]
		if bytes.Contains(b, []byte(`compact_boundary"`)) || bytes.Contains(b, []byte(`"compacted"`)) || bytes.Contains(b, []byte(`"isCompactSummary"`)) {
			return true, nil
		}
		if err != nil || n == 0 {
			return false, nil
		}
		kept = copy(buf, b[max(0, len(b)-overlap):])
	}
}

// snippet is the surroundings of the first match, on one line.
func snippet(text, lower string, words []string) string {
	at := 0
	if len(words) > 0 {
		at = max(0, strings.Index(lower, words[0]))
	}
	// Lower case may have another length; then the beginning has to do.
	if len(lower) != len(text) {
		at = 0
	}
	const around = 80
	from, to := max(0, at-around), min(len(text), at+2*around)
	out := strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}
