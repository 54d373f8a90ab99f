package message

import (
	_ "embed"
	"strings"
)

// The types of timeline events that Overtone writes. An event's category is the
// part of its type before the colon. A test fails for a type that nothing
// emits, and for a type written as a literal elsewhere.
const (
	EventAgentCompact          = "agent:compact"
	EventAgentComplete         = "agent:complete"
	EventAgentCrash            = "agent:crash"
	EventAgentDied             = "agent:died"
	EventAgentDelegate         = "agent:delegate"
	EventAgentError            = "agent:error"
	EventAgentOrphanCleanup    = "agent:orphan-cleanup"
	EventBarrierRebuilt        = "barrier:rebuilt"
	EventBarrierResolved       = "barrier:resolved"
	EventBarrierTimeout        = "barrier:timeout"
	EventBarrierWaiting        = "barrier:waiting"
	EventCompactDecision       = "compact:decision"
	EventCompactExecuted       = "compact:executed"
	EventCompactSuggested      = "compact:suggested"
	EventCompressComplete      = "compress:complete"
	EventCompressFailed        = "compress:failed"
	EventCompressStart         = "compress:start"
	EventDelegationDenied      = "delegation:denied"
	EventLoopAdvance           = "loop:advance"
	EventLoopComplete          = "loop:complete"
	EventLoopStart             = "loop:start"
	EventMessageCut            = "message:cut"
	EventPacketCreated         = "packet:created"
	EventPacketDelivered       = "packet:delivered"
	EventPacketExpired         = "packet:expired"
	EventPacketLater           = "packet:later"
	EventPacketLeft            = "packet:left"
	EventPacketUnknown         = "packet:unknown"
	EventParallelConverge      = "parallel:converge"
	EventParallelStart         = "parallel:start"
	EventPipelineAborted       = "pipeline:aborted"
	EventPipelineCancelled     = "pipeline:cancelled"
	EventRetryExhausted        = "retry:exhausted"
	EventRouteCorrected        = "route:corrected"
	EventRouteFallback         = "route:fallback"
	EventSafetyTranscriptLeak  = "safety:transcript-leak"
	EventSessionCompact        = "session:compact"
	EventSessionCompactConfirm = "session:compact-confirmed"
	EventSessionCompactFailed  = "session:compact-failed"
	EventSessionCompactSuggest = "session:compact-suggestion"
	EventSessionEnd            = "session:end"
	EventSessionMoved          = "session:moved"
	EventSessionRecovery       = "session:recovery-delivered"
	EventSessionStart          = "session:start"
	EventStageComplete         = "stage:complete"
	EventStageRefused          = "stage:refused"
	EventStageRetry            = "stage:retry"
	EventStageSkip             = "stage:skip"
	EventStageStart            = "stage:start"
	EventToolFailure           = "tool:failure"
	EventToolGuarded           = "tool:guarded"
	EventWorkflowAbort         = "workflow:abort"
	EventWorkflowComplete      = "workflow:complete"
	EventWorkflowRestart       = "workflow:restart"
	EventWorkflowStart         = "workflow:start"
)

// UnknownEvent is what asking for an unregistered event type says.
var UnknownEvent = Text{ZH: "未知的 timeline 事件類型：%s", EN: "unknown timeline event type: %s"}

// eventTexts are the labels, in the order of the types: those that have constants, and
// those that nothing here emits. These the two systems wrote that the specifications come
// from, and a timeline of theirs, or of a tool beside us, is still shown with its labels.
//
//go:embed events.txt
var eventTexts string

// EventLabel returns the label of a timeline event type, and whether the type
// is registered.
func EventLabel(typ string) (Text, bool) { return entry(eventTexts, typ) }

// EventCategory returns the group that an event type belongs to.
func EventCategory(typ string) string {
	category, _, _ := strings.Cut(typ, ":")
	return category
}

// EventTypes lists the registered event types in alphabetical order.
func EventTypes() (types []string) {
	eachText(eventTexts, func(typ string, _ Text) { types = append(types, typ) })
	return types
}
