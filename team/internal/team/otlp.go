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
// requests are a few objects; the SDK would cost ten megabytes.
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
	Patience            time.Duration // for a batch, with Once; 0 = [onceFor]
	Now                 func() time.Time
	Report              func(Report)
}

// object is a part of what a collector reads. Numbers of 64 bits are texts in OTLP's
// JSON.
type object = map[string]any

// otlpRequest is the body of a request. Logs and metrics are wrapped alike, by
// resource and by scope, under names that differ: "resourceLogs" and "scopeLogs"
// hold "logRecords", "resourceMetrics" and "scopeMetrics" hold "metrics".
func (x *Exporter) otlpRequest(kind, items string, byMachine map[string][]object) any {
	resources := []object{}
	for _, m := range slices.Sorted(maps.Keys(byMachine)) {
		resources = append(resources, object{
			"resource":     object{"attributes": []object{attr("service.name", "overtone"), attr("host.name", m), attr("service.instance.id", m)}},
			"scope" + kind: []object{{"scope": object{"name": "overtone-team", "version": x.Version}, items: byMachine[m]}},
		})
	}
	return object{"resource" + kind: resources}
}

func text(s string) object          { return object{"stringValue": s} }
func attr(key, value string) object { return object{"key": key, "value": text(value)} }
func number(n int64) string         { return strconv.FormatInt(n, 10) }
func nanos(t time.Time) string      { return number(t.UnixNano()) }

// otlpValue is a JSON value as OTLP writes it.
func otlpValue(v gjson.Result) object {
	switch {
	case v.Type == gjson.True || v.Type == gjson.False:
		return object{"boolValue": v.Bool()}
	case v.Type == gjson.Number && v.Num == float64(int64(v.Num)):
		return object{"intValue": number(v.Int())}
	case v.Type == gjson.Number:
		return object{"doubleValue": v.Num}
	case v.IsArray():
		values := []object{}
		for _, x := range v.Array() {
			values = append(values, otlpValue(x))
		}
		return object{"arrayValue": object{"values": values}}
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
func (x *Exporter) record(e Event) object {
	line := e.Line
	if x.Content && e.Full != nil {
		line = e.Full
	}
	label := e.Type
	if t, ok := message.EventLabel(e.Type); ok {
		label = t.EN
	}
	r := object{"observedTimeUnixNano": nanos(e.At), "severityNumber": 9, "severityText": "INFO", "body": text(label), "eventName": e.Type}
	if t := e.Time(); !t.IsZero() {
		r["timeUnixNano"] = nanos(t)
	}
	if slices.ContainsFunc(failures, func(word string) bool { return strings.Contains(e.Type, word) }) {
		r["severityNumber"], r["severityText"] = 13, "WARN"
	}
	attrs := []object{
		attr("session.id", e.Session), attr("gen_ai.conversation.id", e.Session), attr("event.name", e.Type),
		attr("overtone.event.id", e.id()),
		{"key": "overtone.event.seq", "value": object{"intValue": number(int64(e.Seq))}},
	}
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "ts", "type", "label", "sealed":
			return true
		}
		key := cmp.Or(shared[k.Str], "overtone."+k.Str)
		if !slices.ContainsFunc(attrs, func(a object) bool { return a["key"] == key }) {
			attrs = append(attrs, object{"key": key, "value": otlpValue(v)})
		}
		return true
	})
	r["attributes"] = attrs
	return r
}

// logs groups events by machine.
func (x *Exporter) logs(list []Event) any {
	byMachine := map[string][]object{}
	for _, e := range list {
		byMachine[e.Machine] = append(byMachine[e.Machine], x.record(e))
	}
	return x.otlpRequest("Logs", "logRecords", byMachine)
}

// metrics are the fleet as numbers; nil where there is nobody.
func (x *Exporter) metrics(f Fleet, start, now time.Time) any {
	machines := map[string][]State{}
	for _, b := range f.Beats {
		machines[b.Machine] = nil
	}
	for _, v := range f.States {
		machines[v.Machine] = append(machines[v.Machine], v)
	}
	if len(machines) == 0 {
		return nil
	}
	point := func(n int, attrs ...object) object {
		return object{"attributes": append([]object{}, attrs...), "timeUnixNano": nanos(now), "asInt": number(int64(n))}
	}
	byMachine := map[string][]object{}
	for m, states := range machines {
		var left, stages, events []object
		open := 0
		for _, v := range states {
			id := []object{attr("session.id", v.Session), attr("gen_ai.conversation.id", v.Session)}
			if v.Model != "" {
				id = append(id, attr("gen_ai.request.model", v.Model))
			}
			if !v.Ended {
				open++
			}
			if v.Left >= 0 {
				left = append(left, point(v.Left, id...))
			}
			if v.Total > 0 {
				stages = append(stages, point(v.Done, append(slices.Clip(id), attr("overtone.workflow", v.Workflow))...))
			}
			p := point(int(v.Events), id...)
			p["startTimeUnixNano"] = nanos(start)
			events = append(events, p)
		}
		add := func(name, description, unit, kind string, data object) {
			if data["dataPoints"].([]object) != nil {
				byMachine[m] = append(byMachine[m], object{"name": name, "description": description, "unit": unit, kind: data})
			}
		}
		add("overtone.sessions.open", "sessions that have not ended", "{session}", "gauge", object{"dataPoints": []object{point(open)}})
		add("overtone.context.left", "free share of the context window", "%", "gauge", object{"dataPoints": left})
		add("overtone.workflow.stages.done", "stages of the workflow that are done", "{stage}", "gauge", object{"dataPoints": stages})
		add("overtone.events", "events of the session", "{event}", "sum", object{"dataPoints": events, "aggregationTemporality": 2, "isMonotonic": true})
	}
	return x.otlpRequest("Metrics", "metrics", byMachine)
}

// exportCursor is how far a collector has been told, by its address.
type exportCursor struct {
	Schema int               `json:"schema"`
	Hub    string            `json:"hub"`
	Pos    map[string]uint64 `json:"pos"`
}

func (x *Exporter) cursorFile() string { return filepath.Join(folder(x.Root), "export.json") }

const exportBatch = 512

// onceFor is how long a collector may take for one batch of an export that is to end.
const onceFor = 20 * time.Second

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
	client, longest := &http.Client{Timeout: 30 * time.Second}, 300
	if x.Once { // whoever asked waits for the end
		limited, cancel := context.WithTimeout(ctx, cmp.Or(x.Patience, onceFor))
		defer cancel()
		ctx, longest = limited, 5
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
			if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 && s <= longest {
				wait = time.Duration(s) * time.Second
			}
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}
