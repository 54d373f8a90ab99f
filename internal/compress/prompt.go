package compress

import (
	_ "embed"
	"fmt"
	"strings"
)

// request is what a model is asked, with the share to keep and the role. It is in English:
// every model reads that, and the text's own language is kept by instruction.
//
//go:embed prompt.txt
var request string

const (
	large = "- The message is long: find the point of each part first, then write, then check length and meaning.\n"
	again = "- The last answer was not accepted: it must not be empty or longer than the original, nor name paths, URLs, hashes or numbers that the original does not have.\n"
)

func prompt(r Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, request, r.TargetPercent, r.Role)
	if r.Large {
		b.WriteString(large)
	}
	if r.Attempt > 0 {
		b.WriteString(again)
	}
	// The text may hold any delimiter; a longer one than it holds ends it.
	end := "CONTENT"
	for strings.Contains(r.Text, end) {
		end += "_"
	}
	b.WriteString("\n<<<" + end + "\n" + r.Text + "\n" + end + "\n")
	return b.String()
}

// promptTokens is what the instructions add to each text.
func promptTokens() int {
	return EstimateTokens(prompt(Request{TargetPercent: 35, Role: "assistant"}))
}
