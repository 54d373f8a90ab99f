package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (d *play) play(ctx context.Context) {
	for n, act := range []struct {
		name   string
		scenes []func(context.Context)
	}{
		{"lost", []func(context.Context){d.lost}},
		{"workflow", []func(context.Context){d.start, d.reviewFails, d.developAgain, d.allPass, d.compaction, d.guard, d.finish}},
		{"compress", []func(context.Context){d.compress}},
	} {
		d.act = d.says("act." + act.name)
		d.Act(n+1, d.act)
		for _, scene := range act.scenes {
			if d.failed(ctx.Err()) {
				return
			}
			scene(ctx)
		}
	}
}

func (d *play) says(name string) string { return message.DemoSays(name).In(d.Lang) }

// maxNames is how many names of a kind the table shows.
const maxNames = 6

// lost is a session that its host compacts: what the summary states of the names that the
// work needs, what it lacks, and what the hand-over puts back.
func (d *play) lost(ctx context.Context) {
	path, _ := d.writeSession(lostSession)
	summary := d.says("summary")
	at := func(more fields) fields {
		maps.Copy(more, fields{"session_id": lostSession, "transcript_path": path})
		return more
	}
	turns := message.DemoTurns()
	d.call("user-prompt-submit", "…", at(fields{"prompt": turns[len(turns)-1].Ask.In(d.Lang)}))
	d.call("pre-compact", "auto", at(fields{"trigger": "auto", "custom_instructions": ""}))
	d.call("subagent-stop", "", at(fields{"agent_id": "asummary", "agent_type": "", "last_assistant_message": summary, "stop_hook_active": false, "background_tasks": []string{}}))
	handed := d.call("session-start", "compact", at(fields{"source": "compact"})).Model
	d.call("post-compact", "auto", at(fields{"trigger": "auto", "compact_summary": summary}))
	d.writeSummary(path, summary)
	out := d.command(ctx, "compact", "packet", lostSession, "--compaction", "1")
	var s struct{ SummaryStates, SummaryLacks []string }
	if d.err == nil {
		d.failed(json.Unmarshal([]byte(out.Raw), &s))
	}
	back := slices.DeleteFunc(slices.Clone(s.SummaryLacks), func(name string) bool { return !strings.Contains(handed, name) })
	if rows := catalog.NameRows(d.Lang, s.SummaryStates, s.SummaryLacks, back); d.err == nil {
		d.Line(message.DemoSummarised.Format(d.Lang, summary) + "\n")
		if more := len(rows) - 1 - maxNames; more > 0 {
			rows = append(rows[:maxNames+1], []string{"", message.PacketMore.Format(d.Lang, more), ""})
		}
		d.Rows(rows)
	}
	lacks := len(s.SummaryLacks)
	d.claim(lacks > 0 && len(back) == lacks, message.DemoClaimLost, len(s.SummaryStates)+lacks, lacks, len(back))
	d.claim(strings.Count(handed, "<overtone-packet") >= 1, message.DemoClaimHanded, message.Units(handed))
}

func (d *play) start(context.Context) {
	d.call("session-start", "startup", fields{"source": "startup"})
	prompt := d.says("prompt")
	d.call("user-prompt-submit", fmt.Sprintf("%q", prompt), fields{"prompt": prompt})
	d.stage("DEV", "dev.done")
}

// hand is a stage in the hands of a sub-agent.
type hand struct {
	stage, agent, id, tool string
	report                 string // what a quality stage writes to its file
	answer                 string
}

// hand prepares a sub-agent that answers as its prompt in the plugin asks it to.
func (d *play) hand(stage, said string, route workflow.Route) hand {
	n := len(d.Steps)
	h := hand{stage: stage, agent: workflow.AgentOf(stage), id: fmt.Sprintf("a%016x", 16*n+len(stage)), tool: fmt.Sprintf("toolu_%03d_%s", n, stage)}
	if node, ok := d.state().DAG.Get(stage); ok && node.Barrier != nil {
		route.Route, route.BarrierGroup = workflow.Barrier, node.Barrier.Group
	}
	if workflow.Quality(stage) {
		route.ContextFile = contextFile(stage)
		h.report = d.says(said)
	}
	marker, err := json.Marshal(route)
	d.failed(err)
	line, _, _ := strings.Cut(d.says(said), "\n")
	h.answer = strings.TrimLeft(line, "# ") + "\n\n<!-- PIPELINE_ROUTE: " + string(marker) + " -->"
	return h
}

func pass() workflow.Route { return workflow.Route{Verdict: workflow.Pass, Route: workflow.Next} }

// delegate is the main agent handing work over.
func (d *play) delegate(h hand) Step {
	return d.call("pre-tool-use", "Agent "+h.agent, fields{
		"tool_name": "Agent", "tool_use_id": h.tool,
		"tool_input": fields{"subagent_type": h.agent, "description": h.agent, "prompt": d.says("task." + h.stage)},
	})
}

