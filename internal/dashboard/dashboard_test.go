package dashboard

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	cmpp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// served is a dashboard over a home of its own.
type served struct {
	*Server
	t    *testing.T
	base string
	home *store.Home
	dir  string // of session files
}

func serve(t *testing.T) *served {
	t.Helper()
	dir := t.TempDir()
	home := store.New(filepath.Join(dir, "overtone"), filepath.Join(dir, "claude"), time.Now)
	v := &served{t: t, home: home, dir: filepath.Join(dir, "files")}
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	v.Server = New(Options{
		Store: home, Now: time.Now, Lang: message.EN, Version: "test", Config: config.Defaults,
		Tongue:   func(session message.Lang) message.Lang { return cmp.Or(session, message.EN) },
		Sessions: v.rows, Index: func() *recall.Index {
			return recall.Open(recall.Options{Root: home.Root(), Dir: func(*host.Host) string { return v.dir }})
		}, Shown: func(p string) string { return p },
	})
	v.every = 20 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v.base = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return v
}

func (v *served) rows(context.Context) ([]Row, error) {
	files, err := os.ReadDir(v.dir)
	var rows []Row
	for _, e := range files {
		info, ierr := e.Info()
		if ierr != nil {
			return nil, ierr
		}
		id := strings.TrimSuffix(e.Name(), ".jsonl")
		f := transcript.File{Path: filepath.Join(v.dir, e.Name()), Host: transcript.Claude, ID: id, Size: info.Size(), ModTime: info.ModTime()}
		rows = append(rows, Row{File: f, Info: map[string]any{"id": id, "size": info.Size()}})
	}
	return rows, err
}

