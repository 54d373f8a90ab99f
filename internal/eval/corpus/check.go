package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/eval/cost"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// limit is how long one step may take, of the processor. Where the machine has none for us
// a step may wait; patience is for all that comes to nothing.
const (
	limit    = time.Minute
	patience = 10 * limit
)

// report collects what steps do.
type report struct {
	commands, mutations, processes, done atomic.Int64

	mu      sync.Mutex
	faults  []string
	slow    map[string]time.Duration // command and session
	refused map[string][]string      // what whole sessions were refused with
}

// progress tells now and then how far it is.
func (r *report) progress(of int) {
	if n := r.done.Add(1); n%25 == 0 {
		fmt.Fprintf(os.Stderr, "%d of %d sessions, %d accidents, %d commands\n", n, of, r.mutations.Load(), r.commands.Load())
	}
}

func (r *report) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	r.faults = append(r.faults, text)
	fmt.Println("FAULT", text)
}

// trial is one home and the step that is tried in it.
type trial struct {
	*report
	home  *home
	name  string
	whole bool // nothing has happened to the session
}

// step runs a command in this process. The answer is nil where there is none.
func (t *trial) step(args ...string) (out []byte, code int) {
	what := strings.Join(args, " ")
	for _, p := range t.home.placed {
		what = strings.ReplaceAll(what, p.id, "SESSION")
	}
	began, used, ended := time.Now(), cost.CPU(), make(chan struct{})
	go func() {
		for cost.CPU()-used < limit*time.Duration(runtime.GOMAXPROCS(0)) && time.Since(began) < patience {
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
			}
		}
		stacks := make([]byte, 1<<20)
		fmt.Printf("FAULT %s: %s hangs\n%s\n", t.name, what, stacks[:runtime.Stack(stacks, true)])
		os.Exit(1)
	}()
	out, errs, code := t.home.run(args...)
	took := time.Since(began)
	close(ended)
	t.commands.Add(1)
	t.mu.Lock()
	t.slow[what+"\x00"+t.name] = max(took, t.slow[what+"\x00"+t.name])
	t.mu.Unlock()
	t.judge(what, out, errs, code, slices.Contains(args, "--json"))
	if t.whole && code != 0 {
		said, _, _ := strings.Cut(string(errs), "\n")
		for _, p := range t.home.placed {
			said = strings.ReplaceAll(said, p.id, "SESSION")
		}
		t.mu.Lock()
		t.refused[args[0]+": "+said] = append(t.refused[args[0]+": "+said], t.name)
		t.mu.Unlock()
	}
	return out, code
}

// mark is what every fault of ours begins with.
var mark, _, _ = strings.Cut(message.Fault.Format(message.EN, "\x00", ""), "\x00")

