package message

// Reasons of the engine.
var (
	Verbatim        = Text{ZH: "%s", EN: "%s"}
	WorkflowRunning = Text{ZH: "工作流 %s 進行中，不能啟動 %s。請先完成，或以 /overtone:cancel（終端機：overtone workflow cancel）取消。", EN: "workflow %s is running, %s cannot be started. Finish it first, or cancel it with /overtone:cancel (in a terminal: overtone workflow cancel)."}
	UnknownTemplate = Text{ZH: "沒有名為 %s 的工作流", EN: "there is no workflow named %s"}
	WorkflowNear    = Text{ZH: "⚠️ 沒有名為 %s 的工作流，沒有啟動任何工作流。是指 %s 嗎？（overtone workflow list）", EN: "⚠️ There is no workflow named %s; none was started. Did you mean %s? (overtone workflow list)"}
	WorkflowNone    = Text{ZH: "⚠️ 沒有名為 %s 的工作流，沒有啟動任何工作流。清單：overtone workflow list", EN: "⚠️ There is no workflow named %s; none was started. See overtone workflow list"}
	WorkflowUnsaved = Text{ZH: "⚠️ 工作流 %s 沒有啟動：%s", EN: "⚠️ Workflow %s was not started: %s"}
	WorkflowBroken  = Text{ZH: "⚠️ 工作流 %s 的檔案有誤，沒有啟動：%s\n全部問題：overtone workflow check %s", EN: "⚠️ Workflow %s was not started, its file is wrong: %s\nAll of it: overtone workflow check %s"}
	NotTrusted      = Text{ZH: "⚠️ %s 會執行指令，尚未信任。請使用者在終端機執行：overtone workflow trust %s", EN: "⚠️ %s runs commands and is not trusted yet. The user has to run in a terminal: overtone workflow trust %s"}
	BadStages       = Text{ZH: "階段清單有誤：%s", EN: "the stage list is wrong: %s"}
	DeniedDeps      = Text{ZH: "%s 的前置階段尚未完成", EN: "stages before %s are not done"}
	DeniedDone      = Text{ZH: "%[1]s 已完成。要重做請執行 overtone workflow restart %[1]s", EN: "%[1]s is done. To do it again: overtone workflow restart %[1]s"}
	DeniedVoted     = Text{ZH: "%s 已投票，等待同組其他階段", EN: "%s has voted, its barrier waits for the others"}
	RefusedInactive = Text{ZH: "工作流已不在進行中，%s 的結果不計", EN: "the workflow is no longer running, the result of %s does not count"}
	NotRunning      = Text{ZH: "工作流 %s 不在進行中", EN: "workflow %s is not running"}
	RefusedUnknown  = Text{ZH: "%s 不屬於任何階段", EN: "%s belongs to no stage"}
	RefusedOutside  = Text{ZH: "%s 不在此工作流中", EN: "%s is not part of this workflow"}
	RefusedStale    = Text{ZH: "%s 的這份結果已過期（該階段已重設）", EN: "this result of %s is stale (the stage was reset)"}
	RefusedActive   = Text{ZH: "%s 正在執行，不能跳過", EN: "%s is running and cannot be skipped"}
)

// Reflection memory and node context.
var (
	ReflectionTitle   = Text{ZH: "# %s 回退歷史記錄", EN: "# %s: what went wrong so far"}
	ReflectionVerdict = Text{ZH: "- **Verdict**：%s", EN: "- **Verdict**: %s"}
	ReflectionStage   = Text{ZH: "- **失敗 stage**：%s", EN: "- **Failed stage**: %s"}
	ReflectionProblem = Text{ZH: "- **關鍵問題**：%s", EN: "- **Key problem**: %s"}
	ReflectionFile    = Text{ZH: "- **context_file**：%s", EN: "- **context_file**: %s"}
	RetryHint         = Text{ZH: "⚠️ 因 %s FAIL 回退。請先閱讀反思記憶：%s", EN: "⚠️ Sent back by a FAIL of %s. Read the reflection memory first: %s"}
	RetryHintOnly     = Text{ZH: "⚠️ 因 %s FAIL 回退，報告檔不存在。提示：%s（請用 Grep/Glob 自行定位）", EN: "⚠️ Sent back by a FAIL of %s; there is no report file. Hint: %s (locate it with Grep/Glob)"}
)

