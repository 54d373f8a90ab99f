package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Instruction is the routing text for the main agent: what happened and what to
// hand over next. It never holds a word of a report. A barrier that waits for
// stages that run says nothing.
func Instruction(s *State, o Outcome, lang message.Lang) string {
	if o.Kind == Waiting && len(o.Next) == 0 {
		return ""
	}
	t := &routingText{s: s, o: o, lang: lang}
	if o.Unverified && o.Kind != Nothing {
		t.say(message.RouteUnverif, o.Stage)
	}
	if o.corrected != "" && !o.Unverified {
		t.say(message.RouteCorrected, o.Stage, o.corrected)
	}
	if !t.happened() {
		return ""
	}
	if len(o.Sifted) > 0 {
		t.say(message.RouteSifted, strings.Join(o.Sifted, ", "))
	}
	t.lines = append(t.lines, delegations(s, o.Next, lang)...)
	report := "" // that a rework has to read
	if o.Merged != nil {
		report = o.Merged.ContextFile
	} else if o.Route != nil {
		report = o.Route.ContextFile
	}
	if o.Kind == RolledBack && report != "" {
		t.say(message.RouteReport, report)
	}
	return strings.Join(t.lines, "\n")
}

type routingText struct {
	s     *State
	o     Outcome
	lang  message.Lang
	lines []string
}

func (t *routingText) say(text message.Text, args ...any) {
	t.lines = append(t.lines, text.Format(t.lang, args...))
}

// happened says what the event came to; false where there is nothing to say.
func (t *routingText) happened() bool {
	o := t.o
	switch o.Kind {
	case Started:
		t.say(message.RouteStarted, t.s.WorkflowType, strings.Join(t.s.DAG.Keys(), " → "))
	case Advanced, Finished:
		t.passed()
	case Waiting:
		text := message.RouteWait
		if o.Route != nil && o.Route.Verdict == Fail {
			text = message.RouteWaitFail
		}
		t.say(text, o.Stage, strings.Join(o.waitingFor, ", "))
	case RolledBack:
		t.sentBack()
	case Redelegate:
		why := message.CrashRetry
		if o.died {
			why = message.DiedRetry
		}
		t.say(why, o.Stage, o.Round, o.Max)
	case GaveUp:
		t.say(message.LoopDied, o.Stage, o.Round)
	case Aborted:
		reason := cmp.Or(o.Reason.In(t.lang), message.RouteNoReason.In(t.lang))
		t.say(message.RouteAborted, message.Cut(reason, hintMax))
	case Cancelled:
		t.say(message.RouteCancelled, t.s.WorkflowType)
	case SkippedKind:
		t.say(message.RouteSkip, o.Stage)
	case Restarted:
		t.say(message.RouteRestart, o.Stage)
	case Refused:
		t.say(message.RouteRefused, o.Reason.In(t.lang))
	default:
		return false
	}
	return true
}

// passed tells how the work went on: in time, by force, or through a barrier.
func (t *routingText) passed() {
	o := t.o
	switch {
	case len(o.Missing) > 0:
		t.say(message.BarrierTimeout, o.Group, strings.Join(o.Missing, ", "))
	case o.Forced:
		forced := o.Failed
		if len(forced) == 0 {
			forced = []string{o.Stage}
		}
		text := message.RouteForcedAny
		if len(o.exhausted) > 0 || o.Route != nil && o.Route.Warning != "" {
			text = message.RouteForced
		}
		t.say(text, strings.Join(forced, " + "))
	case o.Group != "":
		t.say(message.BarrierPass, o.Group)
	case o.Kind == Advanced && len(o.Next) > 0:
		t.say(message.RouteNext, o.Stage, joined(o.Next, t.lang))
	}
	switch {
	case o.Kind == Finished:
		t.lines = append(t.lines, completeText(t.s, t.lang)...)
	case len(o.Next) == 0 && len(o.waitingFor) > 0 && o.Stage != "":
		t.say(message.RouteWait, o.Stage, strings.Join(o.waitingFor, ", "))
	}
}

