package hook

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// begun is a place with a workflow that was just asked for.
func begun(t *testing.T, name string) *place {
	t.Helper()
	p := newPlace(t)
	if out, _ := p.call("user-prompt-submit", name, start); !strings.Contains(out, "overtone:developer") {
		t.Fatalf("not started: %s", out)
	}
	return p
}

const pushes = `"decision":"block"`

// A turn is the user's after any message of his that is no command, and while he plans:
// the model gets his words with one line on where the workflow stands, nobody pushes it on
// behind them, and he is told once how it goes on. A "continue" is a message like the
// others, and the model judges what it means.
func TestPushNeverAgainstTheUser(t *testing.T) {
	t.Parallel()
	esc := `{"type":"assistant","message":{"content":[{"type":"text","text":"working"}]}}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}
`
	for name, c := range map[string]struct {
		prompt, file, mode, answer string
	}{
		"a question":             {prompt: "what is the reviewer for?", answer: "It reads the change."},
		"a stop":                 {prompt: "stop, do nothing more", answer: "I have stopped."},
		"thanks and stop":        {prompt: "that is all for now, thanks", answer: "Understood."},
		"Esc and a question":     {prompt: "which file is that?", file: esc, answer: "It is main.go."},
		"Esc and another thing":  {prompt: "rename the variable in main.go", file: esc, answer: "It is renamed."},
		"overruled":              {prompt: "forget the workflow and explain main.go", answer: "It parses flags."},
		"plan mode":              {prompt: "add a flag", mode: "plan", answer: "Here is my plan."},
		"the agent asks":         {prompt: "also cover empty input", answer: "Shall I delete the old table in production?"},
		"the agent waits":        {prompt: "also cover empty input", answer: "I will wait for your go-ahead before deploying."},
		"no tester":              {prompt: "please don't run the tester", answer: "Understood."},
		"he wants to look":       {prompt: "I want to look at it before anything else happens", answer: "Understood."},
		"he wants to look, zh":   {prompt: "我要先看一下再說", answer: "好的。"},
		"he wants to talk":       {prompt: "let's discuss the plan before you write code", answer: "Gladly."},
		"he takes over":          {prompt: "please hand it over to me now", answer: "Here it is."},
		"another small task":     {prompt: "please read CONTRIBUTING.md and tell me what it says about tests", answer: "It asks for them."},
		"Chinese stop":           {prompt: "先停下來，什麼都不要再動", answer: "好的。"},
		"Chinese question":       {prompt: "為什麼要先跑測試？", answer: "這樣比較快。"},
		"a question to a choice": {prompt: "can you explain what DEV does?", answer: "It writes the code."},
	} {
		for _, h := range []string{"claude-code", "codex"} {
			t.Run(name+", "+h, func(t *testing.T) {
				t.Parallel()
				p := begun(t, h)
				fields := ""
				if c.file != "" {
					fields = `,"transcript_path":` + string(mustJSON(t, p.write("t.jsonl", c.file)))
				}
				if c.mode != "" {
					fields += fmt.Sprintf(`,"permission_mode":%q`, c.mode)
				}
				ask := `"prompt":` + string(mustJSON(t, c.prompt)) + fields
				out, _ := p.call("user-prompt-submit", h, ask)
				if strings.Contains(out, "overtone:developer") || strings.Count(out, "When the workflow is to go on: delegate") != 1 {
					t.Errorf("the prompt is answered with %s", out)
				}
				end := `"last_assistant_message":` + string(mustJSON(t, c.answer)) + fields
				out, _ = p.call("stop", h, end)
				if strings.Contains(out, pushes) || !strings.Contains(out, "rests") {
					t.Errorf("stop says %s", out)
				}
				if h == "codex" && strings.Contains(out, "/overtone:") {
					t.Errorf("a command that the host has not: %s", out)
				}
				if out, _ = p.call("stop", h, end); out != "" {
					t.Errorf("stop says again %s", out)
				}
				p.call("user-prompt-submit", h, `"prompt":"continue"`)
				if out, _ = p.call("stop", h, `"last_assistant_message":"Next comes the developer."`); strings.Contains(out, pushes) {
					t.Errorf("after continue stop says %s", out)
				}
			})
		}
	}
}

