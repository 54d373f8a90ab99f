package team

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Exporter sends the team's events to an OpenTelemetry collector, as OTLP over
// HTTP in JSON: logs for events, metrics for what the fleet looks like. The
// requests are a few structs; the SDK would cost ten megabytes.
//
// Events go out at least once, and each carries its id.
type Exporter struct {
	Hub    *Hub
	Root   string // $OVERTONE_HOME
	URL    string
	Header http.Header
	// Content sends whole lines of shared projects, too.
	Content bool
	Version string
	// Every is how often to look for events, MetricsEvery how often metrics go out.
	Every, MetricsEvery time.Duration
	Once                bool
	Now                 func() time.Time
	Report              func(Report)
	Client              *http.Client
}

// What a collector reads. Numbers of 64 bits are texts in OTLP's JSON.
type (
	otlpValue struct {
		String *string    `json:"stringValue,omitempty"`
		Bool   *bool      `json:"boolValue,omitempty"`
		Int    *string    `json:"intValue,omitempty"`
		Double *float64   `json:"doubleValue,omitempty"`
		Array  *otlpArray `json:"arrayValue,omitempty"`
	}
	otlpArray struct {
		Values []otlpValue `json:"values"`
	}
	otlpAttr struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpResource struct {
		Attributes []otlpAttr `json:"attributes"`
	}
	otlpScope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	otlpRecord struct {
		Time       string     `json:"timeUnixNano,omitempty"`
		Observed   string     `json:"observedTimeUnixNano"`
		Severity   int        `json:"severityNumber"`
		Level      string     `json:"severityText"`
		Body       otlpValue  `json:"body"`
		Attributes []otlpAttr `json:"attributes"`
		Event      string     `json:"eventName"`
	}
	otlpMetric struct {
		Name        string      `json:"name"`
		Description string      `json:"description"`
		Unit        string      `json:"unit"`
		Gauge       *otlpPoints `json:"gauge,omitempty"`
		Sum         *otlpSum    `json:"sum,omitempty"`
	}
	otlpPoints struct {
		Points []otlpPoint `json:"dataPoints"`
	}
	otlpSum struct {
		Points      []otlpPoint `json:"dataPoints"`
		Temporality int         `json:"aggregationTemporality"`
		Monotonic   bool        `json:"isMonotonic"`
	}
	otlpPoint struct {
		Attributes []otlpAttr `json:"attributes"`
		Start      string     `json:"startTimeUnixNano,omitempty"`
		Time       string     `json:"timeUnixNano"`
		Int        string     `json:"asInt"`
	}
)

// otlpGroup is what one machine has to say: log records, or metrics.
type otlpGroup struct {
	machine string
	items   any
}

// otlpRequest is the body of a request. Logs and metrics are wrapped alike, by
// resource and by scope, under names that differ: "resourceLogs" and "scopeLogs"
// hold "logRecords", "resourceMetrics" and "scopeMetrics" hold "metrics".
func (x *Exporter) otlpRequest(kind, items string, list []otlpGroup) any {
	resources := make([]any, 0, len(list))
	for _, g := range list {
		scope := map[string]any{"scope": otlpScope{"overtone-team", x.Version}, items: g.items}
		resources = append(resources, map[string]any{"resource": resource(g.machine), "scope" + kind: []any{scope}})
	}
	return map[string]any{"resource" + kind: resources}
}

func text(s string) otlpValue         { return otlpValue{String: &s} }
func attr(key, value string) otlpAttr { return otlpAttr{key, text(value)} }
func nanos(t time.Time) string        { return strconv.FormatInt(t.UnixNano(), 10) }

// otlpValueOf is a JSON value as OTLP writes it.
func otlpValueOf(v gjson.Result) otlpValue {
	switch {
	case v.Type == gjson.True || v.Type == gjson.False:
		b := v.Bool()
		return otlpValue{Bool: &b}
	case v.Type == gjson.Number && v.Num == float64(int64(v.Num)):
		n := strconv.FormatInt(v.Int(), 10)
		return otlpValue{Int: &n}
	case v.Type == gjson.Number:
		f := v.Num
		return otlpValue{Double: &f}
	case v.IsArray():
		list := otlpArray{Values: []otlpValue{}}
		for _, x := range v.Array() {
			list.Values = append(list.Values, otlpValueOf(x))
		}
		return otlpValue{Array: &list}
	}
	return text(v.String())
}

// shared are our fields that hosts and the conventions for models name otherwise:
// by these, what we say and what hosts export can be joined in any collector.
var shared = map[string]string{
	"agentId": "agent_id", "agent_id": "agent_id", "agent": "gen_ai.agent.name",
	"toolUseId": "gen_ai.tool.call.id", "tool_use_id": "gen_ai.tool.call.id", "toolName": "gen_ai.tool.name",
	"promptId": "prompt.id", "prompt_id": "prompt.id",
}

