package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// detail is all that the page shows of one session, but its timeline.
type detail struct {
	Schema   int         `json:"schema"`
	ID       string      `json:"id"`
	Info     any         `json:"info"`
	Path     string      `json:"path,omitempty"` // as people are shown it
	Work     *work       `json:"work"`
	Context  contextView `json:"context"`
	Decision *decision   `json:"decision"`
	// Situation is how the work stands, null without a file; Stands its state in words.
	Situation   *compact.Situation `json:"situation"`
	Stands      string             `json:"stands"`
	Boundaries  []boundary         `json:"boundaries"`
	Compactions []compaction       `json:"compactions"`
	Census      map[string]int     `json:"census"`
	Readable    bool               `json:"readable"` // the host's file
	Hooked      bool               `json:"hooked"`   // there is a timeline of it
	Problems    []string           `json:"problems"` // what could not be read
}

// subject is a session that is asked for: a file of a host, what we keep, or both.
type subject struct {
	id   string
	file *Row
	sess *store.Session
}

// find takes only sessions that are listed: no request can name a file.
func (s *Server) find(ctx context.Context, id string) (subject, error) {
	sub := subject{id: id}
	rows, files, err := s.list.get(ctx)
	if err != nil {
		return sub, err
	}
	if !slices.ContainsFunc(rows, func(r shownRow) bool { return r.ID == id }) {
		return sub, errNotFound
	}
	if f, ok := files[id]; ok {
		sub.file = &f
	}
	// Ids that are no names of ours have a file only.
	sub.sess, _ = s.Store.Session(id)
	return sub, nil
}

// asked is the session that a request is about, and what else the request says.
func (s *Server) asked(r *http.Request) (subject, url.Values, error) {
	q := r.URL.Query()
	sub, err := s.find(r.Context(), q.Get("id"))
	return sub, q, err
}

func (s *Server) session(r *http.Request) (any, error) {
	sub, _, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	return s.detail(r.Context(), sub, s.lang(r))
}

func (s *Server) detail(ctx context.Context, sub subject, lang message.Lang) (detail, error) {
	d := detail{Schema: 2, ID: sub.id, Boundaries: []boundary{}, Compactions: []compaction{}, Problems: []string{}}
	path, file := "", transcript.File{}
	problem := func(err error) {
		if err != nil {
			d.Problems = append(d.Problems, message.ErrorText(catalog.ReadHint(s.Shown(path), err), lang))
		}
	}
	if sub.file != nil {
		d.Info, file, path = sub.file.Info, sub.file.File, sub.file.Path
		d.Path = s.Shown(path)
	}
	var events []store.Entry
	var moment audit.Moment
	if sub.sess != nil {
		state, err := session.Peek(sub.sess)
		problem(err)
		d.Work = workOf(state, lang)
		events, _, err = sub.sess.Last(1<<20, store.Filter{})
		problem(err)
		d.Hooked = len(events) > 0
		v, err := catalog.NewView(ctx, s.Store, sub.sess, file, "", s.Config(), s.Now())
		problem(err)
		if err == nil {
			d.Decision, d.Situation, moment = decisionOf(v.Insight, lang), v.Situation, v.Moment
		}
		if at := d.Situation; at != nil {
			d.Stands = message.Stands(string(at.State), at.Question, string(at.Sign), lang)
		}
		d.Boundaries = boundariesOf(events)
		d.Census = censusOf(events)
	}
	seen, _ := s.packets.get(path, func() (*packets, error) { return &packets{}, nil })
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if path != "" {
		err := seen.Read(ctx, path)
		if ctx.Err() != nil {
			return d, ctx.Err()
		}
		problem(err)
		d.Readable = err == nil
	}
	d.Context = contextOf(&moment, d.Decision)
	d.Compactions = compactionsOf(moment.Compactions, seen.IDs, sub.id, events)
	return d, nil
}

type packets struct {
	mu sync.Mutex
	transcript.Packets
}