// Whatever the user says, in whichever language, a workflow that is at work is not pushed on
// after it.
func TestPushNeverAgainstWords(t *testing.T) {
	t.Parallel()
	for i, prompt := range []string{
		"nah leave that for later, I need the terminal", "actually scrap this", "I changed my mind, drop it", "that's good for now", "let's pick this up after lunch", "I'm heading out, back in an hour",
		"hold your horses", "whoa whoa", "no no no", "not like this", "undo that", "ugh, wrong file", "before you continue, show me the diff", "no need to continue", "once I approve you can continue", "I'll continue from here",
		"all good, thanks", "all done", "next week maybe", "do nothing", "again? no", "no thanks, all good", "yes but later", "go to bed", "keep it for tomorrow",
		"kannst du bitte aufhören", "lass das bitte erstmal", "Moment, ich schaue selbst drauf", "weiter geht es morgen", "on laisse tomber", "laisse-moi continuer", "déjame revisarlo yo primero", "para ya", "sigue mañana", "ya no sigas con eso",
		"pera aí, deixa eu ver", "aspetta un attimo", "lascia perdere", "не трогай пока ничего", "отставить", "давай пока остановимся", "продолжай завтра", "ちょっと待った", "一旦ストップで", "後で続けてください", "잠깐만요", "나중에 계속해",
		"continue", "go on", "yes", "繼續", "weiter", "next", "ok do it", "/overtone", "see /overtone:resume", "先擱著吧", "這個先不做了", "等會再說", "下週再繼續", "等我看完再繼續", "先別繼續", "bırak şimdilik", "zostaw to na razie", "tạm dừng lại", "रुको", "توقف الآن", "wacht even, ik kijk zelf",
	} {
		h := []string{"claude-code", "codex"}[i%2]
		p := begun(t, h)
		p.call("user-prompt-submit", h, `"prompt":`+string(mustJSON(t, prompt)))
		if out, _ := p.call("stop", h, `"last_assistant_message":"Noted."`); strings.Contains(out, pushes) {
			t.Errorf("%q is answered with a push: %s", prompt, out)
		}
	}
}

// Work that was asked for by a command is pushed on until its user says something,
// whatever the agent says: no text of its decides.
func TestPushCarriesOn(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"Noted.", "I have read the request.", "Shall I delegate to the developer now?", "Ready for DEV. Let me know.", "All is done.", "I have stopped."} {
		p := begun(t, "claude-code")
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":`+string(mustJSON(t, answer))); !strings.Contains(out, pushes) {
			t.Errorf("%q: %s", answer, out)
		}
	}
	// In a run that nobody sits before there is nobody to answer.
	p := begun(t, "claude-code")
	p.env = map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Shall I go on?"`); !strings.Contains(out, pushes) {
		t.Errorf("headless: %s", out)
	}
}

// inBackground hands a stage to an agent that works behind the main one.
func (p *place) inBackground() {
	p.t.Helper()
	p.call("pre-tool-use", "claude-code", `"tool_name":"Agent","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer","prompt":"build","run_in_background":true}`)
	p.call("post-tool-use", "claude-code", `"tool_name":"Agent","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer"},"tool_response":{"isAsync":true,"status":"async_launched","agentId":"a1"}`)
	p.call("stop", "claude-code", behind)
}

const (
	behind  = `"last_assistant_message":"Noted.","background_tasks":[{"id":"a1","type":"subagent","status":"running"}]`
	devBack = `"agent_id":"a1","agent_type":"overtone:developer","last_assistant_message":"` + passed + `"`
	noted   = `"prompt":"<task-notification>done</task-notification>"`
	resume  = `"prompt":"/overtone:resume"`
)