// judge says what no command may do.
func (t *trial) judge(what string, out, errs []byte, code int, asked bool) {
	switch {
	case bytes.Contains(errs, []byte(mark)), bytes.Contains(errs, []byte("goroutine ")):
		t.fault("%s: %s: %.2000s", t.name, what, errs)
	case code < 0 || code > 3:
		t.fault("%s: %s: exit code %d: %s", t.name, what, code, errs)
	case asked && len(out) == 0 && (code == 0 || code == 3) && !strings.HasPrefix(what, "timeline"):
		t.fault("%s: %s: printed nothing", t.name, what)
	}
	if !asked {
		return
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for {
		var v map[string]any
		err := d.Decode(&v)
		if err == io.EOF {
			return
		}
		if err != nil || v["schema"] == nil {
			t.fault("%s: %s: no JSON of ours (%v): %.200s", t.name, what, err, out)
			return
		}
	}
}

// alone runs all commands on one session in a home of its own. want is the session whose
// tokens it has to have, nil where an accident may have taken some.
func (r *report) alone(now time.Time, s session, want []byte) {
	h, err := newHome(now)
	if err == nil {
		defer func() {
			if err := h.remove(); err != nil {
				r.fault("%s: %v", s.name, err)
			}
		}()
		if err = h.place(s); err == nil {
			err = h.ready()
		}
	}
	if err != nil {
		r.fault("%s: place: %v", s.name, err)
		return
	}
	t := &trial{r, h, s.name, want != nil && bytes.Equal(want, s.data)}
	id := t.listed()
	t.audited(want)
	if id == "" {
		return
	}
	out, _ := t.step("compact", "explain", id, "--json")
	var explained struct{ Compactions int }
	_ = json.Unmarshal(out, &explained) // judged
	if n := t.packets(id); t.whole && n != explained.Compactions {
		t.fault("%s: explain counts %d compactions, packet %d", t.name, explained.Compactions, n)
	}
	t.recalled(id)
	t.step("timeline", id, "--json")
	t.shrunk(id, s.host)
	t.carried(id)
	for _, name := range h.changed() {
		t.fault("%s: the source %s has changed", t.name, name)
	}
}

// listed finds the session as the list has it; "" where an accident hides it.
func (t *trial) listed() string {
	out, _ := t.step("sessions", "--json", "--limit", "100000")
	var list struct {
		Sessions []struct{ ID string }
		More     int
	}
	_ = json.Unmarshal(out, &list) // judged
	t.step("sessions")
	if len(list.Sessions) == 1 {
		return list.Sessions[0].ID
	}
	if t.whole {
		t.fault("%s: %d sessions are listed", t.name, len(list.Sessions))
	}
	return ""
}

// audited checks the sums of an audit, and its tokens against another reader.
func (t *trial) audited(want []byte) {
	out, _ := t.step("audit", "--json")
	t.sums("audit --json", out)
	if again, _ := t.step("audit", "--json"); !bytes.Equal(out, again) {
		t.fault("%s: the audit of what is kept differs", t.name)
	}
	t.step("audit")
	t.step("audit", "--lost")
	if want == nil || len(out) == 0 {
		return
	}
	u := used{}
	for _, p := range t.home.placed {
		s := p.session
		if len(t.home.placed) == 1 {
			s.data = want
		}
		u.add(s)
	}
	var doc struct{ Totals struct{ Tokens tokens } }
	_ = json.Unmarshal(out, &doc) // judged
	if got, sum := doc.Totals.Tokens, u.sum(); got != sum {
		t.fault("%s: audit counts %+v tokens, another reader %+v", t.name, got, sum)
	}
}

// spent are the numbers of an audit that rows add up to.
type spent struct {
	Sessions, Compactions, Requests int
	Tokens                          tokens
	USD                             *float64
	UnpricedTokens                  int64
}

func (s *spent) add(o spent) {
	s.Sessions += o.Sessions
	s.Compactions += o.Compactions
	s.Requests += o.Requests
	s.Tokens = used{"a": s.Tokens, "b": o.Tokens}.sum()
	s.UnpricedTokens += o.UnpricedTokens
	if o.USD != nil {
		s.USD = new(*cmp.Or(s.USD, new(float64)) + *o.USD)
	}
}

// sums checks that the rows of an audit add up to what it says in all.
func (t *trial) sums(what string, out []byte) {
	var doc struct {
		Totals struct {
			spent
			Automatic, Manual, MidWork, AtBoundary int
			WhatIf                                 map[string]any
			Lost                                   struct{ FilesReadAgain, CommandsRunAgain, Compactions int }
		}
		Days, Projects, Models []spent
		Sessions               []struct {
			spent
			Compactions []struct {
				Trigger string
				MidWork bool
				At      []string
				Loss    *struct{ FilesReadAgain, CommandsRunAgain, Compactions int }
			}
			WhatIf map[string]any
		}
	}
	if len(out) == 0 {
		return
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.fault("%s: %s: %v", t.name, what, err)
		return
	}
	all := doc.Totals
	equal := func(rows string, got spent) {
		want := all.spent
		if rows != "sessions" { // a session may have several days and models
			got.Sessions = want.Sessions
		}
		money := math.Abs(*cmp.Or(got.USD, new(float64))-*cmp.Or(want.USD, new(float64))) < 1e-6*(1+*cmp.Or(want.USD, new(float64)))
		got.USD, want.USD = nil, nil
		if got != want || !money {
			t.fault("%s: %s: %s add up to %+v, the total is %+v", t.name, what, rows, got, want)
		}
	}
	var days, projects, models, sessions spent
	for to, rows := range map[*spent][]spent{&days: doc.Days, &projects: doc.Projects, &models: doc.Models} {
		for _, row := range rows {
			to.add(row)
		}
	}
	equal("days", days)
	equal("projects", projects)
	equal("models", models)
	whatIf, want := map[string]float64{}, map[string]float64{}
	numbers := func(to map[string]float64, from map[string]any) {
		for k, v := range from {
			if n, ok := v.(float64); ok {
				to[k] += n
			}
		}
	}
	numbers(want, all.WhatIf)
	var auto, manual, mid, at, lost int
	for _, s := range doc.Sessions {
		s.spent.Sessions, s.spent.Compactions = 1, len(s.Compactions)
		sessions.add(s.spent)
		numbers(whatIf, s.WhatIf)
		for _, c := range s.Compactions {
			count := func(n *int, yes bool) {
				if yes {
					*n++
				}
			}
			count(&auto, c.Trigger == "auto")
			count(&manual, c.Trigger == "manual")
			count(&mid, c.MidWork)
			count(&at, len(c.At) > 0)
			if c.Loss != nil {
				lost += c.Loss.Compactions
			}
		}
	}
	equal("sessions", sessions)
	if got, want := [5]int{auto, manual, mid, at, lost}, [5]int{all.Automatic, all.Manual, all.MidWork, all.AtBoundary, all.Lost.Compactions}; got != want {
		t.fault("%s: %s: compactions add up to %v (auto, manual, mid-work, at a boundary, judged), the total is %v", t.name, what, got, want)
	}
	if len(doc.Sessions) > 0 && !maps.Equal(whatIf, want) {
		t.fault("%s: %s: what-if adds up to %v, the total is %v", t.name, what, whatIf, want)
	}
}

// packets asks for the hand-over of now and of every compaction.
func (t *trial) packets(id string) (total int) {
	for n := 0; n <= total; n++ {
		args := []string{"compact", "packet", id, "--json", "--compaction", strconv.Itoa(n)}
		if n == 1 {
			args = append(args, "--why")
		}
		out, code := t.step(args...)
		if code != 0 {
			return total
		}
		var doc struct{ Compaction, Compactions int }
		_ = json.Unmarshal(out, &doc) // judged
		if total = doc.Compactions; doc.Compaction != n {
			t.fault("%s: packet of compaction %d tells of %d", t.name, n, doc.Compaction)
		}
	}
	return total
}

// recalled searches, and asks for the original of the first hit.
func (t *trial) recalled(id string) {
	out, _ := t.step("recall", "the", "file", "--json", "--session", id)
	var doc struct {
		Total int
		Hits  []struct{ Ref, Snippet string }
	}
	_ = json.Unmarshal(out, &doc) // judged
	if doc.Total < len(doc.Hits) {
		t.fault("%s: recall: %d of %d hits", t.name, len(doc.Hits), doc.Total)
	}
	if len(doc.Hits) == 0 {
		return
	}
	if out, code := t.step("recall", doc.Hits[0].Ref, "--json"); code != 0 {
		t.fault("%s: recall %s, which a search found: %s", t.name, doc.Hits[0].Ref, out)
	}
}

// made is what a command says of the session that it has made.
type made struct {
	ID, Path string
	Messages int
	Result   struct {
		Clone struct{ ID, Path string }
	}
}

// shrunk compresses: as a plan, and into a clone where the host's own program is not
// needed for it.
func (t *trial) shrunk(id string, h host.Name) {
	t.step("compress", id, "--dry-run", "--json")
	if h == host.Opencode || h == host.Copilot {
		return
	}
	out, code := t.step("compress", id, "--json", "--provider", "builtin", "--bands", "0-50:heavy-compress,50-90:compress")
	if code == 0 {
		t.verified("compress", out)
	}
}

// carried takes the session into every host; opencode and Copilot CLI would have to
// import it themselves.
func (t *trial) carried(id string) {
	for _, target := range carry.Names() {
		args := []string{"continue", id, "--in", target, "--json"}
		if target == string(host.Opencode) || target == string(host.Copilot) {
			t.step(append(args, "--dry-run")...)
			continue
		}
		if out, code := t.step(args...); code == 0 {
			t.verified("continue --in "+target, out)
		}
	}
	// The same while the agent may be at work in it.
	aged := t.home.now
	t.home.now = aged.Add(-time.Hour + time.Second)
	t.step("continue", id, "--in", string(host.Codex), "--json", "--dry-run")
	t.home.now = aged
}

// verified reads a session that was made with a reader that looks for what a host would
// stumble over.
func (t *trial) verified(what string, out []byte) {
	var doc made
	_ = json.Unmarshal(out, &doc) // judged
	path := cmp.Or(doc.Path, doc.Result.Clone.Path)
	if path == "" || slices.ContainsFunc(t.home.placed, func(p placed) bool { return p.path == path }) {
		return // nothing to shorten: the session itself goes on
	}
	rep, err := transcript.Verify(context.Background(), path)
	if err != nil {
		t.fault("%s: %s made %s: %v", t.name, what, path, err)
		return
	}
	if n := len(rep.Duplicate) + len(rep.Dangling) + len(rep.Incomplete) + len(rep.Orphaned); t.whole && strings.HasPrefix(what, "continue") && n > 0 {
		t.fault("%s: %s made a session with %d entries that a host would stumble over", t.name, what, n)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.fault("%s: %s: %v", t.name, what, err)
	}
	if !t.whole || !strings.HasPrefix(what, "continue") {
		return
	}
	for line := range bytes.Lines(data) {
		if !json.Valid(line) {
			t.fault("%s: %s wrote a line that is no JSON: %.100s", t.name, what, line)
		}
	}
}

// together runs the commands on all sessions in one home, and asks the dashboard for each.
func (r *report) together(now time.Time, list []session, o options) error {
	h, err := newHome(now)
	if err != nil {
		return err
	}
	defer h.remove() //nolint:errcheck // a temporary folder
	rnd := rand64(o.seed)
	for i, s := range list {
		if err := h.place(s); err != nil {
			return err
		}
		if s.host == host.Gemini {
			continue
		}
		// Beside each one a spoilt copy: what it holds must not hide the others.
		small := mutations(part(s.data, o.parts, rnd), 2, rnd)
		s.name, s.data = s.name+", spoilt", small[rnd.IntN(len(small))].data
		s.id = fmt.Sprintf("00000000-0000-4000-a000-%012d", i)
		if o.sample && i%4 != 0 || len(bytes.TrimSpace(s.data)) == 0 {
			continue
		}
		if err := h.place(s); err != nil {
			return err
		}
	}
	if err := h.ready(); err != nil {
		return err
	}
	t := &trial{report: r, home: h, name: "all in one home"}
	out, _ := t.step("sessions", "--json", "--limit", "100000")
	var found struct {
		Sessions []struct{ ID string }
		More     int
	}
	_ = json.Unmarshal(out, &found) // judged
	ids := map[string]bool{}
	for _, s := range found.Sessions {
		ids[s.ID] = true
	}
	for _, p := range h.placed {
		if !strings.HasSuffix(p.name, ", spoilt") && p.host != host.Gemini && !ids[p.id] {
			t.fault("all in one home: %s is not listed", p.name)
		}
	}
	if out, _ := t.step("sessions", "--json", "--limit", "5"); len(out) > 0 {
		more := found
		_ = json.Unmarshal(out, &more) // judged
		if len(more.Sessions)+more.More != len(found.Sessions) {
			t.fault("all in one home: %d sessions and %d more are not %d", len(more.Sessions), more.More, len(found.Sessions))
		}
	}
	t.audited(nil)
	t.recalled(found.Sessions[0].ID)
	t.step("recall", "error", "test", "--json")
	if err := t.served(slices.Collect(maps.Keys(ids)), o); err != nil {
		return err
	}
	for _, args := range [][]string{{"sessions", "--json"}, {"audit", "--json"}, {"recall", "file", "--json"}} {
		t.process(o.program, args...)
	}
	for _, name := range h.changed() {
		t.fault("all in one home: the source %s has changed", name)
	}
	return nil
}

// command is a process of the program in this home.
func (t *trial) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = t.home.dir, nil
	for k, v := range t.home.environment() {
		c.Env = append(c.Env, k+"="+v)
	}
	return c
}

