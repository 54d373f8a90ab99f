package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func (a *app) recallCmd() *cobra.Command {
	q := recall.Query{Limit: 10}
	cmd := a.command("recall REF|QUERY", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if q.Limit < 1 {
			return tooFew(cmd, q.Limit)
		}
		q.Text = strings.Join(args, " ")
		if strings.TrimSpace(q.Text) == "" {
			return message.Misuse{Err: message.WithHint(message.Fail(message.RecallEmpty), message.HintHelp, "overtone recall")}
		}
		if len(args) == 1 {
			err := a.recallRef(cmd.Context(), q.Text)
			if !errors.Is(err, recall.ErrNoRef) {
				return err
			}
		}
		return a.recallQuery(cmd.Context(), q)
	})
	AddFlags(cmd, map[string]any{"session": &q.Session, "project": &q.Project, "limit,n": &q.Limit})
	a.hostFlag(cmd, &q.Host)
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSession)
	return cmd
}

// index is what was said and done on this machine.
func (a *app) index() (x *recall.Index, clear func()) {
	progress, wipe := a.byteBar()
	clones := compress.ClonesIn(a.store().Root()).All()
	var faults []error
	clear = func() {
		wipe()
		for _, err := range faults {
			a.LeaveOut(err)
		}
		faults = nil
	}
	return recall.Open(recall.Options{
		Root: a.store().Root(), Dir: a.sessionDir, Original: originalIn(a.compressCache()), Progress: progress, Waits: a.waits,
		Clone: func(id string) (string, int64) { return clones[id].Source, clones[id].Size },
		Fault: func(err error) { faults = append(faults, err) },
	}), clear
}

// originalIn asks what compressions keep. Records of earlier versions are found
// by the result alone, which two originals may share.
func originalIn(cache compress.Dir) func(hash, made string) (string, bool) {
	originals := cache.Originals()
	return func(hash, made string) (string, bool) {
		if text, ok := originals.Find(hash); ok {
			return text, true
		}
		if made == "" {
			return "", false
		}
		rec, ok := cache.Made(made)
		return rec.Original, ok && recall.Hash(rec.Original) == hash
	}
}

func (a *app) recallRef(ctx context.Context, ref string) error {
	x, clear := a.index()
	o, err := x.Exact(ctx, ref)
	clear()
	if name, _, _ := strings.Cut(ref, "#"); errors.Is(err, transcript.ErrNotFound) && !errors.Is(err, fs.ErrPermission) {
		return message.Misuse{Err: message.WithHint(message.Fail(message.NoSuchSession, name), message.HintSessions)}
	}
	if err != nil {
		return catalog.FindHint(err)
	}
	if a.JSON {
		members := []any{"ref", ref, "source", o.Ref}
		if o.Path != "" {
			members = append(members, "path", o.Path, "line", o.Line)
		}
		return a.PrintObject(append(members, "text", o.Text)...)
	}
	// Exactly the text: only a terminal gets a newline that is not part of it.
	if a.Decorated(a.Stdout) && !strings.HasSuffix(o.Text, "\n") {
		o.Text += "\n"
	}
	_, err = fmt.Fprint(a.Stdout, o.Text)
	return err
}

// recallQuery prints what a search found. Nothing found is exit code 1 in every
// form of output.
func (a *app) recallQuery(ctx context.Context, q recall.Query) error {
	if q.Session != "" {
		f, err := a.searched(q.Session)
		if err != nil {
			return err
		}
		q.Session = f.ID
	}
	x, clear := a.index()
	q.Titles = true
	res, err := x.Search(ctx, q)
	clear()
	if err != nil {
		return err
	}
	switch {
	case errors.Is(res.Outdated, recall.ErrBusy):
		a.Note(message.RecallBusy)
	case res.Outdated != nil:
		a.Note(message.RecallBehind, res.Outdated)
	}
	if a.JSON {
		if res.Hits == nil {
			res.Hits = []recall.Hit{}
		}
		if err := a.PrintObject("query", q.Text, "total", res.Total, "fewer", res.Fewer, "instead", terminal.List(res.Instead), "hits", res.Hits); err != nil {
			return err
		}
	}
	if res.Total == 0 {
		none := message.Fail(message.RecallNone, message.Short(q.Text, 80))
		if !recall.Words(q.Text) {
			return message.WithHint(none, message.HintRecallWords)
		}
		if f, err := transcript.Resolve(q.Text, a.sessionDir); err == nil {
			return message.WithHint(none, message.HintRecallSession, terminal.Quote(f.ID))
		}
		return message.WithHint(none, message.HintRecallNone)
	}
	if a.JSON && !res.Unsaid {
		return nil
	}
	for _, w := range res.Instead {
		if w.Shown == "" {
			a.Note(message.RecallWithout, w.Word)
		} else {
			a.Note(message.RecallInstead, w.Word, w.Shown)
		}
	}
	if res.Fewer && !res.Unsaid {
		a.Note(message.RecallFewer)
	}
	for i := range res.Hits {
		if !a.JSON {
			a.printHit(&res.Hits[i])
		}
	}
	if n := res.Total - len(res.Hits); n > 0 && !a.JSON {
		a.Note(message.RecallMore, n, res.Total)
	}
	if res.Unsaid {
		return message.Fail(message.RecallUnsaid, message.Short(q.Text, 80))
	}
	return nil
}

func (a *app) searched(ref string) (transcript.File, error) {
	if strings.HasPrefix(ref, "agent-") {
		files, _ := transcript.Everything(a.sessionDir) // what cannot be read is not searched
		for _, f := range files {
			if f.Agent && strings.HasPrefix(f.ID, ref) {
				return transcript.File{ID: ref}, nil
			}
		}
	}
	return a.finder().Resolve(ref)
}

// printHit begins with what a person knows a session by; what programs take is last.
func (a *app) printHit(h *recall.Hit) {
	head := []string{cmp.Or(message.Short(h.Title, 60), h.Host)}
	if t, err := time.Parse(time.RFC3339, h.Time); err == nil {
		head = append(head, t.Local().Format("2006-01-02 15:04"))
	}
	if h.Project != "" {
		head = append(head, message.Tail(a.short(h.Project), 40))
	}
	head = append(head, h.Role)
	if h.Removed {
		head = append(head, message.RecallRemoved.In(a.Lang))
	}
	if h.Copies > 0 {
		head = append(head, message.RecallCopies.Format(a.Lang, h.Copies))
	}
	const indent = "    "
	a.Item("", strings.Join(head, " · "))
	a.Marked(indent, h.Snippet, h.Marks)
	// A reference and a path are copied: they stay whole, on lines of their own.
	fmt.Fprintf(a.Stdout, "%s%s\n%s%s:%d\n", indent, h.Ref, indent, a.short(h.Path), h.Line)
}

// byteBar is a progress line over bytes of session files. It shows only when
// there is time to read it.
func (a *app) byteBar() (progress func(done, total int64), clear func()) {
	bar := a.NewBar(300 * time.Millisecond)
	return func(done, total int64) {
		bar.Update(done, total, func(drawn string, _ time.Duration) string {
			return a.Format(message.Indexing, drawn, message.Bytes(done), message.Bytes(total))
		})
	}, bar.Clear
}