// work is the sub-agent's life: it starts, writes its report and answers.
func (d *play) work(h hand) {
	d.call("subagent-start", h.agent, fields{"agent_id": h.id, "agent_type": h.agent})
	if h.report != "" {
		d.call("pre-tool-use", "Write "+contextFile(h.stage)+" ("+h.agent+")", fields{
			"agent_id": h.id, "agent_type": h.agent, "tool_name": "Write", "tool_use_id": h.tool + "_w",
			"tool_input": fields{"file_path": contextFile(h.stage), "content": h.report},
		})
	}
	route, _ := workflow.ParseRoute(h.answer)
	d.call("subagent-stop", h.agent+" "+route.Verdict, fields{
		"agent_id": h.id, "agent_type": h.agent, "last_assistant_message": h.answer, "stop_hook_active": false, "background_tasks": []string{},
	})
}

// back is the Agent tool's return to the main agent.
func (d *play) back(h hand) Step {
	return d.call("post-tool-use", "Agent "+h.agent, fields{
		"tool_name": "Agent", "tool_use_id": h.tool, "tool_input": fields{"subagent_type": h.agent},
		"tool_response": fields{
			"status": "completed", "agentId": h.id, "agentType": h.agent, "totalTokens": len(h.answer) / 4,
			"content": []fields{{"type": "text", "text": h.answer}},
		},
	})
}

// stage is one stage that passes, from hand-over to return; it gives the brief.
func (d *play) stage(stage, said string) (brief Step) {
	h := d.hand(stage, said, pass())
	brief = d.delegate(h)
	d.work(h)
	d.back(h)
	return brief
}

// together is a batch of parallel stages: handed over, then at work, then back.
func (d *play) together(hands ...hand) (ends []Step) {
	for _, h := range hands {
		d.delegate(h)
	}
	for _, h := range hands {
		d.work(h)
	}
	for _, h := range hands {
		ends = append(ends, d.back(h))
	}
	return append(ends, d.call("post-tool-batch", fmt.Sprintf("Agent ×%d", len(hands)), nil))
}

func (d *play) reviewFails(context.Context) {
	review := d.hand("REVIEW", "review.failed", workflow.Route{
		Verdict: workflow.Fail, Route: workflow.Dev, Severity: "CRITICAL", Hint: d.says("review.hint"),
	})
	steps := d.together(d.hand("TEST", "test.done", pass()), review)
	file := d.file(filepath.Join(d.Dir, strings.TrimPrefix(contextFile("REVIEW"), "~/")))
	saw, leaked := 0, false
	for _, s := range steps {
		leaked = leaked || strings.Contains(s.Tool+s.Model, d.says("phrase"))
		if strings.HasSuffix(s.Subject, review.agent) {
			saw += len(s.Tool)
		}
	}
	d.claim(strings.Contains(string(file), review.report) && !leaked, message.DemoClaimIsolated, len(file), saw)
	state := d.state()
	d.claim(slices.Equal(state.Ready(), []string{"DEV"}) && state.RejectCount == 1, message.DemoClaimVotes)
}

func contextFile(stage string) string {
	return "~/.claude/pipeline-context-" + sessionID + "-" + stage + ".md"
}

// state is where the workflow stands, an empty one after a failure.
func (d *play) state() *workflow.State {
	s, err := session.Peek(d.sess)
	if err == nil && s == nil {
		err = message.Fail(message.NoWorkflow, sessionID)
	}
	if d.failed(err) {
		return &workflow.State{}
	}
	return s
}

func (d *play) developAgain(context.Context) {
	brief := d.stage("DEV", "dev.again").Agent
	all := true
	for _, word := range []string{"retryContext", d.says("phrase"), d.says("review.hint"), "reflection-memory-"} {
		all = all && strings.Contains(brief, word)
	}
	d.claim(all, message.DemoClaimLearned)
}

func (d *play) allPass(context.Context) {
	cfg, _ := config.Load(d.store.ConfigFile(), d.home.Getenv)
	size := cfg.Compact.ThresholdBytes * 13 / 10
	d.failed(d.fill(size))
	told, leaked := 0, false
	for _, s := range d.together(d.hand("TEST", "test.done", pass()), d.hand("REVIEW", "review.good", pass())) {
		told += strings.Count(s.Person, "/compact")
		leaked = leaked || strings.Contains(s.Model, "/compact")
	}
	d.claim(told == 1 && !leaked, message.DemoClaimSuggested, compact.FormatSize(size))
}