// process runs a step as people do.
func (t *trial) process(program string, args ...string) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var out, errs bytes.Buffer
	c := t.command(ctx, program, args...)
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // its exit code tells
	t.commands.Add(1)
	t.processes.Add(1)
	t.judge("process "+strings.Join(args, " "), out.Bytes(), errs.Bytes(), c.ProcessState.ExitCode(), true)
}

// served asks a dashboard for all that its page shows of the sessions.
func (t *trial) served(ids []string, o options) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c := t.command(ctx, o.program, "dashboard", "--json")
	var errs bytes.Buffer
	c.Stderr = &errs
	pipe, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return fmt.Errorf("start the dashboard: %w", err)
	}
	defer func() {
		_ = c.Process.Signal(os.Interrupt) // it may have ended
		_ = c.Wait()
		if strings.Contains(errs.String(), "goroutine ") || strings.Contains(errs.String(), mark) {
			t.fault("the dashboard: %s", errs.String())
		}
	}()
	var at struct{ URL, Token string }
	if err := json.NewDecoder(pipe).Decode(&at); err != nil {
		return fmt.Errorf("start the dashboard: %w: %s", err, errs.String())
	}
	base, _, _ := strings.Cut(at.URL, "#")
	client := &http.Client{Timeout: patience}
	ask := func(path string, query url.Values) []byte {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"api/"+path+"?"+query.Encode(), nil)
		if err != nil {
			t.fault("the dashboard: %v", err)
			return nil
		}
		req.Header.Set("Authorization", "Bearer "+at.Token)
		began := time.Now()
		res, err := client.Do(req)
		if err != nil {
			t.fault("the dashboard: %s %v: %v", path, query, err)
			return nil
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		t.commands.Add(1)
		t.mu.Lock()
		t.slow["dashboard "+path+"\x00"+query.Get("id")] = time.Since(began)
		t.mu.Unlock()
		if err != nil || res.StatusCode >= 500 || !json.Valid(body) || strings.Contains(string(body), mark) || strings.Contains(string(body), `"faults":`) {
			t.fault("the dashboard: %s %v: %d %v %.300s", path, query, res.StatusCode, err, body)
		}
		return body
	}
	for _, path := range []string{"state", "sessions", "audit", "fleet"} {
		ask(path, nil)
	}
	ask("recall", url.Values{"q": {"the file"}})
	slices.Sort(ids)
	for _, id := range ids {
		body := ask("session", url.Values{"id": {id}})
		ask("timeline", url.Values{"id": {id}})
		var doc struct{ Compactions []struct{} }
		_ = json.Unmarshal(body, &doc) // judged
		for n := range min(3, len(doc.Compactions)+1) {
			ask("packet", url.Values{"id": {id}, "n": {strconv.Itoa(n)}})
		}
	}
	return nil
}

// print tells what there was.
func (r *report) print(sessions int, took time.Duration) {
	fmt.Printf("%d sessions, %d accidents, %d commands (%d of them processes), %d faults, in %s\n", sessions, r.mutations.Load(), r.commands.Load(), r.processes.Load(), len(r.faults), took.Round(time.Second))
	type row struct {
		what, name string
		took       time.Duration
	}
	var list []row
	for k, d := range r.slow {
		what, name, _ := strings.Cut(k, "\x00")
		list = append(list, row{what, name, d})
	}
	slices.SortFunc(list, func(a, b row) int { return cmp.Compare(b.took, a.took) })
	fmt.Println("\nWhat whole sessions were refused with:")
	for _, said := range slices.Sorted(maps.Keys(r.refused)) {
		fmt.Printf("%8d  %s (%s)\n", len(r.refused[said]), said, r.refused[said][0])
	}
	fmt.Println("\nThe ten slowest:")
	for _, l := range list[:min(10, len(list))] {
		fmt.Printf("%8s  %s (%s)\n", l.took.Round(time.Millisecond), l.what, l.name)
	}
}
