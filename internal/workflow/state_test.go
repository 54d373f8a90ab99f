package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

func loaded(t *testing.T, text string) *State {
	t.Helper()
	s, err := Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plainJSON(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// 002: a state of version 3 becomes one of version 4: what is derived is added, what
// is gone is removed, the rest stays.
func TestVersion3IsMigrated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, want string }{
		"at work": {
			`{"version":3,"dag":{"DEV":{"deps":[]},"QA":{"deps":["DEV"]}},"stages":{"DEV":{"status":"active"},"QA":{"status":"pending"}},"retries":{"QA":1},"enforced":true,"meta":{"cancelled":false,"by":"me"},"mine":1}`,
			`{"version":4,"dag":{"DEV":{"deps":[]},"QA":{"deps":["DEV"]}},"stages":{"DEV":{"status":"active"},"QA":{"status":"pending"}},"retries":{"QA":1},"meta":{"by":"me"},"mine":1,"pipelineActive":true,"activeStages":["DEV"],"retryHistory":{"QA":[]},"crashes":{},"pendingRetry":null}`,
		},
		"cancelled":                    {`{"version":3,"dag":{"DEV":{}},"meta":{"cancelled":true}}`, `{"version":4,"dag":{"DEV":{}},"meta":{},"pipelineActive":false,"activeStages":[],"retryHistory":{},"crashes":{},"pendingRetry":null}`},
		"complete":                     {`{"version":3,"dag":{"DEV":{},"QA":{}},"stages":{"DEV":{"status":"completed"},"QA":{"status":"skipped"}}}`, `{"version":4,"dag":{"DEV":{},"QA":{}},"stages":{"DEV":{"status":"completed"},"QA":{"status":"skipped"}},"pipelineActive":false,"activeStages":[],"retryHistory":{},"crashes":{},"pendingRetry":null}`},
		"half done":                    {`{"version":3,"dag":{"DEV":{},"QA":{}},"stages":{"DEV":{"status":"completed"}}}`, `{"version":4,"dag":{"DEV":{},"QA":{}},"stages":{"DEV":{"status":"completed"}},"pipelineActive":true,"activeStages":[],"retryHistory":{},"crashes":{},"pendingRetry":null}`},
		"to be mended, though all ran": {`{"version":3,"dag":{"DEV":{}},"stages":{"DEV":{"status":"completed"}},"pendingRetry":{"stages":[{"id":"DEV"}]}}`, `{"version":4,"dag":{"DEV":{}},"stages":{"DEV":{"status":"completed"}},"pendingRetry":{"stages":[{"id":"DEV"}]},"pipelineActive":true,"activeStages":[],"retryHistory":{},"crashes":{}}`},
		"classified":                   {`{"version":3,"classification":{"pipelineId":"fix"}}`, `{"version":4,"classification":{"pipelineId":"fix"},"pipelineActive":true,"activeStages":[],"retryHistory":{},"crashes":{},"pendingRetry":null}`},
		"classified as nothing":        {`{"version":3,"classification":{"pipelineId":"none"}}`, `{"version":4,"classification":{"pipelineId":"none"},"pipelineActive":false,"activeStages":[],"retryHistory":{},"crashes":{},"pendingRetry":null}`},
		"not classified":               {`{"version":3}`, `{"version":4,"pipelineActive":false,"activeStages":[],"retryHistory":{},"crashes":{},"pendingRetry":null}`},
		"an empty graph":               {`{"version":3,"dag":{},"classification":{"pipelineId":"fix"}}`, `{"version":4,"dag":{},"classification":{"pipelineId":"fix"},"pipelineActive":false,"activeStages":[],"retryHistory":{},"crashes":{},"pendingRetry":null}`},
		"version 4 is left alone":      {`{"version":4,"enforced":true}`, `{"version":4,"enforced":true}`},
		"the older shape, too":         {`{"enforced":true}`, `{"enforced":true}`},
	} {
		got, err := EnsureV4([]byte(tc.old))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(plainJSON(t, []byte(tc.want)), plainJSON(t, got)); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
	for _, text := range []string{`{"version":5}`, `{"version":4.5}`, `{"version":2}`, `{"version":"3"}`, `{"version":3`, `[3]`} {
		_, err := Load([]byte(text))
		if newer := strings.HasPrefix(text, `{"version":5`) || strings.Contains(text, "4.5"); err == nil || errors.Is(err, ErrNewer) != newer || errors.Is(err, errNotState) == newer {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A state is written as it was read: members that this version does not know stay, at
// every depth, and so does all that it knows.
func TestStateSurvivesTheDisk(t *testing.T) {
	t.Parallel()
	const text = `{
  "version": 4,
  "sessionId": "s",
  "workflowId": "w",
  "workflowType": "mine",
  "createdAt": "2026-03-01T12:00:00.000Z",
  "currentStage": "UI",
  "pipelineActive": false,
  "ended": "cancelled",
  "endReason": "no time",
  "stages": {
    "DEV": {
      "status": "completed",
      "result": "pass",
      "later": {},
      "agent": "developer",
      "contextFile": "f.md",
      "startedAt": "2026-03-01T12:00:01.000Z",
      "completedAt": "2026-03-01T12:00:02.000Z",
      "verdict": {
        "verdict": "PASS",
        "route": "NEXT",
        "mood": "good"
      }
    },
    "UI": {
      "status": "skipped",
      "result": null,
      "mode": "spec",
      "reason": "when",
      "forced": true,
      "unverified": true,
      "skipWanted": true
    }
  },
  "activeStages": [],
  "activeAgents": {
    "developer": {
      "stage": "DEV",
      "startedAt": "2026-03-01T12:00:01.000Z",
      "pid": 7
    }
  },
  "failCount": 1,
  "rejectCount": 2,
  "retroCount": 3,
  "featureName": "search",
  "retries": {
    "UI": 2
  },
  "crashes": {
    "DEV": 1
  },
  "retryHistory": {
    "DEV": [],
    "UI": [
      {
        "verdict": "FAIL",
        "severity": "LOW",
        "round": 1,
        "hint": "x <y> & z"
      }
    ]
  },
  "pendingRetry": {
    "stages": [
      {
        "id": "UI",
        "severity": "LOW",
        "round": 2
      }
    ],
    "contextFile": "m.md"
  },
  "environment": {
    "languages": {
      "primary": "go",
      "others": []
    },
    "framework": {
      "name": "chi"
    },
    "frontend": {
      "detected": true
    }
  },
  "origin": {
    "path": "mine.yaml",
    "hash": "h",
    "root": "/p",
    "commit": "c",
    "by": "me"
  },
  "dag": {
    "DEV": {
      "deps": [],
      "next": [
        "UI"
      ],
      "onFail": null,
      "barrier": null,
      "weight": 2
    },
    "UI": {
      "deps": [
        "DEV"
      ],
      "next": [],
      "onFail": "DEV",
      "maxRetries": 0,
      "barrier": {
        "group": "b",
        "total": 1,
        "siblings": [
          "UI"
        ],
        "next": null,
        "timeoutMs": 60000,
        "quorum": 1
      },
      "stage": {
        "agent": "painter",
        "label": {
          "zh": "畫",
          "en": "Paint"
        },
        "emoji": "🎨",
        "judges": true,
        "context": [
          "a.md"
        ],
        "run": "make ui",
        "runTimeoutMs": 1500,
        "when": {
          "paths": [
            "web"
          ]
        },
        "noRework": true,
        "colour": "red"
      }
    }
  },
  "delegations": [
    {
      "id": "d",
      "agentId": "a",
      "stage": "DEV",
      "open": true,
      "done": true,
      "asked": true,
      "background": true,
      "at": "2026-03-01T12:00:01.000Z"
    }
  ],
  "plugin": {
    "x": 9007199254740993
  }
}
`
	s := loaded(t, text)
	if d := cmp.Diff(strings.Split(text, "\n"), strings.Split(string(s.Encode()), "\n")); d != "" {
		t.Errorf("-read +written\n%s", d)
	}
	n, _ := s.DAG.Get("UI")
	if n.Barrier.Timeout != time.Minute || n.Spec.RunTimeout != 1500*time.Millisecond || n.MaxRetries != 0 || !n.Spec.NoRework || n.Spec.plain() {
		t.Errorf("read %+v %+v", n.Barrier, n.Spec)
	}
	if s.Origin.Commit != "c" || s.RetroCount != 3 || s.Unverified() != 1 {
		t.Errorf("read %+v, %d, %d", s.Origin, s.RetroCount, s.Unverified())
	}
}

// A member of a wrong type reads as missing, and a stage of an unknown status has not
// begun: a file that somebody has edited must not stop the work.
func TestStateReadsAroundDamage(t *testing.T) {
	t.Parallel()
	s := loaded(t, `{"version":4,"sessionId":7,"failCount":-1,"rejectCount":1.5,"retroCount":1e12,"retries":{"DEV":"many","QA":2},
		"stages":{"DEV":{"status":"happy","result":4},"QA":7},"activeStages":["QA",3],"activeAgents":{"a":null,"b":{"stage":"QA"}},
		"retryHistory":{"DEV":{},"QA":[{"round":1}]},"pendingRetry":{"stages":7},"delegations":{"id":1},"environment":[],"origin":"x",
		"dag":{"DEV":{"deps":"x","maxRetries":-2,"onFail":7,"barrier":"b","stage":"s"},"QA":{"deps":["DEV",1]},"NEW":{}}}`)
	got := fmt.Sprintf("%q %d %d %d %v %v %v %v", s.SessionID, s.FailCount, s.RejectCount, s.RetroCount, s.Retries, s.ActiveStages, s.ActiveAgents.Keys(), s.RetryHistory.Keys())
	if want := `"" 0 1 0 map[DEV:0 QA:2] [QA] [b] [QA]`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for k, want := range map[string]string{"DEV": Pending, "QA": Pending, "NEW": Pending} {
		if st, ok := s.Stages.Get(k); !ok || st.Status != want || st.Result != "" {
			t.Errorf("%s: %+v, %v", k, st, ok)
		}
	}
	if n, _ := s.DAG.Get("DEV"); n.MaxRetries != unsaid || n.OnFail != "" || n.Barrier != nil || n.Spec != nil || n.Deps != nil {
		t.Errorf("node %+v", n)
	}
	if s.PendingRetry != nil || s.Delegations != nil || s.Origin != nil {
		t.Errorf("%+v, %+v, %+v", s.PendingRetry, s.Delegations, s.Origin)
	}
}

// 000 and 001 know stages and no graph: their order is the order of the work.
func TestOlderShape(t *testing.T) {
	t.Parallel()
	s := loaded(t, `{"workflowType":"quick","stages":{"DEV":{"status":"completed"},"REVIEW":{"status":"active"},"TEST":{}}}`)
	if !s.Active || !cmp.Equal(s.ActiveStages, []string{"REVIEW"}) || !cmp.Equal(s.Ready(), []string{"TEST"}) {
		t.Errorf("active %v, %v, ready %v", s.Active, s.ActiveStages, s.Ready())
	}
	if s := loaded(t, `{"workflowType":"quick","stages":{"DEV":{"status":"completed"}}}`); s.Active {
		t.Error("a run that is done is active")
	}
	if s := loaded(t, `{"workflowType":"quick","stages":{}}`); s.Active {
		t.Error("a run without stages is active")
	}
	if s := loaded(t, `{"workflowType":"quick","pipelineActive":true,"stages":{"DEV":{"status":"completed"}}}`); !s.Active {
		t.Error("what the file says of itself does not count")
	}
	for _, text := range []string{`{"workflowType":"quick"}`, `{"stages":[]}`, `{}`} {
		if _, err := Load([]byte(text)); !errors.Is(err, errNotState) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The limit of a stage is its own where its file gives one, else the setting's, and a
// state on disk follows a setting that is changed.
func TestLimitsFollowTheSettings(t *testing.T) {
	t.Parallel()
	s := loaded(t, `{"version":4,"pipelineActive":true,"dag":{"DEV":{"deps":[]},"QA":{"deps":["DEV"],"onFail":"DEV","maxRetries":1},"E2E":{"deps":["DEV"],"onFail":"DEV"}}}`)
	rules := testRules()
	rules.MaxRetries = 7
	next, _ := rules.Apply(s, Feature{Name: "x"})
	for stage, want := range map[string]int{"QA": 1, "E2E": 7} {
		if got := next.maxRetries(stage); got != want {
			t.Errorf("%s may fail %d times, want %d", stage, got, want)
		}
	}
}

// 002: where a run stands, for people to see.
func TestPhase(t *testing.T) {
	t.Parallel()
	const dag = `"dag":{"DEV":{"deps":[]},"QA":{"deps":["DEV"]}}`
	for text, want := range map[string]string{
		`{"version":4}`:                                 "IDLE",
		`{"version":4,` + dag + `}`:                     "IDLE",
		`{"version":4,` + dag + `,"ended":"cancelled"}`: "CANCELLED",
		`{"version":4,` + dag + `,"ended":"aborted"}`:   "ABORTED",
		`{"version":4,` + dag + `,"ended":"complete"}`:  "IDLE",
		`{"version":4,` + dag + `,"stages":{"DEV":{"status":"completed"},"QA":{"status":"skipped"}},"ended":"cancelled"}`: "COMPLETE",
		`{"version":4,"pipelineActive":true}`:                                                                                 "CLASSIFIED",
		`{"version":4,"pipelineActive":true,` + dag + `}`:                                                                     "CLASSIFIED",
		`{"version":4,"pipelineActive":true,"ended":"aborted",` + dag + `}`:                                                   "CLASSIFIED",
		`{"version":4,"pipelineActive":true,"activeStages":["DEV"],` + dag + `}`:                                              "DELEGATING",
		`{"version":4,"pipelineActive":true,` + dag + `,"stages":{"DEV":{"status":"completed"},"QA":{"status":"completed"}}}`: "COMPLETE",
		`{"version":4,"pipelineActive":true,` + dag + `,"stages":{"QA":{"status":"failed"}},"retries":{"QA":1}}`:              "RETRYING",
		`{"version":4,"pipelineActive":true,` + dag + `,"stages":{"QA":{"status":"failed"}},"retries":{"DEV":1}}`:             "CLASSIFIED",
	} {
		if got := loaded(t, text).Phase(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if (*State)(nil).Phase() != "IDLE" {
		t.Error("nothing is not idle")
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	s := loaded(t, `{"version":4,"currentStage":"QA","dag":{"DEV":{"deps":[]},"QA":{"deps":["DEV"]},"DOCS":{"deps":["QA"]}},"stages":{"DEV":{"status":"completed"},"QA":{"status":"active"},"DOCS":{"status":"skipped"},"GHOST":{"status":"pending"}}}`)
	if done, total := s.Progress(); done != 2 || total != 3 {
		t.Errorf("%d of %d", done, total)
	}
	if s.HasPending() || s.Done() {
		t.Errorf("pending %v, done %v", s.HasPending(), s.Done())
	}
	if s.Running() != "QA" {
		t.Errorf("next is %s", s.Running())
	}
	s.ActiveStages = []string{"DEV"}
	if s.Running() != "DEV" {
		t.Errorf("%s runs", s.Running())
	}
	if got, want := Bar(s), "✅💻⏳🏁⏭️📝 (2/3)"; got != want {
		t.Errorf("bar %s, want %s", got, want)
	}
	failed := loaded(t, `{"version":4,"dag":{"DEV":{"deps":[]},"UNKNOWN":{"deps":[]}},"stages":{"DEV":{"status":"failed"}}}`)
	if got, want := Bar(failed), "❌💻⬜ (0/2)"; got != want {
		t.Errorf("bar %s, want %s", got, want)
	}
}

// How a run stands, as a table: what is odd about a stage is noted.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := loaded(t, `{"version":4,"ended":"cancelled","workflowType":"mine","currentStage":"QA","retries":{"DEV":2},"crashes":{"QA":1},
		"dag":{"DEV":{"deps":[]},"QA":{"deps":["DEV"]},"DOCS":{"deps":["QA"]},"UI":{"deps":[]}},
		"stages":{"DEV":{"status":"completed","result":"fail","forced":true,"unverified":true},"QA":{"status":"pending","reason":"cancelled","skipWanted":true},"DOCS":{"status":"pending"},"UI":{"status":"skipped","reason":"when"}}}`)
	var b strings.Builder
	for _, row := range StatusTable(s, message.EN)[1:] {
		b.WriteString(strings.Join(row, " | ") + "\n")
	}
	want := "💻 Development DEV | completed | fail | forced, unverified, retries 2\n" +
		"🏁 QA | pending | — | to be skipped, cut off, crashes 1\n" +
		"📝 Docs DOCS | pending | — | not begun\n" +
		" UI | skipped | — | no file that matters was changed\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	st := StatusOf(s)
	if *st.CurrentStage != "QA" || len(st.Ready) != 0 || st.Phase != "CANCELLED" || st.Unverified != 1 || st.Stages[0].Retries != 2 || !st.Stages[0].Forced || !st.Stages[1].Skip || st.Stages[1].Crashes != 1 {
		t.Errorf("%+v", st)
	}
	s.Active, s.CurrentStage = true, ""
	if st := StatusOf(s); st.CurrentStage != nil || !cmp.Equal(st.Ready, []string{"QA"}) {
		t.Errorf("%v, ready %v", st.CurrentStage, st.Ready)
	}
	for arg, want := range map[string]string{"QA": "QA", " qa ": "QA", "dev": "DEV"} {
		if got, err := s.StageNamed(arg); got != want || err != nil {
			t.Errorf("%q means %q, %v", arg, got, err)
		}
	}
	for arg, hint := range map[string]string{"QAA": "QA", "nothing-like-it": "DEV, QA, DOCS, UI"} {
		_, err := s.StageNamed(arg)
		if err == nil || !strings.Contains(message.HintOf(err, message.EN), hint) {
			t.Errorf("%s: %v, %s", arg, err, message.HintOf(err, message.EN))
		}
	}
}
