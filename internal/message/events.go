package message

import (
	"slices"
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

type eventLabel struct {
	typ   string
	label Text
}

// events is sorted by type. It is constant data that the linker lays out, so
// the registry costs nothing at start; a map would be built on every hook call.
var events = [...]eventLabel{
	{EventAgentCompact, Text{ZH: "代理的 context 壓縮", EN: "Agent's context compacted"}},
	{EventAgentComplete, Text{ZH: "代理完成", EN: "Agent finished"}},
	{EventAgentCrash, Text{ZH: "代理未回報路由", EN: "Agent gave no route"}},
	{EventAgentDelegate, Text{ZH: "委派代理", EN: "Agent delegated"}},
	{EventAgentDied, Text{ZH: "代理因 API 錯誤中止", EN: "Agent died of an API error"}},
	{EventAgentError, Text{ZH: "代理錯誤", EN: "Agent error"}},
	{EventAgentOrphanCleanup, Text{ZH: "孤兒代理清理", EN: "Orphaned agent cleared"}},
	{EventBarrierRebuilt, Text{ZH: "Barrier 重建", EN: "Barrier rebuilt"}},
	{EventBarrierResolved, Text{ZH: "Barrier 解除", EN: "Barrier resolved"}},
	{EventBarrierTimeout, Text{ZH: "Barrier 逾時", EN: "Barrier timed out"}},
	{EventBarrierWaiting, Text{ZH: "Barrier 等待中", EN: "Barrier waiting"}},
	{EventCompactDecision, Text{ZH: "壓縮決策", EN: "Compaction decision"}},
	{EventCompactExecuted, Text{ZH: "壓縮已執行", EN: "Compaction carried out"}},
	{EventCompactSuggested, Text{ZH: "壓縮已建議", EN: "Compaction proposed"}},
	{EventCompressComplete, Text{ZH: "歷史壓縮完成", EN: "History compression finished"}},
	{EventCompressFailed, Text{ZH: "歷史壓縮失敗", EN: "History compression failed"}},
	{EventCompressStart, Text{ZH: "歷史壓縮開始", EN: "History compression started"}},
	{EventDelegationDenied, Text{ZH: "委派遭拒", EN: "Delegation denied"}},
	{EventLoopAdvance, Text{ZH: "下一個任務", EN: "Next task"}},
	{EventLoopComplete, Text{ZH: "循環完成", EN: "Loop finished"}},
	{EventLoopStart, Text{ZH: "循環啟動", EN: "Loop started"}},
	{EventMessageCut, Text{ZH: "使用者訊息被壓縮中斷", EN: "User's message cut off by a compaction"}},
	{EventPacketCreated, Text{ZH: "接續封包建立", EN: "Continuation packet created"}},
	{EventPacketDelivered, Text{ZH: "接續封包送達", EN: "Continuation packet delivered"}},
	{EventPacketExpired, Text{ZH: "接續封包過期", EN: "Continuation packet expired"}},
	{EventPacketLater, Text{ZH: "接續封包的後續", EN: "Rest of a continuation packet"}},
	{EventPacketLeft, Text{ZH: "接續封包等下一則訊息", EN: "Continuation packet waits for the user"}},
	{EventPacketUnknown, Text{ZH: "接續封包送達與否不明", EN: "Continuation packet: delivery unknown"}},
	{EventParallelConverge, Text{ZH: "並行收斂", EN: "Parallel stages converged"}},
	{EventParallelStart, Text{ZH: "並行啟動", EN: "Parallel stages started"}},
	{EventPipelineAborted, Text{ZH: "Pipeline 異常終止", EN: "Pipeline aborted"}},
	{EventPipelineCancelled, Text{ZH: "Pipeline 取消", EN: "Pipeline cancelled"}},
	{EventRetryExhausted, Text{ZH: "重試次數用盡", EN: "Retries exhausted"}},
	{EventRouteCorrected, Text{ZH: "路由已修正", EN: "Route corrected"}},
	{EventRouteFallback, Text{ZH: "路由降級", EN: "Route fallback"}},
	{EventSafetyTranscriptLeak, Text{ZH: "報告內容外洩警告", EN: "Report leaked into the conversation"}},
	{EventSessionCompact, Text{ZH: "Context 壓縮", EN: "Context compaction"}},
	{EventSessionCompactConfirm, Text{ZH: "Context 壓縮確認", EN: "Context compaction confirmed"}},
	{EventSessionCompactFailed, Text{ZH: "Context 壓縮失敗", EN: "Context compaction failed"}},
	{EventSessionCompactSuggest, Text{ZH: "Compact 建議", EN: "Compaction suggested"}},
	{EventSessionEnd, Text{ZH: "工作階段結束", EN: "Session ended"}},
	{EventSessionMoved, Text{ZH: "工作階段移動", EN: "Session moved"}},
	{EventSessionRecovery, Text{ZH: "狀態恢復送達", EN: "Recovery delivered"}},
	{EventSessionStart, Text{ZH: "工作階段開始", EN: "Session started"}},
	{EventStageComplete, Text{ZH: "階段完成", EN: "Stage finished"}},
	{EventStageRefused, Text{ZH: "階段完成遭拒", EN: "Stage completion refused"}},
	{EventStageRetry, Text{ZH: "階段重試", EN: "Stage retried"}},
	{EventStageSkip, Text{ZH: "階段跳過", EN: "Stage skipped"}},
	{EventStageStart, Text{ZH: "階段開始", EN: "Stage started"}},
	{EventToolFailure, Text{ZH: "工具失敗", EN: "Tool failed"}},
	{EventToolGuarded, Text{ZH: "工具受防護", EN: "Tool guarded"}},
	{EventWorkflowAbort, Text{ZH: "工作流中斷", EN: "Workflow aborted"}},
	{EventWorkflowComplete, Text{ZH: "工作流完成", EN: "Workflow finished"}},
	{EventWorkflowRestart, Text{ZH: "工作流重啟", EN: "Workflow restarted"}},
	{EventWorkflowStart, Text{ZH: "工作流啟動", EN: "Workflow started"}},
}

// olderEvents are the types that nothing here emits: the two systems that the
// specifications come from wrote them, and a timeline of theirs, or of a tool
// beside us, is still shown with its labels. Sorted by type.
var olderEvents = [...]eventLabel{
	{"ask:answered", Text{ZH: "問題已回覆", EN: "Question answered"}},
	{"ask:question", Text{ZH: "提出問題", EN: "Question asked"}},
	{"barrier:crash-guard", Text{ZH: "Barrier 崩潰防護", EN: "Barrier held for a crashed agent"}},
	{"delegation:start", Text{ZH: "委派開始", EN: "Delegation started"}},
	{"error:fatal", Text{ZH: "嚴重錯誤", EN: "Fatal error"}},
	{"grader:score", Text{ZH: "Grader 評分", EN: "Grader score"}},
	{"handoff:create", Text{ZH: "交接建立", EN: "Handoff created"}},
	{"hook:timing", Text{ZH: "Hook 計時", EN: "Hook timing"}},
	{"pipeline:complete", Text{ZH: "Pipeline 完成", EN: "Pipeline finished"}},
	{"pipeline:incomplete", Text{ZH: "Pipeline 未完成", EN: "Pipeline incomplete"}},
	{"pipeline:start", Text{ZH: "Pipeline 啟動", EN: "Pipeline started"}},
	{"prompt:received", Text{ZH: "收到提示", EN: "Prompt received"}},
	{"quality:compact-frequency", Text{ZH: "壓縮過於頻繁", EN: "Compactions too frequent"}},
	{"quality:format", Text{ZH: "格式檢查", EN: "Format check"}},
	{"quality:lint", Text{ZH: "Lint 檢查", EN: "Lint check"}},
	{"quality:test-needed", Text{ZH: "需要測試", EN: "Tests needed"}},
	{"queue:auto-write", Text{ZH: "佇列自動寫入", EN: "Queue written automatically"}},
	{"say:completed", Text{ZH: "語音完成", EN: "Speech finished"}},
	{"say:sent", Text{ZH: "語音送出", EN: "Speech sent"}},
	{"specs:archive", Text{ZH: "Specs 歸檔", EN: "Specs archived"}},
	{"specs:archive-scan", Text{ZH: "Specs 歸檔掃描", EN: "Specs archive scan"}},
	{"specs:archive-skipped", Text{ZH: "Specs 歸檔略過", EN: "Specs archive skipped"}},
	{"specs:init", Text{ZH: "Specs 初始化", EN: "Specs initialised"}},
	{"specs:tasks-missing", Text{ZH: "Specs 任務清單缺失", EN: "Specs task list missing"}},
	{"stage:crash-recovery", Text{ZH: "階段崩潰恢復", EN: "Stage recovered from a crash"}},
	{"system:warning", Text{ZH: "系統警告", EN: "System warning"}},
	{"task:classified", Text{ZH: "任務分類", EN: "Task classified"}},
	{"task:incomplete", Text{ZH: "任務未完成", EN: "Task incomplete"}},
	{"tool:blocked", Text{ZH: "工具遭阻擋", EN: "Tool blocked"}},
	{"tool:used", Text{ZH: "工具使用", EN: "Tool used"}},
	{"turn:summary", Text{ZH: "回合摘要", EN: "Turn summary"}},
}

// EventLabel returns the label of a timeline event type, and whether the type
// is registered.
func EventLabel(typ string) (Text, bool) {
	for _, table := range [...][]eventLabel{events[:], olderEvents[:]} {
		i, ok := slices.BinarySearchFunc(table, typ, func(e eventLabel, t string) int { return strings.Compare(e.typ, t) })
		if ok {
			return table[i].label, true
		}
	}
	return Text{}, false
}

// EventCategory returns the group that an event type belongs to.
func EventCategory(typ string) string {
	category, _, _ := strings.Cut(typ, ":")
	return category
}

// EventTypes lists the registered event types in alphabetical order.
func EventTypes() []string {
	var types []string
	for _, e := range slices.Concat(events[:], olderEvents[:]) {
		types = append(types, e.typ)
	}
	slices.Sort(types)
	return types
}