// failures are events that somebody may want to be woken for.
var failures = []string{"fail", "error", "crash", "abort", "exhausted", "lost", "leak", "refused", "denied"}

// record is an event as a log record.
func (x *Exporter) record(e Event) otlpRecord {
	line := e.Line
	if x.Content && e.Full != nil {
		line = e.Full
	}
	label := e.Type
	if t, ok := message.EventLabel(e.Type); ok {
		label = t.EN
	}
	r := otlpRecord{Observed: nanos(e.At), Severity: 9, Level: "INFO", Body: text(label), Event: e.Type}
	if t := e.Time(); !t.IsZero() {
		r.Time = nanos(t)
	}
	if slices.ContainsFunc(failures, func(word string) bool { return strings.Contains(e.Type, word) }) {
		r.Severity, r.Level = 13, "WARN"
	}
	r.Attributes = []otlpAttr{
		attr("session.id", e.Session), attr("gen_ai.conversation.id", e.Session), attr("event.name", e.Type),
		attr("overtone.event.id", e.id()),
		{"overtone.event.seq", otlpValueOf(gjson.Parse(strconv.FormatUint(e.Seq, 10)))},
	}
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "ts", "type", "label", "sealed":
			return true
		}
		key := cmp.Or(shared[k.Str], "overtone."+k.Str)
		if !slices.ContainsFunc(r.Attributes, func(a otlpAttr) bool { return a.Key == key }) {
			r.Attributes = append(r.Attributes, otlpAttr{key, otlpValueOf(v)})
		}
		return true
	})
	return r
}

func resource(machine string) otlpResource {
	return otlpResource{[]otlpAttr{attr("service.name", "overtone"), attr("host.name", machine), attr("service.instance.id", machine)}}
}

// logs groups events by machine.
func (x *Exporter) logs(list []Event) any {
	byMachine := map[string][]otlpRecord{}
	var names []string
	for _, e := range list {
		if byMachine[e.Machine] == nil {
			names = append(names, e.Machine)
		}
		byMachine[e.Machine] = append(byMachine[e.Machine], x.record(e))
	}
	var groups []otlpGroup
	for _, m := range names {
		groups = append(groups, otlpGroup{m, byMachine[m]})
	}
	return x.otlpRequest("Logs", "logRecords", groups)
}

// metrics are the fleet as numbers; nil where there is nobody.
func (x *Exporter) metrics(f Fleet, start, now time.Time) any {
	var groups []otlpGroup
	machines := map[string][]State{}
	for _, b := range f.Beats {
		machines[b.Machine] = nil
	}
	for _, v := range f.States {
		machines[v.Machine] = append(machines[v.Machine], v)
	}
	point := func(n int64, attrs ...otlpAttr) otlpPoint {
		if attrs == nil {
			attrs = []otlpAttr{}
		}
		return otlpPoint{Attributes: attrs, Time: nanos(now), Int: strconv.FormatInt(n, 10)}
	}
	for _, m := range slices.Sorted(maps.Keys(machines)) {
		var left, stages, events []otlpPoint
		open := int64(0)
		for _, v := range machines[m] {
			id := []otlpAttr{attr("session.id", v.Session), attr("gen_ai.conversation.id", v.Session)}
			if v.Model != "" {
				id = append(id, attr("gen_ai.request.model", v.Model))
			}
			if !v.Ended {
				open++
			}
			if v.Left >= 0 {
				left = append(left, point(int64(v.Left), id...))
			}
			if v.Total > 0 {
				stages = append(stages, point(int64(v.Done), append(slices.Clip(id), attr("overtone.workflow", v.Workflow))...))
			}
			p := point(int64(v.Events), id...)
			p.Start = nanos(start)
			events = append(events, p)
		}
		list := []otlpMetric{{Name: "overtone.sessions.open", Description: "sessions that have not ended", Unit: "{session}", Gauge: &otlpPoints{[]otlpPoint{point(open)}}}}
		if left != nil {
			list = append(list, otlpMetric{Name: "overtone.context.left", Description: "free share of the context window", Unit: "%", Gauge: &otlpPoints{left}})
		}
		if stages != nil {
			list = append(list, otlpMetric{Name: "overtone.workflow.stages.done", Description: "stages of the workflow that are done", Unit: "{stage}", Gauge: &otlpPoints{stages}})
		}
		if events != nil {
			list = append(list, otlpMetric{Name: "overtone.events", Description: "events of the session", Unit: "{event}", Sum: &otlpSum{events, 2, true}})
		}
		groups = append(groups, otlpGroup{m, list})
	}
	if groups == nil {
		return nil
	}
	return x.otlpRequest("Metrics", "metrics", groups)
}

