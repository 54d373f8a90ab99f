package message

// What the watcher reports, one line each.
var (
	WatchConnected     = Text{ZH: "已連上 %s", EN: "connected to %s"}
	NoProgram          = Text{ZH: "找不到程式 %s", EN: "there is no program %s"}
	HintNoProgram      = Text{ZH: "安裝 %s，或用 --bin 指出它在哪裡", EN: "install %s, or say where it is with --bin"}
	WatchNoDaemon      = Text{ZH: "等待 %s：Codex 還沒有在執行；開啟 codex 就會接上", EN: "waiting for %s: no Codex is running yet; start codex, and it is found"}
	WatchWaiting       = Text{ZH: "等待 %s（%s）", EN: "waiting for %s (%s)"}
	WatchAttached      = Text{ZH: "開始觀察：%s", EN: "watching: %s"}
	WatchDetached      = Text{ZH: "不再觀察", EN: "no longer watching"}
	WatchDecision      = Text{ZH: "%s：%s", EN: "%s: %s"}
	WatchSuggest       = Text{ZH: "建議現在執行 /compact：%s", EN: "a good moment for /compact: %s"}
	WatchHeld          = Text{ZH: "暫不壓縮：%s", EN: "not now: %s"}
	WatchCompacting    = Text{ZH: "壓縮中：%s", EN: "compacting: %s"}
	WatchCompacted     = Text{ZH: "已壓縮：%d → %d tokens", EN: "compacted: %d → %d tokens"}
	WatchDelivered     = Text{ZH: "接續封包 %s 已送達", EN: "packet %s delivered"}
	WatchLeft          = Text{ZH: "沒有可以接著做的事：接續封包 %s 等使用者的下一則訊息", EN: "nothing to carry on with: packet %s waits for the user's next message"}
	WatchVoid          = Text{ZH: "接續封包 %s 不送出：%s", EN: "packet %s withheld: %s"}
	WatchCompactedFrom = Text{ZH: "已壓縮：原有 %d tokens", EN: "compacted: it was %d tokens"}
	WatchForeignFrom   = Text{ZH: "其他來源的壓縮：原有 %d tokens，重新計算", EN: "compacted by somebody else: it was %d tokens, starting afresh"}
	WatchForeign       = Text{ZH: "其他來源的壓縮：%d → %d tokens，重新計算", EN: "compacted by somebody else: %d → %d tokens, starting afresh"}
	WatchAdopted       = Text{ZH: "接手未完成的封包 %s", EN: "taking over packet %s, which an earlier watcher left open"}
	WatchAgentPacket   = Text{ZH: "請 agent 撰寫接續封包", EN: "asking the agent for its packet"}
	WatchAgentSilent   = Text{ZH: "agent 沒有寫出封包（%s），改用觀察者的版本", EN: "the agent wrote no packet (%s); using the watcher's own"}
	WatchCut           = Text{ZH: "壓縮開始的瞬間有訊息送出，被 host 中斷；會重送一次，找不到內容的話 agent 會請你再送", EN: "a message sent in the instant of the compaction was cut off by the host; it is sent again, once; where its text is nowhere to be found the agent asks you for it"}
	WatchCutLost       = Text{ZH: "[Overtone] 使用者在 %s 送出的訊息，在 context 壓縮的瞬間被 host 丟棄，內容無從得知。請用一句話告訴使用者，並請他再送一次；其他什麼都不要做。", EN: "[Overtone] A message that the user sent at %s was dropped by the host in the instant in which the context was compacted; its text is not known. Tell the user so in one sentence and ask for it again. Do nothing else."}
	WatchNoRoute       = Text{ZH: "[workflow:%s] 在此無效：watch 驅動的 agent 不會路由工作流", EN: "[workflow:%s] does nothing here: an agent that watch drives routes no workflows"}
	WatchGoalPaused    = Text{ZH: "到達邊界：目標暫停，這一輪結束後壓縮", EN: "boundary reached: the goal rests, the context is compacted after this turn"}
	WatchGoalResumed   = Text{ZH: "目標繼續", EN: "the goal goes on"}
	WatchGoalLeft      = Text{ZH: "你停下了它：目標維持暫停，由你決定何時繼續", EN: "you stopped it: the goal stays paused until you resume it"}
	WatchOpened        = Text{ZH: "還有未完成的工作：開始新的一輪繼續", EN: "work is open: a turn was opened to carry on"}
	WatchAgentRuns     = Text{ZH: "子 agent %s 仍在執行：等它的結果", EN: "sub-agent %s is still at work: wait for its result"}
	WatchStoreProblem  = Text{ZH: "無法寫入 session 資料：%s", EN: "cannot write the session's files: %s"}
	WatchServerError   = Text{ZH: "伺服器回應錯誤：%s", EN: "the server answered with an error: %s"}
	WatchPassword      = Text{ZH: "它要求密碼：請設定 OPENCODE_SERVER_PASSWORD", EN: "it asks for a password: set OPENCODE_SERVER_PASSWORD"}
)

