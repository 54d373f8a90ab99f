package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// claude plays Claude Code, hook by hook and line by line. What the host says goes
// to its file a little later: the lines of a compaction only when all hooks of that
// compaction have run, and a tool's last result with them.
type claude struct {
	*place
	id   string
	disk []string
	held []string // said, and not on disk yet
	n    int
	// again: before it tells of a compaction, the host writes the history up to the one
	// before it once more, with the old names and times, as 2.1.197 does after /compact.
	again bool
	// slow: the lines of a compaction are not on disk when the next one begins.
	slow bool
}

func (c *claude) hook(event, in string) string {
	c.t.Helper()
	out, errs := c.raw(event, "claude-code", fmt.Sprintf(`{"session_id":%q,"cwd":%q,"transcript_path":%q,%s}`, c.id, filepath.Join(c.dir, "project"), c.path(), in))
	if errs != "" {
		c.t.Errorf("%s: %s", event, errs)
	}
	return told(c.t, out)
}

func (c *claude) path() string { return filepath.Join(c.dir, c.id+".jsonl") }

func (c *claude) say(line string, args ...any) {
	c.n++
	line = fmt.Sprintf(line, args...)
	c.held = append(c.held, fmt.Sprintf(`{"uuid":"u%d","timestamp":%q,%s`, c.n, c.now.Format("2006-01-02T15:04:05.000Z"), line[1:]))
}

func (c *claude) flush() {
	c.disk, c.held = append(c.disk, c.held...), nil
	c.write(c.id+".jsonl", strings.Join(c.disk, "\n")+"\n")
}

// work is a turn about one name; more is what the user adds to the request.
func (c *claude) work(name, more string) {
	c.t.Helper()
	ask := "Please write the " + name + "." + more
	c.hook("user-prompt-submit", fmt.Sprintf(`"prompt":%q`, ask))
	c.say(`{"type":"user","message":{"role":"user","content":%q}}`, ask)
	for i, command := range []string{"grep -n " + name + " lexer.go", "go test ./" + strings.ToLower(name)} {
		id := fmt.Sprintf("t%d-%d", c.n, i)
		call := fmt.Sprintf(`"tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":%q}`, id, command)
		c.say(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}}`, id, command)
		c.hook("pre-tool-use", call)
		c.hook("post-tool-use", call+`,"tool_response":{"stdout":"func `+name+`() {}"}`)
		if i == 0 && !c.slow {
			c.flush()
		}
		c.say(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"func %s() {}"}]}}`, id, name)
	}
}

// summarise is what comes before the host has a new context.
func (c *claude) summarise(trigger, summary string) {
	c.t.Helper()
	c.hook("pre-compact", fmt.Sprintf(`"trigger":%q`, trigger))
	if c.slow {
		c.flush()
	}
	c.hook("subagent-stop", fmt.Sprintf(`"agent_id":"sum","agent_type":"","last_assistant_message":"<analysis>none</analysis>\n<summary>%s</summary>"`, summary))
}

// compact is one compaction from its beginning to its last line.
func (c *claude) compact(trigger string) string {
	c.t.Helper()
	if trigger == "manual" && !c.slow {
		c.flush()
	}
	c.summarise(trigger, "It goes on.")
	text := c.hook("session-start", `"source":"compact"`)
	c.hook("post-compact", fmt.Sprintf(`"trigger":%q,"compact_summary":"<summary>It goes on.</summary>"`, trigger))
	c.boundary(trigger, text)
	return text
}

// boundary is what the host writes of a compaction.
func (c *claude) boundary(trigger, text string) {
	if c.again && trigger == "manual" {
		past := 0
		for i, line := range c.disk {
			if strings.Contains(line, `"compact_boundary"`) {
				past = i
			}
		}
		c.held = append(slices.Clone(c.disk[:past]), c.held...)
	}
	c.say(`{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","parentUuid":null,"compactMetadata":{"trigger":%q,"preTokens":80000}}`, trigger)
	c.say(`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"This session is being continued from a previous conversation. It goes on."}}`)
	if trigger == "manual" {
		c.say(`{"type":"user","message":{"role":"user","content":"<command-name>/compact</command-name>\n<command-message>compact</command-message>"}}`)
		c.say(`{"type":"user","message":{"role":"user","content":"<local-command-stdout>Compacted</local-command-stdout>"}}`)
	}
	c.say(`{"type":"attachment","attachment":{"type":"hook_additional_context","content":[%q]}}`, text)
	if !c.slow {
		c.flush()
	}
}

