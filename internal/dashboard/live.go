package dashboard

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWatched is how many sessions a page can look at at once.
const maxWatched = 8

// live is the one stream of a page: which rows of the list have changed, and the
// sessions that it looks at, each whenever something of it does. The page reads it with
// fetch, as an EventSource cannot show a token in a header.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	ctx, lang := r.Context(), s.lang(r)
	ids := strings.Fields(r.URL.Query().Get("session"))
	ids = ids[:min(len(ids), maxWatched)]
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	out := func(event string, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		// A reader that does not read is gone; one that waits for nothing is not.
		_ = control.SetWriteDeadline(s.Now().Add(30 * time.Second))
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err != nil {
			return err
		}
		return control.Flush()
	}
	if _, err := io.WriteString(w, ": hello\n\n"); err != nil || control.Flush() != nil {
		return
	}
	version, _ := strconv.Atoi(r.URL.Query().Get("since"))
	seen := map[string]uint64{}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	silent := 0
	for {
		changed, gone, now, err := s.list.since(ctx, version)
		if err == nil && (len(changed) > 0 || len(gone) > 0) {
			version, silent = now, 0
			if out("sessions", object{"version": now, "changed": changed, "gone": gone}) != nil {
				return
			}
		}
		for _, id := range ids {
			if sub, err := s.find(ctx, id); err == nil {
				if now := s.stampOf(sub); now != seen[id] {
					seen[id], silent = now, 0
					if d, err := s.detail(ctx, sub, lang); err == nil && out("session", d) != nil {
						return
					}
				}
			}
		}
		// So that a page learns that we have gone.
		if silent++; silent%10 == 0 && out("alive", s.Now().UTC().Format(time.RFC3339)) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
