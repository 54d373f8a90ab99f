package message

// The recovery text of 001.
var (
	RecoveryTitle     = Text{ZH: "[Overtone 狀態恢復（compact 後）]", EN: "[Overtone state recovery (after compaction)]"}
	RecoveryType      = Text{ZH: "工作流：%s", EN: "Workflow: %s"}
	PacketUnknown     = Text{ZH: "上次 compact 的交接（%s）是否送達不明，因此沒有重送。若缺少前情，執行 `overtone compact explain --session %s` 讀取它。", EN: "Whether the hand-over of the last compaction (%s) reached you is not known, so it was not sent again. If you lack what came before, read it with `overtone compact explain --session %s`."}
	RecoveryProgress  = Text{ZH: "進度：%s", EN: "Progress: %s"}
	RecoveryStage     = Text{ZH: "目前階段：%s", EN: "Current stage: %s"}
	RecoveryFails     = Text{ZH: "失敗次數：%d/%d", EN: "Failures: %d/%d"}
	RecoveryRejects   = Text{ZH: "拒絕次數：%d/%d", EN: "Rejections: %d/%d"}
	RecoveryAgents    = Text{ZH: "活躍 Agents：%s", EN: "Active agents: %s"}
	RecoveryAgent     = Text{ZH: "%s（%s）", EN: "%s (%s)"}
	RecoveryDirective = Text{ZH: "⛔ 禁止詢問使用者「我該繼續嗎？」，直接依照目前階段繼續執行。", EN: "⛔ Do not ask the user whether to continue; go on with the current stage."}
	RecoveryGuide     = Text{ZH: "如需查看工作流指引，請使用 /overtone:auto。", EN: "For the workflow's guide, use /overtone:auto."}
	RecoveryCut       = Text{ZH: "... (已截斷，完整狀態請查看 workflow.json)", EN: "... (cut; the full state is in workflow.json)"}
	StatusCompacts    = Text{ZH: "壓縮：%s", EN: "compacts %s"}
	StatusContext     = Text{ZH: "context 剩 %d%%", EN: "%d%% context left"}
	CompactSoon       = Text{ZH: "💾 context 只剩 %d%%：請盡快執行 /compact。", EN: "💾 Only %d%% of the context is left: run /compact soon."}
	CompactNow        = Text{ZH: "💾 context 剩餘 %d%%，且剛到自然邊界（%s）：現在是執行 /compact 的好時機。", EN: "💾 %d%% of the context is left, and this is a natural boundary (%s): a good moment for /compact."}
	CompactedAuto     = Text{ZH: "Overtone：host 自動壓縮了 context", EN: "Overtone: the host has compacted the context"}
	CompactedByHand   = Text{ZH: "Overtone：context 已依你的指令壓縮", EN: "Overtone: the context was compacted, as you asked"}
	CompactedAtWork   = Text{ZH: "Overtone：host 在工作途中自動壓縮了 context", EN: "Overtone: the host has compacted the context in mid-work"}
	CompactedBetween  = Text{ZH: "Overtone：host 在兩輪之間自動壓縮了 context", EN: "Overtone: the host has compacted the context between turns"}
	CompactedBefore   = Text{ZH: "，之前 %s tokens", EN: ", at %s tokens"}
	CompactedHanded   = Text{ZH: "；已交接 %s 字元。查看：overtone compact packet --session %s --compaction -1", EN: "; %s characters were handed over. To see them: overtone compact packet --session %s --compaction -1"}
	CompactSuggestion = Text{ZH: "💾 transcript 已達 %s，建議在繼續下一個 stage 前執行 /compact 壓縮 context。", EN: "💾 The transcript has reached %s; run /compact before the next stage."}
)