// What the user says while a stage's agent works behind him holds when that agent has
// answered, whatever it was: the main agent is told what it came to, and neither told nor
// pushed to begin the next stage until he lets the workflow go on.
func TestWordsWhileAStageWorks(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{
		"STOP", "stop after this agent please", "don't start the reviewer", "I want to see the diff first", "let me look before the review", "hold the tests until I am back", "when it is done, wait for me", "отставить", "先讓我看結果",
		"what is it doing?", "thanks", "please also cover empty input", "continue with the review then",
	} {
		p := begun(t, "claude-code")
		p.inBackground()
		p.call("user-prompt-submit", "claude-code", `"prompt":`+string(mustJSON(t, prompt)))
		if out, _ := p.call("stop", "claude-code", behind); out != "" {
			t.Errorf("%q, while it works: %s", prompt, out)
		}
		p.call("subagent-stop", "claude-code", devBack)
		note, _ := p.call("user-prompt-submit", "claude-code", noted)
		if !strings.Contains(note, "DEV") || strings.Contains(note, "overtone:code-reviewer") {
			t.Errorf("%q: the main agent is told %s", prompt, note)
		}
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"It is done.","background_tasks":[]`); strings.Contains(out, pushes) || !strings.Contains(out, "rests") {
			t.Errorf("%q: %s", prompt, out)
		}
		p.call("user-prompt-submit", "claude-code", resume)
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted.","background_tasks":[]`); !strings.Contains(out, pushes) || !strings.Contains(out, "overtone:code-reviewer") {
			t.Errorf("%q, resumed: %s", prompt, out)
		}
	}
}

// What an agent left for the main thread comes with the user's next words, without the
// order to go on.
func TestWordsBeforeTheNote(t *testing.T) {
	t.Parallel()
	p := begun(t, "claude-code")
	p.inBackground()
	p.call("subagent-stop", "claude-code", devBack)
	out, _ := p.call("user-prompt-submit", "claude-code", `"prompt":"show me what it did"`)
	if !strings.Contains(out, "✅ DEV") || strings.Contains(out, "➡️") || !strings.Contains(out, "The user's message comes first") {
		t.Errorf("%s", out)
	}
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"This.","background_tasks":[]`); strings.Contains(out, pushes) {
		t.Errorf("%s", out)
	}
}

// Who has stopped the turn with Esc has stopped the workflow, also when an agent behind it
// ends without a word of his.
func TestEscBesideAnAgent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last  string
		holds bool
	}{
		"interrupted":  {`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, true},
		"answered":     {`{"type":"assistant","message":{"content":[{"type":"text","text":"Noted."}]}}`, false},
		"just started": {`{"type":"user","promptSource":"typed","message":{"role":"user","content":"[workflow:quick] speed up the parser"}}`, false},
	} {
		p := begun(t, "claude-code")
		p.inBackground()
		at := `,"transcript_path":` + string(mustJSON(t, p.write("t.jsonl", c.last+"\n")))
		p.call("subagent-stop", "claude-code", devBack)
		note, _ := p.call("user-prompt-submit", "claude-code", noted+at)
		if !strings.Contains(note, "DEV") || strings.Contains(note, "overtone:code-reviewer") == c.holds {
			t.Errorf("%s: the main agent is told %s", name, note)
		}
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"It is done.","background_tasks":[]`); strings.Contains(out, pushes) == c.holds {
			t.Errorf("%s: %s", name, out)
		}
		if !p.workflow().Active {
			t.Errorf("%s: the workflow is gone", name)
		}
	}
}

// An agent that the user has had stopped is not started again without a word of his; one
// that the main agent stops by itself is.
func TestStoppedAgent(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{true, false} {
		p := begun(t, "claude-code")
		p.inBackground()
		if asked {
			p.call("user-prompt-submit", "claude-code", `"prompt":"end that agent"`)
		}
		p.call("post-tool-use", "claude-code", `"tool_name":"TaskStop","tool_use_id":"c2","tool_input":{"task_id":"a1"},"tool_response":{}`)
		if out, _ := p.call("user-prompt-submit", "claude-code", `"prompt":"<task-notification>stopped</task-notification>"`); asked && strings.Contains(out, "overtone:developer") {
			t.Errorf("the notification is answered with %s", out)
		}
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"It is ended.","background_tasks":[]`); strings.Contains(out, pushes) == asked || strings.Contains(out, "rests") != asked {
			t.Errorf("asked %v: %s", asked, out)
		}
		p.call("user-prompt-submit", "claude-code", resume)
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted.","background_tasks":[]`); !strings.Contains(out, pushes) || !strings.Contains(out, "overtone:developer") {
			t.Errorf("asked %v, resumed: %s", asked, out)
		}
	}
}

