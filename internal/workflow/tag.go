package workflow

import (
	"regexp"
	"strings"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// Tag is the name in the first [workflow:NAME] or [pipeline:NAME] of a prompt, in
// any case. Whether there is such a workflow is not asked here. A tag whose name no
// workflow can have counts where there is no other: whoever wrote it gets an answer.
func Tag(prompt string) (string, bool) {
	odd := ""
	for _, found := range tags().FindAllStringSubmatch(strings.ToLower(prompt), -1) {
		switch name := strings.TrimSpace(found[1]); {
		case ValidName(name):
			return name, true
		case odd == "" && len(name) <= maxName && !strings.Contains(name, "\n"):
			odd = name
		}
	}
	return odd, odd != ""
}

var tags = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(?:pipeline|workflow):([^\[\]]*)\]`) })

// Asked is the workflow that a tag asks for by its place: at the beginning of a line of
// the user's own, not in a fence, a quotation or indented code. Elsewhere it is only
// mentioned: asked is false, and the name says which. Both ends of a prompt are searched.
func Asked(prompt string) (name string, asked bool) {
	at := 0
	for line, own := range extract.OwnLines(prompt) {
		begin := at
		at += len(line)
		text := strings.TrimLeft(line, " ")
		if !own || len(line)-len(text) > 3 || !strings.HasPrefix(text, "[") || begin > tagEnds && at < len(prompt)-tagEnds {
			continue
		}
		if end := strings.IndexByte(text, ']'); end > 0 {
			if found, ok := Tag(text[:end+1]); ok {
				return found, true
			}
		}
	}
	name, _ = Tag(prompt)
	return name, false
}

// tagEnds is how much of each end of a prompt is searched for a tag.
const tagEnds = 16 << 10