// sentBack tells who sent the work back, and for the how manieth time.
func (t *routingText) sentBack() {
	o := t.o
	if len(o.Missing) > 0 {
		t.say(message.BarrierTimeBad, o.Group, strings.Join(o.Missing, ", "))
	}
	if o.Group != "" {
		t.say(message.BarrierFail, o.Group, o.Round, o.Max, strings.Join(o.Failed, " + "))
	} else {
		t.say(message.RouteBack, o.Stage, o.Round, o.Max)
	}
	if o.Stop.Warning != "" {
		t.say(message.RouteStall)
	}
}

// joined lists what is done side by side.
func joined(parts []string, lang message.Lang) string {
	text := strings.Join(parts, " + ")
	if len(parts) > 1 {
		text += message.RouteParallel.In(lang)
	}
	return text
}

// delegations says who is to be handed a stage, and which commands to run.
func delegations(s *State, keys []string, lang message.Lang) []string {
	var agents, runs, lines []string
	for _, k := range keys {
		if s.DAG.Spec(k).Run != "" {
			runs = append(runs, message.RouteRunOne.Format(lang, runCommand(s, k)))
		} else {
			agents = append(agents, message.RouteAgent.Format(lang, s.DAG.AgentOf(k), k))
		}
	}
	if len(agents) > 0 {
		lines = append(lines, message.RouteDelegate.Format(lang, joined(agents, lang)))
	}
	if len(runs) > 0 {
		line := message.RouteRun.Format(lang, strings.Join(runs, ", "))
		if len(keys) > 1 {
			line += message.RouteParallel.In(lang)
		}
		lines = append(lines, line)
	}
	return lines
}

// runCommand is the line that runs a stage's command: hosts do not all tell the
// programs they start whose session it is.
func runCommand(s *State, key string) string {
	line := "overtone workflow run " + key
	if s.SessionID != "" {
		line += " --session " + s.SessionID
	}
	return line
}

// DelegateLine names the agents to be handed the stages that may start now; ""
// when there are none.
func DelegateLine(s *State, lang message.Lang) string {
	return strings.Join(delegations(s, s.Ready(), lang), "\n")
}

func completeText(s *State, lang message.Lang) []string {
	var done, skipped, problems []string
	for k, st := range s.Stages.All() {
		if st.Status == Skipped {
			skipped = append(skipped, k)
		} else {
			done = append(done, k)
		}
		if st.Forced {
			problem := k
			if n := s.Retries[k]; n > 0 {
				problem = message.RouteProblem.Format(lang, k, n, s.maxRetries(k))
			}
			problems = append(problems, problem)
		}
	}
	lines := []string{message.RouteComplete.Format(lang, s.WorkflowType, strings.Join(done, ", "))}
	if len(skipped) > 0 {
		lines = append(lines, message.RouteSkipped.Format(lang, strings.Join(skipped, ", ")))
	}
	if len(problems) > 0 {
		lines = append(lines, message.RouteProblems.Format(lang, strings.Join(problems, ", ")))
	}
	if n := s.Unverified(); n > 0 {
		lines = append(lines, message.RouteUnverifN.Format(lang, n))
	}
	return append(lines, message.RouteFree.In(lang))
}

// DenyText is why a hand-over is refused, for the agent that tried it.
func DenyText(s *State, o Outcome, lang message.Lang) string {
	if len(o.Missing) == 0 {
		text := message.DenyOther.Format(lang, o.Stage, o.Reason.In(lang))
		if line := DelegateLine(s, lang); line != "" && !slices.Contains(s.Ready(), o.Stage) {
			text += "\n" + line
		}
		return text
	}
	var lines []string
	for _, k := range o.Missing {
		lines = append(lines, message.DenyStage.Format(lang, s.Describe(k, lang), k))
	}
	return message.DenySkip.Format(lang, s.Describe(o.Stage, lang), strings.Join(lines, "\n"))
}

