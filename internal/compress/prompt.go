package compress

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// prompt is what a model is asked. It is written in English: every model reads
// that, and the text's own language is kept by instruction.
func prompt(r Request) string {
	var b strings.Builder
	b.WriteString(message.CompressPrompt.Format(message.EN, r.TargetPercent, r.Role))
	if r.Large {
		b.WriteString(message.CompressPromptLarge.In(message.EN))
	}
	if r.Attempt > 0 {
		b.WriteString(message.CompressPromptAgain.In(message.EN))
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