// Routing instructions for the main agent.
var (
	RouteDelegate     = Text{ZH: "➡️ 委派 %s", EN: "➡️ Delegate %s"}
	RouteParallel     = Text{ZH: "（並行）", EN: " (in parallel)"}
	RouteStarted      = Text{ZH: "⛔ Pipeline [%s]（%s）已建立。", EN: "⛔ Pipeline [%s] (%s) is set up."}
	RouteNext         = Text{ZH: "✅ %s → %s", EN: "✅ %s → %s"}
	RouteForced       = Text{ZH: "⚠️ %s FAIL 但已達上限或無 DEV 可回退，強制繼續。", EN: "⚠️ %s FAIL, but the retries are spent or there is no DEV to go back to; going on."}
	RouteForcedAny    = Text{ZH: "⚠️ %s FAIL，依其路由繼續。", EN: "⚠️ %s FAIL, going on as its route says."}
	RouteUnverif      = Text{ZH: "⚠️ %s 未回報有效結論，以未驗證的 PASS 計。", EN: "⚠️ %s gave no valid verdict; taken as an unverified PASS."}
	RouteCorrected    = Text{ZH: "⚠️ %s 的路由已修正：%s", EN: "⚠️ The route of %s was corrected: %s"}
	RouteWaitFail     = Text{ZH: "❌ %s FAIL。等待 %s 完成...", EN: "❌ %s FAIL. Waiting for %s..."}
	RouteWait         = Text{ZH: "✅ %s 完成。等待 %s 完成...", EN: "✅ %s is done. Waiting for %s..."}
	RouteAgent        = Text{ZH: "%s（%s）", EN: "%s (%s)"}
	RouteProblem      = Text{ZH: "%s（%d/%d）", EN: "%s (%d/%d)"}
	RouteBack         = Text{ZH: "🔄 %s FAIL（%d/%d）", EN: "🔄 %s FAIL (%d/%d)"}
	RouteReport       = Text{ZH: "📄 context_file: %s", EN: "📄 context_file: %s"}
	RouteStall        = Text{ZH: "⚠️ 連續兩輪嚴重度相同，請改變修復策略。", EN: "⚠️ Two rounds of the same severity: change the approach."}
	BarrierPass       = Text{ZH: "✅ Barrier %s 完成（全部 PASS）", EN: "✅ Barrier %s is complete (all PASS)"}
	BarrierFail       = Text{ZH: "🔄 Barrier %s FAIL（%d/%d）：%s", EN: "🔄 Barrier %s FAIL (%d/%d): %s"}
	BarrierTimeout    = Text{ZH: "⚠️ Barrier %s 超時（%s 未回應），強制前進。", EN: "⚠️ Barrier %s timed out (%s did not answer); going on without."}
	BarrierTimeBad    = Text{ZH: "⚠️ Barrier %s 超時（%s 未回應），但已有 FAIL。", EN: "⚠️ Barrier %s timed out (%s did not answer), and a FAIL was cast."}
	DiedRetry         = Text{ZH: "⚠️ %s agent 因錯誤結束（第 %d/%d 次）。重新委派。", EN: "⚠️ The %s agent died of an error (%d/%d). Delegate it again."}
	CrashRetry        = Text{ZH: "⚠️ %s agent 無 PIPELINE_ROUTE 輸出（第 %d/%d 次）。重新委派。", EN: "⚠️ The %s agent printed no PIPELINE_ROUTE (%d/%d). Delegate it again."}
	RouteAborted      = Text{ZH: "⛔ Pipeline 異常終止！\n原因：%s\n自動模式已解除。", EN: "⛔ The pipeline was aborted.\nReason: %s\nAutomatic mode is off."}
	RouteNoReason     = Text{ZH: "（未說明）", EN: "(not given)"}
	RouteComplete     = Text{ZH: "✅ Pipeline [%s] 完成！\n已完成：%s", EN: "✅ Pipeline [%s] is complete.\nDone: %s"}
	RouteSkipped      = Text{ZH: "⏭️ 跳過：%s", EN: "⏭️ Skipped: %s"}
	RouteProblems     = Text{ZH: "⚠️ 未解決：%s", EN: "⚠️ Unresolved: %s"}
	RouteFree         = Text{ZH: "Pipeline 自動模式已解除，可以直接操作。", EN: "Automatic mode is off; you may work directly."}
	RouteUnverifN     = Text{ZH: "⚠️ %d 個階段未驗證", EN: "⚠️ %d unverified"}
	RouteRefused      = Text{ZH: "⚠️ %s", EN: "⚠️ %s"}
	RouteCancelled    = Text{ZH: "🛑 Pipeline [%s] 已取消。", EN: "🛑 Pipeline [%s] was cancelled."}
	RouteSkip         = Text{ZH: "⏭️ 將跳過 %s。", EN: "⏭️ %s will be skipped."}
	RouteRun          = Text{ZH: "➡️ 執行 %s", EN: "➡️ Run %s"}
	RouteRunOne       = Text{ZH: "`%s`", EN: "`%s`"}
	RouteSifted       = Text{ZH: "⏭️ 跳過 %s：沒有相關檔案變更", EN: "⏭️ Left out %s: no file that matters to it was changed"}
	RouteRestart      = Text{ZH: "🔁 從 %s 重新開始。", EN: "🔁 Starting again from %s."}
	DenySkip          = Text{ZH: "⛔ 不可跳過必要階段！\n目標：%s\n尚未完成的前置階段：\n%s\n\n請先完成前置階段再繼續。", EN: "⛔ Required stages cannot be skipped.\nTarget: %s\nNot done yet:\n%s\n\nFinish these first."}
	DenyStage         = Text{ZH: "  - %s（%s）", EN: "  - %s (%s)"}
	DenyOther         = Text{ZH: "⛔ 無法委派 %s：%s", EN: "⛔ %s cannot be delegated: %s"}
	GuardBlocked      = Text{ZH: "⛔ Pipeline [%s] 進行中 — 禁止 %s。\n你是訊息匯流排（Relay），不是執行者。\n%s", EN: "⛔ Pipeline [%s] is running: %s is not for the main agent.\nYou relay work, you do not do it.\n%s"}
	GuardRests        = Text{ZH: "⏸️ 工作流 %s 暫停中，這一輪由使用者決定：%s 需要使用者同意。以 /overtone:cancel 結束工作流，或以 /overtone:resume 推進。", EN: "⏸️ Workflow %s rests and the turn is the user's: %s needs the user's consent. /overtone:cancel ends the workflow, /overtone:resume goes on with it."}
	GuardCancel       = Text{ZH: "（要自行操作請先 /overtone:cancel）", EN: "(to work directly, use /overtone:cancel first)"}
	GuardSyntax       = Text{ZH: "這行指令看不懂：%s。請寫得簡單一點，或交給該階段的 agent。", EN: "the line could not be understood: %s. Write it more simply, or leave it to the stage's agent."}
	GuardRedirect     = Text{ZH: "輸出會寫到 %s。請去掉重新導向，或導到 /dev/null。", EN: "its output goes to %s. Leave the redirection out, or use /dev/null."}
	GuardAssign       = Text{ZH: "指定 %s 可能改變要執行的程式。請用小寫的變數名稱，或不要指定。", EN: "setting %s may change what is run. Use a variable in small letters, or none."}
	GuardArith        = Text{ZH: "算式裡的 %s 可能執行指令。請直接寫數字，或用 [ … ] 比較。", EN: "%s in arithmetic may run commands. Write the number itself, or compare with [ … ]."}
	GuardCode         = Text{ZH: "%s 可能執行看不到的程式碼。請直接寫出要執行的指令。", EN: "%s may run code that cannot be seen here. Write the command itself."}
	GuardReadings     = Text{ZH: "各家 shell 對 %s 的讀法不一。請用 $(…) 代替反引號，${x:-…} 裡只放單純的字，here-document 寫成 <<'EOF'，註解不要以 \\ 結尾，} 加上引號。", EN: "shells differ in how they read %s. Write $(…) for backquotes, a plain word inside ${x:-…}, <<'EOF' with quotes, no \\ at the end of a comment, and a } in quotes."}
	GuardProgram      = Text{ZH: "%s 不是已知只讀取的程式。請改用唯讀的指令，或交給該階段的 agent。", EN: "%s is not known to only read. Use a command that does, or leave it to the stage's agent."}
	GuardOption       = Text{ZH: "「%s」不是已知只讀取的寫法。請只用讀取用的選項，運算元放在後面並加引號，或交給該階段的 agent。", EN: "“%s” is no form that is known to only read. Use plain reading options with the operands behind them, in quotes, or leave it to the stage's agent."}
	GuardDynamic      = Text{ZH: "%s 的一個引數執行時才知道，可能變成選項。請加引號並在前面加 --，或直接寫出值。", EN: "an argument of %s is only known when it runs and could become an option. Quote it and put -- in front, or write the value."}
	GuardJSONTool     = Text{ZH: "「%s」會執行旁邊的 json.py。請改用 python3 -I -m json.tool FILE。", EN: "“%s” runs a json.py that lies beside it. Use python3 -I -m json.tool FILE."}
	GuardSQLite       = Text{ZH: "「%s」可能寫檔或執行程式（資料庫裡的 view 也會）。請改用 sqlite3 -readonly -safe DB 'select …'。", EN: "“%s” may write files or run programs, also through a view in the database. Use sqlite3 -readonly -safe DB 'select …'."}
	GuardCurl         = Text{ZH: "「%s」不是已知只讀取的寫法，.curlrc 也能讓它寫檔。請改用 curl -q -s URL。", EN: "“%s” is no form that is known to only read, and a .curlrc can make it write. Use curl -q -s URL."}
	GuardTSC          = Text{ZH: "專案要求時，「%s」也會寫 .tsbuildinfo 或追蹤檔。請改用 tsc --noEmit --incremental false --generateTrace null。", EN: "“%s” writes a .tsbuildinfo or a trace where the project asks for it. Use tsc --noEmit --incremental false --generateTrace null."}
	GuardBrought      = Text{ZH: "git 在這裡會聽從 %s 的設定：那是跟著這個 repository 一起來的另一個 repository。請只在這個 repository 本身使用 git，或交給該階段的 agent。", EN: "git could obey the configuration of a repository that came inside another one, in %s. Use git in the outer one only, and write the folder out, or leave it to the stage's agent."}
	GuardFetch        = Text{ZH: "「%s」會存下抓到的物件，加了 --dry-run 也一樣。請改用 git ls-remote。", EN: "“%s” stores what it fetches, also with --dry-run. Use git ls-remote."}
	PersonalDenied    = Text{ZH: "⛔ %s 由使用者自己決定，請使用者在自己的終端機執行。", EN: "⛔ %s is for the user to decide, in a terminal of their own."}
	OwnFileDenied     = Text{ZH: "⛔ %s 是 Overtone 的設定或狀態，只有使用者能改。", EN: "⛔ %s holds settings or state of Overtone: only the user changes it."}
	GuardUnread       = Text{ZH: "⛔ 這個 session 的工作流狀態讀不出來，不知道是否在進行 — 禁止 %s。可以讀取、詢問、委派。", EN: "⛔ The state of this session's workflow cannot be read, so nobody knows whether one is running: %s is not for the main agent. It may read, ask and delegate."}
	GuardUnreadPerson = Text{ZH: "Overtone：session %s 的工作流狀態讀不出來，主 agent 只能讀取。", EN: "Overtone: the workflow state of session %s cannot be read, so the main agent may only read. "}
	GuardUnreadCancel = Text{ZH: "要結束：overtone workflow cancel --session %s（檔案會移到一旁）", EN: "To end this: overtone workflow cancel --session %s (the file is moved aside)"}
	GuardUnreadNewer  = Text{ZH: "它由較新的版本寫成：請升級 overtone。%s", EN: "A newer version wrote it: upgrade overtone. %s"}
	GuardOwn          = Text{ZH: "%s 由使用者自己決定。", EN: "%s is for the user to decide."}
)