// Hand-overs and reports.
var (
	InProgress    = Text{ZH: "[Overtone] 工作流進行中：%s（%s）", EN: "[Overtone] Workflow in progress: %s (%s)"}
	BriefQuality  = Text{ZH: "將完整報告以 Write 寫入 %s，最終回應只含一行結論與 PIPELINE_ROUTE 標記。", EN: "Write the full report to %s with Write; your final answer is one line and the PIPELINE_ROUTE marker."}
	BriefFile     = Text{ZH: "📄 %s 的內容：", EN: "📄 Content of %s:"}
	ReportSaved   = Text{ZH: "報告已儲存到 %s（由 Overtone 寫入，不需重試）。請以一行結論加上 PIPELINE_ROUTE 標記作結。", EN: "The report was saved to %s (by Overtone; do not try again). End with one line and the PIPELINE_ROUTE marker."}
	ReportNone    = Text{ZH: "%s 完成：%s（沒有報告檔）", EN: "%s done: %s (there is no report file)"}
	ReportLine    = Text{ZH: "%s 完成：%s。完整報告：%s（由後續階段讀取，不需在此閱讀）", EN: "%s done: %s. Full report: %s (for the next stage; no need to read it here)"}
	NoVerdict     = Text{ZH: "無結論", EN: "no verdict"}
	BriefMarker   = Text{ZH: "你的回應最後一行必須是 <!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->；未通過則為 <!-- PIPELINE_ROUTE: {\"verdict\":\"FAIL\",\"route\":\"DEV\",\"severity\":\"CRITICAL/HIGH/MEDIUM/LOW\",\"hint\":\"一句話\"} -->。", EN: "The last line of your answer must be <!-- PIPELINE_ROUTE: {\"verdict\":\"PASS\",\"route\":\"NEXT\"} -->, or, where it did not pass, <!-- PIPELINE_ROUTE: {\"verdict\":\"FAIL\",\"route\":\"DEV\",\"severity\":\"CRITICAL/HIGH/MEDIUM/LOW\",\"hint\":\"one sentence\"} -->."}
	AskMarker     = Text{ZH: "請以一行結論結束 %s，並在最後一行附上 <!-- PIPELINE_ROUTE: {\"verdict\":\"PASS 或 FAIL\",\"route\":\"NEXT 或 DEV\",\"severity\":\"FAIL 時填 CRITICAL/HIGH/MEDIUM/LOW\",\"hint\":\"一句話\"} -->。不要重複報告內容。", EN: "End %s with one line, and as the last line <!-- PIPELINE_ROUTE: {\"verdict\":\"PASS or FAIL\",\"route\":\"NEXT or DEV\",\"severity\":\"CRITICAL/HIGH/MEDIUM/LOW on a FAIL\",\"hint\":\"one sentence\"} -->. Do not repeat the report."}
	MergedHeading = Text{ZH: "## %s 結果", EN: "## Result of %s"}
	MergedMissing = Text{ZH: "（報告檔不存在）", EN: "(there is no report file)"}
	MergedCut     = Text{ZH: "...（內容截斷）", EN: "... (cut)"}
)

