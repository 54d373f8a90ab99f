package team

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// collector is a receiver that takes nothing which the published protocol does
// not know: unknown fields, wrong types and wrong content types are refused.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	logs    []*logs.LogRecord
	hosts   map[string]int
	metrics map[string]int64
	fail    int // answer that many requests with 503
}

func newCollector(t *testing.T) *collector {
	c := &collector{hosts: map[string]int{}, metrics: map[string]int64{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.fail > 0 {
			c.fail--
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		data, err := io.ReadAll(body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %s: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		strict := protojson.UnmarshalOptions{DiscardUnknown: false}
		switch r.URL.Path {
		case "/v1/logs":
			var in logs.LogsData
			if err := strict.Unmarshal(data, &in); err != nil {
				t.Errorf("logs: %v\n%s", err, data)
			}
			for _, res := range in.ResourceLogs {
				for _, a := range res.Resource.Attributes {
					if a.Key == "host.name" {
						c.hosts[a.Value.GetStringValue()]++
					}
				}
				for _, s := range res.ScopeLogs {
					c.logs = append(c.logs, s.LogRecords...)
				}
			}
		case "/v1/metrics":
			var in metrics.MetricsData
			if err := strict.Unmarshal(data, &in); err != nil {
				t.Errorf("metrics: %v\n%s", err, data)
			}
			for _, res := range in.ResourceMetrics {
				for _, s := range res.ScopeMetrics {
					for _, m := range s.Metrics {
						points := append(m.GetGauge().GetDataPoints(), m.GetSum().GetDataPoints()...)
						if len(points) == 0 || m.Name == "" || m.GetSum() != nil && (!m.GetSum().IsMonotonic || m.GetSum().AggregationTemporality != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE) {
							t.Errorf("metric %v", m)
						}
						for _, p := range points {
							if p.TimeUnixNano == 0 {
								t.Errorf("metric %v", m)
							}
							c.metrics[m.Name] += p.GetAsInt()
						}
					}
				}
			}
		default:
			t.Errorf("path %s", r.URL.Path)
		}
		_, _ = io.WriteString(w, `{"partialSuccess":{}}`)
	}))
	t.Cleanup(c.Close)
	return c
}

func TestExport(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	a.emit("s1", 1, 600)
	b.emit("s2", 1, 3)
	s, _ := b.home.Session("s2")
	if err := s.Update(func(tx *store.Tx) error {
		return tx.Emit(store.On(message.EventAgentError, "agent", "developer", "agentId", "a494c2b5d1afae16e", "toolUseId", "toolu_01", "promptId", "p-1",
			"percentRemaining", 12.5, "willRetry", true, "members", []string{"A", "B"}, "error", "not for others"))
	}); err != nil {
		t.Fatal(err)
	}
	a.ship()
	b.ship()
	c := newCollector(t)
	c.fail = 2
	export := func() {
		t.Helper()
		x := &Exporter{Hub: a.dial(), Root: a.home.Root(), URL: c.URL, Version: "test", Once: true, Now: time.Now, MetricsEvery: time.Hour}
		if err := x.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	export()
	export() // nothing new
	a.emit("s1", 601, 1)
	a.ship()
	export()
	ids := map[string]bool{}
	for _, r := range c.logs {
		attrs := map[string]string{}
		for _, x := range r.Attributes {
			if _, twice := attrs[x.Key]; twice {
				t.Errorf("%s twice in %v", x.Key, r)
			}
			attrs[x.Key] = x.Value.GetStringValue()
			if x.Value.GetStringValue() == "" {
				attrs[x.Key] = fmt.Sprint(x.Value.Value)
			}
		}
		id := attrs["overtone.event.id"]
		if ids[id] || id == "" || attrs["session.id"] == "" || attrs["session.id"] != attrs["gen_ai.conversation.id"] || r.TimeUnixNano == 0 || r.ObservedTimeUnixNano == 0 || r.EventName == "" {
			t.Errorf("record %v", r)
		}
		ids[id] = true
		if r.EventName == message.EventAgentError {
			want := map[string]string{"agent_id": "a494c2b5d1afae16e", "gen_ai.tool.call.id": "toolu_01", "prompt.id": "p-1", "gen_ai.agent.name": "developer"}
			for k, v := range want {
				if attrs[k] != v {
					t.Errorf("%s is %q, want %q", k, attrs[k], v)
				}
			}
			if r.SeverityNumber != logs.SeverityNumber_SEVERITY_NUMBER_WARN || strings.Contains(r.String(), "not for others") {
				t.Errorf("record %v", r)
			}
		}
	}
	if len(ids) != 605 || c.hosts["alpha"] == 0 || c.hosts["beta"] == 0 || c.metrics["overtone.sessions.open"] != 6 || c.metrics["overtone.events"] != 604+604+605 {
		t.Errorf("%d records of %v, metrics %v", len(ids), c.hosts, c.metrics)
	}

	refused := httptest.NewServer(http.NotFoundHandler())
	defer refused.Close()
	for _, url := range []string{refused.URL, "ftp://x", "nonsense", ""} {
		x := &Exporter{Hub: a.dial(), Root: t.TempDir(), URL: url, Once: true, Now: time.Now}
		if err := x.Run(context.Background()); err == nil {
			t.Errorf("exported to %q", url)
		}
	}
}

// An export that is to end does, whatever the collector does not say.
func TestExportOnceEnds(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := n.machine(t, "alpha")
	a.emit("s1", 1, 3)
	a.ship()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	later := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "299")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer later.Close()
	for _, url := range []string{"http://" + silent.Addr().String(), later.URL, "http://127.0.0.1:1"} {
		x := &Exporter{Hub: a.dial(), Root: a.home.Root(), URL: url, Version: "test", Once: true, Patience: 300 * time.Millisecond, Now: time.Now}
		start := time.Now()
		if err := x.Run(t.Context()); err == nil || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %v after %v", url, err, time.Since(start))
		}
	}
}