// Why the watcher holds back. The keys are the machine's words for it.
var (
	WatchBusy        = Text{ZH: "對話正在進行", EN: "the thread is at work"}
	WatchQueued      = Text{ZH: "有排隊中的訊息", EN: "messages are queued"}
	WatchReview      = Text{ZH: "正在 review", EN: "a review is open"}
	WatchOther       = Text{ZH: "另一個觀察者正在處理", EN: "another watcher is on it"}
	WatchNoAnswer    = Text{ZH: "沒有回應", EN: "no answer"}
	WatchRests       = Text{ZH: "上次壓縮沒有成功，稍後再試", EN: "the last compaction came to nothing; it is tried again later"}
	WatchDone        = Text{ZH: "這一輪已經處理過", EN: "this turn was dealt with before"}
	WatchRefused     = Text{ZH: "壓縮被拒絕", EN: "the compaction was refused"}
	WatchFailed      = Text{ZH: "壓縮失敗", EN: "the compaction failed"}
	WatchInterrupted = Text{ZH: "壓縮被中斷", EN: "the compaction was interrupted"}
	WatchSuperseded  = Text{ZH: "對話已經往前走了", EN: "the conversation has moved on"}
	WatchExpired     = Text{ZH: "已過期", EN: "it expired"}
	WatchNotStarted  = Text{ZH: "壓縮沒有開始", EN: "the compaction did not begin"}
	WatchNotSaved    = Text{ZH: "無法寫下收據", EN: "the receipt could not be written"}
	WatchNotAccepted = Text{ZH: "封包未被接受", EN: "the packet was not accepted"}
)

// The command line of watch.
var (
	ServiceNone       = Text{ZH: "不知道如何在 %s 上安裝服務", EN: "no service is known for %s"}
	HintService       = Text{ZH: "請用你的服務管理工具執行：%s", EN: "have your service manager run: %s"}
	ServiceByHand     = Text{ZH: "服務管理工具沒有照做（%s）；請自行執行：%s", EN: "the service manager did not do it (%s); run it yourself: %s"}
	ServiceNothing    = Text{ZH: "沒有需要變更的項目", EN: "nothing to change"}
	ServiceInstalled  = Text{ZH: "服務已安裝：%s 會一直執行", EN: "the service is installed: %s is kept running"}
	ServiceNotRunning = Text{ZH: "%s 沒有在執行：服務只寫入了 %s", EN: "%s is not running: all there is of the service is %s"}
	ServiceRemoved    = Text{ZH: "服務已移除", EN: "the service is removed"}
	WatchBadMode      = Text{ZH: "沒有名為 %s 的模式", EN: "there is no mode named %s"}
	HintModes         = Text{ZH: "可用的模式：off、tag、suggest、auto", EN: "there are: off, tag, suggest, auto"}
	WatchNoThread     = Text{ZH: "沒有這個對話：%s", EN: "there is no thread %s"}
	HintThreads       = Text{ZH: "codex resume 會列出對話；不給 --thread 就觀察全部", EN: "codex resume lists the threads; without --thread all are watched"}
	WatchBothAddress  = Text{ZH: "--remote 與 --socket 只能擇一", EN: "--remote and --socket exclude each other"}
	WatchSuggestMode  = Text{ZH: "模式 %s：只回報，不會壓縮", EN: "mode %s: reports only, nothing is compacted"}
)
