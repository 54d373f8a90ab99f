package message

// The command line's own words.
var (
	HelpRoot     = Text{ZH: "讓長時間的 coding agent 工作保持連貫", EN: "Keep long coding-agent work coherent"}
	HelpRootLong = Text{
		ZH: "Overtone 陪在 Claude Code、Codex 等 coding agent 旁邊：依階段路由工作、在自然邊界壓縮 context、\n讓狀態安全跨過壓縮，並解釋每一個決定。\n\n先試試：\n  overtone audit   這台機器上的 session：壓縮失去了什麼、花了多少\n  overtone demo    在暫時的 home 演一遍，不需網路\n  overtone init    裝進這台機器上的 host",
		EN: "Overtone sits beside Claude Code, Codex and other coding agents: it routes work through\nstages, compacts at natural boundaries, carries state across a compaction, and explains every\ndecision.\n\nStart with:\n  overtone audit   what compactions lost and cost in the sessions on this machine\n  overtone demo    a whole story in a throw-away home, no network\n  overtone init    install into the hosts on this machine",
	}
	HelpJSON     = Text{ZH: "以 JSON 輸出", EN: "print JSON"}
	HelpNoPager  = Text{ZH: "長的輸出不經過 pager（或設定 PAGER=cat）", EN: "do not page long output (or set PAGER=cat)"}
	HelpSession  = Text{ZH: "session 的 id 或其開頭，或標題中的字（預設：執行所在的 session；查看時為最近的一個）", EN: "session: its id, the beginning of it, or words of its title (default: the one this runs in; to look, the most recent)"}
	HelpDryRun   = Text{ZH: "只顯示會做什麼", EN: "show what would be done, do nothing"}
	HintQuote    = Text{ZH: "標題的幾個字要加引號：%s %s", EN: "words of a title stand in quotes: %s %s"}
	HintHelp     = Text{ZH: "用法請見 %s --help", EN: "see %s --help"}
	HintFull     = Text{ZH: "磁碟空間不足：騰出空間後再執行一次", EN: "the disk is full: make room, then run it again"}
	HintClosed   = Text{ZH: "檢查擁有者、權限，以及磁碟是否以唯讀掛載", EN: "look at its owner and mode, and whether the disk is mounted read-only"}
	HintLabel    = Text{ZH: "提示：", EN: "hint: "}
	Interrupted  = Text{ZH: "已中斷", EN: "interrupted"}
	HelpHook     = Text{ZH: "由 host 呼叫的 hook（不需自行執行）", EN: "what hosts call (not for you to run)"}
	HelpHookLong = Text{
		ZH: "讀取 stdin 的 JSON 並輸出 host 能理解的內容；永遠以 0 結束。\n事件：session-start session-end user-prompt-submit pre-tool-use post-tool-use\npost-tool-use-failure post-tool-batch subagent-start subagent-stop stop stop-failure\npre-compact post-compact\n\n設定 OVERTONE_DISABLE=1 可讓所有 hook 什麼都不做。",
		EN: "Reads JSON from stdin and prints what the host understands; always exits 0.\nEvents: session-start session-end user-prompt-submit pre-tool-use post-tool-use\npost-tool-use-failure post-tool-batch subagent-start subagent-stop stop stop-failure\npre-compact post-compact\n\nOVERTONE_DISABLE=1 turns every hook into a no-op.",
	}

	Fault     = Text{ZH: "Overtone 本身的錯誤：%s（%s）", EN: "a fault of Overtone's own: %s (%s)"}
	HintFault = Text{ZH: "其餘的都做了。請把這一行回報給專案；session 的內容不需要", EN: "all the rest was done. Please report that line to the project; the session's text is not needed"}

	HomeUnset     = Text{ZH: "HOME 未設定", EN: "HOME is not set"}
	HintHomeSet   = Text{ZH: "設定 HOME，或以 OVERTONE_HOME 指定資料夾", EN: "set HOME, or name a folder with OVERTONE_HOME"}
	NoSession     = Text{ZH: "不知道是哪個 session", EN: "which session is not known"}
	HintSession   = Text{ZH: "用 --session ID 指定。最近的 session：%s", EN: "name it with --session ID. Recent sessions: %s"}
	HintNoSession = Text{ZH: "先用 coding agent 工作，或試試 overtone demo", EN: "work with a coding agent first, or try overtone demo"}
	NoWorkflow    = Text{ZH: "session %s 沒有工作流", EN: "session %s has no workflow"}
	NothingRuns   = Text{ZH: "session %s 沒有進行中的工作流", EN: "no workflow is running in session %s"}
	HintStart     = Text{ZH: "以 overtone workflow start TEMPLATE 啟動一個", EN: "start one with overtone workflow start TEMPLATE"}
	UsingSession  = Text{ZH: "session：%s（最近使用）", EN: "session: %s (the most recent)"}
	HintTemplates = Text{ZH: "可用的工作流：%s", EN: "there are: %s"}
	HintNearAll   = Text{ZH: "是指 %s 嗎？可用的工作流：%s", EN: "did you mean %s? There are: %s"}
	HintStages    = Text{ZH: "可用的階段：%s", EN: "there are: %s"}
	BadStage      = Text{ZH: "沒有名為 %s 的階段", EN: "there is no stage named %s"}

	HelpWorkflow          = Text{ZH: "多階段工作流：啟動、查看、跳過、重來、取消", EN: "multi-stage workflows: start, look, skip, restart, cancel"}
	HelpWorkflowList      = Text{ZH: "列出所有工作流", EN: "list the workflows"}
	HelpWorkflowAll       = Text{ZH: "也列出少用的", EN: "also those that are used less"}
	ListMore              = Text{ZH: "另有：%s（workflow list --all）", EN: "there are also: %s (workflow list --all)"}
	ListAliases           = Text{ZH: "別名：%s", EN: "other names: %s"}
	HelpWorkflowShow      = Text{ZH: "畫出工作流的圖", EN: "draw a workflow's graph"}
	HelpWorkflowCheck     = Text{ZH: "檢查工作流檔案", EN: "check workflow files"}
	HelpWorkflowSchema    = Text{ZH: "印出工作流檔案的 JSON Schema", EN: "print the JSON Schema of workflow files"}
	HelpWorkflowNew       = Text{ZH: "寫一個新的工作流檔案", EN: "write a new workflow file"}
	HelpWorkflowNewLong   = Text{ZH: "寫一個新的工作流檔案到 .overtone/workflows。階段以逗號分隔；以 + 相連的並行；自己的階段寫成 名稱=agent，或用 --run 給指令。", EN: "Write a new workflow file into .overtone/workflows. Stages are separated by commas; those joined by + run side by side; a stage of your own is NAME=agent, or gets a command by --run."}
	HelpNewStages         = Text{ZH: "階段，例如 PLAN,DEV,REVIEW+TEST,DOCS", EN: "the stages, such as PLAN,DEV,REVIEW+TEST,DOCS"}
	HelpNewRun            = Text{ZH: "以指令執行的階段，例如 'TEST=make test'（可重複）", EN: "a stage that is a command, such as 'TEST=make test' (may be repeated)"}
	HelpNewLabel          = Text{ZH: "顯示名稱", EN: "what people see in lists"}
	HelpNewHome           = Text{ZH: "寫到使用者自己的資料夾，而非專案", EN: "into your own folder, not the project's"}
	HelpWorkflowTrust     = Text{ZH: "信任工作流檔案執行其指令", EN: "let a workflow file run its commands"}
	HelpWorkflowTrustLong = Text{ZH: "顯示工作流檔案會執行的指令，並在終端機上詢問。只信任檔案目前的內容：改了就要再問一次。", EN: "Show the commands that a workflow file runs, and ask at the terminal. The file is trusted as it is now: who changes it asks again."}
	HelpTrustRevoke       = Text{ZH: "不再信任", EN: "trust it no longer"}
	HelpWorkflowRun       = Text{ZH: "執行目前階段的指令", EN: "run the command of a stage whose turn it is"}
	HelpWorkflowRunLong   = Text{ZH: "執行工作流檔案為此階段寫的指令（須已信任），其結束狀態即為結論；輸出存入該階段的報告。印出下一步。", EN: "Run the command that the workflow's file gives for this stage, if the file is trusted. Its exit status is the verdict, its output goes into the stage's report. Prints what comes next, and exits 0 whatever the verdict."}
	HelpShowYAML          = Text{ZH: "印出檔案，可作為範本", EN: "print the file, to start from"}
	HelpShowMermaid       = Text{ZH: "Mermaid 圖", EN: "as a Mermaid graph"}
	HelpShowDot           = Text{ZH: "Graphviz 圖", EN: "as a Graphviz graph"}
	HelpForce             = Text{ZH: "把損壞的 workflow.json 移到一旁", EN: "move a damaged workflow.json aside"}
	ListHidden            = Text{ZH: "（被專案的檔案取代）", EN: " (the project's file wins)"}
	MovedAside            = Text{ZH: "讀不出來的狀態已移到 %s", EN: "the state that could not be read is now %s"}
	HintCheckFile         = Text{ZH: "全部問題：overtone workflow check %s", EN: "all of it: overtone workflow check %s"}
	CheckFound            = Text{ZH: "%d 個問題（檢查了 %d 個檔案）", EN: "problems: %d (files checked: %d)"}
	CheckFine             = Text{ZH: "沒有問題（檢查了 %d 個檔案）", EN: "no problems (files checked: %d)"}
	CheckNone             = Text{ZH: "沒有自訂的工作流（%s）", EN: "there are no workflows of your own (%s)"}
	AskStages             = Text{ZH: "內建階段：%s\n階段（逗號分隔，+ 並行，自己的寫成 名稱=agent）：", EN: "built-in stages: %s\nstages (commas between, + side by side, NAME=agent for your own):"}
	NewNoStages           = Text{ZH: "請以 --stages 指定階段", EN: "name the stages with --stages"}
	NewBadRun             = Text{ZH: "--run %s：沒有這個階段或缺少指令", EN: "--run %s: no such stage, or no command"}
	HintNewRun            = Text{ZH: "寫成 --run 'TEST=make test'，TEST 須在 --stages 中", EN: "write --run 'TEST=make test', with TEST among --stages"}
	NewThere              = Text{ZH: "%s 已存在", EN: "%s is there already"}
	HintNewThere          = Text{ZH: "換一個名稱，或直接修改該檔案", EN: "choose another name, or edit that file"}
	NewHead               = Text{ZH: "# 以 [workflow:%[1]s] 啟動。欄位說明：overtone workflow schema；檢查：overtone workflow check %[1]s\n", EN: "# Start it with [workflow:%[1]s]. Keys: overtone workflow schema. Check: overtone workflow check %[1]s\n"}
	NewWritten            = Text{ZH: "已寫入 %s", EN: "written: %s"}
	NewNext               = Text{ZH: "下一步：overtone workflow check %s，然後在提示中寫 [workflow:%s]", EN: "next: overtone workflow check %s, then write [workflow:%s] in a prompt"}
	NewTrust              = Text{ZH: "它會執行指令：overtone workflow trust %s", EN: "it runs commands: overtone workflow trust %s"}
	TrustShow             = Text{ZH: "%s 會執行：", EN: "%s runs:"}
	TrustAsk              = Text{ZH: "要信任它，請輸入檔案的摘要（%s）：", EN: "to trust it, type the file's digest (%s):"}
	StartsAhead           = Text{ZH: "還沒有名為 %[1]s 的 session：工作流會等它；打錯時以 overtone workflow cancel --session %[1]s 收回", EN: "there is no session %[1]s yet: the workflow waits for it; if that is a slip, overtone workflow cancel --session %[1]s takes it back"}
	HintTrustNobody       = Text{ZH: "請自己在終端機執行：overtone workflow trust %s", EN: "run it yourself in a terminal: overtone workflow trust %s"}
	TrustNobody           = Text{ZH: "信任需要使用者本人在終端機上回答", EN: "trusting needs a person at a terminal"}
	TrustAgent            = Text{ZH: "這個指令由 %s 啟動：agent 不能信任檔案", EN: "this was started by %s: an agent does not trust files"}
	HintTrustAgent        = Text{ZH: "請在自己開啟的終端機執行 overtone workflow trust %s", EN: "run overtone workflow trust %s in a terminal that you opened yourself"}
	TrustUnseen           = Text{ZH: "看不出這個指令由誰啟動：%s", EN: "it cannot be seen who started this: %s"}
	TrustNo               = Text{ZH: "沒有信任 %s", EN: "%s is not trusted"}
	TrustNot              = Text{ZH: "%s 本來就沒有被信任", EN: "%s was not trusted"}
	TrustDone             = Text{ZH: "已信任 %s（僅限目前內容）", EN: "trusted as it is now: %s"}
	TrustAlready          = Text{ZH: "%s 已經被信任", EN: "%s is trusted already"}
	TrustNothing          = Text{ZH: "%s 不執行任何指令，無須信任", EN: "%s runs no commands: nothing to trust"}
	TrustRevoked          = Text{ZH: "不再信任 %s", EN: "no longer trusted: %s"}
	RunNoCommand          = Text{ZH: "%s 不是以指令執行的階段", EN: "%s is not a stage with a command"}
	HintRunStages         = Text{ZH: "可執行的有：%s", EN: "there are: %s"}
	RunUntrusted          = Text{ZH: "%s 尚未被信任，或已被修改", EN: "%s is not trusted, or was changed since"}
	HintRunUntrusted      = Text{ZH: "請使用者在終端機執行 overtone workflow trust %s", EN: "the user has to run overtone workflow trust %s in a terminal"}
	RunBusy               = Text{ZH: "%s 正在執行（pid %d）", EN: "%s is running already (pid %d)"}
	RunPassed             = Text{ZH: "✅ %s PASS（%s）", EN: "✅ %s PASS (%s)"}
	RunFailed             = Text{ZH: "❌ %s FAIL：%s（%s）", EN: "❌ %s FAIL: %s (%s)"}
	RunExit               = Text{ZH: "結束狀態 %d", EN: "exit status %d"}
	RunTime               = Text{ZH: "超過時限 %s", EN: "not done within %s"}
	RunNoStart            = Text{ZH: "無法啟動：%s", EN: "could not be started: %s"}
	RunReport             = Text{ZH: "# %s：`%s`\n\n%s，耗時 %s\n\n```text\n%s\n```\n", EN: "# %s: `%s`\n\n%s, after %s\n\n```text\n%s\n```\n"}
	RunLate               = Text{ZH: "結果沒有採計：%s", EN: "the result does not count: %s"}
	HelpWorkflowStart     = Text{ZH: "在 session 中啟動工作流", EN: "start a workflow in a session"}
	HelpWorkflowStatus    = Text{ZH: "目前進度", EN: "where it stands"}
	HelpWorkflowSkip      = Text{ZH: "跳過一個階段（輪到它時）", EN: "leave a stage out (when its turn comes)"}
	HelpWorkflowResume    = Text{ZH: "讓暫停的工作流繼續", EN: "let a workflow that rests go on"}
	Resumed               = Text{ZH: "工作流 %s 繼續：%s", EN: "workflow %s goes on: %s"}
	HelpWorkflowRestart   = Text{ZH: "從某個階段重新開始", EN: "do a stage and everything behind it again"}
	HelpWorkflowCancel    = Text{ZH: "取消工作流", EN: "stop the workflow"}
	HelpStages            = Text{ZH: "自訂階段清單，以逗號分隔", EN: "your own list of stages, separated by commas"}
	HelpFeature           = Text{ZH: "所屬 feature 名稱", EN: "the feature it belongs to"}
	HelpReason            = Text{ZH: "原因", EN: "why"}

	ColTemplate   = Text{ZH: "模板", EN: "TEMPLATE"}
	ColLabel      = Text{ZH: "說明", EN: "WHAT"}
	ColStages     = Text{ZH: "階段", EN: "STAGES"}
	ColStage      = Text{ZH: "階段", EN: "STAGE"}
	ColDeps       = Text{ZH: "前置", EN: "AFTER"}
	ColNext       = Text{ZH: "後續", EN: "THEN"}
	ColOnFail     = Text{ZH: "FAIL 時", EN: "ON FAIL"}
	ColBarrier    = Text{ZH: "Barrier", EN: "BARRIER"}
	ColAgent      = Text{ZH: "Agent", EN: "AGENT"}
	ColStatus     = Text{ZH: "狀態", EN: "STATUS"}
	ColResult     = Text{ZH: "結果", EN: "RESULT"}
	ColNotes      = Text{ZH: "備註", EN: "NOTES"}
	StatusHead    = Text{ZH: "工作流 %s · %s · session %s", EN: "workflow %s · %s · session %s"}
	StatusCounts  = Text{ZH: "失敗 %d · 拒絕 %d · 未驗證 %d", EN: "failed %d · rejected %d · unverified %d"}
	StatusNext    = Text{ZH: "下一步：%s", EN: "next: %s"}
	NoteForced    = Text{ZH: "強制繼續", EN: "forced"}
	NoteUnverif   = Text{ZH: "未驗證", EN: "unverified"}
	NoteRetries   = Text{ZH: "重試 %d", EN: "retries %d"}
	NoteCrashes   = Text{ZH: "crash %d", EN: "crashes %d"}
	NoteSifted    = Text{ZH: "沒有相關檔案變更", EN: "no file that matters was changed"}
	NoteNotBegun  = Text{ZH: "沒有開始", EN: "not begun"}
	NoteCutOff    = Text{ZH: "做到一半", EN: "cut off"}
	AmbiguousID   = Text{ZH: "%s 符合多個 session", EN: "%s may be several sessions"}
	NoteSkip      = Text{ZH: "將跳過", EN: "to be skipped"}
	NoneTemplate  = Text{ZH: "模板 none 不會啟動任何工作流", EN: "the template none starts no workflow"}
	HelpRoute     = Text{ZH: "檢查 PIPELINE_ROUTE 路由指令", EN: "look into PIPELINE_ROUTE answers"}
	HelpRouteChk  = Text{ZH: "解析 → 驗證 → 策略，並說明每一項修正", EN: "parse → validate → policy, with every correction explained"}
	HelpRouteStg  = Text{ZH: "回答的階段", EN: "the stage that answered"}
	HelpRouteTpl  = Text{ZH: "所屬模板", EN: "the template it belongs to"}
	HelpRouteLong = Text{
		ZH: "讀取檔案（或 stdin）：agent 的文字，或其 transcript（JSONL）。",
		EN: "Reads a file (or stdin): an agent's text, or its transcript (JSONL).",
	}
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

	HelpCompact        = Text{ZH: "何時壓縮 context，以及為什麼", EN: "when to compact a context, and why"}
	HelpCompactExplain = Text{ZH: "現在壓縮或不壓縮的理由", EN: "why now, or why not"}
	HelpCompactCheck   = Text{ZH: "階段完成時的建議：逐項條件", EN: "the suggestion after a stage, condition by condition"}
	HelpTranscript     = Text{ZH: "transcript 路徑（預設為 hooks 最後看到的）", EN: "the transcript (default: as the hooks last saw it)"}
	HelpPacket         = Text{ZH: "壓縮時會交接什麼，以及摘要寫了什麼、缺了什麼", EN: "what a compaction hands over, beside what its summary states and lacks"}
	HelpPacketLong     = Text{ZH: "顯示現在壓縮時會交接給模型的內容；用 --compaction 看紀錄中的某一次，並與摘要並列：最可能再用到的名稱，摘要寫了哪些、缺了哪些。\n\n只讀 session 檔，沒有安裝 hook 的 session 也可以用。", EN: "Shows what would be handed to the model if the session were compacted now; --compaction shows one in the record beside its summary: of the names most likely to be needed again, which the summary states and which it lacks.\n\nOnly the session's file is read, so it works for sessions that no hook has seen."}
	HelpPacketN        = Text{ZH: "第幾次壓縮（從 1 起；-1 為最後一次；0 為現在）", EN: "which compaction, from 1; -1 for the last, 0 for one that happened now"}
	NeverCompacted     = Text{ZH: "這個 session 還沒有壓縮過", EN: "the session was never compacted"}
	HintPacketNow      = Text{ZH: "不加 --compaction，看現在壓縮會交接什麼", EN: "without --compaction it shows what would be handed over now"}
	NotASession        = Text{ZH: "%s 不是 Overtone 認得的 session 檔", EN: "%s is no session of a host that is known"}
	NoCompaction       = Text{ZH: "沒有第 %d 次壓縮，這個 session 有 %d 次", EN: "there is no compaction %d, the session has %d"}
	HelpPacketWhy      = Text{ZH: "逐行列出依據：哪一筆紀錄、何時、說了什麼", EN: "show the evidence of each line: which record, when, and what it said"}
	WhyLine            = Text{ZH: "%s，位移 %d：%s", EN: "%s, at byte %d: %s"}
	WhyNothing         = Text{ZH: "紀錄中沒有這句話：由 git、工作流或任務清單得知，或已改寫", EN: "no record has these words: they come from git, a workflow or a task list, or are put in other words"}
	PacketIfNow        = Text{ZH: "session %s，已壓縮 %d 次：現在壓縮時會交接", EN: "session %s (compactions: %d): handed over if it were compacted now"}
	PacketNoSummary    = Text{ZH: "session %s，第 %d／%d 次壓縮：讀不到摘要，交接內容不依賴摘要", EN: "session %s, compaction %d of %d: its summary cannot be read, so the hand-over is written without"}
	PacketOf           = Text{ZH: "session %s，第 %d／%d 次壓縮：摘要 %s 字元，交接 %s 字元", EN: "session %s, compaction %d of %d: a summary of %s characters, a hand-over of %s"}
	PacketNothing      = Text{ZH: "session 檔裡沒有這次壓縮之前的內容，所以無從比對摘要。", EN: "The session's file holds nothing of what came before this compaction, so there is nothing to compare the summary with."}
	PacketNoNames      = Text{ZH: "這次壓縮之前沒有出現可以在摘要裡查找的名稱。", EN: "No name stands before this compaction that could be looked up in the summary."}
	ColStates          = Text{ZH: "摘要寫了", EN: "THE SUMMARY STATES"}
	PacketMore         = Text{ZH: "… 另有 %d 個", EN: "… and %d more"}
	ColHanded          = Text{ZH: "交接補回", EN: "HANDED OVER"}
	ColLacks           = Text{ZH: "摘要缺了", EN: "THE SUMMARY LACKS"}
	NoWorkflowHere     = Text{ZH: "這個 session 沒有工作流", EN: "this session has no workflow"}
	LastPacket         = Text{ZH: "最近的 packet：%s", EN: "last packet: %s"}
	ColCondition       = Text{ZH: "條件", EN: "CONDITION"}
	ColValue           = Text{ZH: "目前", EN: "VALUE"}
	ColWant            = Text{ZH: "需要", EN: "WANTED"}
	SuggestYes         = Text{ZH: "→ 建議 compact", EN: "→ a compaction is suggested"}
	SuggestNo          = Text{ZH: "→ 不建議", EN: "→ no suggestion"}

	HelpStatusline   = Text{ZH: "給 host 狀態列的一行", EN: "one line for the host's status line"}
	HelpStatuslineLo = Text{
		ZH: "從 stdin 讀取 Claude Code 的狀態列 JSON。由 overtone init --statusline 設定，uninstall 會移除。",
		EN: "Reads Claude Code's status line JSON from stdin. Put into its settings by\novertone init --statusline, and taken out by uninstall.",
	}
	HelpTimeline   = Text{ZH: "事件時間軸", EN: "what happened, in order"}
	HelpTimelineLo = Text{
		ZH: "hook 記下的事件，依時間排列：階段、委派、邊界、壓縮、交接。--json 輸出 JSONL。",
		EN: "What the hooks have recorded, in order: stages, delegations, boundaries, compactions, hand-overs. --json prints JSONL.",
	}
	HelpFollow = Text{ZH: "持續顯示新事件", EN: "go on with new events"}
	HelpType   = Text{ZH: "只顯示這些類型（可用逗號分隔）", EN: "only these types (separated by commas)"}
	HelpLast   = Text{ZH: "最近幾筆", EN: "how many"}
	AtLeastOne = Text{ZH: "%s 至少為 1，不能是 %d", EN: "%s is at least 1, not %d"}
	BadLines   = Text{ZH: "略過 %d 行無法解析的內容", EN: "lines that could not be read and were left out: %d"}
	HintEvents = Text{ZH: "可用的類型：%s", EN: "there are: %s"}

	HelpCleanup   = Text{ZH: "清除 3 天前的殘留檔案（不動進行中的工作流）", EN: "remove what work older than 3 days left (active workflows are spared)"}
	CleanupDone   = Text{ZH: "已移除 %d 個檔案、%d 個 session", EN: "removed: files %d, sessions %d"}
	CleanupWould  = Text{ZH: "將移除 %d 個檔案、%d 個 session", EN: "would remove: files %d, sessions %d"}
	CleanupSpared = Text{ZH: "保留 %d 個進行中的 session", EN: "spared, as they are at work: sessions %d"}
	CleanupFailed = Text{ZH: "%d 項無法處理", EN: "%d could not be handled"}
)