// After words of the user's a workflow is pushed on again once he lets it go on by a
// command of its own, or a stage was handed out; nothing else arms it.
func TestArmed(t *testing.T) {
	t.Parallel()
	const hire, other = `"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"overtone:%s","prompt":"build"}`, `"prompt":"[workflow:fix] rename it"`
	for name, c := range map[string]struct {
		event, in string
		arms      bool
	}{
		"resume":                       {"user-prompt-submit", resume, true},
		"resume, with words":           {"user-prompt-submit", `"prompt":"/overtone:resume\nand be quick"`, true},
		"the tag of the workflow":      {"user-prompt-submit", `"prompt":"[workflow:quick] go"`, true},
		"the command of the workflow":  {"user-prompt-submit", `"prompt":"/overtone:quick go"`, true},
		"a stage is handed out":        {"pre-tool-use", fmt.Sprintf(hire, "developer"), true},
		"its status":                   {"user-prompt-submit", `"prompt":"/overtone:status"`, false},
		"a command like it":            {"user-prompt-submit", `"prompt":"/overtone:resumed"`, false},
		"it is only named":             {"user-prompt-submit", `"prompt":"do not /overtone:resume"`, false},
		"the tag of another":           {"user-prompt-submit", other, false},
		"the command of another":       {"user-prompt-submit", `"prompt":"/overtone:fix rename it"`, false},
		"the tag is only mentioned":    {"user-prompt-submit", `"prompt":"go on with [workflow:quick]"`, false},
		"a stage whose turn it is not": {"pre-tool-use", fmt.Sprintf(hire, "doc-updater"), false},
		"somebody else's agent":        {"pre-tool-use", `"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"Explore","prompt":"look"}`, false},
		"a tool":                       {"pre-tool-use", `"tool_name":"Read","tool_use_id":"t1","tool_input":{"file_path":"a.go"}`, false},
		"a note of the host's":         {"user-prompt-submit", noted, false},
	} {
		p := begun(t, "claude-code")
		p.call("user-prompt-submit", "claude-code", `"prompt":"what is the reviewer for?"`)
		p.call("stop", "claude-code", `"last_assistant_message":"It reads."`)
		p.call(c.event, "claude-code", c.in)
		if rests := p.memory().Loop.Rests; rests == c.arms {
			t.Errorf("%s: rests %v", name, rests)
		}
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); strings.Contains(out, pushes) != c.arms {
			t.Errorf("%s: stop says %s", name, out)
		}
	}
	// What rests nothing.
	for _, in := range []string{`"prompt":"/overtone:status"`, noted, resume, start} {
		p := begun(t, "claude-code")
		p.call("user-prompt-submit", "claude-code", in)
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); !strings.Contains(out, pushes) {
			t.Errorf("%s: stop says %s", in, out)
		}
	}
	// What does, also by a command.
	for _, in := range []string{other, `"prompt":"/overtone:fix rename it"`, `"prompt":"/overtone:none what is this?"`, `"prompt":"[workflow:none] what is this?"`} {
		p := begun(t, "claude-code")
		p.call("user-prompt-submit", "claude-code", in)
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); strings.Contains(out, pushes) {
			t.Errorf("%s: stop says %s", in, out)
		}
	}
	// A workflow that begins is armed, whatever was said in the one before it.
	p := begun(t, "claude-code")
	p.call("user-prompt-submit", "claude-code", `"prompt":"stop"`)
	lib := blueprint.Library{}
	file, _, _ := lib.Find("quick")
	if err := session.Update(p.session(), session.Options{Now: p.now}, func(tx *session.Tx) error {
		if _, err := tx.Apply(workflow.Cancel{}); err != nil {
			return err
		}
		_, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w2", Type: "quick", Plan: lib.Plan(file), At: p.now})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if l := p.memory().Loop; l.Rests || l.LetGo {
		t.Errorf("another workflow: %+v", l)
	}
	if out, _ := p.call("pre-tool-use", "claude-code", `"tool_name":"Edit","tool_input":{"file_path":"a.go"}`); !strings.Contains(out, `"deny"`) {
		t.Errorf("another workflow: %s", out)
	}
}

