package audit

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Options say what is audited and against what.
type Options struct {
	// Files are the sessions, sub-agents' among them.
	Files []transcript.File
	// Since leaves out what is older; zero takes everything.
	Since time.Time
	// Project is a part of a project's path, Host a host's name; empty for all.
	Project, Host string
	Now           time.Time
	Loc           *time.Location // of the days
	// Period is what use is added up by, besides days; may be empty.
	Period Period
	// Settings are the policy; PolicyFile is where it was read, for the report.
	Settings   compact.Settings
	PolicyFile string
	// Window is what was learned about models' windows; may be nil.
	Window func(model string) int64
	// Prices are the user's own, by models' names or their beginnings.
	Prices map[string]config.Price
	// Cache is the file in which traces are kept; empty for none.
	Cache string
	// Workers is how many files are read at once, 0 for one for each core.
	Workers int
	// Progress is told how many bytes of how many are done; may be nil.
	Progress func(done, total int64)

	// read makes the trace of a file, nil for [read]: tests have one that fails.
	read func(context.Context, transcript.File) (*trace, error)
	// trial leaves out what was used, which is the same under every policy.
	trial bool
}

// Run reads what has to be read and makes the report. What could not be kept for
// the next time is no reason to fail: it is in the second result.
func Run(ctx context.Context, o Options) (*Report, error, error) {
	if o.Loc == nil {
		o.Loc = time.Local
	}
	files := slices.DeleteFunc(slices.Clone(o.Files), func(f transcript.File) bool {
		return o.Host != "" && string(f.Host) != o.Host || !o.Since.IsZero() && f.ModTime.Before(o.Since)
	})
	c := openCache(o.Cache, o.Settings)
	list, failed, faults, err := traces(ctx, files, c, o)
	kept := c.save(o.Files, list) // also what was read before somebody gave up
	if err != nil {
		return nil, kept, err
	}
	r := analyse(list, o)
	r.Failed, r.Faults, r.list, r.options = failed, faults, list, o
	return r, kept, nil
}

func traces(ctx context.Context, files []transcript.File, c *cache, o Options) (list []traced, failed []string, faults []*transcript.Fault, err error) {
	out := make([]*trace, len(files))
	errs := make([]error, len(files))
	todo := make([]int, 0, len(files))
	for i := range files {
		todo = append(todo, i)
	}
	// The largest first, so that no core is left with one at the end.
	slices.SortStableFunc(todo, func(a, b int) int { return int(min(1, max(-1, files[b].Size-files[a].Size))) })
	var total, done atomic.Int64
	for i := range files {
		total.Add(files[i].Size)
	}
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	words := compact.NewMarks(o.Settings.Markers)
	var next atomic.Int64
	var wg sync.WaitGroup
	var told sync.Mutex
	for range min(workers, max(1, len(files))) {
		wg.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(todo) {
					return
				}
				i := todo[n]
				out[i], errs[i] = o.traceOf(ctx, files[i], c, words)
				now := done.Add(files[i].Size)
				if o.Progress != nil {
					told.Lock()
					o.Progress(now, total.Load())
					told.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for i := range files {
		fault, faulty := errors.AsType[*transcript.Fault](errs[i])
		switch {
		case out[i] != nil && !out[i].nothing():
			list = append(list, traced{file: files[i], trace: out[i]})
		case errors.Is(errs[i], fs.ErrNotExist): // gone since it was listed
		default:
			if failed = append(failed, files[i].Path); faulty {
				faults = append(faults, fault)
			}
		}
	}
	return list, failed, faults, ctx.Err()
}

func (o Options) traceOf(ctx context.Context, file transcript.File, c *cache, words *compact.Marks) (t *trace, err error) {
	defer transcript.Catch(file.Path, &err)
	if t = c.find(file); t != nil {
		return t, nil
	}
	c.fresh.Store(true)
	var made *trace
	if o.read != nil {
		made, err = o.read(ctx, file)
	} else {
		made, err = read(ctx, file, o.Settings, words, true)
	}
	if made != nil {
		made.pack()
	}
	return made, err
}
