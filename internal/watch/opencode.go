package watch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Opencode watches the sessions of an opencode server.
//
// The server tells when a session is idle. What has happened in it is then read from its
// messages, which go into the session's mirror, too: packets are written from that. As
// long as it watches a session in mode auto it holds the session's lease, by which our
// plugin in that server leaves compactions to it.
type Opencode struct {
	Options
	URL            string // of the server
	User, Password string // what it asks for; may be empty
	// Session restricts the watch to one session.
	Session string

	mu       sync.Mutex
	sessions map[string]*served
	windows  sync.Map // of models, by their provider and name
	work     sync.WaitGroup
}

type served struct {
	*conversation
	id, dir string
	parent  bool // somebody else's: a sub-agent's
	gone    bool // deleted
	// busy: somebody deals with it; again: it has become idle since.
	busy, again bool
	seen        string // the newest message that was dealt with
	mine        string // the summary of our own compaction
	model       gjson.Result
}

// Run watches until ctx ends, and connects again whenever the connection is lost.
func (w *Opencode) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	w.sessions = map[string]*served{}
	defer func() {
		stop()
		w.work.Wait()
		w.letGo()
	}()
	listen := func(connected func()) error { return w.listen(ctx, connected) }
	return w.connecting(ctx, w.URL, listen, func(err error) (message.Reason, bool) {
		text := cause(err)
		switch {
		case errors.Is(err, errPassword):
			text = message.WatchPassword.In(w.Words)
		case errors.Is(err, context.DeadlineExceeded):
			text = message.WatchNoAnswer.In(w.Words)
		}
		return message.Because(message.WatchWaiting, w.URL, text), true
	})
}

// listen takes the server's events, as long as the connection lasts. With it ends what
// was asked of the server, which may never answer. Until there is another connection the
// sessions are nobody's: their user may open them elsewhere.
func (w *Opencode) listen(ctx context.Context, connected func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer w.letGo()
	defer w.work.Wait()
	defer cancel()
	late := time.AfterFunc(w.patience(), cancel)
	r, err := w.request(ctx, http.MethodGet, "/global/event", "", nil)
	if !late.Stop() {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return err
	}
	defer r.Body.Close()
	connected()
	for id, dir := range w.known() { // what happened to them meanwhile nobody has told us
		w.wake(ctx, id, dir)
	}
	lines := bufio.NewReaderSize(r.Body, 1<<20)
	for {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, errTooLong) { // nothing that we listen for is long
			return err
		}
		data := strings.TrimPrefix(string(line), "data:")
		about, dir := gjson.Get(data, "payload.properties"), gjson.Get(data, "directory").String()
		switch gjson.Get(data, "payload.type").String() {
		case "session.created": // its lease is ours from the beginning on
			w.wake(ctx, about.Get("info.id").String(), dir)
		case "session.idle":
			w.wake(ctx, about.Get("sessionID").String(), dir)
		case "session.deleted":
			if id := about.Get("info.id").String(); w.known()[id] != "" {
				w.wake(ctx, id, dir)
			}
		}
	}
}

// patience is how long the server may take for an answer that costs it nothing: what is
// asked while it starts may be forgotten.
func (w *Opencode) patience() time.Duration { return cmp.Or(w.Waits.Compact, time.Minute) }

// known are the folders of the sessions that are watched, by their ids.
func (w *Opencode) known() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	dirs := map[string]string{}
	for id, s := range w.sessions {
		dirs[id] = s.dir
	}
	return dirs
}

// letGo gives the leases back, when nobody deals with a session.
func (w *Opencode) letGo() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		if s.conversation != nil {
			s.giveBack()
		}
	}
}