// The result texts of 000.
var (
	ResultPass      = Text{ZH: "✅ %s完成", EN: "✅ %s done"}
	ResultTaskList  = Text{ZH: "📊 請更新 TaskList：TaskUpdate status completed（%s）", EN: "📊 Update the task list: TaskUpdate status completed (%s)"}
	ResultConverged = Text{ZH: "🔄 並行群組 %s 全部完成", EN: "🔄 Parallel group %s is complete"}
	ResultNext      = Text{ZH: "⏭️ 下一步：%s", EN: "⏭️ Next: %s"}
	ResultAllDone   = Text{ZH: "🎉 所有階段已完成！", EN: "🎉 All stages are done."}
	ResultFail      = Text{ZH: "❌ %s失敗（%d/%d）", EN: "❌ %s failed (%d/%d)"}
	ResultReject    = Text{ZH: "🔙 審查拒絕（%d/%d）", EN: "🔙 Review rejected (%d/%d)"}
	ResultFixFail   = Text{ZH: "⏭️ 下一步：委派 DEVELOPER 修復 → TESTER 驗證", EN: "⏭️ Next: delegate DEVELOPER to mend it → TESTER to verify"}
	ResultFixReject = Text{ZH: "⏭️ 下一步：委派 DEVELOPER 修復（帶 reject 原因）→ REVIEWER 再審", EN: "⏭️ Next: delegate DEVELOPER to mend it (with the reasons) → REVIEWER again"}
	ResultLimit     = Text{ZH: "⛔ 已達重試上限（%d 次）。請人工介入。", EN: "⛔ The retry limit (%d) is reached. A person should look at it."}
	ResultLimitRej  = Text{ZH: "⛔ 審查拒絕已達上限（%d 次）。請人工介入。", EN: "⛔ The limit of rejections (%d) is reached. A person should look at it."}
	ResultIssues    = Text{ZH: "🔁 %s完成：發現改善建議（retroCount: %d/3）", EN: "🔁 %s done: improvements suggested (retroCount: %d/3)"}
	ResultWaiting   = Text{ZH: "等待並行 agent 完成：%s", EN: "wait for the parallel agents: %s"}
	ResultParallel  = Text{ZH: "並行委派 %s", EN: "delegate in parallel %s"}
	ResultDelegate  = Text{ZH: "委派 %s %s（%s）", EN: "delegate %s %s (%s)"}
	ResultRun       = Text{ZH: "執行 %s %s（%s）", EN: "run %s %s (%s)"}
	ResultCrash     = Text{ZH: "⚠️ %s未回報結論（%d/%d），重新委派", EN: "⚠️ %s gave no verdict (%d/%d); delegate it again"}
)
