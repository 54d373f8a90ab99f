package workflow

import (
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Stage is an entry of the stage registry: all that differs between stages. A
// new one is a row here, its agent's file in the plugin, and a template that
// lists it.
type Stage struct {
	Key   string
	Label message.Text
	Emoji string
	Agent string

	quality bool   // judges work: see Quality
	failure string // what a FAIL is stored as
	group   string // whose neighbours run side by side with it; "" = alone
}

// The groups of stages that run side by side where they stand next to each other;
// a barrier joins them.
const (
	postDev = "post-dev"
	postQA  = "post-qa"
)

// What a verdict is stored as.
const (
	resultPass   = "pass"
	resultFail   = "fail"
	resultReject = "reject"
	resultIssues = "issues"
)

// registry is constant data, in the order of the origin's catalogue.
var registry = [...]Stage{
	{"PM", message.Text{ZH: "產品", EN: "Product"}, "🎯", "product-manager", false, resultFail, ""},
	{"PLAN", message.Text{ZH: "規劃", EN: "Plan"}, "📋", "planner", false, resultFail, ""},
	{"ARCH", message.Text{ZH: "架構", EN: "Architecture"}, "🏗️", "architect", false, resultFail, ""},
	{"DESIGN", message.Text{ZH: "設計", EN: "Design"}, "🎨", "designer", false, resultFail, ""},
	{"DEV", message.Text{ZH: "開發", EN: "Development"}, "💻", "developer", false, resultFail, ""},
	{"DEBUG", message.Text{ZH: "除錯", EN: "Debug"}, "🔧", "debugger", false, resultFail, ""},
	{"REVIEW", message.Text{ZH: "審查", EN: "Review"}, "🔍", "code-reviewer", true, resultReject, postDev},
	{"TEST", message.Text{ZH: "測試", EN: "Test"}, "🧪", "tester", true, resultFail, postDev},
	{"SECURITY", message.Text{ZH: "安全", EN: "Security"}, "🛡️", "security-reviewer", true, resultReject, postDev},
	{"DB-REVIEW", message.Text{ZH: "DB審查", EN: "DB review"}, "🗄️", "database-reviewer", true, resultReject, ""},
	{"QA", message.Text{ZH: "驗證", EN: "QA"}, "🏁", "qa", true, resultFail, postQA},
	{"E2E", message.Text{ZH: "E2E", EN: "E2E"}, "🌐", "e2e-runner", true, resultFail, postQA},
	{"BUILD-FIX", message.Text{ZH: "修構建", EN: "Build fix"}, "🔨", "build-error-resolver", false, resultFail, ""},
	{"REFACTOR", message.Text{ZH: "清理", EN: "Clean-up"}, "🧹", "refactor-cleaner", false, resultFail, ""},
	{"RETRO", message.Text{ZH: "回顧", EN: "Retrospective"}, "🔁", "retrospective", false, resultIssues, ""},
	{"DOCS", message.Text{ZH: "文件", EN: "Docs"}, "📝", "doc-updater", false, resultFail, ""},
}

// AgentPrefix is the plugin's name in the host's agent types and commands.
const AgentPrefix = "overtone:"

// Stages returns the registry in order.
func Stages() []Stage { return registry[:] }

// Base is the stage of a key: TEST for TEST:2 and TEST:verify.
func Base(key string) string {
	base, _, _ := strings.Cut(key, ":")
	return base
}

// Lookup finds the registry entry of a stage key.
func Lookup(key string) (Stage, bool) {
	base := Base(key)
	for _, s := range registry {
		if s.Key == base {
			return s, true
		}
	}
	return Stage{}, false
}

// Describe is "emoji label" of a stage key in lang, or " key" for an unknown
// stage, as the recovery text has always shown it.
func Describe(key string, lang message.Lang) string {
	s, ok := Lookup(key)
	if !ok {
		return " " + key
	}
	return s.Emoji + " " + s.Label.In(lang)
}

// StageOfAgent maps an agent type (with or without a plugin prefix) to the base
// stage it works on; "" for agents that have none.
func StageOfAgent(agentType string) string {
	name := unprefixed(agentType)
	for _, s := range registry {
		if s.Agent == name {
			return s.Key
		}
	}
	return ""
}

// unprefixed is an agent type without its plugin's name.
func unprefixed(agentType string) string {
	if i := strings.LastIndexByte(agentType, ':'); i >= 0 {
		return agentType[i+1:]
	}
	return agentType
}

// plainAgent is the agent of a stage key, without the plugin's name.
func plainAgent(key string) string {
	s, _ := Lookup(key)
	return s.Agent
}

// AgentOf is the agent type that the host starts for a stage key.
func AgentOf(key string) string {
	if s, ok := Lookup(key); ok {
		return AgentPrefix + s.Agent
	}
	return ""
}

// Quality reports whether a stage judges work: its verdict must be explicit,
// and its report stays out of the main agent's context.
func Quality(key string) bool {
	s, _ := Lookup(key)
	return s.quality
}

// resultOf is the stored result of a verdict: pass, or fail under the name that
// belongs to the stage.
func resultOf(key, verdict string) string {
	if s, ok := Lookup(key); ok && verdict == Fail {
		return s.failure
	}
	if verdict == Fail {
		return resultFail
	}
	return resultPass
}

// Template is an entry of the catalogue of workflows.
type Template struct {
	Name   string
	Label  message.Text
	Stages []string
}

// Templates returns the catalogue: the union of both origins; a name that both
// have keeps the first one's stages.
func Templates() []Template {
	standard := []string{"PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST", "RETRO", "DOCS"}
	full := []string{"PLAN", "ARCH", "DESIGN", "TEST", "DEV", "REVIEW", "TEST", "QA", "E2E", "RETRO", "DOCS"}
	t := func(name, zh, en string, stages ...string) Template {
		return Template{Name: name, Label: message.Text{ZH: zh, EN: en}, Stages: stages}
	}
	return []Template{
		t("single", "單步修改", "Single step", "DEV"),
		t("quick", "快速開發", "Quick", "DEV", "REVIEW", "TEST", "RETRO", "DOCS"),
		t("standard", "標準功能", "Standard feature", standard...),
		t("full", "完整功能", "Full feature", full...),
		t("secure", "高風險", "High risk", "PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST", "SECURITY", "RETRO", "DOCS"),
		t("tdd", "測試驅動", "Test driven", "TEST", "DEV", "TEST"),
		t("debug", "除錯", "Debug", "DEBUG", "DEV", "TEST"),
		t("refactor", "重構", "Refactor", "ARCH", "TEST", "DEV", "REVIEW", "TEST"),
		t("review-only", "純審查", "Review only", "REVIEW"),
		t("security-only", "安全掃描", "Security scan", "SECURITY"),
		t("build-fix", "修構建", "Build fix", "BUILD-FIX"),
		t("e2e-only", "E2E 測試", "E2E tests", "E2E"),
		t("diagnose", "診斷", "Diagnose", "DEBUG"),
		t("clean", "重構清理", "Clean-up", "REFACTOR"),
		t("db-review", "DB審查", "DB review", "DB-REVIEW"),
		t("product", "產品功能", "Product feature", slices.Concat([]string{"PM"}, standard)...),
		t("product-full", "產品完整", "Full product", slices.Concat([]string{"PM"}, full)...),
		t("discovery", "產品探索", "Discovery", "PM"),
		t("quick-dev", "快速修改", "Quick dev", "DEV", "REVIEW", "TEST"),
		t("fix", "快速修復", "Fix", "DEV"),
		t("test-first", "測試先行", "Test first", "TEST", "DEV", "TEST"),
		t("ui-only", "介面", "UI only", "DESIGN", "DEV", "QA"),
		t("docs-only", "純文件", "Docs only", "DOCS"),
		t("security", "安全修復", "Security fix", "DEV", "REVIEW", "TEST"),
		t("none", "不使用工作流", "No workflow"),
	}
}

// FindTemplate looks a template up by name.
func FindTemplate(name string) (Template, bool) {
	for _, t := range Templates() {
		if t.Name == name {
			return t, true
		}
	}
	return Template{}, false
}

// ExplicitTemplate is the template that a prompt asks for by [workflow:x] or
// [pipeline:x]: the first tag in the text, in any case, if the catalogue has
// its name.
func ExplicitTemplate(prompt string) (string, bool) {
	lower := strings.ToLower(prompt)
	for i := 0; i < len(lower); {
		j := strings.IndexByte(lower[i:], '[')
		if j < 0 {
			return "", false
		}
		i += j + 1
		for _, tag := range [...]string{"pipeline:", "workflow:"} {
			rest, ok := strings.CutPrefix(lower[i:], tag)
			if !ok {
				continue
			}
			name, _, closed := strings.Cut(rest, "]")
			if !closed || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
				continue
			}
			_, known := FindTemplate(name)
			if !known {
				return "", false
			}
			return name, true
		}
	}
	return "", false
}