// The Stop hook.
var (
	LoopTitle    = Text{ZH: "[Overtone Loop %d/%d]", EN: "[Overtone loop %d/%d]"}
	LoopTasks    = Text{ZH: "📋 Tasks：%d/%d 完成", EN: "📋 Tasks: %d/%d done"}
	LoopNext     = Text{ZH: "⏭️ 繼續：%s", EN: "⏭️ Go on: %s"}
	CloseAgent   = Text{ZH: "🧹 以 %s 關閉已完成的 agent：%s", EN: "🧹 Close the agents that are done with %s: %s"}
	LoopAwait    = Text{ZH: "⏳ 階段的 agent 仍在執行：以 %s 等待（targets：%s；timeout_ms 600000）。", EN: "⏳ Agents of stages are at work: wait for them with %s (targets: %s; timeout_ms 600000)."}
	LoopNextAny  = Text{ZH: "⏭️ 繼續執行下一步", EN: "⏭️ Go on with the next step"}
	LoopNoAsk    = Text{ZH: "⛔ 禁止詢問使用者，直接繼續執行。", EN: "⛔ Do not ask the user; go on."}
	LoopMax      = Text{ZH: "⏸️ 已達最大迭代次數（%d/%d）。以 /overtone:resume 繼續，或以 /overtone:cancel 取消。", EN: "⏸️ The limit of iterations is reached (%d/%d). /overtone:resume goes on, /overtone:cancel ends it."}
	ForkAlone    = Text{ZH: "[Overtone] 這是另一個 session 的分支：工作流留在原 session，不會跟過來。", EN: "[Overtone] This is a fork of another session: its workflow stays there and does not come along."}
	LateFail     = Text{ZH: "⚠️ %s 在 barrier 逾時之後才回報 FAIL：工作流已繼續，結果不變。請查看它的報告，需要時以 overtone workflow restart 重做該階段。", EN: "⚠️ %s reported FAIL after its barrier had given up: the workflow has gone on and nothing moves. Look at its report; overtone workflow restart does the stage again."}
	LoopStuck    = Text{ZH: "⏸️ 連續 %d 次沒有進展，暫停自動推進。以 /overtone:resume 繼續，或以 /overtone:cancel 取消。", EN: "⏸️ No progress in %d attempts; pausing. /overtone:resume goes on, /overtone:cancel ends it."}
	LoopRests    = Text{ZH: "⏸️ 工作流 %s 暫停，等你的下一句話。以 /overtone:resume 推進，或以 /overtone:cancel 取消。", EN: "⏸️ Workflow %s rests; the next word is yours. /overtone:resume goes on with it, /overtone:cancel ends it."}
	RestsAt      = Text{ZH: "⏸️ 先處理使用者的話。要推進時的下一步：%s", EN: "⏸️ The user's message comes first. When the workflow is to go on: %s"}
	LoopDied     = Text{ZH: "⏸️ %[1]s 的 agent 連續 %[2]d 次因錯誤結束，工作流暫停，等使用者的下一句話。排除原因後以 /overtone:resume 重試，或執行 overtone workflow skip %[1]s、overtone workflow restart %[1]s、overtone workflow cancel。", EN: "⏸️ The agent of %[1]s has died of errors %[2]d times; the workflow rests, and the next word is the user's. /overtone:resume tries again once the cause is gone; or run overtone workflow skip %[1]s, overtone workflow restart %[1]s or overtone workflow cancel."}
	TagMentioned = Text{ZH: "[workflow:%s] 在這裡只是被提到，沒有啟動工作流。要啟動，請把它寫在一行的開頭。", EN: "[workflow:%s] is only mentioned here, so no workflow was started. To start it, write it at the beginning of a line."}
	LoopDone     = Text{ZH: "🎉 工作流完成！（%s）", EN: "🎉 Workflow complete (%s)"}
	LoopBroken   = Text{ZH: "⛔ 工作流 %s %s", EN: "⛔ Workflow %s was %s"}
	LoopReason   = Text{ZH: "原因：%s", EN: "Reason: %s"}
	LoopStage    = Text{ZH: "  %s %s", EN: "  %s %s"}
	LoopFails    = Text{ZH: "⚠️ 失敗重試：%d 次", EN: "⚠️ Failures: %d"}
	LoopRejects  = Text{ZH: "⚠️ 審查拒絕：%d 次", EN: "⚠️ Rejections: %d"}
	LoopUnverif  = Text{ZH: "⚠️ 未驗證：%d 個", EN: "⚠️ Unverified: %d"}
	LoopDuration = Text{ZH: "⏱️ 耗時：%s", EN: "⏱️ Duration: %s"}
)

// What is wrong with a hook's input; the Chinese is the specification's.
var (
	StdinEmpty    = Text{ZH: "stdin 為空", EN: "stdin is empty"}
	StdinTooLong  = Text{ZH: "stdin 讀取或解析失敗：超過 %d MiB", EN: "stdin cannot be read: over %d MiB"}
	StdinNotJSON  = Text{ZH: "stdin 讀取或解析失敗：不是 JSON", EN: "stdin cannot be read: not valid JSON"}
	StdinNoObject = Text{ZH: "stdin 讀取或解析失敗：不是 JSON 物件", EN: "stdin cannot be read: not a JSON object"}
)
