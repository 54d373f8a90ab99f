package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// fits checks a value against as much of JSON Schema as Codex's hook schemas
// use. They allow no key that they do not name.
func fits(v, schema, root gjson.Result, at string) error {
	for _, ref := range append(schema.Get("allOf").Array(), schema) {
		if r := ref.Get(`\$ref`).String(); r != "" {
			name := strings.TrimPrefix(r, "#/definitions/")
			if err := fits(v, root.Get("definitions."+name), root, at); err != nil {
				return err
			}
		}
	}
	kind := map[gjson.Type]string{gjson.String: "string", gjson.True: "boolean", gjson.False: "boolean", gjson.Number: "number", gjson.Null: "null"}[v.Type]
	switch {
	case v.IsObject():
		kind = "object"
	case v.IsArray():
		kind = "array"
	}
	if want := schema.Get("type"); want.Type == gjson.String && want.String() != kind {
		return fmt.Errorf("%s is a %s, not a %s", at, kind, want)
	}
	if want := schema.Get("const"); want.Exists() && want.Raw != v.Raw {
		return fmt.Errorf("%s is %s, not %s", at, v.Raw, want.Raw)
	}
	if want := schema.Get("enum").Array(); len(want) > 0 && !slices.ContainsFunc(want, func(w gjson.Result) bool { return w.Raw == v.Raw }) {
		return fmt.Errorf("%s is %s", at, v.Raw)
	}
	for _, key := range schema.Get("required").Array() {
		if !v.Get(key.String()).Exists() {
			return fmt.Errorf("%s has no %s", at, key)
		}
	}
	var err error
	if props := schema.Get("properties"); props.Exists() {
		v.ForEach(func(k, x gjson.Result) bool {
			p := props.Get(k.String())
			if !p.Exists() {
				err = fmt.Errorf("%s has the unknown key %s", at, k)
			} else {
				err = fits(x, p, root, at+"."+k.String())
			}
			return err == nil
		})
	}
	return err
}

// What the hooks print for Codex is what Codex's own schemas allow: it takes
// any other output for a failure of the hook. Each input is sent in every state
// of a session that makes hooks speak.
func TestCodexOutputFitsItsSchemas(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "samples", "codex_hook_schemas.json"))
	if err != nil {
		t.Skip(err)
	}
	schemas := gjson.ParseBytes(data)
	if err := fits(gjson.Parse(`{"decision":"block","result":""}`), schemas.Get(`stop\.command\.output`), schemas.Get(`stop\.command\.output`), "output"); err == nil {
		t.Fatal("the check lets everything pass")
	}

	const common = `{"session_id":"s1","turn_id":"u1","cwd":".","model":"m","permission_mode":"default"}`
	input := func(transcript string, fields ...string) string {
		in := store.SetJSON(common, "transcript_path", transcript)
		for i := 0; i < len(fields); i += 2 {
			in = store.SetJSON(in, fields[i], fields[i+1])
		}
		return in
	}
	// A rollout with 66 of 100 thousand tokens in use.
	rollout := `{"timestamp":"2026-01-01T00:00:00.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":66000},` +
		`"last_token_usage":{"input_tokens":65900,"output_tokens":100,"total_tokens":66000},"model_context_window":100000}}}` + "\n"

	type step struct{ event, in string }
	for _, tt := range []struct {
		name string
		// spoken are the events that have something to say, in this order.
		spoken []string
		steps  func(transcript string) []step
	}{
		{"a compaction", []string{"stop", "session-start"}, func(path string) []step {
			return []step{
				{"user-prompt-submit", input(path, "prompt", "port the parser")},
				{"post-tool-use", input(path, "tool_name", "Bash", "tool_use_id", "c1", "tool_input.command", "git commit -m x", "tool_response", "[main 1234567] x\n")},
				{"post-tool-use", input(path, "tool_name", "apply_patch", "tool_use_id", "c2", "tool_input.command", "*** Begin Patch", "tool_response", "Success. Updated the following files:\nM a.go\n")},
				{"stop", input(path, "last_assistant_message", "done")},
				{"pre-compact", input(path, "trigger", "manual")},
				{"post-compact", input(path, "trigger", "manual")},
				{"session-start", input(path, "source", "compact")},
				{"user-prompt-submit", input(path, "prompt", "go on")},
				{"stop", input(path, "last_assistant_message", "done")},
			}
		}},
		{"a packet beside the prompt", []string{"user-prompt-submit"}, func(path string) []step {
			return []step{
				{"user-prompt-submit", input(path, "prompt", "port the parser")},
				{"pre-compact", input(path, "trigger", "auto")},
				{"post-compact", input(path, "trigger", "auto")},
				{"user-prompt-submit", input(path, "prompt", "go on")},
			}
		}},
		{"a workflow", []string{"user-prompt-submit", "user-prompt-submit", "stop", "session-start", "stop"}, func(path string) []step {
			return []step{
				{"user-prompt-submit", input(path, "prompt", "[workflow:quick] port the parser")},
				{"user-prompt-submit", input(path, "prompt", "[workflow:quick] again")},
				{"post-tool-use", input(path, "tool_name", "Bash", "tool_use_id", "c1", "tool_input.command", "make", "tool_response", "")},
				{"post-tool-use", input(path, "tool_name", "update_plan", "tool_use_id", "c2", "tool_response", "Plan updated")},
				{"stop", input(path, "last_assistant_message", "the lexer is next")},
				{"pre-compact", input(path, "trigger", "manual")},
				{"session-start", input(path, "source", "compact")},
				{"stop", input(path, "last_assistant_message", "done")},
			}
		}},
		{"anything", nil, func(string) []step {
			var all []step
			for _, event := range host.Of(host.Codex).Events {
				for _, in := range append(inputs()[event], "", "{", "null", `{"session_id":7}`, `{"session_id":"../x"}`) {
					all = append(all, step{event, in})
				}
			}
			return all
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C"}
			path := filepath.Join(home, "rollout.jsonl")
			if err := os.WriteFile(path, []byte(rollout), 0o600); err != nil {
				t.Fatal(err)
			}
			var spoken []string
			for i, s := range tt.steps(path) {
				out, _, err := check(env, home, s.event, string(host.Codex), []byte(s.in))
				if err != nil {
					t.Errorf("step %d, %s: %v", i, s.event, err)
				}
				if len(out) == 0 {
					continue
				}
				spoken = append(spoken, s.event)
				schema := schemas.Get(s.event + `\.command\.output`)
				if !schema.Exists() || !gjson.ValidBytes(out) {
					t.Fatalf("step %d, %s: %s", i, s.event, out)
				}
				if err := fits(gjson.ParseBytes(out), schema, schema, "output"); err != nil {
					t.Errorf("step %d, %s: %v\n%s", i, s.event, err, out)
				}
			}
			if tt.spoken != nil && !slices.Equal(spoken, tt.spoken) {
				t.Errorf("%q spoke, want %q", spoken, tt.spoken)
			}
		})
	}
}
