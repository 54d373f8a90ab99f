package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// play is the whole story, act by act.
func (d *play) play(ctx context.Context) error {
	for _, act := range []struct {
		title message.Text
		play  func(context.Context) error
	}{
		{message.DemoActStart, d.start},
		{message.DemoActDev, d.develop},
		{message.DemoActBarrier, d.reviewFails},
		{message.DemoActBack, d.developAgain},
		{message.DemoActSuggest, d.allPass},
		{message.DemoActCompact, d.compaction},
		{message.DemoActGuard, d.guard},
		{message.DemoActEnd, d.finish},
		{message.DemoActCompress, d.compress},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.scene(act.title)
		if err := act.play(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *play) start(context.Context) error {
	if _, err := d.call("session-start", "startup", fields{"source": "startup"}); err != nil {
		return err
	}
	prompt := message.DemoPrompt.In(d.Lang)
	_, err := d.call("user-prompt-submit", fmt.Sprintf("%q", prompt), fields{"prompt": prompt})
	return err
}

// hand is a stage in the hands of a sub-agent.
type hand struct {
	stage, agent, id, tool string
	report                 string // what a quality stage writes to its file
	answer                 string
}

// hand prepares a sub-agent that answers as its prompt in the plugin asks it to.
func (d *play) hand(stage string, said message.Text, route workflow.Route) (hand, error) {
	n := len(d.Steps)
	h := hand{stage: stage, agent: workflow.AgentOf(stage), id: fmt.Sprintf("a%016x", 16*n+len(stage)), tool: fmt.Sprintf("toolu_%03d_%s", n, stage)}
	state, err := d.state()
	if err != nil {
		return h, err
	}
	if node, ok := state.DAG.Get(stage); ok && node.Barrier != nil {
		route.Route, route.BarrierGroup = workflow.Barrier, node.Barrier.Group
	}
	if workflow.Quality(stage) {
		route.ContextFile = contextFile(stage)
		h.report = said.In(d.Lang)
	}
	marker, err := json.Marshal(route)
	line, _, _ := strings.Cut(said.In(d.Lang), "\n")
	h.answer = strings.TrimLeft(line, "# ") + "\n\n<!-- PIPELINE_ROUTE: " + string(marker) + " -->"
	return h, err
}

func pass() workflow.Route { return workflow.Route{Verdict: workflow.Pass, Route: workflow.Next} }

// delegate is the main agent handing work over.
func (d *play) delegate(h hand) (Step, error) {
	return d.call("pre-tool-use", "Agent "+h.agent, fields{
		"tool_name": "Agent", "tool_use_id": h.tool,
		"tool_input": fields{"subagent_type": h.agent, "description": h.agent, "prompt": h.task().In(d.Lang)},
	})
}

// task is what the main agent asks for.
func (h hand) task() message.Text {
	switch strings.TrimPrefix(h.agent, "overtone:") {
	case "tester":
		return message.DemoTaskTest
	case "code-reviewer":
		return message.DemoTaskReview
	case "retrospective":
		return message.DemoTaskRetro
	case "doc-updater":
		return message.DemoTaskDocs
	}
	return message.DemoTask
}

// work is the sub-agent's life: it starts, writes its report and answers.
func (d *play) work(h hand) error {
	agent := fields{"agent_id": h.id, "agent_type": h.agent}
	if _, err := d.call("subagent-start", h.agent, agent); err != nil {
		return err
	}
	if h.report != "" {
		_, err := d.call("pre-tool-use", "Write "+contextFile(h.stage)+" ("+h.agent+")", fields{
			"agent_id": h.id, "agent_type": h.agent, "tool_name": "Write", "tool_use_id": h.tool + "_w",
			"tool_input": fields{"file_path": contextFile(h.stage), "content": h.report},
		})
		if err != nil {
			return err
		}
	}
	_, err := d.call("subagent-stop", h.agent+" "+verdict(h.answer), fields{
		"agent_id": h.id, "agent_type": h.agent, "last_assistant_message": h.answer, "stop_hook_active": false, "background_tasks": []string{},
	})
	return err
}

func verdict(answer string) string {
	r, _ := workflow.ParseRoute(answer)
	return r.Verdict
}

// back is the Agent tool's return to the main agent.
func (d *play) back(h hand) (Step, error) {
	return d.call("post-tool-use", "Agent "+h.agent, fields{
		"tool_name": "Agent", "tool_use_id": h.tool, "tool_input": fields{"subagent_type": h.agent},
		"tool_response": fields{
			"status": "completed", "agentId": h.id, "agentType": h.agent, "totalTokens": len(h.answer) / 4,
			"content": []fields{{"type": "text", "text": h.answer}},
		},
	})
}

// stage is one stage that passes, from hand-over to return; it gives the brief.
func (d *play) stage(stage string, said message.Text) (brief Step, err error) {
	h, err := d.hand(stage, said, pass())
	if err != nil {
		return brief, err
	}
	if brief, err = d.delegate(h); err != nil {
		return brief, err
	}
	if err = d.work(h); err != nil {
		return brief, err
	}
	_, err = d.back(h)
	return brief, err
}

// together is a batch of parallel stages: handed over, then at work, then back.
func (d *play) together(hands ...hand) ([]Step, error) {
	for _, h := range hands {
		if _, err := d.delegate(h); err != nil {
			return nil, err
		}
	}
	for _, h := range hands {
		if err := d.work(h); err != nil {
			return nil, err
		}
	}
	var ends []Step
	for _, h := range hands {
		s, err := d.back(h)
		if err != nil {
			return nil, err
		}
		ends = append(ends, s)
	}
	s, err := d.call("post-tool-batch", fmt.Sprintf("Agent ×%d", len(hands)), nil)
	return append(ends, s), err
}

func (d *play) develop(context.Context) error {
	_, err := d.stage("DEV", message.DemoDevDone)
	return err
}

func (d *play) reviewFails(context.Context) error {
	test, err := d.hand("TEST", message.DemoTestDone, pass())
	if err != nil {
		return err
	}
	review, err := d.hand("REVIEW", message.DemoReviewFailed, workflow.Route{
		Verdict: workflow.Fail, Route: workflow.Dev, Severity: "CRITICAL", Hint: message.DemoReviewHint.In(d.Lang),
	})
	if err != nil {
		return err
	}
	steps, err := d.together(test, review)
	if err != nil {
		return err
	}
	file := d.files[contextFile("REVIEW")]
	saw, leaked := 0, false
	for _, s := range steps {
		leaked = leaked || strings.Contains(s.Tool+s.Model, message.DemoPhrase.In(d.Lang))
		if strings.HasSuffix(s.Subject, review.agent) {
			saw += len(s.Tool)
		}
	}
	if err := d.claim(strings.Contains(file, review.report) && !leaked, message.DemoClaimIsolated, len(file), contextFile("REVIEW"), saw); err != nil {
		return err
	}
	state, err := d.state()
	if err != nil {
		return err
	}
	ready := state.Ready()
	return d.claim(len(ready) == 1 && ready[0] == "DEV" && state.RejectCount == 1, message.DemoClaimVotes)
}

func contextFile(stage string) string {
	return "~/.claude/pipeline-context-" + sessionID + "-" + stage + ".md"
}

func (d *play) state() (*workflow.State, error) {
	s, err := session.Peek(d.sess)
	if err == nil && s == nil {
		err = message.Fail(message.NoWorkflow, sessionID)
	}
	return s, err
}

func (d *play) developAgain(context.Context) error {
	brief, err := d.stage("DEV", message.DemoDevAgain)
	if err != nil {
		return err
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if !strings.Contains(brief.Agent, w) {
				return false
			}
		}
		return true
	}
	return d.claim(has("retryContext", message.DemoPhrase.In(d.Lang), message.DemoReviewHint.In(d.Lang), "reflection-memory-"), message.DemoClaimLearned)
}

func (d *play) allPass(context.Context) error {
	cfg, _ := config.Load(d.store.ConfigFile(), d.home.Getenv)
	// A hole is as large as text; the end is what a hook reads.
	size := cfg.Compact.ThresholdBytes * 13 / 10
	line := fmt.Sprintf("\n"+`{"type":"assistant","uuid":"%s","parentUuid":null,"isSidechain":false,"sessionId":%q,"timestamp":%q,"message":{"role":"assistant","id":"msg_1","model":"claude-sonnet-4-5","content":[{"type":"text","text":"…"}],"usage":{"input_tokens":12,"cache_read_input_tokens":96000,"cache_creation_input_tokens":900,"output_tokens":220}}}`+"\n",
		"00000000-0000-4000-8000-00000000ffff", sessionID, workflow.Stamp(d.Now()))
	f, err := os.OpenFile(d.transcript, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(line), size-int64(len(line))); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	d.Line("\n    " + message.DemoTranscript.Format(d.Lang, compact.FormatSize(size)))
	test, err := d.hand("TEST", message.DemoTestDone, pass())
	if err != nil {
		return err
	}
	review, err := d.hand("REVIEW", message.DemoReviewGood, pass())
	if err != nil {
		return err
	}
	steps, err := d.together(test, review)
	if err != nil {
		return err
	}
	told, leaked := 0, false
	for _, s := range steps {
		told += strings.Count(s.Person, "/compact")
		leaked = leaked || strings.Contains(s.Model, "/compact")
	}
	return d.claim(told == 1 && !leaked, message.DemoClaimSuggested)
}

func (d *play) compaction(context.Context) error {
	pre, err := d.call("pre-compact", "manual", fields{"trigger": "manual", "custom_instructions": ""})
	if err != nil {
		return err
	}
	if err := d.claim(len(pre.Output) == 0, message.DemoClaimQuiet, len(pre.Output)); err != nil {
		return err
	}
	compacted := fields{"source": "compact"}
	chances, delivered := 0, 0
	for _, c := range []struct {
		event, subject string
		in             fields
	}{
		{"session-start", "compact", compacted},
		{"post-compact", "manual", fields{"trigger": "manual", "compact_summary": "…"}},
		{"session-start", "compact", compacted},
		{"user-prompt-submit", message.DemoGoOn.In(d.Lang), fields{"prompt": message.DemoGoOn.In(d.Lang)}},
	} {
		s, err := d.call(c.event, c.subject, c.in)
		if err != nil {
			return err
		}
		if c.event != "post-compact" {
			chances++
		}
		delivered += strings.Count(s.Model, message.RecoveryTitle.In(d.Lang))
	}
	receipt, ok, err := d.sess.Latest(message.EventSessionRecovery)
	if err != nil {
		return err
	}
	var parts []string
	for _, f := range receipt.Data() {
		parts = append(parts, fmt.Sprintf("%s=%s", f.Key, f.Value))
	}
	return d.claim(ok && delivered == 1, message.DemoClaimOnce, chances, delivered, strings.Join(parts, " "))
}

func (d *play) guard(context.Context) error {
	edit, err := d.call("pre-tool-use", "Edit internal/limit/bucket.go", fields{
		"tool_name": "Edit", "tool_use_id": "toolu_edit",
		"tool_input": fields{"file_path": filepath.Join(d.project, "internal/limit/bucket.go"), "old_string": "a", "new_string": "b"},
	})
	if err != nil {
		return err
	}
	look, err := d.call("pre-tool-use", "Bash git status | head -3", fields{
		"tool_name": "Bash", "tool_use_id": "toolu_bash", "tool_input": fields{"command": "git status | head -3"},
	})
	if err != nil {
		return err
	}
	return d.claim(edit.Denied != "" && look.Denied == "", message.DemoClaimGuarded)
}

func (d *play) finish(context.Context) error {
	if _, err := d.stage("RETRO", message.DemoRetroDone); err != nil {
		return err
	}
	if _, err := d.stage("DOCS", message.DemoDocsDone); err != nil {
		return err
	}
	if _, err := d.call("stop", "end_turn", fields{"stop_hook_active": false, "background_tasks": []string{}, "last_assistant_message": "…"}); err != nil {
		return err
	}
	if _, err := d.call("session-end", "other", fields{"reason": "other"}); err != nil {
		return err
	}
	state, err := d.state()
	if err != nil {
		return err
	}
	entries, _, err := d.sess.Last(10_000, store.Filter{Types: []string{message.EventStageComplete}})
	if err != nil {
		return err
	}
	n := state.Stages.Len()
	return d.claim(state.Done() && !state.Active && len(entries) >= n, message.DemoClaimDone, n, state.RejectCount, state.FailCount)
}

const (
	bands = "0-50:heavy-compress,50-80:compress"
	tools = "0-50:remove,50-80:truncate"
)

// compress runs the command on a session that is made here, and looks at what it
// did with other means than the command's own.
func (d *play) compress(ctx context.Context) error {
	path, err := d.writeSession()
	if err != nil {
		return err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	d.Line(fmt.Sprintf("\n    $ overtone compress %s --bands %s --tools %s", filepath.Base(path), bands, tools))
	out, err := d.command(ctx, "compress", path, "--bands", bands, "--tools", tools)
	if err != nil {
		return err
	}
	clone := out.Get("result.path").String()
	copied, err := os.ReadFile(clone)
	if err != nil {
		return err
	}
	stats := out.Get("result.stats")
	before, after := int(stats.Get("originalTokens").Int()), int(stats.Get("compressedTokens").Int())
	if err := d.claim(after < before && len(copied) < len(source), message.DemoClaimSmaller,
		message.Thousands(before), message.Thousands(after), stats.Get("reductionPercent").Int(), message.Bytes(int64(len(source))), message.Bytes(int64(len(copied)))); err != nil {
		return err
	}

	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(source)
	if err := d.claim(sha256.Sum256(now) == sum, message.DemoClaimSource, hex.EncodeToString(sum[:4])); err != nil {
		return err
	}
	report, err := transcript.Verify(ctx, clone)
	if err != nil {
		return err
	}
	broken := len(report.Dangling) + len(report.Unanswered) + len(report.Orphaned) + report.Unreadable
	if err := d.claim(broken == 0, message.DemoClaimVerified, report.Messages); err != nil {
		return err
	}

	m := out.Get(`result.messages.#(status=="success")`)
	ref := m.Get("ref").String()
	facts, kept, err := d.facts(ctx, path, clone)
	if err != nil {
		return err
	}
	if err := d.claim(kept > 0 && kept <= facts, message.DemoClaimFacts, facts, kept); err != nil {
		return err
	}
	back, err := d.command(ctx, "recall", ref)
	if err != nil {
		return err
	}
	_, uuid, _ := strings.Cut(back.Get("source").String(), "#")
	original, err := textOf(ctx, path, uuid)
	if err != nil {
		return err
	}
	text := back.Get("text").String()
	if err := d.claim(text != "" && text == original, message.DemoClaimRecall, shortRef(ref), len(text)); err != nil {
		return err
	}
	d.Compress = map[string]any{
		"originalTokens": before, "compressedTokens": after, "sourceBytes": len(source), "cloneBytes": len(copied),
		"facts": facts, "factsKept": kept, "resume": out.Get("resume").String(),
	}
	d.Line("  " + message.DemoResume.Format(d.Lang, out.Get("resume").String()))
	return nil
}

func shortRef(ref string) string {
	id, uuid, _ := strings.Cut(ref, "#")
	return message.Short(id, 9) + "#" + message.Short(uuid, 9)
}

// textOf reads one message of a session.
func textOf(ctx context.Context, path, uuid string) (string, error) {
	s, err := transcript.Open(ctx, path)
	if err != nil {
		return "", err
	}
	defer s.Close()
	i, ok := s.Find(uuid)
	if !ok {
		return "", message.Fail(message.RecallNoRef, s.ID, uuid)
	}
	raw, err := s.Line(i)
	return transcript.Text(raw), err
}

// facts counts what the compressed messages stated before and state now.
func (d *play) facts(ctx context.Context, source, clone string) (all, kept int, err error) {
	before, err := transcript.Open(ctx, source)
	if err != nil {
		return 0, 0, err
	}
	defer before.Close()
	after, err := transcript.Open(ctx, clone)
	if err != nil {
		return 0, 0, err
	}
	defer after.Close()
	for i := range after.Entries {
		raw, err := after.Line(i)
		if err != nil {
			return 0, 0, err
		}
		m, ok := transcript.MarkerOf(raw)
		if !ok {
			continue
		}
		j, ok := before.Find(m.UUID)
		if !ok {
			continue
		}
		old, err := before.Line(j)
		if err != nil {
			return 0, 0, err
		}
		had := extract.Facts(transcript.Text(old))
		all += had.Total()
		kept += had.Total() - len(extract.Lost(had, extract.Facts(transcript.Text(raw))))
	}
	return all, kept, nil
}