// Result is 000's text of a completion: lines for the person and the model.
// Features and the compact suggestion are the caller's to add.
func Result(s *State, o Outcome, lang message.Lang) []string {
	if o.Kind == Nothing || o.Kind == Refused || o.Kind == Duplicate || o.Kind == Untracked {
		return nil
	}
	label := s.Describe(o.Stage, lang)
	st, _ := s.DAG.Info(o.Stage)
	var lines []string
	say := func(t message.Text, args ...any) { lines = append(lines, t.Format(lang, args...)) }
	most := s.maxRetries(o.Stage)
	back := func(limit, fix message.Text) {
		switch {
		case len(o.exhausted) > 0:
			say(limit, most)
		case o.Kind == RolledBack && s.Origin != nil:
			say(message.ResultNext, NextStep(s, lang))
		case o.Kind == RolledBack:
			say(fix)
		}
	}
	switch {
	case o.Kind == GaveUp:
		say(message.LoopDied, o.Stage, o.Round)
		return lines
	case o.Kind == Redelegate:
		say(message.ResultCrash, label, o.Round, o.Max)
	case o.Result == resultFail:
		say(message.ResultFail, label, s.FailCount, most)
		back(message.ResultLimit, message.ResultFixFail)
	case o.Result == resultReject:
		say(message.ResultReject, s.RejectCount, most)
		back(message.ResultLimitRej, message.ResultFixReject)
	case o.Result == resultIssues:
		say(message.ResultIssues, label, s.RetroCount)
	default:
		if o.Unverified {
			say(message.RouteUnverif, o.Stage)
		}
		say(message.ResultPass, label)
		say(message.ResultTaskList, st.Label.In(lang))
	}
	if o.Group != "" && o.Kind != Waiting {
		say(message.ResultConverged, o.Group)
	}
	if o.Kind == Finished {
		say(message.ResultAllDone)
		return lines
	}
	if o.Kind != RolledBack || o.Result == resultPass {
		if hint := NextStep(s, lang); hint != "" && s.Active {
			say(message.ResultNext, hint)
		}
	}
	return lines
}

// NextStep says in words what is to be done now; "" when nothing is.
func NextStep(s *State, lang message.Lang) string {
	ready := s.Ready()
	if len(ready) == 0 {
		var agents []string
		for k := range s.ActiveAgents.All() {
			name, _, _ := strings.Cut(k, "#")
			agents = append(agents, name)
		}
		if len(agents) == 0 {
			agents = s.ActiveStages
		}
		if len(agents) == 0 {
			return ""
		}
		return message.ResultWaiting.Format(lang, strings.Join(agents, ", "))
	}
	if len(ready) > 1 {
		var parts []string
		for _, k := range ready {
			parts = append(parts, s.Describe(k, lang))
		}
		return message.ResultParallel.Format(lang, strings.Join(parts, " + "))
	}
	st, ok := s.DAG.Info(ready[0])
	if !ok {
		return ready[0]
	}
	if s.DAG.Spec(ready[0]).Run != "" {
		return message.ResultRun.Format(lang, st.Emoji, runCommand(s, ready[0]), st.Label.In(lang))
	}
	return message.ResultDelegate.Format(lang, st.Emoji, st.Agent, st.Label.In(lang))
}

// Bar is the progress bar: an icon and the stage's emoji for each stage, then
// the count.
func Bar(s *State) string {
	icons := map[string]string{Completed: "✅", Active: "⏳", Skipped: "⏭️", Failed: "❌", Pending: "⬜"}
	bar := ""
	for _, k := range s.keys() {
		st, _ := s.DAG.Info(k)
		bar += icons[s.stage(k).Status] + st.Emoji
	}
	done, total := s.Progress()
	return fmt.Sprintf("%s (%d/%d)", bar, done, total)
}

// WithoutOrders is a text for the main agent without what it is to delegate.
func WithoutOrders(text string) string {
	isOrder := func(line string) bool { return strings.Contains(line, "➡️") }
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), isOrder), "\n")
}
