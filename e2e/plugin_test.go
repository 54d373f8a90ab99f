//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// stageAgents are the agents of the plugin with the stage each one plays.
var stageAgents = map[string]string{
	"product-manager":      "PM",
	"planner":              "PLAN",
	"architect":            "ARCH",
	"designer":             "DESIGN",
	"developer":            "DEV",
	"debugger":             "DEBUG",
	"code-reviewer":        "REVIEW",
	"tester":               "TEST",
	"security-reviewer":    "SECURITY",
	"database-reviewer":    "DB-REVIEW",
	"qa":                   "QA",
	"e2e-runner":           "E2E",
	"build-error-resolver": "BUILD-FIX",
	"refactor-cleaner":     "REFACTOR",
	"retrospective":        "RETRO",
	"doc-updater":          "DOCS",
}

var qualityAgents = []string{"code-reviewer", "tester", "qa", "e2e-runner", "security-reviewer", "database-reviewer"}

var templates = []string{
	"build-fix", "clean", "db-review", "debug", "diagnose", "discovery", "docs-only", "e2e-only", "fix", "full", "none",
	"product", "product-full", "quick", "quick-dev", "refactor", "review-only", "secure", "security", "security-only",
	"single", "standard", "tdd", "test-first", "ui-only",
}

// hookEvents are the events the plugin listens to, by the name of the command.
var hookEvents = map[string]string{
	"SessionStart":       "session-start",
	"SessionEnd":         "session-end",
	"UserPromptSubmit":   "user-prompt-submit",
	"PreToolUse":         "pre-tool-use",
	"PostToolUse":        "post-tool-use",
	"PostToolUseFailure": "post-tool-use-failure",
	"PostToolBatch":      "post-tool-batch",
	"SubagentStart":      "subagent-start",
	"SubagentStop":       "subagent-stop",
	"Stop":               "stop",
	"StopFailure":        "stop-failure",
	"PreCompact":         "pre-compact",
	"PostCompact":        "post-compact",
}

func TestPluginValidates(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Recorder, (&Play{}).Handle)
	out := w.Exec(w.claude, "plugin", "validate", "--strict", PluginDir())
	if !strings.Contains(out, "Validation passed") {
		t.Errorf("validate says:\n%s", out)
	}
}

func TestPluginLoads(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Recorder, (&Play{}).Handle)
	init := w.Prompt("hello").Find("system", "init")
	if len(init) != 1 {
		t.Fatalf("%d init events", len(init))
	}
	var got struct {
		Plugins []struct{ Name string }
		Agents  []string
		Slash   []string          `json:"slash_commands"`
		Errors  []json.RawMessage `json:"plugin_errors"`
	}
	init[0].Decode(t, &got)
	if len(got.Errors) > 0 {
		t.Errorf("plugin errors: %s", got.Errors)
	}
	// The newest brings plugins of its own.
	if !slices.ContainsFunc(got.Plugins, func(p struct{ Name string }) bool { return p.Name == "overtone" }) {
		t.Errorf("plugins %v", got.Plugins)
	}
	for name := range stageAgents {
		if !slices.Contains(got.Agents, "overtone:"+name) {
			t.Errorf("agent %s is missing", name)
		}
	}
	for _, name := range slices.Concat(templates, []string{"auto", "status", "cancel"}) {
		if !slices.Contains(got.Slash, "overtone:"+name) {
			t.Errorf("command %s is missing", name)
		}
	}
	// A command that the model may call costs its description in every request.
	if r := w.API.Requests()[0]; r.Has("overtone:quick") {
		t.Error("the model is shown the workflow commands")
	}
}