// Who resumes a workflow that has reached its limit, or has not moved, sets it going
// again.
func TestResumeBeginsAnew(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".overtone/config.yaml", "language: en\nworkflow:\n  loop_max_iterations: 1\n")
	p.call("user-prompt-submit", "claude-code", start)
	for range 2 {
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); !strings.Contains(out, pushes) {
			t.Fatal(out)
		}
		if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); strings.Contains(out, pushes) || !strings.Contains(out, "/overtone:resume goes on") {
			t.Error(out)
		}
		p.call("user-prompt-submit", "claude-code", resume)
	}
}

const passed = `done\n<!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->`

// The same is not said twice unless something has moved.
func TestPushOnce(t *testing.T) {
	t.Parallel()
	p := begun(t, "claude-code")
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); !strings.Contains(out, pushes) {
		t.Fatal(out)
	}
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); strings.Contains(out, pushes) || !strings.Contains(out, "No progress") {
		t.Errorf("the same again: %s", out)
	}
	// An agent was started, and died: the stage is offered again.
	p.call("pre-tool-use", "claude-code", `"tool_name":"Agent","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer","prompt":"build"}`)
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); !strings.Contains(out, pushes) || !strings.Contains(out, "overtone:developer") {
		t.Errorf("after an agent that died: %s", out)
	}
}

// Codex says of an agent that was waited for that it has died: its stage is offered
// again, and no longer waited for. One that dies again and again is left to the user.
func TestCodexAgentDies(t *testing.T) {
	t.Parallel()
	for _, state := range []string{`{\"errored\":\"HTTP 500\"}`, `\"shutdown\"`, `\"not_found\"`} {
		p := begun(t, "codex")
		for n := 1; n <= 3; n++ {
			id := fmt.Sprintf("a%d", n)
			p.call("pre-tool-use", "codex", `"tool_name":"spawn_agent","tool_use_id":"c`+id+`","tool_input":{"agent_type":"overtone:developer","message":"build"}`)
			p.call("post-tool-use", "codex", `"tool_name":"spawn_agent","tool_use_id":"c`+id+`","tool_input":{"agent_type":"overtone:developer"},"tool_response":"{\"agent_id\":\"`+id+`\"}"`)
			out, _ := p.call("post-tool-use", "codex", `"tool_name":"multi_agent_v1wait_agent","tool_use_id":"w`+id+`","tool_response":"{\"status\":{\"`+id+`\":\"running\"},\"timed_out\":true}"`)
			if strings.Contains(out, "died") || p.workflow().Stages.Len() == 0 {
				t.Errorf("running: %s", out)
			}
			if out, _ = p.call("stop", "codex", `"last_assistant_message":"Noted."`); !strings.Contains(out, pushes) || !strings.Contains(out, "wait_agent") {
				t.Errorf("at work: %s", out)
			}
			out, _ = p.call("post-tool-use", "codex", `"tool_name":"multi_agent_v1wait_agent","tool_use_id":"x`+id+`","tool_response":"{\"status\":{\"`+id+`\":`+state+`},\"timed_out\":false}"`)
			if strings.Contains(out, "overtone:developer") != (n < 3) || strings.Contains(out, "the workflow rests") != (n == 3) {
				t.Errorf("%s, death %d: %s", state, n, out)
			}
			out, _ = p.call("stop", "codex", `"last_assistant_message":"Noted."`)
			if strings.Contains(out, "at work") || strings.Contains(out, pushes) != (n < 3) {
				t.Errorf("death %d: %s", n, out)
			}
		}
	}
}