// fill makes the session's file that large: a hole is as large as text, and the end
// is what a hook reads.
func (d *play) fill(size int64) error {
	line := fmt.Sprintf("\n"+`{"type":"assistant","uuid":"00000000-0000-4000-8000-00000000ffff","parentUuid":null,"isSidechain":false,"sessionId":%q,"timestamp":%q,"message":{"role":"assistant","id":"msg_1","model":"claude-sonnet-4-5","content":[{"type":"text","text":"…"}],"usage":{"input_tokens":12,"cache_read_input_tokens":96000,"cache_creation_input_tokens":900,"output_tokens":220}}}`+"\n",
		sessionID, workflow.Stamp(d.Now()))
	if err := os.Truncate(d.transcript, size-int64(len(line))); err != nil {
		return err
	}
	f, err := os.OpenFile(d.transcript, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	return err
}

func (d *play) compaction(context.Context) {
	d.call("pre-compact", "manual", fields{"trigger": "manual", "custom_instructions": ""})
	const goOn = "/overtone:resume"
	chances := []Step{d.call("session-start", "compact", fields{"source": "compact"})}
	d.call("post-compact", "manual", fields{"trigger": "manual", "compact_summary": "…"})
	chances = append(chances, d.call("session-start", "compact", fields{"source": "compact"}), d.call("user-prompt-submit", goOn, fields{"prompt": goOn}))
	delivered := 0
	for _, s := range chances {
		delivered += strings.Count(s.Model, message.RecoveryTitle.In(d.Lang))
	}
	receipt, ok, err := d.sess.Latest(message.EventSessionRecovery)
	d.failed(err)
	d.claim(ok && delivered == 1, message.DemoClaimOnce, len(chances), delivered, receipt.Text("id"))
}

func (d *play) guard(context.Context) {
	edit := d.call("pre-tool-use", "Edit internal/limit/bucket.go", fields{
		"tool_name": "Edit", "tool_use_id": "toolu_edit",
		"tool_input": fields{"file_path": filepath.Join(d.project, "internal/limit/bucket.go"), "old_string": "a", "new_string": "b"},
	})
	look := d.call("pre-tool-use", "Bash git status | head -3", fields{
		"tool_name": "Bash", "tool_use_id": "toolu_bash", "tool_input": fields{"command": "git status | head -3"},
	})
	d.claim(edit.Denied != "" && look.Denied == "", message.DemoClaimGuarded)
}

func (d *play) finish(context.Context) {
	d.stage("RETRO", "retro.done")
	d.stage("DOCS", "docs.done")
	d.call("stop", "end_turn", fields{"stop_hook_active": false, "background_tasks": []string{}, "last_assistant_message": "…"})
	d.call("session-end", "other", fields{"reason": "other"})
	state := d.state()
	entries, _, err := d.sess.Last(10_000, store.Filter{Types: []string{message.EventStageComplete}})
	d.failed(err)
	n := state.Stages.Len()
	d.claim(state.Done() && !state.Active && len(entries) >= n, message.DemoClaimDone, n, state.RejectCount, state.FailCount)
}

// compress runs the command on a session that is made here, and looks at what it
// did with other means than the command's own.
func (d *play) compress(ctx context.Context) {
	const bands, tools = "0-50:heavy-compress,50-80:compress", "0-50:remove,50-80:truncate"
	path, texts := d.writeSession(oldSession)
	source := d.file(path)
	out := d.command(ctx, "compress", path, "--bands", bands, "--tools", tools)
	if d.err != nil {
		return
	}
	clone := out.Get("result.path").String()
	copied := d.file(clone)
	stats := out.Get("result.stats")
	before, after := int(stats.Get("originalTokens").Int()), int(stats.Get("compressedTokens").Int())
	d.claim(after < before && len(copied) < len(source), message.DemoClaimSmaller,
		message.Thousands(before), message.Thousands(after), message.Change(before, after), message.Bytes(int64(len(source))), message.Bytes(int64(len(copied))), message.Change(len(source), len(copied)))
	report, err := transcript.Verify(ctx, clone)
	if d.failed(err) {
		return
	}
	broken := len(report.Dangling) + len(report.Unanswered) + len(report.Orphaned) + report.Unreadable
	d.claim(broken == 0 && bytes.Equal(d.file(path), source), message.DemoClaimVerified, report.Messages)

	exact, refs := 0, out.Get(`result.messages.#(status=="success")#.ref`).Array()
	for _, ref := range refs {
		back := d.command(ctx, "recall", ref.String())
		_, uuid, _ := strings.Cut(back.Get("source").String(), "#")
		if text := back.Get("text").String(); text != "" && text == texts[uuid] {
			exact++
		}
	}
	d.claim(len(refs) > 0 && exact == len(refs), message.DemoClaimRecall, exact)
	d.Compress = map[string]any{
		"originalTokens": before, "compressedTokens": after, "sourceBytes": len(source), "cloneBytes": len(copied),
		"resume": out.Get("resume").String(),
	}
	if d.Keep { // else there is nothing to resume
		d.Line("  " + message.DemoResume.Format(d.Lang, out.Get("resume").String()))
	}
}