// wordsIn is what a hand-over quotes of the user, and the rest of it.
func wordsIn(text string) (words, rest string) {
	before, words, _ := strings.Cut(text, "## "+message.HandoverWords.EN+"\n- ")
	words, after, _ := strings.Cut(words, "\n\n")
	return words, before + after
}

// Every compaction of a session hands over what happened since the one before it, in
// the knowledge of its own summary, once: whenever the host writes down what it did,
// and whatever becomes of its file in between.
func TestHandoverAtEveryCompaction(t *testing.T) {
	t.Parallel()
	names := []string{"alphaLexer", "betaParser", "gammaPrinter", "deltaWriter", "epsilonReader", "zetaScanner"}
	for name, test := range map[string]struct {
		again, slow bool
		// between runs before the work that leads to the third compaction, and to the
		// ones after it; kept is what the user said in it.
		between func(c *claude)
		kept    string
	}{
		"as the host writes":           {},
		"the history is written again": {again: true},
		"the lines come late":          {slow: true},
		"the file lost its beginning": {between: func(c *claude) {
			c.disk = c.disk[len(c.disk)-7:]
			c.flush()
		}},
		"lines were taken out of the file": {again: true, between: func(c *claude) {
			c.disk = slices.Delete(c.disk, 2, 5)
			c.flush()
		}},
		"the file is another": {between: func(c *claude) {
			c.disk = []string{fmt.Sprintf(`{"type":"user","uuid":"x","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"%s"}}`, strings.Repeat("Hello. ", 3000))}
			c.boundary("auto", "")
		}},
		"a compaction failed": {between: func(c *claude) {
			c.summarise("auto", strings.Join(names, ", ")+" are known.")
			c.hook("user-prompt-submit", `"prompt":"go on"`)
		}},
		"compacted while no hook ran": {between: func(c *claude) {
			c.say(`{"type":"user","message":{"role":"user","content":"Please write the unseenThing. Never edit the vendor folder."}}`)
			c.boundary("auto", "")
		}, kept: "Never edit the vendor folder."},
		"what was said last comes late": {between: func(c *claude) {
			c.hook("user-prompt-submit", `"prompt":"Never edit the vendor folder."`)
			c.say(`{"type":"user","message":{"role":"user","content":"Never edit the vendor folder."}}`)
			c.compact("auto")
		}, kept: "Never edit the vendor folder."},
		"what was said first comes late": {between: func(c *claude) {
			c.disk = append(c.disk, `{"type":"user","uuid":"x","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"Never edit the vendor folder."}}`)
		}, kept: "Never edit the vendor folder."},
		"resumed": {between: func(c *claude) {
			c.hook("session-end", `"reason":"other"`)
			c.hook("session-start", `"source":"resume"`)
		}},
		"forked": {between: func(c *claude) {
			c.id += "f"
			c.flush()
			c.hook("session-start", `"source":"fork"`)
		}},
		"a memory of the version before": {between: func(c *claude) {
			file := filepath.Join(c.dir, ".overtone", "sessions", c.id, session.MemoryFile)
			data, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(data), `"mark":`) {
				c.t.Fatalf("%s, %v", data, err)
			}
			c.write(filepath.Join(".overtone", "sessions", c.id, session.MemoryFile), strings.ReplaceAll(string(data), `"mark":`, `"unknown":`))
		}},
		"the clock was set back": {between: func(c *claude) { c.now = c.now.Add(-time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &claude{place: newPlace(t), id: "s1", again: test.again, slow: test.slow}
			for i, name := range names {
				if i >= 2 && test.between != nil {
					test.between(c)
				}
				c.work(name, []string{" Always use the decimal module for prices.", " Never use the decimal module for prices.", "", "", "", ""}[i])
				trigger := []string{"manual", "manual", "manual", "auto", "auto", "manual"}[i]
				text := c.compact(trigger)
				words, rest := wordsIn(text)
				if !strings.HasPrefix(words, "“Please write the "+name+".") || !strings.Contains(strings.ToLower(rest), strings.ToLower(name)) {
					t.Errorf("%d, %s: %q is missing in\n%s", i+1, trigger, name, text)
				}
				for j, old := range names[:i] {
					if next := names[j+1]; strings.Contains(words, "“Please write the "+old+".") && strings.LastIndex(words, old) < strings.Index(words, next) {
						t.Errorf("%d, %s: %q stands before the newer %q in\n%s", i+1, trigger, old, next, text)
					}
				}
				if i >= 2 && !strings.Contains(text, test.kept) {
					t.Errorf("%d, %s: %q is missing in\n%s", i+1, trigger, test.kept, text)
				}
				for _, old := range append(slices.Clone(names[:i]), "unseenThing", "Hello") {
					if strings.Contains(strings.ToLower(rest), strings.ToLower(old)) {
						t.Errorf("%d, %s: %q is not of this slice:\n%s", i+1, trigger, old, text)
					}
				}
				for range 2 {
					if out := c.hook("post-tool-batch", `"tool_calls":[]`); out != "" {
						t.Errorf("%d, %s: afterwards: %s", i+1, trigger, out)
					}
				}
				handed, _ := session.ReadHanded(c.sessionOf(c.id))
				receipts, _, err := c.sessionOf(c.id).Last(100, store.Filter{Types: []string{message.EventSessionRecovery}})
				if err != nil {
					t.Fatal(err)
				}
				receipts = slices.DeleteFunc(receipts, func(e store.Entry) bool { return e.Text("id") != handed.ID })
				if handed.Text != text || len(receipts) != 1 || receipts[0].Text("basis") != string(compact.BasisSummary) {
					t.Errorf("%d, %s: receipts %v of %+v", i+1, trigger, receipts, handed)
				}
			}
		})
	}
}

