package workflow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// StageStatus is how a stage stands, for programs.
type StageStatus struct {
	Stage      string `json:"stage"`
	Status     string `json:"status"`
	Result     string `json:"result,omitempty"`
	Agent      string `json:"agent,omitempty"`
	Retries    int    `json:"retries"`
	Crashes    int    `json:"crashes"`
	Forced     bool   `json:"forced,omitempty"`
	Unverified bool   `json:"unverified,omitempty"`
	Skip       bool   `json:"skipWanted,omitempty"`
}

// Status is how a run stands, for programs.
type Status struct {
	Schema       int           `json:"schema"`
	SessionID    string        `json:"sessionId"`
	WorkflowID   string        `json:"workflowId"`
	WorkflowType string        `json:"workflowType"`
	Phase        string        `json:"phase"`
	Ended        string        `json:"ended,omitempty"`
	EndReason    string        `json:"endReason,omitempty"`
	CurrentStage *string       `json:"currentStage"`
	Stages       []StageStatus `json:"stages"`
	Ready        []string      `json:"ready"`
	FailCount    int           `json:"failCount"`
	RejectCount  int           `json:"rejectCount"`
	Unverified   int           `json:"unverified"`
	FeatureName  string        `json:"featureName,omitempty"`
}

// StatusOf is how a run stands.
func StatusOf(s *State) Status {
	out := Status{
		Schema: 1, SessionID: s.SessionID, WorkflowID: s.WorkflowID, WorkflowType: s.WorkflowType, Phase: s.Phase(),
		Ended: s.Ended, EndReason: s.EndReason,
		Stages: []StageStatus{}, Ready: []string{}, FailCount: s.FailCount, RejectCount: s.RejectCount,
		Unverified: s.Unverified(), FeatureName: s.FeatureName,
	}
	if s.CurrentStage != "" {
		out.CurrentStage = &s.CurrentStage
	}
	if s.Active {
		out.Ready = append(out.Ready, s.Ready()...)
	}
	for k, st := range s.Stages.All() {
		out.Stages = append(out.Stages, StageStatus{
			Stage: k, Status: st.Status, Result: st.Result, Agent: st.Agent, Retries: s.Retries[k], Crashes: s.Crashes[k],
			Forced: st.Forced, Unverified: st.Unverified, Skip: st.SkipWanted,
		})
	}
	return out
}

// StatusTable is how the stages of a run stand, as a table.
func StatusTable(s *State, lang message.Lang) [][]string {
	rows := [][]string{{message.ColStage.In(lang), message.ColStatus.In(lang), message.ColResult.In(lang), message.ColNotes.In(lang)}}
	for k, st := range s.Stages.All() {
		var notes []string
		add := func(when bool, t message.Text, args ...any) {
			if when {
				notes = append(notes, t.Format(lang, args...))
			}
		}
		add(st.Forced, message.NoteForced)
		add(st.Unverified, message.NoteUnverif)
		add(st.SkipWanted, message.NoteSkip)
		add(st.sifted(), message.NoteSifted)
		add(s.Broken() && st.Status == Pending && st.Reason == "", message.NoteNotBegun)
		add(s.Broken() && st.Status == Pending && st.Reason != "", message.NoteCutOff)
		add(s.Retries[k] > 0, message.NoteRetries, s.Retries[k])
		add(s.Crashes[k] > 0, message.NoteCrashes, s.Crashes[k])
		name := s.Describe(k, lang)
		if !strings.HasSuffix(name, " "+k) { // a stage without a label is called by its key
			name += " " + k
		}
		rows = append(rows, []string{name, st.Status, cmp.Or(st.Result, "—"), strings.Join(notes, ", ")})
	}
	return rows
}

// StageNamed is the stage of a run that a person means.
func (s *State) StageNamed(arg string) (string, error) {
	arg = strings.TrimSpace(arg)
	keys := s.Stages.Keys()
	if slices.Contains(keys, arg) {
		return arg, nil
	}
	if i := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, arg) }); i >= 0 {
		return keys[i], nil
	}
	hint := Meant(arg, keys, message.HintDidYouMean, message.HintThereAre)
	return "", message.Misuse{Err: message.Hinted{Err: message.Fail(message.RefusedOutside, arg), Hint: hint}}
}

// StageNames are the stages that need no agent to be named.
func StageNames() []string {
	var names []string
	for _, s := range Stages() {
		names = append(names, s.Key)
	}
	return names
}
