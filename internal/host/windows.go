package host

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// windows.json says, with its date and source, how large the windows of models
// are whose host does not say so; a star stands for the rest of a family's.
//
//go:embed windows.json
var modelsFile string

var modelWindows = sync.OnceValue(func() map[string]int64 {
	windows := map[string]int64{}
	gjson.Get(modelsFile, "windows").ForEach(func(id, n gjson.Result) bool {
		windows[id.Str] = n.Int()
		return true
	})
	return windows
})

// ModelWindow is the context window of a model, by the first of its names that is
// known; 0 where none is. Claude Code marks the large one in the name.
func ModelWindow(names ...string) int64 {
	if slices.ContainsFunc(names, marksLarge) {
		return LargeWindow
	}
	for _, n := range names {
		id := ModelID(n)
		family, _, _ := strings.Cut(id, "-")
		if w := cmp.Or(modelWindows()[id], modelWindows()[family+"-*"]); w > 0 {
			return w
		}
	}
	return 0
}

// The two windows that models of today have, where a host does not say which.
const (
	SmallWindow = 200_000
	LargeWindow = 1_000_000
)

// GuessWindow is how large a context's window is at most and at least, where its host
// does not say: told is what it said of the model in another session, 0 for nothing, and
// seen the most that this context has held, which proves that the window holds it. The
// last of the models is the one that answers.
func GuessWindow(told, seen int64, models ...string) (most, least int64) {
	// A mark of the large window counts for the model that answers only.
	if n := len(models); n > 1 && models[n-1] != "" && !strings.Contains(ModelID(models[n-1]), ModelID(models[0])) {
		models = models[n-1:]
	}
	if slices.ContainsFunc(models, marksLarge) {
		return LargeWindow, LargeWindow
	}
	most = cmp.Or(told, ModelWindow(models...))
	if seen > SmallWindow && most <= SmallWindow && most > 0 {
		most = LargeWindow
	}
	least = most
	either := told > 0 || slices.ContainsFunc(models, func(m string) bool { return strings.HasPrefix(ModelID(m), "claude-") })
	if either && most > SmallWindow && seen <= SmallWindow {
		least = SmallWindow
	}
	return most, least
}

// ClaudeWindow is what a version of Claude Code takes a model's window for that no mark
// and no table tells: the oldest gives the small one to all of them, later ones the large
// one. 0 where the table tells, or nobody.
func ClaudeWindow(version, model string) int64 {
	v, ok := parseVersion(version)
	switch {
	case !ok:
		return 0
	case !Of(ClaudeCode).Floor.Less(v):
		return SmallWindow
	case ModelWindow(model) == 0:
		return LargeWindow
	}
	return 0
}

// marksLarge reports a name in which Claude Code says that the large window is on.
func marksLarge(model string) bool { return strings.Contains(model, "[1m]") }

// ModelID is a model's name without its provider, its date and what else follows.
func ModelID(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, family := range [...]string{"claude-", "gpt-"} {
		if i := strings.Index(name, "."+family); i >= 0 { // us.anthropic.claude-
			name = name[i+1:]
		}
	}
	if i := strings.IndexAny(name, "[@:"); i >= 0 {
		name = name[:i]
	}
	parts := strings.Split(name, "-")
	for i, p := range parts {
		number := p != "" && strings.Trim(p, "0123456789") == ""
		if number && (len(p) == 8 || len(p) == 4 && p[:2] == "20") || p == "latest" {
			parts = parts[:i]
			break
		}
	}
	name = strings.Join(parts, "-")
	if strings.HasPrefix(name, "claude-") {
		name = strings.TrimSuffix(strings.ReplaceAll(name, ".", "-"), "-v1") // claude-opus-4.6, claude-opus-4-6-v1
	}
	return name
}