// Codex writes its compaction before the session goes on, with the summary.
func TestHandoverAtEveryCompactionOfCodex(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var rollout string
	say := func(line string, args ...any) {
		rollout += fmt.Sprintf(`{"timestamp":%q,`, p.now.Format("2006-01-02T15:04:05.000Z")) + fmt.Sprintf(line, args...)[1:] + "\n"
		p.write("t.jsonl", rollout)
	}
	say(`{"type":"session_meta","payload":{"id":"s1"}}`)
	names := []string{"alphaLexer", "betaParser", "gammaPrinter", "deltaWriter"}
	for i, name := range names {
		turn := fmt.Sprintf(`%s,"turn_id":"%d"`, onTranscript, i)
		p.call("user-prompt-submit", "codex", turn+`,"prompt":"Please write the `+name+`."`)
		say(`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Please write the %s."}]}}`, name)
		say(`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"cat lexer.go\"]}","call_id":"c%d"}}`, i)
		say(`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":"func %s() {}"}}`, i, name)
		p.call("pre-compact", "codex", turn+`,"trigger":"auto"`)
		say(`{"type":"compacted","payload":{"message":"It goes on."}}`)
		p.call("post-compact", "codex", turn+`,"trigger":"auto"`)
		out, _ := p.call("session-start", "codex", onTranscript+`,"source":"compact"`)
		text := told(t, out)
		words, rest := wordsIn(text)
		if !strings.HasPrefix(words, "“Please write the "+name+".”") {
			t.Errorf("%d: %s", i+1, text)
		}
		for _, old := range names[:i] {
			if strings.Contains(rest, old) {
				t.Errorf("%d: %q is not of this slice:\n%s", i+1, old, text)
			}
		}
		if e := p.events(message.EventSessionRecovery); len(e) != i+1 || e[0].Text("basis") != string(compact.BasisSummary) || e[i].Text("basis") != string(compact.BasisSummary) {
			t.Errorf("%d: receipts %v", i+1, e)
		}
	}
}

// A compaction that failed has told its summary, too; the next one is another.
func TestHandoverForgetsTheSummaryOfAFailedCompaction(t *testing.T) {
	t.Parallel()
	c := &claude{place: newPlace(t), id: "s1"}
	c.work("alphaLexer", "")
	c.flush()
	c.summarise("auto", "alphaLexer is known.")
	c.work("betaParser", "")
	c.flush()
	c.hook("pre-compact", `"trigger":"auto"`)
	c.hook("session-start", `"source":"compact"`)
	if handed, _ := session.ReadHanded(c.session()); handed.Basis != compact.BasisSaved || handed.Summary != "" {
		t.Errorf("%+v", handed)
	}
}

// The hand-over says of words that were typed behind /compact where they were typed, though
// the session's file tells them only when all is handed over.
func TestHandoverTellsWhatWasTypedBehindCompact(t *testing.T) {
	t.Parallel()
	c := &claude{place: newPlace(t), id: "s1"}
	c.work("alphaLexer", "")
	c.flush()
	c.hook("pre-compact", `"trigger":"manual","custom_instructions":"keep the names of the tokens"`)
	c.hook("subagent-stop", `"agent_id":"sum","agent_type":"","last_assistant_message":"<summary>It goes on.</summary>"`)
	text := c.hook("session-start", `"source":"compact"`)
	if !strings.Contains(text, "typed with /compact: “keep the names of the tokens”") || !strings.Contains(text, "Please write the alphaLexer.") {
		t.Error(text)
	}
}
