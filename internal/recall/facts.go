package recall

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Fact is what a list of sessions shows of one, beyond what its file's name,
// size and time tell.
type Fact struct {
	ID          string `json:"id,omitempty"`
	CWD         string `json:"cwd,omitempty"`
	Title       string `json:"title,omitempty"`
	Compactions int    `json:"compactions,omitempty"`
	Turns       int    `json:"turns,omitempty"`
	Unreadable  int    `json:"unreadable,omitempty"`
	// Tokens is what the last request reported, 0 for none since the last
	// compaction; Estimate counts the live context.
	Tokens   int64 `json:"tokens,omitempty"`
	Estimate int64 `json:"estimate,omitempty"`
	// Source is the session whose text the lines of a clone stand for.
	Source string `json:"source,omitempty"`
}

// fact is a Fact with what it was read from.
type fact struct {
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Inode uint64 `json:"inode"`
	Fact
}

type facts struct {
	Version int             `json:"version"`
	Files   map[string]fact `json:"files"`
}

const (
	factsFile    = "facts.json"
	factsVersion = 2
)

// Facts reads what a list shows of these sessions. Those that did not change
// since they were read last are not opened. A file that cannot be read gives an
// empty fact.
func (x *Index) Facts(ctx context.Context, files []transcript.File) ([]Fact, error) {
	path := filepath.Join(x.dir, factsFile)
	known := facts{}
	if b, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(b, &known) != nil || known.Version != factsVersion {
			known = facts{}
		}
	}
	list := make([]fact, len(files))
	var todo []int
	total := int64(0)
	for i, f := range files {
		k, ok := known.Files[f.Path]
		if ok && k.Size == f.Size && k.Mtime == f.ModTime.UnixNano() && k.Inode == f.Inode {
			list[i] = k
			continue
		}
		todo = append(todo, i)
		total += f.Size
	}
	if len(todo) > 0 {
		if err := x.readFacts(ctx, files, list, todo, total); err != nil {
			return nil, err
		}
		x.saveFacts(path, &known, files, list)
	}
	out := make([]Fact, len(list))
	for i := range list {
		out[i] = list[i].Fact
	}
	return out, nil
}

func (x *Index) readFacts(ctx context.Context, files []transcript.File, list []fact, todo []int, total int64) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := int64(0)
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, i := range todo {
		if ctx.Err() != nil {
			break
		}
		room <- struct{}{}
		wg.Go(func() {
			f := &files[i]
			about, err := factOf(ctx, f)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				list[i] = fact{f.Size, f.ModTime.UnixNano(), f.Inode, about}
			} else {
				x.opts.Fault(err)
			}
			done += f.Size
			x.opts.Progress(done, total)
			<-room
		})
	}
	wg.Wait()
	return ctx.Err()
}

// saveFacts keeps what was read. A list of a few leaves what is known of others,
// as long as they are there. Losing it costs time only.
func (x *Index) saveFacts(path string, known *facts, files []transcript.File, list []fact) {
	now := facts{factsVersion, make(map[string]fact, len(known.Files))}
	for p, f := range known.Files {
		if _, err := os.Lstat(p); err == nil {
			now.Files[p] = f
		}
	}
	for i := range files {
		now.Files[files[i].Path] = list[i]
	}
	b, err := json.Marshal(now)
	if err == nil && os.MkdirAll(x.dir, 0o700) == nil {
		_ = store.LooseWrite(path, b, 0o600)
	}
}

// factOf reads what a list shows of a session; only a fault of ours is an error.
func factOf(ctx context.Context, f *transcript.File) (out Fact, err error) {
	defer transcript.Catch(f.Path, &err)
	s, err := transcript.Read(ctx, f.Path)
	if err != nil {
		return Fact{}, nil //nolint:nilerr // it is listed without what its file would tell
	}
	title := redact.Clean(s.Title)
	out = Fact{
		ID: s.ID, CWD: s.CWD, Title: title, Compactions: len(s.Compactions), Turns: len(s.Turns(s.Live())),
		Unreadable: s.Unreadable, Estimate: Estimate(s),
	}
	if s.HasUsage {
		out.Tokens = s.Usage.Tokens()
	}
	marked := slices.IndexFunc(s.Entries, func(e transcript.Entry) bool { return e.Has(transcript.Marked) })
	if marked < 0 {
		return out, nil
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return Fact{}, nil //nolint:nilerr // gone since
	}
	defer file.Close()
	if raw, err := s.Raw(file, marked); err == nil {
		if m, ok := transcript.MarkerOf(raw); ok {
			out.Source = m.Source
		}
	}
	return out, nil
}

// Estimate counts the tokens of a session's live context, four characters each.
func Estimate(s *transcript.Session) (n int64) {
	for _, i := range s.Live() {
		e := &s.Entries[i]
		n += (int64(e.Text) + int64(e.Tool) + int64(e.Think) + 3) / 4
	}
	return n
}
