package message

// The command line's own words.
var (
	HintQuote   = Text{ZH: "標題的幾個字要加引號：%s %s", EN: "words of a title stand in quotes: %s %s"}
	HintHelp    = Text{ZH: "用法請見 %s --help", EN: "see %s --help"}
	HintFull    = Text{ZH: "磁碟空間不足：騰出空間後再執行一次", EN: "the disk is full: make room, then run it again"}
	HintClosed  = Text{ZH: "檢查擁有者、權限，以及磁碟是否以唯讀掛載", EN: "look at its owner and mode, and whether the disk is mounted read-only"}
	HintLabel   = Text{ZH: "提示：", EN: "hint: "}
	Interrupted = Text{ZH: "已中斷", EN: "interrupted"}

	Fault     = Text{ZH: "Overtone 本身的錯誤：%s（%s）", EN: "a fault of Overtone's own: %s (%s)"}
	HintFault = Text{ZH: "其餘的都做了。請把這一行回報給專案；session 的內容不需要", EN: "all the rest was done. Please report that line to the project; the session's text is not needed"}

	HomeUnset     = Text{ZH: "HOME 未設定", EN: "HOME is not set"}
	HintHomeSet   = Text{ZH: "設定 HOME，或以 OVERTONE_HOME 指定資料夾", EN: "set HOME, or name a folder with OVERTONE_HOME"}
	NoSession     = Text{ZH: "不知道是哪個 session", EN: "which session is not known"}
	HintSeveral   = Text{ZH: "用 id 的開頭指定其中一個：%s", EN: "name one of them by the beginning of its id: %s"}
	HintSession   = Text{ZH: "用 --session ID 指定。最近的 session：%s", EN: "name it with --session ID. Recent sessions: %s"}
	HintNoSession = Text{ZH: "先用 coding agent 工作，或試試 overtone demo", EN: "work with a coding agent first, or try overtone demo"}
	NoWorkflow    = Text{ZH: "session %s 沒有工作流", EN: "session %s has no workflow"}
	NothingRuns   = Text{ZH: "session %s 沒有進行中的工作流", EN: "no workflow is running in session %s"}
	HintStart     = Text{ZH: "以 overtone workflow start NAME 啟動一個", EN: "start one with overtone workflow start NAME"}
	UsingSession  = Text{ZH: "session：%s（最近使用）", EN: "session: %s (the most recent)"}
	HintNearAll   = Text{ZH: "是指 %s 嗎？可用的工作流：%s", EN: "did you mean %s? There are: %s"}
	BadStage      = Text{ZH: "沒有名為 %s 的階段", EN: "there is no stage named %s"}

	ListMore         = Text{ZH: "另有：%s（workflow list --all）", EN: "there are also: %s (workflow list --all)"}
	ListAliases      = Text{ZH: "別名：%s", EN: "other names: %s"}
	ListHidden       = Text{ZH: "（被專案的檔案取代）", EN: " (the project's file wins)"}
	MovedAside       = Text{ZH: "讀不出來的狀態已移到 %s", EN: "the state that could not be read is now %s"}
	HintCheckFile    = Text{ZH: "全部問題：overtone workflow check %s", EN: "all of it: overtone workflow check %s"}
	CheckFound       = Text{ZH: "%d 個問題（檢查了 %d 個檔案）", EN: "problems: %d (files checked: %d)"}
	CheckFine        = Text{ZH: "沒有問題（檢查了 %d 個檔案）", EN: "no problems (files checked: %d)"}
	CheckNone        = Text{ZH: "沒有自訂的工作流（%s）", EN: "there are no workflows of your own (%s)"}
	AskStages        = Text{ZH: "內建階段：%s\n階段（逗號分隔，+ 並行，自己的寫成 名稱=agent）：", EN: "built-in stages: %s\nstages (commas between, + side by side, NAME=agent for your own):"}
	NewNoStages      = Text{ZH: "請以 --stages 指定階段，例如 --stages PLAN,DEV,REVIEW+TEST,DOCS", EN: "name the stages with --stages, such as --stages PLAN,DEV,REVIEW+TEST,DOCS"}
	NewBadRun        = Text{ZH: "--run %s：沒有這個階段或缺少指令", EN: "--run %s: no such stage, or no command"}
	HintNewRun       = Text{ZH: "寫成 --run 'TEST=make test'，TEST 須在 --stages 中", EN: "write --run 'TEST=make test', with TEST among --stages"}
	NewThere         = Text{ZH: "%s 已存在", EN: "%s is there already"}
	HintNewThere     = Text{ZH: "換一個名稱，或直接修改該檔案", EN: "choose another name, or edit that file"}
	NewHead          = Text{ZH: "# 以 [workflow:%[1]s] 啟動。欄位說明：overtone workflow schema；檢查：overtone workflow check %[1]s\n", EN: "# Start it with [workflow:%[1]s]. Keys: overtone workflow schema. Check: overtone workflow check %[1]s\n"}
	NewWritten       = Text{ZH: "已寫入 %s", EN: "written: %s"}
	NewNext          = Text{ZH: "下一步：overtone workflow check %s，然後在提示中寫 [workflow:%s]", EN: "next: overtone workflow check %s, then write [workflow:%s] in a prompt"}
	NewTrust         = Text{ZH: "它會執行指令：overtone workflow trust %s", EN: "it runs commands: overtone workflow trust %s"}
	TrustShow        = Text{ZH: "%s 會執行：", EN: "%s runs:"}
	TrustAsk         = Text{ZH: "要信任它，請輸入檔案的摘要（%s）：", EN: "to trust it, type the file's digest (%s):"}
	StartsAhead      = Text{ZH: "還沒有名為 %[1]s 的 session：工作流會等它；打錯時以 overtone workflow cancel --session %[1]s 收回", EN: "there is no session %[1]s yet: the workflow waits for it; if that is a slip, overtone workflow cancel --session %[1]s takes it back"}
	HintTrustNobody  = Text{ZH: "請自己在終端機執行：overtone workflow trust %s", EN: "run it yourself in a terminal: overtone workflow trust %s"}
	TrustNobody      = Text{ZH: "信任需要使用者本人在終端機上回答", EN: "trusting needs a person at a terminal"}
	TrustAgent       = Text{ZH: "這個指令由 %s 啟動：agent 不能信任檔案", EN: "this was started by %s: an agent does not trust files"}
	HintTrustAgent   = Text{ZH: "請在自己開啟的終端機執行 overtone workflow trust %s", EN: "run overtone workflow trust %s in a terminal that you opened yourself"}
	TrustUnseen      = Text{ZH: "看不出這個指令由誰啟動：%s", EN: "it cannot be seen who started this: %s"}
	TrustNo          = Text{ZH: "沒有信任 %s", EN: "%s is not trusted"}
	TrustNot         = Text{ZH: "%s 本來就沒有被信任", EN: "%s was not trusted"}
	TrustDone        = Text{ZH: "已信任 %s（僅限目前內容）", EN: "trusted as it is now: %s"}
	TrustAlready     = Text{ZH: "%s 已經被信任", EN: "%s is trusted already"}
	TrustNothing     = Text{ZH: "%s 不執行任何指令，無須信任", EN: "%s runs no commands: nothing to trust"}
	TrustRevoked     = Text{ZH: "不再信任 %s", EN: "no longer trusted: %s"}
	RunNoCommand     = Text{ZH: "%s 不是以指令執行的階段", EN: "%s is not a stage with a command"}
	RunUntrusted     = Text{ZH: "%s 尚未被信任，或已被修改", EN: "%s is not trusted, or was changed since"}
	HintRunUntrusted = Text{ZH: "請使用者在終端機執行 overtone workflow trust %s", EN: "the user has to run overtone workflow trust %s in a terminal"}
	RunBusy          = Text{ZH: "%s 正在執行（pid %d）", EN: "%s is running already (pid %d)"}
	RunPassed        = Text{ZH: "✅ %s PASS（%s）", EN: "✅ %s PASS (%s)"}
	RunFailed        = Text{ZH: "❌ %s FAIL：%s（%s）", EN: "❌ %s FAIL: %s (%s)"}
	RunExit          = Text{ZH: "結束狀態 %d", EN: "exit status %d"}
	RunTime          = Text{ZH: "超過時限 %s", EN: "not done within %s"}
	RunNoStart       = Text{ZH: "無法啟動：%s", EN: "could not be started: %s"}
	RunReport        = Text{ZH: "# %s：`%s`\n\n%s，耗時 %s\n\n```text\n%s\n```\n", EN: "# %s: `%s`\n\n%s, after %s\n\n```text\n%s\n```\n"}
	RunLate          = Text{ZH: "結果沒有採計：%s", EN: "the result does not count: %s"}
	Resumed          = Text{ZH: "工作流 %s 繼續：%s", EN: "workflow %s goes on: %s"}

	ColTemplate    = Text{ZH: "模板", EN: "TEMPLATE"}
	ColLabel       = Text{ZH: "說明", EN: "WHAT"}
	ColStages      = Text{ZH: "階段", EN: "STAGES"}
	ColStage       = Text{ZH: "階段", EN: "STAGE"}
	ColDeps        = Text{ZH: "前置", EN: "AFTER"}
	ColNext        = Text{ZH: "後續", EN: "THEN"}
	ColOnFail      = Text{ZH: "FAIL 時", EN: "ON FAIL"}
	ColBarrier     = Text{ZH: "Barrier", EN: "BARRIER"}
	ColAgent       = Text{ZH: "Agent", EN: "AGENT"}
	ColStatus      = Text{ZH: "狀態", EN: "STATUS"}
	ColResult      = Text{ZH: "結果", EN: "RESULT"}
	ColNotes       = Text{ZH: "備註", EN: "NOTES"}
	StatusHead     = Text{ZH: "工作流 %s · %s · session %s", EN: "workflow %s · %s · session %s"}
	StatusCounts   = Text{ZH: "失敗 %d · 拒絕 %d · 未驗證 %d", EN: "failed %d · rejected %d · unverified %d"}
	StatusNext     = Text{ZH: "下一步：%s", EN: "next: %s"}
	NoteForced     = Text{ZH: "強制繼續", EN: "forced"}
	NoteUnverif    = Text{ZH: "未驗證", EN: "unverified"}
	NoteRetries    = Text{ZH: "重試 %d", EN: "retries %d"}
	NoteCrashes    = Text{ZH: "crash %d", EN: "crashes %d"}
	NoteSifted     = Text{ZH: "沒有相關檔案變更", EN: "no file that matters was changed"}
	NoteNotBegun   = Text{ZH: "沒有開始", EN: "not begun"}
	NoteCutOff     = Text{ZH: "做到一半", EN: "cut off"}
	AmbiguousID    = Text{ZH: "%q 符合 %d 個 session", EN: "%q matches %d sessions"}
	NoteSkip       = Text{ZH: "將跳過", EN: "to be skipped"}
	NoneTemplate   = Text{ZH: "模板 none 不會啟動任何工作流", EN: "the template none starts no workflow"}
	RouteNone      = Text{ZH: "找不到有效的 PIPELINE_ROUTE 標記", EN: "there is no valid PIPELINE_ROUTE marker"}
	RouteNoneQual  = Text{ZH: "%s 是品質階段：會重新委派，第 3 次起以未驗證的 PASS 計", EN: "%s is a quality stage: it is delegated again; from the 3rd time on it is an unverified PASS"}
	RouteNoneImpl  = Text{ZH: "以未驗證的 PASS / NEXT 計（ROUTE_FALLBACK）", EN: "it is taken as an unverified PASS / NEXT (ROUTE_FALLBACK)"}
	RouteParsed    = Text{ZH: "解析：%s", EN: "parsed:    %s"}
	RouteValidated = Text{ZH: "驗證：%s", EN: "validated: %s"}
	RoutePolicy    = Text{ZH: "策略：%s", EN: "policy:    %s"}
	RouteFix       = Text{ZH: "  修正：%s", EN: "  corrected: %s"}
	RouteMeaning   = Text{ZH: "結果：%s", EN: "result:    %s"}
	MeansNext      = Text{ZH: "階段完成，委派下一個", EN: "the stage is done, the next one is delegated"}
	MeansForced    = Text{ZH: "未通過但強制繼續", EN: "it did not pass, but the work goes on"}
	MeansBack      = Text{ZH: "回退到 %s", EN: "the work goes back to %s"}
	MeansVote      = Text{ZH: "在 barrier %s 投票 %s", EN: "a vote in barrier %s: %s"}
	MeansEnd       = Text{ZH: "工作流結束", EN: "the workflow ends"}
	MeansAbort     = Text{ZH: "工作流立即終止", EN: "the workflow is aborted"}

	NeverCompacted   = Text{ZH: "這個 session 還沒有壓縮過", EN: "the session was never compacted"}
	HintPacketNow    = Text{ZH: "不加 --compaction，看現在壓縮會交接什麼", EN: "without --compaction it shows what would be handed over now"}
	RowUnreadable    = Text{ZH: "（%d 行無法讀取）", EN: "(lines that cannot be read: %d)"}
	NotASession      = Text{ZH: "%s 裡沒有可以讀取的 session", EN: "%s holds no session that can be read"}
	NoCompaction     = Text{ZH: "沒有第 %d 次壓縮，這個 session 有 %d 次", EN: "there is no compaction %d, the session has %d"}
	WhyLine          = Text{ZH: "%s，位移 %d：%s", EN: "%s, at byte %d: %s"}
	WhyNothing       = Text{ZH: "紀錄中沒有這句話：由 git、工作流或任務清單得知，或已改寫", EN: "no record has these words: they come from git, a workflow or a task list, or are put in other words"}
	PacketIfNow      = Text{ZH: "session %s，已壓縮 %d 次：現在壓縮的話，會交接以下內容", EN: "session %s (compactions: %d): if it were compacted now, this would be handed over"}
	PacketNoSummary  = Text{ZH: "session %s，第 %d／%d 次壓縮：讀不到摘要，交接內容不依賴摘要", EN: "session %s, compaction %d of %d: its summary cannot be read, so the hand-over is written without"}
	PacketOf         = Text{ZH: "session %s，第 %d／%d 次壓縮：摘要 %s 字元，交接 %s 字元", EN: "session %s, compaction %d of %d: a summary of %s characters, a hand-over of %s"}
	PacketNothing    = Text{ZH: "session 檔裡沒有這次壓縮之前的內容，所以無從比對摘要。", EN: "The session's file holds nothing of what came before this compaction, so there is nothing to compare the summary with."}
	PacketNoNames    = Text{ZH: "這次壓縮之前沒有出現可以在摘要裡查找的名稱。", EN: "No name stands before this compaction that could be looked up in the summary."}
	ColStates        = Text{ZH: "摘要寫了", EN: "THE SUMMARY STATES"}
	PacketMore       = Text{ZH: "… 另有 %d 個", EN: "… and %d more"}
	PacketMoreHanded = Text{ZH: "補回 %d 個", EN: "%d of them"}
	ColHanded        = Text{ZH: "交接補回", EN: "HANDED OVER"}
	ColLacks         = Text{ZH: "摘要缺了", EN: "THE SUMMARY LACKS"}
	NoWorkflowHere   = Text{ZH: "這個 session 沒有工作流", EN: "this session has no workflow"}
	LastPacket       = Text{ZH: "最近的 packet：%s", EN: "last packet: %s"}
	ColCondition     = Text{ZH: "條件", EN: "CONDITION"}
	ColValue         = Text{ZH: "目前", EN: "VALUE"}
	ColWant          = Text{ZH: "需要", EN: "WANTED"}
	SuggestYes       = Text{ZH: "→ 建議 compact", EN: "→ a compaction is suggested"}
	SuggestNo        = Text{ZH: "→ 不建議", EN: "→ no suggestion"}

	AtLeastOne = Text{ZH: "%s 至少為 1，不能是 %d", EN: "%s is at least 1, not %d"}
	BadLines   = Text{ZH: "略過 %d 行無法解析的內容", EN: "lines that could not be read and were left out: %d"}

	CleanupDone   = Text{ZH: "已移除 %d 個檔案、%d 個 session", EN: "removed: files %d, sessions %d"}
	CleanupWould  = Text{ZH: "將移除 %d 個檔案、%d 個 session", EN: "would remove: files %d, sessions %d"}
	CleanupSpared = Text{ZH: "保留 %d 個進行中的 session", EN: "spared, as they are at work: sessions %d"}
	CleanupFailed = Text{ZH: "%d 項無法處理", EN: "%d could not be handled"}
)