func TestPluginFiles(t *testing.T) {
	t.Parallel()
	marker := regexp.MustCompile(`(?m)^<!-- PIPELINE_ROUTE: (\{.*\}) -->$`)
	var names []string
	for _, f := range glob(t, "agents", "*.md") {
		name := strings.TrimSuffix(filepath.Base(f), ".md")
		names = append(names, name)
		front, body := frontMatter(t, f)
		stage := stageAgents[name]
		if !strings.Contains(firstLine(body), "stage "+stage+" of an Overtone workflow") {
			t.Errorf("%s does not say that it is stage %s: %s", name, stage, firstLine(body))
		}
		markers := marker.FindAllStringSubmatch(body, -1)
		if len(markers) < 2 {
			t.Errorf("%s shows %d route markers", name, len(markers))
		}
		for _, m := range markers {
			if !json.Valid([]byte(m[1])) {
				t.Errorf("%s: marker is not JSON: %s", name, m[1])
			}
		}
		quality := slices.Contains(qualityAgents, name)
		if quality && strings.Contains(front, "Edit") {
			t.Errorf("%s may edit", name)
		}
		if got := strings.Contains(body, "`report_file` path"); got != quality {
			t.Errorf("%s: writes a report = %v, quality stage = %v", name, got, quality)
		}
	}
	if len(names) != len(stageAgents) {
		t.Errorf("agents %v", names)
	}

	var commands []string
	for _, f := range glob(t, "commands", "*.md") {
		name := strings.TrimSuffix(filepath.Base(f), ".md")
		front, body := frontMatter(t, f)
		if !strings.Contains(front, "description:") || !strings.Contains(front, "disable-model-invocation: true") {
			t.Errorf("%s: front matter %s", name, front)
		}
		switch name {
		case "auto", "status", "cancel", "resume":
		default:
			commands = append(commands, name)
			if want := "[workflow:" + name + "] $ARGUMENTS"; firstLine(body) != want {
				t.Errorf("%s starts with %q, want %q", name, firstLine(body), want)
			}
		}
	}
	slices.Sort(commands)
	if diff := cmp.Diff(templates, commands); diff != "" {
		t.Errorf("template commands (-want +got):\n%s", diff)
	}

	data, err := os.ReadFile(filepath.Join(PluginDir(), "hooks", "hooks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var hooks struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
				Timeout int
			}
		}
	}
	if err := json.Unmarshal(data, &hooks); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for event, groups := range hooks.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				if h.Command != "overtone-hook" || h.Timeout < 5 || h.Timeout > 10 {
					t.Errorf("%s: %+v", event, h)
				}
				if len(h.Args) == 3 && h.Args[1] == "--host" && h.Args[2] == "claude-code" {
					got[event] = h.Args[0]
				}
			}
		}
	}
	// The end of a round of tools is for those who need it: init adds it.
	want := maps.Clone(hookEvents)
	delete(want, "PostToolBatch")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
}

// Each command tells the stages of its template as the program knows them.
func TestPluginCatalogue(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, (&Play{}).Handle)
	var list struct {
		Templates []struct {
			Name   string
			Stages []string
		}
	}
	if err := json.Unmarshal([]byte(w.Exec("overtone", "workflow", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, tmpl := range list.Templates {
		known = append(known, tmpl.Name)
		if len(tmpl.Stages) == 0 {
			continue
		}
		front, body := frontMatter(t, filepath.Join(PluginDir(), "commands", tmpl.Name+".md"))
		_, stages, _ := strings.Cut(front, ": ")
		_, stages, _ = strings.Cut(stages, ": ")
		stages, _, _ = strings.Cut(stages, `"`)
		if !strings.Contains(body, stages) {
			t.Errorf("%s: the description says %q, the text something else", tmpl.Name, stages)
		}
		got := strings.Split(strings.ReplaceAll(stages, " ∥ ", " → "), " → ")
		for i, stage := range tmpl.Stages {
			base, n, _ := strings.Cut(stage, ":")
			if _, err := strconv.Atoi(n); err == nil {
				tmpl.Stages[i] = base
			}
		}
		if diff := cmp.Diff(tmpl.Stages, got); diff != "" {
			t.Errorf("%s (-program +command):\n%s", tmpl.Name, diff)
		}
	}
	slices.Sort(known)
	if diff := cmp.Diff(templates, known); diff != "" {
		t.Errorf("templates (-plugin +program):\n%s", diff)
	}
}

// The agents' own prompts reach the sub-agents, each with its tools.
func TestPluginAgentsRun(t *testing.T) {
	t.Parallel()
	p := &Play{
		Main:   []Step{call(mockapi.Foreground("overtone:code-reviewer", "review the change"))},
		Agents: map[string][]Step{"code-reviewer": {say("REVIEW-ANSWER")}},
	}
	w := NewWorld(t, Recorder, p.Handle)
	if r := w.Prompt("go").Result(); r.Text != "DONE" {
		t.Errorf("result %+v", r)
	}
	reqs := w.API.Requests()
	if len(reqs) != 3 {
		t.Fatalf("%d requests", len(reqs))
	}
	sub := reqs[1]
	if sub.Agent != "code-reviewer" || !strings.HasSuffix(sub.Prompt(), "review the change") {
		t.Errorf("sub-agent's request: %v", sub)
	}
	if slices.Contains(sub.Tools, "Edit") || slices.Contains(sub.Tools, "Agent") || !slices.Contains(sub.Tools, "Write") || !slices.Contains(sub.Tools, "Read") {
		t.Errorf("reviewer's tools: %v", sub.Tools)
	}
	if !strings.Contains(reqs[2].Results()[0].Text, "REVIEW-ANSWER") {
		t.Errorf("main's tool result: %+v", reqs[2].Results())
	}
}

func glob(t *testing.T, elem ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(append([]string{PluginDir()}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func frontMatter(t *testing.T, file string) (front, body string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	front, body, ok := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
	if !ok {
		t.Fatalf("%s has no front matter", file)
	}
	return front, strings.TrimSpace(body)
}
