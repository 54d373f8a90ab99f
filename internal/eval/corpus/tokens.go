package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// tokens are what one request used.
type tokens struct{ Input, Output, CacheWrite, CacheRead int64 }

func (t tokens) total() int64 { return t.Input + t.Output + t.CacheWrite + t.CacheRead }

// used is what sessions tell of their requests: a reader that shares nothing with the
// product's. Of a request that stands there several times, the largest counts.
type used map[string]tokens

func (u used) put(key string, t tokens) {
	if t.total() > u[key].total() {
		u[key] = t
	}
}

func (u used) sum() (all tokens) {
	for _, t := range u {
		all.Input += t.Input
		all.Output += t.Output
		all.CacheWrite += t.CacheWrite
		all.CacheRead += t.CacheRead
	}
	return all
}

// values are the JSON objects of lines; several may stand on one.
func values(data []byte, fn func(n int, v map[string]any)) {
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		d := json.NewDecoder(bytes.NewReader(line))
		for {
			var v map[string]any
			if d.Decode(&v) != nil {
				break
			}
			n++
			fn(n, v)
		}
	}
}

// in is a member of a member …, nil where one is missing.
func in(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func text(v any, path ...string) string { s, _ := in(v, path...).(string); return s }

func number(v any, path ...string) int64 { f, _ := in(v, path...).(float64); return int64(f) }

// add reads a session.
func (u used) add(s session) {
	switch s.host {
	case host.ClaudeCode:
		values(s.data, func(n int, v map[string]any) {
			if text(v, "type") == "progress" { // of a sub-agent, told by its parent
				v, _ = in(v, "data", "message").(map[string]any)
			}
			usage := in(v, "message", "usage")
			if v["type"] != "assistant" || usage == nil || v["isApiErrorMessage"] == true || text(v, "message", "model") == "<synthetic>" {
				return
			}
			key := text(v, "message", "id") + " " + text(v, "requestId")
			if key == " " || text(v, "message", "id") == "" {
				key = fmt.Sprint(s.name, n)
			}
			u.put(key, tokens{number(usage, "input_tokens"), number(usage, "output_tokens"), number(usage, "cache_creation_input_tokens"), number(usage, "cache_read_input_tokens")})
		})
	case host.Codex:
		thread := ""
		values(s.data, func(_ int, v map[string]any) {
			if v["type"] == "session_meta" {
				thread = text(v, "payload", "id")
			}
			info := in(v, "payload", "info")
			if text(v, "payload", "type") != "token_count" || info == nil {
				return
			}
			last, all := in(info, "last_token_usage"), in(info, "total_token_usage")
			cached := min(number(last, "cached_input_tokens"), number(last, "input_tokens"))
			u.put(fmt.Sprint(thread, number(all, "input_tokens"), number(all, "cached_input_tokens"), number(all, "output_tokens"), number(all, "total_tokens")),
				tokens{Input: number(last, "input_tokens") - cached, Output: number(last, "output_tokens"), CacheRead: cached})
		})
	case host.Copilot:
		values(s.data, func(n int, v map[string]any) {
			use := in(v, "data", "usage")
			if v["type"] != "session.usage_record" || use == nil {
				return
			}
			read, written := number(use, "cacheReadTokens"), number(use, "cacheWriteTokens")
			u.put(fmt.Sprint(s.name, n), tokens{number(use, "inputTokens") - read - written, number(use, "outputTokens"), written, read})
		})
	case host.Gemini:
		message := func(m any) {
			if use := in(m, "tokens"); use != nil {
				u.put(text(m, "id"), tokens{Input: number(use, "input") - number(use, "cached"), Output: number(use, "output") + number(use, "thoughts"), CacheRead: number(use, "cached")})
			}
		}
		if geminiEnding(s.data) == ".json" {
			var doc any
			_ = json.Unmarshal(s.data, &doc) // what is no document holds nothing
			list, _ := in(doc, "messages").([]any)
			for _, m := range list {
				message(m)
			}
			return
		}
		values(s.data, func(_ int, v map[string]any) { message(v) })
	case host.Opencode:
		for line := range bytes.Lines(s.data) {
			f := bytes.SplitN(line, []byte("\t"), 4)
			var v any
			if len(f) < 4 || string(f[0]) != "message" || json.Unmarshal(f[3], &v) != nil || text(v, "role") != "assistant" {
				continue
			}
			use := in(v, "tokens")
			u.put(string(f[1])+s.id, tokens{number(use, "input"), number(use, "output") + number(use, "reasoning"), number(use, "cache", "write"), number(use, "cache", "read")})
		}
	}
}
