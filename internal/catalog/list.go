package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Row is one session in a list.
type Row struct {
	ID          string `json:"id"`
	Host        string `json:"host"`
	Path        string `json:"path"`
	Project     string `json:"project"`
	Title       string `json:"title"`
	Modified    string `json:"modified"`
	AgeSeconds  int64  `json:"ageSeconds"`
	LiveTokens  int64  `json:"liveTokens"`
	Estimated   bool   `json:"estimated"`
	Compactions int    `json:"compactions"`
	Turns       int    `json:"turns"`
	Size        int64  `json:"size"`
	Unreadable  int    `json:"unreadableLines"`
	// CloneOf is the session that a clone was made from.
	CloneOf string `json:"cloneOf,omitempty"`
}

// Filter chooses sessions; the zero value takes all.
type Filter struct{ Host, Project string }

// Newest are the hosts' sessions, at most limit of those that the filter takes, and
// how many more there are. What is shown of each is asked of the index. A folder
// that is closed to us hides no other: it is an error only where nothing is found.
func (f Finder) Newest(ctx context.Context, x *recall.Index, now time.Time, limit int, filter Filter) ([]Row, int, error) {
	files, closed := transcript.List(f.Dir)
	if closed != nil && len(files) == 0 {
		return nil, 0, closed
	}
	if closed != nil && f.Closed != nil {
		f.Closed(closed)
	}
	if filter.Host != "" {
		files = slices.DeleteFunc(files, func(file transcript.File) bool { return string(file.Host) != filter.Host })
	}
	limit = max(limit, 0)
	show := files
	// A project is known only when its file was read.
	if filter.Project == "" {
		show = files[:min(limit, len(files))]
	}
	facts, err := x.Facts(ctx, show)
	if err != nil {
		return nil, 0, err
	}
	clones, names := compress.ClonesIn(f.Home.Root()).All(), transcript.Names(f.Dir)
	rows, more := []Row{}, len(files)-len(show)
	for i := range show {
		row := newRow(&show[i], &facts[i], clones, now)
		if name := redact.Clean(names[row.ID]); name != "" {
			row.Title = name
		}
		switch {
		case !strings.Contains(strings.ToLower(row.Project), strings.ToLower(filter.Project)):
		case len(rows) == limit:
			more++
		default:
			rows = append(rows, row)
		}
	}
	return rows, more, nil
}

// newRow makes a row. A session that cannot be read is listed by what its
// file shows.
func newRow(f *transcript.File, fact *recall.Fact, clones map[string]compress.CloneRecord, now time.Time) Row {
	info := Row{
		ID: cmp.Or(fact.ID, f.ID), Host: string(f.Host), Path: f.Path, Project: cmp.Or(fact.CWD, f.Folder), Size: f.Size,
		Modified: f.Last.UTC().Format(time.RFC3339), AgeSeconds: int64(max(0, now.Sub(f.Last)).Seconds()),
		Title: fact.Title, Compactions: fact.Compactions, Turns: fact.Turns, Unreadable: fact.Unreadable,
		LiveTokens: fact.Tokens, CloneOf: fact.Source,
	}
	made, ours := clones[info.ID]
	if ours {
		info.CloneOf, info.Project = made.Source, cmp.Or(made.CWD, info.Project)
	}
	// A clone that was not used since has reported nothing yet.
	switch fresh := ours && unused(made, *f); {
	case fresh && made.Tokens > 0:
		info.LiveTokens, info.Estimated = made.Tokens, true
	case fresh || info.LiveTokens == 0:
		info.LiveTokens, info.Estimated = fact.Estimate, true
	}
	return info
}

// PrintRows shows a list; numbered, it is one to choose from, and no result.
func PrintRows(t *terminal.Terminal, rows []Row, numbered bool, short func(path string) string) {
	head, w := []string{}, t.Stdout
	if numbered {
		head, w = append(head, "#"), t.Stderr
	}
	cols := []message.Text{message.ColID, message.ColHost, message.ColProject, message.ColAge, message.ColTokens, message.ColCompacted, message.ColSize}
	// The mark of clones takes room only where there are some.
	cloned := slices.ContainsFunc(rows, func(r Row) bool { return r.CloneOf != "" })
	if cloned {
		cols = append(cols, message.ColClone)
	}
	out := [][]string{append(head, t.Head(append(cols, message.ColTitle)...)...)}
	for i, r := range rows {
		row := []string{}
		if numbered {
			row = append(row, fmt.Sprint(i+1))
		}
		tokens := message.Thousands(int(r.LiveTokens))
		if r.Estimated {
			tokens = "~" + tokens
		}
		row = append(row, message.Short(r.ID, 13), r.Host, message.Tail(short(r.Project), 60), message.Age(time.Duration(r.AgeSeconds)*time.Second), tokens, fmt.Sprint(r.Compactions), message.Bytes(r.Size))
		if cloned {
			row = append(row, fmt.Sprintf("%.8s", r.CloneOf))
		}
		title := r.Title
		if title == "" && r.Unreadable > 0 {
			title = t.Format(message.RowUnreadable, r.Unreadable)
		}
		out = append(out, append(row, title))
	}
	// Of what there is no room for, the size goes first: a session is known by its
	// title, its folder and its age.
	id := len(head)
	host, project, age, tokens, compacted, size := id+1, id+2, id+3, id+4, id+5, id+6
	t.Rows(w, out, terminal.Plan{
		Cut: []int{len(out[0]) - 1}, Paths: []int{project}, Right: []int{age, tokens, compacted, size},
		Drop: []int{size, compacted, project, host, tokens}, Early: 2,
	})
}