// exportCursor is how far a collector has been told, by its address.
type exportCursor struct {
	Schema int               `json:"schema"`
	Hub    string            `json:"hub"`
	Pos    map[string]uint64 `json:"pos"`
}

func (x *Exporter) cursorFile() string { return filepath.Join(folder(x.Root), "export.json") }

const exportBatch = 512

// Run exports until the context ends; with Once, until everything is sent.
func (x *Exporter) Run(ctx context.Context) error {
	base, err := url.Parse(x.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return message.WithHint(message.Fail(message.TeamBadURL, x.URL), message.HintTeamURL)
	}
	info, err := x.Hub.info(ctx, eventStream)
	if err != nil {
		return err
	}
	cur := exportCursor{}
	if data, err := os.ReadFile(x.cursorFile()); err == nil {
		_ = json.Unmarshal(data, &cur) // damaged: everything again
	}
	if made := info.Created.UTC().Format(time.RFC3339Nano); cur.Hub != made || cur.Pos == nil {
		cur = exportCursor{1, made, map[string]uint64{}}
	}
	start, told := x.Now(), time.Time{}
	seen := Seen{}
	for {
		next, sent, err := x.events(ctx, base, cur.Pos[x.URL], seen)
		if next > cur.Pos[x.URL] {
			cur.Pos[x.URL] = next
			data, merr := json.Marshal(cur)
			if merr != nil {
				return merr
			}
			if werr := store.LooseWrite(x.cursorFile(), data, 0o600); werr != nil {
				return werr
			}
		}
		if err == nil && x.Now().Sub(told).Abs() >= x.MetricsEvery {
			var f Fleet
			if f, err = x.Hub.Fleet(ctx); err == nil {
				if m := x.metrics(f, start, x.Now()); m != nil {
					err = x.post(ctx, base, "v1/metrics", m)
				}
				told = x.Now()
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (x.Once || errors.Is(err, errRefused)):
			return err
		case err != nil:
			x.report("offline", Report{Text: message.Because(message.TeamExportAway, shortErr(err))})
		case sent > 0:
			x.report("exported", Report{Text: message.Because(message.TeamExported, sent, x.URL), Events: sent})
			continue
		case x.Once:
			return nil
		}
		if err := pause(ctx, x.Every); err != nil {
			return err
		}
	}
}

func (x *Exporter) report(what string, r Report) {
	if x.Report != nil {
		r.At, r.What = x.Now(), what
		x.Report(r)
	}
}

// events sends what is new, a batch at a time; next is where to go on, and
// everything before it has been taken.
func (x *Exporter) events(ctx context.Context, base *url.URL, from uint64, seen Seen) (next uint64, sent int, err error) {
	next = from
	var list []Event
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		if err := x.post(ctx, base, "v1/logs", x.logs(list)); err != nil {
			return err
		}
		sent += len(list)
		next = list[len(list)-1].Pos + 1
		list = list[:0]
		return nil
	}
	_, err = x.Hub.Events(ctx, Query{}, max(from, 1), seen, func(e Event) error {
		if list = append(list, e); len(list) < exportBatch {
			return nil
		}
		return flush()
	})
	if ferr := flush(); err == nil {
		err = ferr
	}
	if err != nil {
		// What was read and not taken is to be read again.
		clear(seen)
	}
	return next, sent, err
}

// errRefused is what asking again does not mend.
var errRefused = errors.New("the collector refuses it")

// post sends one request, again where the collector asks for it.
func (x *Exporter) post(ctx context.Context, base *url.URL, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	client := x.Client
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	for tries, wait := 0, time.Second; ; tries, wait = tries+1, 2*wait {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath(path).String(), bytes.NewReader(data))
		if err != nil {
			return err
		}
		maps.Copy(req.Header, x.Header)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			if ctx.Err() != nil || tries == 4 {
				return fmt.Errorf("export to %s: %w", base.Redacted(), err)
			}
		} else {
			answer, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
			resp.Body.Close()
			switch {
			case resp.StatusCode/100 == 2:
				if n := gjson.GetBytes(answer, "partialSuccess.rejectedLogRecords").Int() + gjson.GetBytes(answer, "partialSuccess.rejectedDataPoints").Int(); n > 0 {
					x.report("rejected", Report{Text: message.Because(message.TeamRejected, n, gjson.GetBytes(answer, "partialSuccess.errorMessage").String())})
				}
				return nil
			case !slices.Contains([]int{429, 502, 503, 504}, resp.StatusCode):
				return fmt.Errorf("export to %s: %w: %s %s", base.Redacted(), errRefused, resp.Status, strings.TrimSpace(string(answer[:min(len(answer), 200)])))
			case tries == 4:
				return fmt.Errorf("export to %s: %s", base.Redacted(), resp.Status)
			}
			if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 && s <= 300 {
				wait = time.Duration(s) * time.Second
			}
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}
