package workflow

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Stage is an entry of the stage registry: all that differs between stages. A
// new one is a row here, its agent's file in the plugin, and a workflow that
// lists it. A workflow's file may bring stages of its own; see [Spec].
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
	{"BUILD-FIX", message.Text{ZH: "修正建置錯誤", EN: "Build fix"}, "🔨", "build-error-resolver", false, resultFail, ""},
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

// stageOfAgent maps an agent type (with or without a plugin prefix) to the base
// stage it works on; "" for agents that have none.
func stageOfAgent(agentType string) string {
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

// ValidName reports whether a workflow may be called so: its name is a file's, and
// stands in a tag.
func ValidName(name string) bool {
	return name != "" && len(name) <= maxName && name[0] != '-' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

const maxName = 64
