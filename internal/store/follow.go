package store

import (
	"context"
	"errors"
	"io"
	"time"
)

// FollowOptions says what [Session.Follow] hands on.
type FollowOptions struct {
	Last   int // begin with this many of the newest entries
	Filter Filter
	Every  time.Duration // how often to look
}

// Follow hands the newest entries of the timeline to fn, oldest first, and then
// each new one, until the context ends or fn returns an error, which it
// returns. The timeline, and the session, need not exist yet. Trimming goes
// unnoticed, unless more than the 2,000 lines it keeps were added between two
// looks: then the oldest of those are missing.
func (s *Session) Follow(ctx context.Context, opts FollowOptions, fn func(Entry) error) error {
	tick := time.NewTicker(opts.Every)
	defer tick.Stop()
	seen, _ := s.Grown()
	var last []Entry
	mark, err := s.each(Mark{}, opts.Filter, func(e Entry) error {
		last = append(last, e)
		last = last[max(0, len(last)-max(0, opts.Last)):]
		return nil
	})
	for _, e := range last {
		if err != nil {
			return err
		}
		err = fn(e)
	}
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if stamp, _ := s.Grown(); stamp != seen {
			seen = stamp
			mark, err = s.each(mark, opts.Filter, fn)
		}
	}
	return err
}

// each hands the wanted entries after a mark to fn, and returns the mark behind the
// last entry.
func (s *Session) each(m Mark, filter Filter, fn func(Entry) error) (Mark, error) {
	for {
		list, _, err := s.After(m, windowLines, maxWindow)
		if err != nil || len(list) == 0 {
			return m, err
		}
		for _, o := range list {
			m = o.Mark
			if !filter.match(o.Entry) {
				continue
			}
			if err := fn(o.Entry); err != nil {
				return m, err
			}
		}
	}
}

func readRange(f io.ReaderAt, from, to int64) ([]byte, error) {
	data := make([]byte, to-from)
	n, err := f.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}
