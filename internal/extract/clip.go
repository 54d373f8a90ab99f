package extract

import (
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// Head and Tail keep so many characters of a text from outside, without its secrets.
// What is cut first may hold a part of one, which nobody recognises any more.
func Head(s string, n int) string { return message.Head(redact.Start(s, 4*n), n) }

// Tail is Head for the end of a text.
func Tail(s string, n int) string { return message.End(redact.End(s, 4*n), n) }