// A stage whose agents die is handed out three times, also within one turn. Then the
// workflow rests: the agent is told so and is refused another try, the end of the turn
// pushes nothing and tells the user what settles it, once. Words of the user's change nothing;
// his command to go on lets it be tried three times more.
func TestDyingAgentRests(t *testing.T) {
	t.Parallel()
	p := begun(t, "claude-code")
	dies := func(id string) (denied, told string) {
		agent := `"tool_name":"Agent","tool_use_id":"` + id + `","tool_input":{"subagent_type":"overtone:developer","prompt":"build"}`
		denied, _ = p.call("pre-tool-use", "claude-code", agent)
		told, _ = p.call("post-tool-use", "claude-code", agent+`,"tool_response":{"status":"completed","content":[{"type":"text","text":"API Error: 500"}],"totalTokens":0}`)
		return denied, told
	}
	const rests, again = "the workflow rests", "Delegate overtone:developer"
	three := func(name string) {
		for n := 1; n <= 3; n++ {
			denied, told := dies(fmt.Sprint(name, n))
			if strings.Contains(denied, "deny") || strings.Contains(told, again) != (n < 3) || strings.Contains(told, rests) != (n == 3) {
				t.Errorf("%s, death %d: %s\n%s", name, n, denied, told)
			}
		}
		denied, told := dies(name + "4")
		if !strings.Contains(denied, `"deny"`) || !strings.Contains(denied, "overtone workflow skip DEV") || strings.Contains(denied+told, again) {
			t.Errorf("%s, one more: %s\n%s", name, denied, told)
		}
	}
	three("first")
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"It dies."`); strings.Contains(out, pushes) || strings.Count(out, "overtone workflow restart DEV") != 1 || strings.Contains(out, `"decision"`) {
		t.Errorf("at the end of the turn: %s", out)
	}
	for _, words := range []string{"why does it die?", "continue"} {
		out, _ := p.call("user-prompt-submit", "claude-code", `"prompt":"`+words+`"`)
		if strings.Contains(out, again) || !strings.Contains(out, rests) || strings.Contains(out, "delegate") || p.workflow().Crashes["DEV"] == 0 {
			t.Errorf("%s: %s", words, out)
		}
	}
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"The server is down."`); strings.Contains(out, pushes) || strings.Contains(out, rests) {
		t.Errorf("after the question: %s", out)
	}
	if out, _ := p.call("user-prompt-submit", "claude-code", resume); p.workflow().Crashes["DEV"] != 0 {
		t.Errorf("it goes on: %s", out)
	}
	if out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`); !strings.Contains(out, pushes) || !strings.Contains(out, again) {
		t.Errorf("after it was let go on: %s", out)
	}
	three("second")
}

// Codex says nothing of an agent that somebody has interrupted in its own thread, not even
// to who waits for it; its file does. Nobody is told to wait for it, and the next word is
// the user's. One that works again is at work.
func TestCodexAgentInterrupted(t *testing.T) {
	t.Parallel()
	const started, aborted = `{"type":"event_msg","payload":{"type":"task_started"}}`, `{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`
	for _, c := range []struct {
		day, file string
		works     bool
	}{
		{"2025/01/01", started + "\n", true},
		{"2025/01/01", started + "\n" + aborted + "\n", false},
		{"2025/01/01", started + "\n" + aborted + "\n" + started + "\n", true},
		{"2026/03/01", started + "\n" + aborted + "\n", false},
	} {
		p := begun(t, "codex")
		at := `,"transcript_path":` + string(mustJSON(t, p.write("sessions/2025/01/01/rollout-x-s1.jsonl", started+"\n")))
		p.write("sessions/"+c.day+"/rollout-x-a1.jsonl", c.file)
		p.call("pre-tool-use", "codex", `"tool_name":"spawn_agent","tool_use_id":"c1","tool_input":{"agent_type":"overtone:developer","message":"build"}`)
		p.call("post-tool-use", "codex", `"tool_name":"spawn_agent","tool_use_id":"c1","tool_input":{"agent_type":"overtone:developer"},"tool_response":"{\"agent_id\":\"a1\"}"`)
		p.call("post-tool-use", "codex", `"tool_name":"multi_agent_v1wait_agent","tool_use_id":"w1","tool_response":"{\"status\":{},\"timed_out\":true}"`)
		out, _ := p.call("stop", "codex", `"last_assistant_message":"Noted."`+at)
		if strings.Contains(out, "at work") != c.works || strings.Contains(out, pushes) != c.works || strings.Contains(out, "rests") == c.works {
			t.Errorf("works %v: %s", c.works, out)
		}
		if c.works {
			continue
		}
		p.call("user-prompt-submit", "codex", start)
		if out, _ = p.call("stop", "codex", `"last_assistant_message":"Noted."`+at); !strings.Contains(out, pushes) || !strings.Contains(out, "overtone:developer") {
			t.Errorf("resumed: %s", out)
		}
	}
}

// Where only the user can act, the agent is not told to leave him alone.
func TestPushUntrusted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/.overtone/workflows/check.yaml", "stages:\n  - DEV\n  - stage: TEST\n    run: go test ./...\n")
	p.call("user-prompt-submit", "claude-code", `"prompt":"[workflow:check] go"`)
	p.call("pre-tool-use", "claude-code", `"tool_name":"Agent","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer","prompt":"build"}`)
	p.call("subagent-stop", "claude-code", `"agent_id":"a1","agent_type":"overtone:developer","last_assistant_message":"`+passed+`"`)
	out, _ := p.call("stop", "claude-code", `"last_assistant_message":"Noted."`)
	if strings.Contains(out, pushes) || strings.Contains(out, "Do not ask") || !strings.Contains(out, "workflow trust check") {
		t.Errorf("%s", out)
	}
}

// A tag that is only spoken of starts nothing; how it would is told once, and not to
// the model. The specifications' own call keeps to their words.
func TestTagMentioned(t *testing.T) {
	t.Parallel()
	for _, h := range []string{"claude-code", "codex"} {
		p := newPlace(t)
		out, _ := p.call("user-prompt-submit", h, `"prompt":"what does [workflow:quick] do?"`)
		if !strings.Contains(out, "only mentioned") || strings.Contains(out, "additionalContext") {
			t.Errorf("%s: %s", h, out)
		}
		if out, _ = p.call("user-prompt-submit", h, `"prompt":"do not use [workflow:quick]"`); out != "" {
			t.Errorf("%s, again: %s", h, out)
		}
		if s, err := session.Peek(p.session()); err != nil || s != nil {
			t.Errorf("%s: %v, %v", h, s, err)
		}
		if out, _ = p.call("user-prompt-submit", h, `"prompt":"please [workflow:quick] add a flag"`); out != "" {
			t.Errorf("%s, in a line: %s", h, out)
		}
		if out, _ = p.call("user-prompt-submit", h, `"prompt":"The parser is slow.\n[workflow:quick] mend it"`); !strings.Contains(out, "overtone:developer") {
			t.Errorf("%s, asked: %s", h, out)
		}
	}
	p := newPlace(t)
	p.call("user-prompt-submit", "", `"prompt":"what does [workflow:quick] do?"`)
	if s := p.workflow(); s.WorkflowType != "quick" {
		t.Errorf("plain: %v", s)
	}
	p = newPlace(t)
	if out, _ := p.call("user-prompt-submit", "copilot", `"prompt":"[workflow:quick] add a flag"`); !strings.Contains(out, "does nothing here") {
		t.Errorf("copilot: %s", out)
	}
}

// The specifications' own call keeps pushing, as they say.
func TestPushPlain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.call("user-prompt-submit", "", start)
	p.call("user-prompt-submit", "", `"prompt":"what is this?"`)
	for n := 1; n <= stuckMax; n++ {
		if out, _ := p.call("stop", "", `"permission_mode":"plan"`); !strings.Contains(out, pushes) {
			t.Errorf("%d: %s", n, out)
		}
	}
	if out, _ := p.call("stop", "", ""); strings.Contains(out, pushes) {
		t.Error(out)
	}
}

// usage is a session's file that says how full the context is.
func (p *place) usage(tokens int) string {
	return `"transcript_path":` + string(mustJSON(p.t, p.write("t.jsonl", fmt.Sprintf(`{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":%d}}}`+"\n", tokens))))
}

