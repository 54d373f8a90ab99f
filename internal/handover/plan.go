package handover

import (
	"slices"
	"strings"
)

// steps tells the steps that are open from those of which that is not known. Agents
// forget to tick steps off, and one that comes back as work to be done does harm: every
// file that was written since the plan was changed may have finished the current step
// and one more.
func (r *Record) steps(list []string) (open, unsure []string) {
	wrote := 0
	for i := range r.files {
		if r.files[i].wrote > r.plan {
			wrote = min(wrote+1, len(list))
		}
	}
	for i, step := range list {
		if wrote > 0 && i <= wrote || r.didSince(step) {
			unsure = append(unsure, step)
		} else {
			open = append(open, step)
		}
	}
	return open, unsure
}

// didSince reports whether what a step asks for has happened since the plan was changed.
func (r *Record) didSince(step string) bool {
	low := strings.ToLower(step)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	since := r.plan
	return has("test", "測試") && r.passed(tests, since) || has("lint") && r.passed(lints, since) ||
		has("build", "compil", "建置", "編譯") && r.passed(builds, since) || has("format", "fmt") && r.passed(formats, since) ||
		has("commit", "提交") && r.commit > since || has("push", "推送") && r.passed(pushes, since)
}
