package cli

import "github.com/seed-6d03985f/overtone/internal/workflow"

// nearest is the word that somebody may have meant, "" when none is close.
func nearest(word string, words []string) string {
	if near := workflow.Nearest(word, words); len(near) > 0 {
		return near[0]
	}
	return ""
}