type work struct {
	progress
	Feature  string        `json:"feature,omitempty"`
	Started  string        `json:"started,omitempty"`
	Ended    string        `json:"ended,omitempty"`
	Next     string        `json:"next,omitempty"`
	Ready    []string      `json:"ready"`
	Stages   []stageView   `json:"stages"`
	Agents   []agentView   `json:"running"`
	Barriers []barrierView `json:"barriers"`
	Failed   int           `json:"failCount"`
	Rejected int           `json:"rejectCount"`
	Wide     graph         `json:"wide"`
	Narrow   graph         `json:"narrow"`
}

type stageView struct {
	Key        string           `json:"key"`
	Label      string           `json:"label"`
	Emoji      string           `json:"emoji,omitempty"`
	Agent      string           `json:"agent,omitempty"`
	Status     string           `json:"status"`
	Result     string           `json:"result,omitempty"`
	Unverified bool             `json:"unverified,omitempty"`
	Forced     bool             `json:"forced,omitempty"`
	SkipWanted bool             `json:"skipWanted,omitempty"`
	Retries    int              `json:"retries,omitempty"`
	MaxRetries int              `json:"maxRetries,omitempty"`
	Crashes    int              `json:"crashes,omitempty"`
	Started    string           `json:"started,omitempty"`
	Completed  string           `json:"completed,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	Rounds     []workflow.Round `json:"rounds,omitempty"`
}

type agentView struct {
	Name    string `json:"name"`
	Stage   string `json:"stage"`
	Started string `json:"started,omitempty"`
}

type barrierView struct {
	Group   string   `json:"group"`
	Total   int      `json:"total"`
	Voted   int      `json:"voted"`
	Missing []string `json:"missing"`
	Done    bool     `json:"done"`
}

func workOf(s *workflow.State, lang message.Lang) *work {
	p := progressOf(s)
	if p == nil {
		return nil
	}
	w := &work{
		progress: *p, Feature: s.FeatureName, Started: s.CreatedAt, Ended: s.Ended, Failed: s.FailCount, Rejected: s.RejectCount,
		Ready: []string{}, Stages: []stageView{}, Agents: []agentView{}, Barriers: []barrierView{},
		Wide: layout(s.DAG, false), Narrow: layout(s.DAG, true),
	}
	if s.Active {
		w.Ready = append(w.Ready, s.Ready()...)
		w.Next = workflow.NextStep(s, lang)
	}
	for k, st := range s.Stages.All() {
		v := stageView{
			Key: k, Label: k, Agent: st.Agent, Status: st.Status, Result: st.Result, Unverified: st.Unverified, Forced: st.Forced,
			SkipWanted: st.SkipWanted, Retries: s.Retries[k], Crashes: s.Crashes[k], Started: st.StartedAt, Completed: st.CompletedAt,
			Reason: message.Short(st.Reason, 400),
		}
		if known, ok := s.DAG.Info(k); ok {
			v.Label, v.Emoji = known.Label.In(lang), known.Emoji
			v.Agent = cmp.Or(v.Agent, known.Agent)
		}
		if n, ok := s.DAG.Get(k); ok && n.OnFail != "" {
			v.MaxRetries = max(0, n.MaxRetries)
		}
		v.Rounds, _ = s.RetryHistory.Get(k)
		w.Stages = append(w.Stages, v)
	}
	for name, a := range s.ActiveAgents.All() {
		w.Agents = append(w.Agents, agentView{name, a.Stage, a.StartedAt})
	}
	for name, g := range s.Barriers.All() {
		w.Barriers = append(w.Barriers, barrierView{name, g.Total, len(g.Completed), append([]string{}, g.Missing()...), g.Resolved})
	}
	return w
}

// decision is what `overtone compact explain` says.
type decision struct {
	Mode      compact.Mode       `json:"mode"`
	Verdict   compact.Verdict    `json:"verdict"`
	Cause     compact.Cause      `json:"cause"`
	Reason    string             `json:"reason"`
	Tier      compact.Tier       `json:"tier"`
	Remaining int                `json:"percentRemaining"`
	Used      int64              `json:"used"`
	Window    int64              `json:"window"`
	Signals   []compact.Boundary `json:"signals"`
	Allowed   []compact.Boundary `json:"allowed"`
	Next      compact.Next       `json:"next,omitempty"`
	Packet    string             `json:"packet,omitempty"`
}

func decisionOf(in session.Insight, lang message.Lang) *decision {
	d := in.Decision
	out := &decision{
		Mode: in.Input.Settings.Mode, Verdict: d.Verdict, Cause: d.Cause, Reason: d.Reason.In(lang), Tier: d.Tier,
		Remaining: d.PercentRemaining, Used: in.Input.Usage.Used, Window: in.Input.Usage.Window,
		Signals: append([]compact.Boundary{}, d.Signals...), Allowed: append([]compact.Boundary{}, d.Allowed...),
		Next: in.Next,
	}
	if in.Receipt != nil {
		out.Packet = in.Receipt.String()
	}
	return out
}

// contextView is how full the context was at each request. Times are seconds.
type contextView struct {
	Times   []float64 `json:"times"`
	Tokens  []int64   `json:"tokens"`
	Window  int64     `json:"window"`
	Peak    int64     `json:"peak"` // at a request, or before a compaction
	Model   string    `json:"model,omitempty"`
	Dropped int       `json:"dropped"` // points left out, as nobody could tell them apart
}

// maxPoints is more than a screen has pixels across.
const maxPoints = 2000

func contextOf(m *audit.Moment, d *decision) contextView {
	v := contextView{Times: []float64{}, Tokens: []int64{}, Window: m.Window, Model: m.Model}
	if d != nil && d.Window > 0 {
		v.Window = d.Window
	}
	for _, p := range m.Points {
		v.Peak = max(v.Peak, p.Tokens)
	}
	for i := range m.Compactions {
		v.Peak = max(v.Peak, m.Compactions[i].Before)
	}
	step := max(1, (len(m.Points)+maxPoints-1)/maxPoints)
	at := 0.0
	for i := 0; i < len(m.Points); i += step {
		// Of each group the fullest is shown, so that peaks stay.
		best := i
		for j := i; j < min(i+step, len(m.Points)); j++ {
			if m.Points[j].Tokens > m.Points[best].Tokens {
				best = j
			}
		}
		p := m.Points[best]
		// Time does not run backwards on the axis, whatever a file says.
		if at = max(at, float64(p.Time)/1000); at == 0 {
			continue
		}
		v.Times, v.Tokens = append(v.Times, at), append(v.Tokens, p.Tokens)
	}
	v.Dropped = len(m.Points) - len(v.Times)
	return v
}

// boundary is a moment at which a compaction was weighed.
type boundary struct {
	Time string `json:"ts"`
	// Outcome: taken, refused, or seen where nothing was to be done.
	Outcome   string   `json:"outcome"`
	Verdict   string   `json:"verdict"`
	Cause     string   `json:"cause,omitempty"`
	Tier      string   `json:"tier,omitempty"`
	Remaining *int     `json:"percentRemaining,omitempty"`
	Signals   []string `json:"signals"`
	Reason    string   `json:"reason,omitempty"`
}

func boundariesOf(events []store.Entry) []boundary {
	list := []boundary{}
	for _, e := range events {
		if e.Type != message.EventCompactDecision && e.Type != message.EventSessionCompactSuggest {
			continue
		}
		b := boundary{
			Time: e.TS, Verdict: e.Text("verdict"), Cause: e.Text("cause"), Tier: e.Text("tier"),
			Reason: message.Short(e.Text("reason"), 400), Signals: names(e.Text("signals")),
		}
		if e.Type == message.EventSessionCompactSuggest {
			b.Verdict = string(compact.DoSuggest)
		}
		if n, err := strconv.Atoi(e.Text("percentRemaining")); err == nil && n >= 0 {
			b.Remaining = &n
		}
		switch compact.Verdict(b.Verdict) {
		case compact.DoCompact, compact.DoSuggest, compact.DoTag:
			b.Outcome = "taken"
		case compact.IsOff:
			b.Outcome = "seen"
		default:
			b.Outcome = "refused"
			if len(b.Signals) == 0 && b.Verdict == string(compact.Wait) {
				b.Outcome = "seen"
			}
		}
		list = append(list, b)
	}
	slices.Reverse(list)
	return list[:min(len(list), 500)]
}

// names reads a list of strings; anything else is an empty one.
func names(list string) []string {
	out := []string{}
	if json.Unmarshal([]byte(list), &out) != nil || out == nil {
		return []string{}
	}
	return out
}

// compaction is one in the host's file, with what became of our hand-over.
type compaction struct {
	N       int    `json:"n"`
	Time    string `json:"ts,omitempty"`
	Trigger string `json:"trigger,omitempty"`
	Before  int64  `json:"before"` // tokens; 0 where the file does not tell
	After   int64  `json:"after"`
	// Wrote and Read are what the first request afterwards sent anew and what it took
	// from the cache.
	Wrote  int64       `json:"wrote"`
	Read   int64       `json:"read"`
	Packet *packetView `json:"packet"`
}

type packetView struct {
	ID    string `json:"id"`
	State string `json:"state"` // created, delivered, left, later, expired, unknown
	Via   string `json:"via,omitempty"`
	// Seen: the text stands in the session's file.
	Seen bool `json:"seen"`
}

func compactionsOf(compactions []audit.Compaction, stated map[string]bool, id string, events []store.Entry) []compaction {
	packets := packetsOf(events)
	list := []compaction{}
	for _, c := range compactions {
		v := compaction{N: c.N, Time: c.Time, Trigger: c.Trigger, Before: c.Before, After: c.After}
		if c.Trigger == "unknown" {
			v.Trigger = ""
		}
		if p := c.Payback; p != nil {
			v.Wrote, v.Read = p.Written, p.Read
		}
		for _, name := range []string{compact.PacketID(id, v.N), compact.PacketID(id+"/hooks", v.N)} {
			p, told := packets[name]
			seen := stated[name]
			if !told && !seen {
				continue
			}
			v.Packet = &packetView{ID: name, State: cmp.Or(p.State, "delivered"), Via: p.Via, Seen: seen}
			break
		}
		list = append(list, v)
	}
	slices.Reverse(list)
	return list
}

// packetsOf is how far hand-overs have come, by id, as the timeline tells it.
func packetsOf(events []store.Entry) map[string]packetView {
	packets := map[string]packetView{}
	states := map[string]string{
		message.EventPacketCreated: "created", message.EventPacketDelivered: "delivered", message.EventPacketExpired: "expired",
		message.EventPacketUnknown: "unknown", message.EventPacketLeft: "left",
	}
	for _, e := range events {
		if state, ok := states[e.Type]; ok {
			id := cmp.Or(e.Text("id"), e.Text("packet"))
			packets[id] = packetView{ID: id, State: state, Via: e.Text("via")}
		}
	}
	return packets
}

// counted are the events of a census. Who is silent has ended without a route.
var counted = map[string]string{
	message.EventAgentDelegate: "started", message.EventAgentComplete: "finished", message.EventAgentDied: "died", message.EventAgentError: "died",
	message.EventAgentCrash: "silent", message.EventAgentOrphanCleanup: "cleared", message.EventStageRetry: "retried",
	message.EventStageRefused: "refused", message.EventDelegationDenied: "refused", message.EventRouteCorrected: "corrected",
}

// censusOf counts what became of the agents of the present run, and what was not
// taken at its word.
func censusOf(events []store.Entry) map[string]int {
	all := map[string]int{}
	for _, e := range events {
		if e.Type == message.EventWorkflowStart {
			clear(all)
		}
		if name := counted[e.Type]; name != "" {
			all[name]++
		}
	}
	return all
}

// survey is what a compaction kept: of the names most likely to be needed again,
// those that the summary states, those that the hand-over adds, and the rest. Where the
// summary cannot be read, or nothing stands before it, nobody knows what was kept and what
// was lost: both are null.
type survey struct {
	Schema int      `json:"schema"`
	N      int      `json:"n"`
	Kept   []string `json:"kept"`
	Handed []string `json:"handed"`
	Lost   []string `json:"lost"`
	// HandedMore and LostMore count the less likely names that the summary does not state.
	HandedMore int `json:"handedMore"`
	LostMore   int `json:"lostMore"`

	Summary string `json:"summary"`
	Text    string `json:"text"`
	// Why is the text once more, with the records behind each line, where it was asked for.
	Why []catalog.Reason `json:"why,omitempty"`
}

// maxShown bounds a text that is sent to the page.
const maxShown = 100_000

func (s *Server) packet(r *http.Request) (any, error) {
	sub, q, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(q.Get("n"))
	if sub.file != nil && q.Has("at") { // the compaction whose line begins there
		var at int64
		if at, err = strconv.ParseInt(q.Get("at"), 10, 64); err == nil {
			n, err = numberOf(r.Context(), sub.file.Path, at)
		}
	}
	if err != nil || n < 0 || sub.file == nil {
		return nil, errNotFound
	}
	look := func() (survey, error) {
		found, err := catalog.NewSurvey(r.Context(), sub.file.File, n, s.Tongue)
		if err != nil {
			return survey{}, err
		}
		v := surveyOf(found)
		if q.Get("why") == "1" {
			v.Why, err = found.Why(r.Context())
		}
		return v, err
	}
	if n == 0 {
		return look() // it changes with every line
	}
	// What stands before a compaction does not change any more.
	return s.surveys.get(sub.file.Path+"#"+strconv.Itoa(n)+q.Get("why"), look)
}

// numberOf is which compaction of a file the line at an offset is.
func numberOf(ctx context.Context, path string, at int64) (n int, err error) {
	last := int64(-1)
	err = transcript.AllEvents(ctx, path, func(e *transcript.Event) {
		if e.Kind == transcript.Compacted && e.Off <= at {
			n++
			last = e.Off
		}
	})
	if err == nil && last != at {
		err = errNotFound
	}
	return n, err
}

func surveyOf(found catalog.Survey) survey {
	found.Summary = redact.Clean(found.Summary) // the hand-over has none
	v := survey{
		Schema: 1, N: found.N, Handed: append([]string{}, found.Handed...), HandedMore: found.MoreHanded,
		Summary: message.Cut(found.Summary, maxShown), Text: message.Cut(found.Text, maxShown),
	}
	if found.Summary != "" && len(found.States)+len(found.Lacks) > 0 {
		v.Kept, v.LostMore = append([]string{}, found.States...), found.More-found.MoreHanded
		v.Lost = slices.DeleteFunc(append([]string{}, found.Lacks...), func(name string) bool { return slices.Contains(found.Handed, name) })
	}
	return v
}

// stampOf changes whenever something of a session does.
func (s *Server) stampOf(sub subject) uint64 {
	var parts [][]byte
	if sub.sess != nil {
		state, _ := sub.sess.Read(store.WorkflowFile)
		memory, _ := sub.sess.Version(session.MemoryFile)
		parts = append(parts, state, memory)
		if last, _, err := sub.sess.Last(1, store.Filter{}); err == nil && len(last) > 0 {
			parts = append(parts, last[0].Raw)
		}
	}
	if sub.file != nil {
		if info, err := os.Stat(sub.file.Path); err == nil {
			parts = append(parts, []byte(strconv.FormatInt(info.Size(), 36)+" "+strconv.FormatInt(info.ModTime().UnixNano(), 36)))
		}
	}
	return stamp(parts...)
}
