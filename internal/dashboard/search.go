package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
)

type shownEvent struct {
	Time     string       `json:"ts"`
	Type     string       `json:"type"`
	Category string       `json:"category"`
	Label    string       `json:"label"`
	Data     []shownField `json:"data"`
}

type shownField struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// maxField bounds a member of an event: they are read in a table.
const maxField = 600

// timeline is the newest events that a filter takes, the newest first.
func (s *Server) timeline(r *http.Request) (any, error) {
	sub, q, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	var entries []store.Entry
	var stats store.ReadStats
	if sub.sess != nil {
		if entries, stats, err = sub.sess.Last(1<<20, store.Filter{}); err != nil {
			return nil, err
		}
	}
	events, total := []shownEvent{}, 0 // total counts all that the filter takes
	categories := strings.FieldsFunc(q.Get("category"), func(c rune) bool { return c == ',' })
	word := strings.ToLower(q.Get("q"))
	for _, e := range slices.Backward(entries) {
		v := eventOf(e, s.lang(r))
		if len(categories) > 0 && !slices.Contains(categories, v.Category) || !v.has(word) {
			continue
		}
		if total++; len(events) < 400 {
			events = append(events, v)
		}
	}
	return object{"schema": 1, "events": events, "total": total, "bad": stats.Bad}, nil
}

func eventOf(e store.Entry, lang message.Lang) shownEvent {
	v := shownEvent{Time: e.TS, Type: message.Short(e.Type, 80), Category: message.Short(message.EventCategory(e.Type), 40), Label: message.Short(e.Type, 80), Data: []shownField{}}
	if text, ok := message.EventLabel(e.Type); ok {
		v.Label = text.In(lang)
	}
	for _, f := range e.Data() {
		raw, _ := f.Value.(json.RawMessage)
		text := plain(raw)
		if text == "" {
			continue // nothing is told by it
		}
		v.Data = append(v.Data, shownField{message.Short(f.Key, 80), message.Short(text, maxField)})
	}
	return v
}

// plain is a value as people read it: a string without its quotes, a list of
// strings with commas.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ", ")
	}
	return string(raw)
}

func (v shownEvent) has(word string) bool {
	if word == "" || strings.Contains(strings.ToLower(v.Type+" "+v.Label), word) {
		return true
	}
	return slices.ContainsFunc(v.Data, func(f shownField) bool { return strings.Contains(strings.ToLower(f.Key+"="+f.Value), word) })
}

func (s *Server) recall(r *http.Request) (any, error) {
	p := r.URL.Query()
	q := recall.Query{Text: strings.TrimSpace(p.Get("q")), Limit: 30, Host: p.Get("host"), Project: p.Get("project"), Session: p.Get("session"), Titles: true}
	type hit struct {
		recall.Hit
		Path string `json:"path"` // as people are shown it
		// Parts are the snippet, every second one a match.
		Parts []string `json:"parts"`
	}
	hits := []hit{}
	if q.Text == "" {
		return object{"schema": 1, "total": 0, "hits": hits}, nil
	}
	s.index.Lock()
	defer s.index.Unlock()
	res, err := s.Index().Search(r.Context(), q)
	if err != nil {
		return nil, err
	}
	for _, h := range res.Hits {
		v := hit{Hit: h, Path: s.Shown(h.Path)}
		at := 0
		for _, m := range h.Marks {
			if m[0] < at || m[1] < m[0] || m[1] > len(h.Snippet) {
				continue
			}
			v.Parts = append(v.Parts, h.Snippet[at:m[0]], h.Snippet[m[0]:m[1]])
			at = m[1]
		}
		v.Parts = append(v.Parts, h.Snippet[at:])
		hits = append(hits, v)
	}
	return object{"schema": 1, "total": res.Total, "hits": hits}, nil
}

// original is the text behind a reference: without its secrets, unless the person has
// asked for it as it is.
func (s *Server) original(r *http.Request) (any, error) {
	q := r.URL.Query()
	s.index.Lock()
	defer s.index.Unlock()
	o, err := s.Index().Exact(r.Context(), q.Get("ref"))
	if disk := (*fs.PathError)(nil); err != nil && !errors.Is(err, context.Canceled) && (!errors.As(err, &disk) || errors.Is(err, fs.ErrNotExist)) {
		return nil, statusError{http.StatusNotFound, err}
	}
	if err != nil {
		return nil, err
	}
	hidden := 0 // secrets
	if q.Get("secrets") != "shown" {
		var found []redact.Found
		o.Text, found = redact.Text(o.Text)
		for _, f := range found {
			hidden += f.Count
		}
	}
	size := message.Units(o.Text)
	return object{
		"schema": 1, "ref": o.Ref, "path": s.Shown(o.Path), "line": o.Line, "text": message.Cut(o.Text, maxShown),
		"characters": size, "cut": size > maxShown, "hidden": hidden,
	}, nil
}

func (s *Server) audit(r *http.Request) (any, error) {
	if s.Audit == nil {
		return nil, statusError{http.StatusNotFound, errors.New("no audit")}
	}
	return s.Audit(r.Context(), r.URL.Query().Get("since"), s.lang(r))
}