func (v *served) write(id string, lines ...string) {
	v.t.Helper()
	if err := os.WriteFile(filepath.Join(v.dir, id+".jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// ask sends a request with the token, changed by edit.
func (v *served) ask(path string, edit func(*http.Request)) (int, []byte, http.Header) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.base+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.Token())
	if edit != nil {
		edit(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, body, res.Header
}

func (v *served) get(path string, into any) {
	v.t.Helper()
	status, body, _ := v.ask(path, nil)
	if status != http.StatusOK {
		v.t.Fatalf("%s: %d %s", path, status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		v.t.Fatal(err)
	}
}

// TestFaults: a mistake of ours is the answer to one request, and not the end of others.
func TestFaults(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.Audit = func(context.Context, string, message.Lang) (any, error) { panic("out of cheese") }
	for range 2 {
		status, body, _ := v.ask("/api/audit", nil)
		if status != http.StatusInternalServerError || !strings.Contains(string(body), "out of cheese (internal/dashboard/dashboard_test.go:") {
			t.Errorf("%d %s", status, body)
		}
	}
	var state any
	v.get("/api/state", &state)
}

// TestGuard: who does not know the token, or comes from elsewhere, learns nothing.
func TestGuard(t *testing.T) {
	t.Parallel()
	v := serve(t)
	port := v.base[strings.LastIndexByte(v.base, ':')+1:]
	for name, c := range map[string]struct {
		path string
		edit func(*http.Request)
		want int
	}{
		"as it should be":       {"/api/sessions", nil, 200},
		"by name":               {"/api/sessions", func(r *http.Request) { r.Host = "localhost:" + port }, 200},
		"own origin":            {"/api/sessions", func(r *http.Request) { r.Header.Set("Origin", v.base) }, 200},
		"no token":              {"/api/sessions", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"wrong token":           {"/api/sessions", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+v.Token()[1:]+"x") }, 401},
		"token in the address":  {"/api/sessions?token=" + v.Token(), func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"stream without token":  {"/api/live", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"foreign host":          {"/api/sessions", func(r *http.Request) { r.Host = "evil.example:" + port }, 421},
		"foreign host, page":    {"/", func(r *http.Request) { r.Host = "evil.example:" + port }, 421},
		"host without port":     {"/api/sessions", func(r *http.Request) { r.Host = "127.0.0.1" }, 421},
		"foreign origin":        {"/api/sessions", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"other port":            {"/api/sessions", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		"secure origin":         {"/api/sessions", func(r *http.Request) { r.Header.Set("Origin", "https://127.0.0.1:"+port) }, 403},
		"null origin":           {"/api/sessions", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"other site":            {"/api/sessions", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"same site, other port": {"/api/sessions", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"write":                 {"/api/sessions", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		"preflight":             {"/api/sessions", func(r *http.Request) { r.Method = http.MethodOptions }, 405},
		"unknown session":       {"/api/session?id=../../etc/passwd", nil, 404},
		"unknown packet":        {"/api/packet?id=nobody&n=1", nil, 404},
		"no such file":          {"/../dashboard.go", nil, 404},
		"page without a token":  {"/", func(r *http.Request) { r.Header.Del("Authorization") }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, header := v.ask(c.path, c.edit)
			if status != c.want {
				t.Errorf("status %d, want %d: %s", status, c.want, body)
			}
			csp := header.Get("Content-Security-Policy")
			if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("policy: %q", csp)
			}
			for name := range header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: %s", name, header.Get(name))
				}
			}
		})
	}
}

// TestStaticFiles: nothing runs that is written into the page, nothing is loaded
// from elsewhere, and what others wrote is what they published.
func TestStaticFiles(t *testing.T) {
	t.Parallel()
	sums := map[string]string{}
	data, err := fs.ReadFile(static, "static/vendor/sums.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		sums[f[1]] = f[0]
	}
	err = fs.WalkDir(static, "static", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(static, path)
		if err != nil {
			return err
		}
		if name, vendored := strings.CutPrefix(path, "static/vendor/"); vendored {
			sum := sha256.Sum256(data)
			if want, ok := sums[name]; ok && want != hex.EncodeToString(sum[:]) {
				t.Errorf("%s is not what was published", path)
			} else if !ok && name != "sums.txt" && name != "README.md" {
				t.Errorf("%s has no sum", path)
			}
			return nil
		}
		text := string(data)
		for _, bad := range []string{"innerHTML", "dangerouslySetInnerHTML", "eval(", "new Function", " style=\"", "onclick=\"", "javascript:"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %s", path, bad)
			}
		}
		if m := regexp.MustCompile(`(?:src|href)="(?:https?:)?//[^"]*"`).FindString(text); m != "" {
			t.Errorf("%s loads %s", path, m)
		}
		if strings.HasSuffix(path, ".html") && regexp.MustCompile(`<script(?:[^>]*)>[^<]`).MatchString(text) {
			t.Errorf("%s: a script in the page", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTexts: every word that the page asks for is there, and every word there is
// asked for.
func TestTexts(t *testing.T) {
	t.Parallel()
	words := message.DashboardTexts(message.EN)
	used := map[string]bool{}
	prefixes := []string{}
	files, err := fs.Glob(static, "static/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	// What is exported has words of its own.
	page, err := os.ReadFile("session_page.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\bp\.t\("([a-zA-Z]+)"`).FindAllStringSubmatch(string(page), -1) {
		if used[m[1]] = true; words[m[1]] == "" {
			t.Errorf("the exported page asks for %q", m[1])
		}
	}
	for _, f := range files {
		data, err := fs.ReadFile(static, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`'([a-zA-Z.]+)'`).FindAllStringSubmatch(string(data), -1) {
			if strings.HasSuffix(m[1], ".") {
				prefixes = append(prefixes, m[1])
			}
			used[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`\bword\('([a-z]+)'`).FindAllStringSubmatch(string(data), -1) {
			prefixes = append(prefixes, m[1]+".")
		}
		for _, m := range regexp.MustCompile(`\bt\('([a-zA-Z.]+)'[,)]`).FindAllStringSubmatch(string(data), -1) {
			if _, ok := words[m[1]]; !ok {
				t.Errorf("%s asks for %q", f, m[1])
			}
		}
	}
	for k := range words {
		if !used[k] && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(k, p) }) {
			t.Errorf("nobody asks for %q", k)
		}
	}
	for _, k := range []string{"compact", "suggest", "tag", "wait", "held", "stopped", "off"} {
		if words["verdict."+k] == "" {
			t.Errorf("no word for the verdict %s", k)
		}
	}
}

// TestLayout: no two nodes overlap, edges lead on, and all lies within the picture.
func TestLayout(t *testing.T) {
	t.Parallel()
	for _, tpl := range (blueprint.Library{}).List() {
		dag := tpl.DAG
		for _, down := range []bool{false, true} {
			g := layout(dag, down)
			if len(g.Nodes) != dag.Len() {
				t.Errorf("%s: %d nodes of %d", tpl.Name, len(g.Nodes), dag.Len())
			}
			at := map[string]graphNode{}
			for i, a := range g.Nodes {
				at[a.Key] = a
				if a.X < 0 || a.Y < 0 || a.X+a.W > g.Width || a.Y+a.H > g.Height {
					t.Errorf("%s: %s is outside", tpl.Name, a.Key)
				}
				for _, b := range g.Nodes[:i] {
					if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
						t.Errorf("%s: %s lies on %s", tpl.Name, a.Key, b.Key)
					}
				}
			}
			for _, e := range g.Edges {
				from, to := at[e.From].X, at[e.To].X
				if down {
					from, to = at[e.From].Y, at[e.To].Y
				}
				if (from < to) == e.Back {
					t.Errorf("%s: %s → %s leads the wrong way", tpl.Name, e.From, e.To)
				}
			}
		}
	}
	if g := layout(workflow.DAG{}, false); len(g.Nodes) != 0 || g.Nodes == nil {
		t.Errorf("an empty graph: %+v", g)
	}
}

const (
	boundaryLine = `{"type":"system","subtype":"compact_boundary","uuid":"b%d","parentUuid":null,"timestamp":"2026-01-01T00:%02d:00.000Z","compactMetadata":{"trigger":"auto","preTokens":170000}}`
	answerLine   = `{"type":"assistant","uuid":"a%d","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:%02d:30.000Z","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000,"output_tokens":5}}}`
)

func answer(n int, text string, input int) string {
	return fmt.Sprintf(answerLine, n, n, n, text, input)
}

// A clone that nobody has used is as full as its text is, not as its source's last
// request was.
func TestUnusedClone(t *testing.T) {
	t.Parallel()
	v := serve(t)
	for _, id := range []string{"source", "clone"} {
		if err := os.WriteFile(filepath.Join(v.dir, id+".jsonl"), []byte(answer(1, "done", 40_000)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := compress.CloneRecord{ID: "clone", Source: "source", Size: int64(len(answer(1, "done", 40_000)) + 1), Tokens: 6_700}
	if err := compress.ClonesIn(v.home.Root()).Add(made); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int64{"source": 43_005, "clone": 6_700} {
		var d struct {
			Decision struct{ Used int64 }
			Hooked   bool
		}
		if v.get("/api/session?id="+id, &d); d.Decision.Used != want || d.Hooked {
			t.Errorf("%s: %d tokens, want %d; seen by a hook: %v", id, d.Decision.Used, want, d.Hooked)
		}
	}
}

// TestSession: context, compactions with their receipts, decisions and workflow
// of one session, as its files tell them.
func TestSession(t *testing.T) {
	t.Parallel()
	v := serve(t)
	id := "5e550000-0000-4000-8000-000000000001"
	packet := "ovt-" + shortHash(id) + "-1"
	v.write(id,
		answer(1, "one", 100), answer(1, "one, again", 100), answer(2, "two", 50_000),
		fmt.Sprintf(boundaryLine, 1, 3),
		`{"type":"attachment","uuid":"x","parentUuid":"b1","timestamp":"2026-01-01T00:03:01.000Z","attachment":{"content":"<overtone-packet id=\"`+packet+`\">\nknow"}}`,
		answer(4, "three", 700))
	sess, err := v.home.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	rules := session.Rules(config.Defaults(), "~/.claude")
	err = session.Update(sess, session.Options{Rules: rules, Lang: message.EN, Now: time.Now()}, func(tx *session.Tx) error {
		for _, ev := range []workflow.Event{
			workflow.Start{SessionID: id, WorkflowID: "w", Type: "quick", Stages: []string{"DEV", "REVIEW", "TEST", "RETRO"}, At: time.Now()},
			workflow.Delegate{ID: "d1", Agent: "developer", At: time.Now()},
		} {
			if _, err := tx.Apply(ev); err != nil {
				return err
			}
		}
		return tx.Emit(
			store.On(message.EventPacketCreated, "id", packet, "n", 1, "chars", 5),
			store.On(message.EventPacketDelivered, "id", packet, "n", 1, "via", "session-start"),
			store.On(message.EventCompactDecision, "verdict", "wait", "cause", "boundary-too-small", "tier", "early", "percentRemaining", 80, "signals", []string{"plan_update"}, "reason", "too small"),
			store.On(message.EventCompactDecision, "verdict", "wait", "cause", "no-boundary", "signals", []string{}, "reason", "none"),
			store.On(message.EventCompactDecision, "verdict", "compact", "cause", "boundary", "tier", "asap", "percentRemaining", 20, "signals", []string{"commit"}, "reason", "a commit"),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	var d detail
	v.get("/api/session?id="+id, &d)
	if len(d.Problems) > 0 || !d.Hooked {
		t.Errorf("problems: %q, seen by a hook: %v", d.Problems, d.Hooked)
	}
	if got := fmt.Sprint(d.Context.Tokens); got != "[3105 53005 3705]" || d.Context.Window != 200_000 || d.Context.Peak != 170_000 {
		t.Errorf("context: %s, at most %d, of %d", got, d.Context.Peak, d.Context.Window)
	}
	if len(d.Compactions) != 1 {
		t.Fatalf("compactions: %+v", d.Compactions)
	}
	c := d.Compactions[0]
	if c.Before != 170_000 || c.After != 3700 || c.Wrote != 1700 || c.Read != 2000 || c.Trigger != "auto" {
		t.Errorf("compaction: %+v", c)
	}
	if c.Packet == nil || !c.Packet.Seen || c.Packet.State != "delivered" || c.Packet.Via != "session-start" {
		t.Errorf("receipt: %+v", c.Packet)
	}
	var outcomes []string
	for _, b := range d.Boundaries {
		outcomes = append(outcomes, b.Outcome)
	}
	if got := strings.Join(outcomes, " "); got != "taken seen refused" {
		t.Errorf("boundaries, the newest first: %s", got)
	}
	if d.Work == nil || !d.Work.Active || len(d.Work.Agents) != 1 || d.Work.Agents[0].Stage != "DEV" || len(d.Work.Wide.Nodes) != 4 {
		t.Errorf("workflow: %+v", d.Work)
	}
	if d.Census["started"] != 1 || d.Census["finished"] != 0 {
		t.Errorf("census: %+v", d.Census)
	}
	var tl struct {
		Total  int
		Events []shownEvent
	}
	v.get("/api/timeline?id="+id+"&category=packet", &tl)
	if tl.Total != 2 || tl.Events[0].Type != message.EventPacketDelivered || tl.Events[0].Label != "Continuation packet delivered" {
		t.Errorf("timeline: %+v", tl)
	}
	v.get("/api/timeline?lang=zh-TW&q=plan_update&id="+id, &tl)
	if tl.Total != 1 || tl.Events[0].Label != "壓縮決策" {
		t.Errorf("timeline in Chinese: %+v", tl)
	}
	var s survey
	v.get("/api/packet?n=1&id="+id, &s)
	if s.N != 1 || s.Kept != nil || s.Handed == nil || s.Lost != nil || s.Why != nil { // there is no summary
		t.Errorf("survey: %+v", s)
	}
	if status, body, _ := v.ask("/api/packet?n=9&id="+id, nil); status != http.StatusBadRequest {
		t.Errorf("a compaction that there is not: %d %s", status, body)
	}
	v.get("/api/packet?n=1&why=1&id="+id, &s)
	if !slices.ContainsFunc(s.Why, func(r catalog.Reason) bool { return len(r.Evidence) > 0 }) {
		t.Errorf("nothing of the survey has evidence: %+v", s.Why)
	}
}

// What a summary keeps that cannot be read, or that nothing stands before, is not known, and not nothing. A hand-over is in
// the session's language, whatever the page's is.
func TestSurvey(t *testing.T) {
	t.Parallel()
	v := serve(t)
	said := func(n int, text string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"u%d","timestamp":"2026-01-01T00:%02d:00.000Z","sessionId":"s","cwd":"/w","message":{"role":"user","content":%q}}`, n, n, text)
	}
	summary := strings.Replace(said(3, "Fixed parseHeader."), `"type":"user"`, `"type":"user","isCompactSummary":true`, 1)
	work := []string{said(1, "請修正解析器 parseHeader，並且加上測試。"), answer(2, "`parseHeader` and `readBody` are wrong.", 50_000), fmt.Sprintf(boundaryLine, 1, 3)}
	v.write("sealed", work...)
	v.write("told", append(work, summary)...)
	v.write("begun", work[2], summary)
	for id, known := range map[string]bool{"sealed": false, "told": true, "begun": false} {
		var s, same survey
		v.get("/api/packet?lang=en&n=1&id="+id, &s)
		// The line of the compaction stands for its number.
		var c conversation
		v.get("/api/conversation?id="+id, &c)
		bar := c.Pieces[slices.IndexFunc(c.Pieces, func(p piece) bool { return p.Kind == "compacted" })]
		v.get(fmt.Sprintf("/api/packet?lang=en&at=%d&id=%s", bar.Off, id), &same)
		if diff := cmpp.Diff(s, same); diff != "" || bar.Trigger != "auto" || bar.Before != 170_000 {
			t.Errorf("%s: %+v: %s", id, bar, diff)
		}
		if status, _, _ := v.ask(fmt.Sprintf("/api/packet?at=%d&id=%s", bar.Off+1, id), nil); status != http.StatusNotFound {
			t.Errorf("%s: no compaction: %d", id, status)
		}
		if (s.Kept != nil) != known || (s.Lost != nil) != known || known && !slices.Contains(s.Kept, "parseHeader") || id != "begun" && !strings.Contains(s.Text, message.HandoverWords.ZH) {
			t.Errorf("%s: %+v", id, s)
		}
	}
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// TestHostileSession: what a session holds is data, however large and strange.
func TestHostileSession(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.write("evil", answer(1, "<script>alert(1)</script>\x1b[2J", 10), `{"type":"user","uuid":"u","message":{"content":"`+strings.Repeat("x", 10<<20)+`"}}`, "not json", "\x00\x00", `{"type":"assistant"`)
	sess, err := v.home.Session("evil")
	if err != nil {
		t.Fatal(err)
	}
	err = sess.Update(func(tx *store.Tx) error {
		return tx.Emit(store.On(message.EventToolFailure, "error", strings.Repeat("<img src=x onerror=alert(1)>", 1000), "nested", map[string]any{"a": []int{1}}))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/session?id=evil", "/api/timeline?id=evil", "/api/packet?id=evil&n=0", "/api/sessions", "/api/conversation?id=evil", "/api/conversation?id=evil&q=script"} {
		status, body, header := v.ask(path, nil)
		if status != 200 || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d, %s", path, status, header.Get("Content-Type"))
		}
		if len(body) > 300_000 || strings.Contains(string(body), "<script") || strings.Contains(string(body), "<img") {
			t.Errorf("%s: %d bytes", path, len(body))
		}
	}
}

// TestLive: a page that looks at sessions learns what happens to each of them, and of new
// ones, without asking again.
func TestLive(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.write("one", answer(1, "hello", 10))
	v.write("other", answer(1, "hello", 30))
	var list struct{ Version int }
	v.get("/api/sessions", &list)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/api/live?session=one+other+none&since=%d", v.base, list.Version), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.Token())
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	events := bufio.NewScanner(res.Body)
	events.Buffer(nil, 1<<20)
	next := func(want string) (data string) {
		t.Helper()
		name := ""
		for events.Scan() {
			if n, ok := strings.CutPrefix(events.Text(), "event: "); ok {
				name = n
			}
			if d, ok := strings.CutPrefix(events.Text(), "data: "); ok && name == want {
				return d
			}
		}
		t.Fatalf("the stream ended: %v", events.Err())
		return ""
	}
	if d := next("session"); !strings.Contains(d, `"tokens":[3015]`) {
		t.Errorf("first: %.300s", d)
	}
	if d := next("session"); !strings.Contains(d, `"id":"other"`) || !strings.Contains(d, `"tokens":[3035]`) {
		t.Errorf("beside it: %.300s", d)
	}
	v.write("one", answer(1, "hello", 10), answer(2, "more", 20))
	if d := next("session"); !strings.Contains(d, `"tokens":[3015,3025]`) {
		t.Errorf("then: %.300s", d)
	}
	v.write("two", answer(1, "another", 10))
	for !strings.Contains(next("sessions"), `"id":"two"`) {
	}
	if err := os.Remove(filepath.Join(v.dir, "two.jsonl")); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(next("sessions"), `"gone":["two"]`) {
	}
}

// TestManySessions: a list of thousands costs a page one answer, and a stream
// nothing while nothing happens.
func TestManySessions(t *testing.T) {
	t.Parallel()
	v := serve(t)
	rows := make([]Row, 3000)
	for i := range rows {
		id := fmt.Sprintf("s%04d", i)
		rows[i] = Row{File: transcript.File{ID: id, ModTime: time.Unix(int64(i), 0)}, Info: map[string]any{"id": id, "title": strings.Repeat("t", 80)}}
	}
	v.Sessions = func(context.Context) ([]Row, error) { return rows, nil }
	var list struct {
		Version  int
		Sessions []struct{ ID string }
	}
	begin := time.Now()
	v.get("/api/sessions", &list)
	if len(list.Sessions) != 3000 || list.Sessions[0].ID != "s2999" {
		t.Errorf("%d sessions", len(list.Sessions))
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	v.list.at = time.Time{}
	changed, gone, version, err := v.list.since(t.Context(), list.Version)
	if err != nil || len(changed) != 0 || len(gone) != 0 || version != list.Version {
		t.Errorf("%d changed, %d gone, version %d: %v", len(changed), len(gone), version, err)
	}
}

// What was asked wrongly is told so, in the reader's language and with advice: it is
// no failure of the program.
func TestAskedWrongly(t *testing.T) {
	t.Parallel()
	v := serve(t)
	bad := v.json(func(*http.Request) (any, error) {
		return nil, message.Misuse{Err: message.WithHint(message.Fail(message.BadSince, "garbage"), message.HintSince)}
	})
	for lang, want := range map[string]string{"en": `--since: cannot read "garbage"`, "zh-TW": `--since 無法理解：「garbage」`} {
		w := httptest.NewRecorder()
		bad.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/audit?since=garbage&lang="+lang, nil))
		var body struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		text, hint, _ := strings.Cut(body.Error, "\n"+message.HintLabel.In(message.Lang(lang)))
		if w.Code != http.StatusBadRequest || text != want || !strings.Contains(hint, "30d") {
			t.Errorf("%s: %d %q", lang, w.Code, body.Error)
		}
	}
}

// A reference that leads nowhere is the asker's mistake, and an original keeps its
// secrets to itself until it is asked for as it is.
func TestOriginal(t *testing.T) {
	t.Parallel()
	v := serve(t)
	secret := "gh" + "p_" + strings.Repeat("a1B2", 9)
	v.write("aaaabbbb-0000-4000-8000-000000000001", `{"type":"user","uuid":"11111111-2222-4333-8444-555555555555","sessionId":"aaaabbbb-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"the token is `+secret+` today"}}`)
	file := filepath.Join(v.dir, "aaaabbbb-0000-4000-8000-000000000001.jsonl")
	for _, ref := range []string{
		"", "%", "x", "#", "a#b", "…0123abcd", "0123abcd", "deadbeef#deadbeef", "x#L1", "../../etc/passwd#L1", "/etc/passwd#L1", "/nowhere.jsonl#L1", file + "#L99", file + "#nothing",
		file + "#L0", file + "#L-1", file + "#L99999999999999999999", "a\x00b#L1", strings.Repeat("a", 10_000) + "#L1", v.dir + "#L1", "[…#12345678]",
	} {
		for _, path := range []string{"original?ref=", "session?id=", "packet?id=", "timeline?id="} {
			status, body, _ := v.ask("/api/"+path+url.QueryEscape(ref), nil)
			if status >= 500 || path == "original?ref=" && status < 400 {
				t.Errorf("%s%.60q: %d %s", path, ref, status, body)
			}
		}
	}
	var got struct {
		Text   string
		Hidden int
	}
	v.get("/api/original?ref="+url.QueryEscape(file+"#L1"), &got)
	if strings.Contains(got.Text, secret) || got.Hidden != 1 || !strings.Contains(got.Text, "the token is") {
		t.Errorf("%+v", got)
	}
	v.get("/api/original?secrets=shown&ref="+url.QueryEscape(file+"#L1"), &got)
	if !strings.Contains(got.Text, secret) || got.Hidden != 0 {
		t.Errorf("as it is: %+v", got)
	}
}

// The fleet is there for a machine that belongs to a hub, from the file that
// overtone-team writes; a broken one is an error, not a crash.
func TestFleet(t *testing.T) {
	t.Parallel()
	v := serve(t)
	if _, err := v.fleet(nil); err == nil {
		t.Error("a fleet without a hub")
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(v.home.Root(), "team"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(v.home.Root(), "team", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("team.json", "{}")
	got := func() string {
		t.Helper()
		x, err := v.fleet(nil)
		if err != nil {
			return err.Error()
		}
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if want := `{"schema":1,"machine":"","machines":[],"sessions":[],"leases":null}`; got() != want {
		t.Errorf("before any news: %s", got())
	}
	put("fleet.json", `{"schema":1,"at":"2026-01-02T03:04:05Z","machine":"a","machines":[{"machine":"b","at":"2026-01-02T03:04:00Z","version":"1"}],
		"sessions":[{"machine":"b","session":"s1","workflow":"quick","stage":"DEV","done":1,"total":2,"left":40,"secret":"x"}],"leases":{"s1":{"holder":"b","phase":"held","nonce":"x"}}}`)
	if text := got(); !strings.Contains(text, `"stage":"DEV","done":1,"total":2,"left":40`) || !strings.Contains(text, `"leases":{"s1":{"holder":"b","phase":"held"}}`) || strings.Contains(text, `"x"`) {
		t.Errorf("fleet: %s", text)
	}
	for _, bad := range []string{"{", `{"schema":9}`, "[]", strings.Repeat(" ", 2<<20)} {
		if put("fleet.json", bad); strings.HasPrefix(got(), "{") {
			t.Errorf("%.20q is shown as %s", bad, got())
		}
	}
}

// The pages of a conversation are all of it, once and in order, without secrets; what is
// too long is cut and can be asked for.
func TestConversation(t *testing.T) {
	t.Parallel()
	v := serve(t)
	line := func(n int, typ, text string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":%q,"content":%q}}`, typ, n, typ, text)
	}
	var lines []string
	for n := range 400 {
		lines = append(lines, line(2*n, "user", fmt.Sprintf("question %d", n)), line(2*n+1, "assistant", fmt.Sprintf("answer %d ", n)+strings.Repeat("word ", 300)))
	}
	lines = append(lines, `{"type":"system","subtype":"compact_boundary","uuid":"b","timestamp":"2026-03-01T11:00:00.000Z","compactMetadata":{"trigger":"auto"}}`,
		line(900, "user", "the key is ghp_16C7e42F292c6912E7710c838347Ae178B4a, "+strings.Repeat("long ", 2000)))
	v.write("s1", lines...)
	var all []piece
	before, pages := "", 0
	for {
		var c conversation
		v.get("/api/conversation?id=s1"+before, &c)
		all = append(slices.Clone(c.Pieces), all...)
		if pages++; c.From == 0 || pages > 50 {
			break
		}
		before = fmt.Sprintf("&before=%d", c.From)
	}
	if len(all) != 802 || pages < 5 {
		t.Fatalf("%d pieces on %d pages", len(all), pages)
	}
	for n := range 400 {
		if q, a := all[2*n], all[2*n+1]; q.Kind != "user" || q.Text != fmt.Sprintf("question %d", n) || a.Kind != "agent" || !strings.HasPrefix(a.Text, fmt.Sprintf("answer %d ", n)) {
			t.Fatalf("%d: %q, %q", n, q.Text, a.Text)
		}
	}
	last := all[801]
	if all[800].Kind != "compacted" || strings.Contains(last.Text, "292c6912") || last.Cut < 10_000 || len(last.Text) > maxPiece+10 {
		t.Errorf("%+v, then %+v", all[800], last)
	}
	var whole conversation
	v.get(fmt.Sprintf("/api/conversation?id=s1&at=%d", last.Off), &whole)
	if len(whole.Pieces) != 1 || whole.Pieces[0].Cut != 0 || len(whole.Pieces[0].Text) < 9000 || strings.Contains(whole.Pieces[0].Text, "292c6912") {
		t.Errorf("%d pieces", len(whole.Pieces))
	}
	// Forward from a place, by bytes or by lines, the pages are the same.
	for _, start := range []string{"0", "L1", "L401"} {
		var on []piece
		var c conversation
		for from, n := start, 0; n < 50; n++ {
			v.get("/api/conversation?id=s1&from="+from, &c)
			if on = append(on, c.Pieces...); !c.More {
				break
			}
			from = strconv.FormatInt(c.To, 10)
		}
		want := all
		if start == "L401" {
			want = all[400:]
		}
		if diff := cmpp.Diff(want, on, cmpopts.IgnoreUnexported(piece{})); diff != "" {
			t.Errorf("from %s: %.2000s", start, diff)
		}
	}
	// A line that is written meanwhile is what follows, and one that is not whole waits.
	var c conversation
	v.get("/api/conversation?id=s1", &c)
	v.write("s1", append(lines, line(901, "assistant", "newest"), `{"type":"assistant","uuid":"u902"`)...)
	v.get(fmt.Sprintf("/api/conversation?id=s1&from=%d", c.To), &c)
	if len(c.Pieces) != 1 || c.Pieces[0].Text != "newest" || c.More {
		t.Errorf("%+v", c)
	}
	// A search reads all of it, thoughts too, and shows no secret.
	v.write("s1", append(lines, `{"type":"assistant","uuid":"u903","timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Perhaps Answer 7 is wrong","signature":"x"}]}}`)...)
	for query, found := range map[string][]string{"question+ANSWER": {}, "question+3": {"user"}, "perhaps+wrong": {"thought"}, "292c6912": {"user"}} {
		v.get("/api/conversation?id=s1&q="+query, &c)
		var got []string
		for _, p := range c.Pieces {
			if got = append(got, p.Kind); strings.Contains(p.Text, "292c6912") || len(p.Text) > 500 {
				t.Errorf("%s: %q", query, p.Text)
			}
		}
		if slices.Sort(got); !slices.Equal(slices.Compact(got), found) || len(c.Pieces) > 0 && c.Total == 0 {
			t.Errorf("%s: %q of %d", query, got, c.Total)
		}
	}
	for _, odd := range []string{"&before=-1", "&from=-1", "&from=x", "&from=L0", "&from=L99999", "&from=Lx", "&from=99999999999", "&at=L801", "&at=L9999", "&from=7", "&before=x", "&before=99999999999", "&at=99999999999", "&before=1", "&before=0"} {
		v.get("/api/conversation?id=s1"+odd, &whole)
	}
	if status, _, _ := v.ask("/api/conversation?id=../s1", nil); status != http.StatusNotFound {
		t.Errorf("a name of no session: %d", status)
	}
}