// wake has a session that is idle dealt with, by one goroutine at a time. One that was
// deleted is forgotten.
func (w *Opencode) wake(ctx context.Context, id, dir string) {
	if id == "" || w.Session != "" && id != w.Session {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sessions[id]
	if s == nil {
		s = &served{id: id, dir: dir}
		w.sessions[id] = s
	}
	if s.again = s.busy; s.busy || s.parent {
		return
	}
	s.busy = true
	w.work.Go(func() {
		for more := true; more; {
			w.attend(ctx, s)
			w.mu.Lock()
			more, s.again = s.again && ctx.Err() == nil && !s.gone, false
			if s.busy = more; s.gone {
				delete(w.sessions, id)
			}
			w.mu.Unlock()
			if s.gone && s.conversation != nil {
				s.giveBack()
				s.report("detached", message.WatchDetached)
			}
		}
	})
}

// attend deals with a session that is idle, until no turn of ours follows.
func (w *Opencode) attend(ctx context.Context, s *served) {
	for more := true; more; {
		if sleep(ctx, w.Waits.Debounce) != nil { // who types at once is not in our way
			return
		}
		var err error
		more, err = w.between(ctx, s)
		if s.gone = errors.Is(err, errGone); s.gone {
			return
		}
		if err != nil && ctx.Err() == nil {
			w.announce("warning", message.WatchServerError, err.Error())
		}
	}
}

// say puts a message of ours into a session. With a turn it waits for the turn's end.
func (w *Opencode) say(ctx context.Context, s *served, text string, turn bool) (gjson.Result, error) {
	part := map[string]any{"type": "text", "text": text, "synthetic": true}
	return w.ask(ctx, http.MethodPost, "/session/"+s.id+"/message", s.dir, map[string]any{"noReply": !turn, "parts": []any{part}})
}

// What the server answers where it knows no such session, or asks for a password.
var (
	errGone     = errors.New("there is no such session")
	errPassword = errors.New("OPENCODE_SERVER_PASSWORD is missing, or another one")
)

// request asks the server; the answer is one that it is content with.
func (w *Opencode) request(ctx context.Context, method, path, dir string, body any) (*http.Response, error) {
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(store.EncodeJSON(body))
	}
	if dir != "" {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		path += mark + "directory=" + url.QueryEscape(dir)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(w.URL, "/")+path, in)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if w.Password != "" {
		req.SetBasicAuth(w.User, w.Password)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if r.StatusCode >= http.StatusMultipleChoices {
		said, _ := io.ReadAll(io.LimitReader(r.Body, 300)) // the status says enough
		r.Body.Close()
		err = errors.New(string(said))
		switch r.StatusCode {
		case http.StatusNotFound:
			err = errGone
		case http.StatusUnauthorized:
			err = errPassword
		}
		return nil, fmt.Errorf("%s %s: %s %w", method, req.URL.Path, r.Status, err)
	}
	return r, nil
}

func (w *Opencode) ask(ctx context.Context, method, path, dir string, body any) (gjson.Result, error) {
	if method == http.MethodGet {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.patience())
		defer cancel()
	}
	r, err := w.request(ctx, method, path, dir, body)
	if err != nil {
		return gjson.Result{}, err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	return gjson.ParseBytes(data), err
}

// recent is how many messages are asked for at once.
const recent = 60

// look reads the newest messages of a session into its mirror, which stands for its
// transcript.
func (w *Opencode) look(ctx context.Context, s *served) ([]gjson.Result, error) {
	info, err := w.ask(ctx, http.MethodGet, "/session/"+s.id, s.dir, nil)
	if err != nil {
		return nil, err
	}
	if s.parent = info.Get("parentID").String() != ""; s.parent {
		return nil, nil
	}
	s.dir = info.Get("directory").String()
	if s.conversation == nil {
		if s.conversation, err = newConversation(s.id, host.Opencode, s.dir, w.Options); err != nil {
			return nil, err
		}
		s.report("attached", message.WatchAttached, s.dir)
	}
	m := transcript.OpencodeMirror(w.Home.Mirrors(), info)
	for _, limit := range []int{recent, 1_000_000} {
		answer, err := w.ask(ctx, http.MethodGet, fmt.Sprintf("/session/%s/message?limit=%d", s.id, limit), s.dir, nil)
		if err != nil {
			return nil, err
		}
		list := answer.Array()
		gap, err := m.Add(transcript.OpencodeMessages(list, false), len(list) < limit)
		if err != nil {
			return nil, err
		}
		if gap || s.seen != "" && !answer.Get(`#(info.id=="`+s.seen+`")`).Exists() && len(list) == limit {
			continue
		}
		s.sized(m.Path, w.window(ctx, s, list))
		return list, nil
	}
	return nil, errors.New("the server does not tell all messages")
}

// sized tells the conversation where its transcript is, and how full the context.
func (s *served) sized(path string, window int64) {
	s.hear(host.SessionSeen{Transcript: path, Model: s.model.Get("modelID").String(), Window: window})
	if u, ok := transcript.TailUsage(path); ok {
		s.hear(host.UsageSeen{Used: u.Tokens(), Window: window, Model: s.model.Get("modelID").String()})
	}
}

// window is the context's of the model that wrote the newest message, 0 where nobody
// knows it.
func (w *Opencode) window(ctx context.Context, s *served, list []gjson.Result) int64 {
	for _, m := range list {
		if info := m.Get("info"); info.Get("modelID").Exists() && !info.Get("summary").Bool() {
			s.model = info
		}
	}
	provider, model := s.model.Get("providerID").String(), s.model.Get("modelID").String()
	name := provider + "/" + model
	if n, known := w.windows.Load(name); known {
		return n.(int64)
	}
	all, err := w.ask(ctx, http.MethodGet, "/config/providers", s.dir, nil)
	if err != nil {
		return 0
	}
	n := all.Get(`providers.#(id=="` + provider + `").models.` + gjson.Escape(model) + `.limit.context`).Int()
	w.windows.Store(name, n)
	return n
}

// follow takes what has happened since the last look. ended says that the agent has
// worked, and nobody has stopped it.
func (s *served) follow(list []gjson.Result) (ended bool) {
	// Of what was before we came, and where its user has taken back what we know, the
	// last turn. Hooks of the same session may have told newer turns meanwhile: then what was
	// before the newest is no news, and told again it would begin that turn anew.
	s.change(func(*compact.Thread) {})
	from, last := 0, 0
	for i, m := range list {
		id := m.Get("info.id").String()
		if typed(m) != "" {
			last = i
		}
		switch {
		case s.seen != "" && id == s.seen:
			from = i + 1
		case from > 0 && id == s.thread.TurnID:
			from = i
		}
	}
	if from == 0 {
		from = last
	}
	for _, m := range list[from:] {
		info := m.Get("info")
		s.seen = info.Get("id").String()
		switch {
		case info.Get("role").String() == "user":
			if text := typed(m); text != "" {
				s.turnStarted(s.seen)
				s.passed(time.UnixMilli(info.Get("time.created").Int()))
				s.observe(host.UserMessage{Text: text})
			}
		case info.Get("summary").Bool():
			if s.seen != s.mine && !info.Get("error").Exists() {
				s.before, s.after = s.thread.Usage.Used, -1
				s.compacted(s.seen, false)
				s.report("foreign", message.WatchForeignFrom, s.before)
			}
		default:
			for _, p := range m.Get("parts").Array() {
				s.part(p)
			}
			ended = info.Get("error.name").String() != "MessageAbortedError"
			if !ended {
				s.observe(host.TurnEnded{Interrupted: true})
			}
		}
	}
	return ended
}

func (s *served) part(p gjson.Result) {
	if p.Get("type").String() == "text" {
		s.observe(host.AgentMessage{Text: p.Get("text").String()})
	}
	for _, e := range host.OpencodeEvents(p) {
		s.observe(e)
		if c, ok := e.(host.CommandFinished); ok {
			s.passed(c.Ended)
		}
	}
}

// typed is what a person has written in a message.
func typed(m gjson.Result) string {
	var texts []string
	if m.Get("info.role").String() == "user" {
		for _, p := range m.Get("parts").Array() {
			if p.Get("type").String() == "text" && !p.Get("synthetic").Bool() && !p.Get("ignored").Bool() {
				texts = append(texts, p.Get("text").String())
			}
		}
	}
	return strings.Join(texts, "\n")
}

// unfinished says that something has to follow the newest message: an answer to what a
// person wrote, the end of an answer, or the next after one that called tools.
func unfinished(list []gjson.Result) bool {
	if len(list) == 0 {
		return false
	}
	newest := list[len(list)-1]
	info := newest.Get("info")
	if info.Get("role").String() == "user" {
		return typed(newest) != ""
	}
	return !info.Get("error").Exists() && (!info.Get("time.completed").Exists() || info.Get("finish").String() == "tool-calls")
}

func (w *Opencode) idle(ctx context.Context, s *served) bool {
	all, err := w.ask(ctx, http.MethodGet, "/session/status", s.dir, nil)
	state := all.Get(gjson.Escape(s.id) + ".type").String()
	return err == nil && (state == "" || state == "idle")
}

// between is the pause after a turn: decide, and compact if it is time. more says that a
// turn of ours has followed.
func (w *Opencode) between(ctx context.Context, s *served) (more bool, err error) {
	defer transcript.Catch("", &err)
	// A session at work has not said all, and what is read of it then counts as seen. So nothing
	// is concluded unless it rested before and after it was read, and was not read within a
	// short turn between the two; when it rests later, we are told.
	rests := w.idle(ctx, s)
	list, err := w.look(ctx, s)
	if err != nil || s.parent {
		return false, err
	}
	leased := false
	var rec session.Delivery
	if s.settings = w.Settings(); s.settings.Mode == compact.ModeAuto && !w.DryRun {
		if leased, rec = s.leaseDelivery(); leased && rec.Open() {
			if more, err = w.adopt(ctx, s, rec, list); more || err != nil {
				return more, err
			}
		}
	}
	if !rests || unfinished(list) || !w.idle(ctx, s) || !s.follow(list) || !s.turnEnded(false) {
		return false, nil
	}
	if !leased {
		s.held(reasonOther)
		return false, nil
	}
	packet, err := s.author(func(prompt string) (string, error) { return w.answer(ctx, s, prompt) })
	if err != nil {
		return false, err
	}
	if packet.ID == "" || !w.idle(ctx, s) { // asked last, too: a turn that has begun would be cut short
		s.held(reasonBusy)
		return false, nil
	}
	return w.compact(ctx, s, packet)
}

// answer is what the agent says to a message of ours.
func (w *Opencode) answer(ctx context.Context, s *served, prompt string) (string, error) {
	answer, err := w.say(ctx, s, prompt, true)
	var texts []string
	for _, p := range answer.Get(`parts.#(type=="text")#.text`).Array() {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "\n"), err
}

// compact runs one compaction and, if it worked, delivers the packet.
func (w *Opencode) compact(ctx context.Context, s *served, packet compact.Packet) (more bool, err error) {
	d, err := s.begin(packet)
	if err != nil {
		return false, nil //nolint:nilerr // reported; without a delivery on disk nothing is started
	}
	s.before, s.after = s.thread.Usage.Used, -1
	_, failed := w.ask(ctx, http.MethodPost, "/session/"+s.id+"/summarize", s.dir, map[string]any{
		"providerID": s.model.Get("providerID").String(), "modelID": s.model.Get("modelID").String(), "auto": false,
	})
	if ctx.Err() != nil {
		return false, ctx.Err() // the next watcher looks what became of it
	}
	list, err := w.look(ctx, s)
	if err != nil {
		if errors.Is(err, errGone) {
			d.void(reasonFailed)
		}
		return false, err
	}
	summary, spoke, cut := "", false, ""
	asked := "" // since we have decided, and not answered yet
	for _, m := range list {
		info := m.Get("info")
		since := info.Get("time.created").Int() >= packet.Created.UnixMilli()
		switch text := typed(m); {
		case text != "" && since:
			spoke, asked = true, text
		case info.Get("summary").Bool():
			if since && !info.Get("error").Exists() {
				summary, spoke, cut = info.Get("id").String(), false, asked
			}
		case info.Get("role").String() == "assistant" && info.Get("finish").String() != "tool-calls":
			asked = ""
		}
	}
	if s.mine = summary; summary == "" || failed != nil {
		d.void(reasonFailed)
		return false, nil //nolint:nilerr // the report says that it failed
	}
	s.compacted(summary, true)
	s.report("compacted", message.WatchCompactedFrom, s.before)
	d.finished(summary, func() bool { return spoke || cut != "" || !w.idle(ctx, s) })
	if more, err = w.deliver(ctx, s, d); err != nil || cut == "" || spoke || !w.idle(ctx, s) {
		return more, err
	}
	// The host ends a turn that was at work when it was asked to compact: what opened it
	// is said once more, behind the packet.
	s.report("cut", message.WatchCut)
	_, err = w.say(ctx, s, cut, true)
	return true, err
}

// deliver puts the packet into the conversation: as a message that opens a turn, or as
// one before the user's next.
func (w *Opencode) deliver(ctx context.Context, s *served, d *delivery) (more bool, err error) {
	via := compact.ViaQueue
	if d.Quiet {
		via = compact.ViaHistory
	}
	sent, err := d.handOver(via, func() error {
		_, err := w.say(ctx, s, d.Receipt.Text, !d.Quiet)
		return err
	})
	return sent && !d.Quiet, err
}

// adopt deals with a packet that an earlier watcher, or an error, left open.
func (w *Opencode) adopt(ctx context.Context, s *served, rec session.Delivery, list []gjson.Result) (more bool, err error) {
	d := &delivery{s.conversation, rec}
	if !d.adopt(ctx, s.thread.Transcript) {
		return false, nil
	}
	for _, m := range list {
		if m.Get("info.summary").Bool() {
			s.mine = m.Get("info.id").String()
		}
	}
	s.before, s.after = s.thread.Usage.Used, -1
	s.compacted(s.mine, true)
	return w.deliver(ctx, s, d)
}