// In mode auto somebody has to act. Where nobody does, the person is told, as in mode
// suggest; with a watcher he is not.
func TestAutoSuggestsWhereNobodyActs(t *testing.T) {
	t.Parallel()
	for _, watched := range []bool{false, true} {
		p := newPlace(t)
		p.write(".overtone/config.yaml", "language: en\ncompact:\n  mode: auto\n  context_window: 200000\n")
		if watched {
			release, ok, err := store.New(filepath.Join(p.dir, ".overtone"), filepath.Join(p.dir, ".claude"), time.Now).TryLease(store.WatcherLease)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			defer release()
		}
		at := p.usage(190_000)
		p.call("user-prompt-submit", "codex", `"prompt":"write the parser",`+at)
		out, _ := p.call("stop", "codex", `"last_assistant_message":"Done.",`+at)
		if strings.Contains(out, "/compact") == watched {
			t.Errorf("watched %v: %s", watched, out)
		}
		if out, _ = p.call("stop", "codex", `"last_assistant_message":"Done.",`+at); out != "" {
			t.Errorf("again: %s", out)
		}
	}
}

// A message that its user takes back before it is answered was not said: the workflow
// that it has started is gone, and the agent may do itself what he says instead.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	for prompt, active := range map[string]bool{"rename the variable in main.go": false, "which file is it?": false, "[workflow:quick] build the lexer": true} {
		p := begun(t, "claude-code")
		file := `{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]}}
{"type":"user","promptSource":"typed","message":{"role":"user","content":"[workflow:quick] build the parser"}}
{"type":"attachment","attachment":{"type":"hook_additional_context"}}
`
		at := `,"transcript_path":` + string(mustJSON(t, p.write("t.jsonl", file)))
		out, _ := p.call("user-prompt-submit", "claude-code", `"prompt":`+string(mustJSON(t, prompt))+at)
		if p.workflow().Active != active || strings.Contains(out, "overtone:developer") != active {
			t.Errorf("%s: %s", prompt, out)
		}
	}
	// One that an agent works for already rests instead.
	p := begun(t, "claude-code")
	p.call("pre-tool-use", "claude-code", `"tool_name":"Agent","tool_use_id":"c1","tool_input":{"subagent_type":"overtone:developer","prompt":"build"}`)
	at := `,"transcript_path":` + string(mustJSON(t, p.write("t.jsonl", `{"type":"user","promptSource":"typed","message":{"role":"user","content":"[workflow:quick] and the lexer"}}`+"\n")))
	if out, _ := p.call("user-prompt-submit", "claude-code", `"prompt":"rename it"`+at); !p.workflow().Active || strings.Contains(out, "overtone:developer") {
		t.Errorf("at work: %s", out)
	}
}

// Codex tells its hooks nothing of plan mode; the session's file does.
func TestCodexPlanMode(t *testing.T) {
	t.Parallel()
	for mode, pushed := range map[string]bool{"plan": false, "default": true} {
		p := begun(t, "codex")
		at := `,"transcript_path":` + string(mustJSON(t, p.write("t.jsonl", `{"type":"event_msg","payload":{"type":"task_started","collaboration_mode_kind":"`+mode+`"}}`+"\n"+`{"type":"turn_context","payload":{}}`+"\n")))
		if out, _ := p.call("stop", "codex", `"permission_mode":"bypassPermissions","last_assistant_message":"Noted."`+at); strings.Contains(out, pushes) != pushed {
			t.Errorf("%s: %s", mode, out)
		}
	}
}
