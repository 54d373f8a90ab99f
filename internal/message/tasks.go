package message

// The block that lists a feature's open tasks for the model.
var (
	PendingTasks       = Text{ZH: "未完成任務", EN: "Unfinished tasks"}
	PendingTasksResume = Text{ZH: "未完成任務（上次 session 中斷）", EN: "Unfinished tasks (the last session was interrupted)"}
	PendingHeader      = Text{ZH: "📋 **%s**", EN: "📋 **%s**"}
	PendingFeature     = Text{ZH: "Feature：%s（%d/%d 完成）", EN: "Feature: %s (%d/%d done)"}
	PendingMore        = Text{ZH: "... 還有 %d 個", EN: "... and %d more"}
	PendingAction      = Text{
		ZH: "→ 請使用 TaskCreate 重建以上任務的 TaskList，然後繼續執行。",
		EN: "→ Rebuild the TaskList of the tasks above with TaskCreate, then carry on.",
	}
)

// Warnings about specs/features, for stderr and messages.
var (
	SeveralFeatures = Text{
		ZH: "[overtone/specs] 警告：發現多個 in-progress feature（%s）。使用第一個：%s",
		EN: "[overtone/specs] warning: several features in progress (%s). Using the first: %s",
	}
	TickFailed = Text{ZH: "⚠️ tasks.md 勾選更新失敗：%v", EN: "⚠️ tasks.md could not be ticked: %v"}
)
