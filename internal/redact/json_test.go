package redact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What the rules are not asked about holds nothing that they would find.
func TestPlainHasNoSecret(t *testing.T) {
	t.Parallel()
	words := rapid.OneOf(rapid.StringMatching(`[0-9a-f.:TZ-]{1,80}`), rapid.StringMatching(`[A-Za-z0-9_-]{1,15}`), rapid.StringMatching(`(/?([a-z_-]{1,40}|[A-Za-z0-9_-]{1,14})[./]){1,6}[a-z]{0,30}`), rapid.StringMatching(`(sk_|xoxb-|AKIA|ghp_|pass|key-us|s\.|[0-9]{8}:A)[A-Za-z0-9_.-]{0,12}`))
	rapid.Check(t, func(t *rapid.T) {
		text := words.Draw(t, "text")
		if spans := Spans(text); isPlain([]byte(text)) && len(spans) > 0 {
			t.Errorf("%q holds %v", text, spans)
		}
	})
}

// Wherever a text is cut, no part of a secret that the cut goes through stays.
func TestCutsGoThroughNoSecret(t *testing.T) {
	t.Parallel()
	const n = 300
	key := "-----BEGIN RSA PRIVATE " + "KEY-----\n"
	for range 30 {
		key += made(base62, 64) + "\n"
	}
	key += "-----END RSA PRIVATE " + "KEY-----\n"
	for _, secret := range []string{"ghp" + "_" + made(base62, 36), "eyJ" + made(base62, 40) + ".eyJ" + made(base62, 9000) + "." + made(base62, 43), key} {
		for at := 0; at < n+60; at += 7 {
			text := strings.Repeat("word ", at/5) + " " + secret + " " + strings.Repeat("more ", 4000)
			if s := Start(text, n); holds(s[:min(len(s), n)], secret) {
				t.Fatalf("starts with a part of it at %d: %s", at, s[:min(len(s), n)])
			}
			text = strings.Repeat("more ", 4000) + secret + " " + strings.Repeat("word ", at/5)
			if s := End(text, n); holds(s[max(0, len(s)-n):], secret) {
				t.Fatalf("ends with a part of it at %d: %s", at, s[max(0, len(s)-n):])
			}
		}
	}
	if s := Start(strings.Repeat("資料庫", 9000), n); len(s) < n || len(s) > n+margin || !strings.HasPrefix(s, "資料庫") {
		t.Errorf("%d bytes", len(s))
	}
}

// holds reports twelve bytes of a secret.
func holds(text, secret string) bool {
	for i := 0; i+12 <= len(text); i++ {
		if part := text[i : i+12]; strings.Contains(secret, part) && !strings.Contains(part, "---") && !strings.Contains(part, "PRIVATE") {
			return true
		}
	}
	return false
}
