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
	WatchBusy        = Text{ZH: "執行緒正在工作", EN: "the thread is at work"}
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
	HelpWatch     = Text{ZH: "觀察執行中的 agent，在自然邊界壓縮並交付接續封包", EN: "watch a live agent: compact at natural boundaries and hand over the packet"}
	HelpWatchLong = Text{
		ZH: "觀察者聽 agent 做了什麼，依政策決定是否到了自然邊界；只有 --mode auto 才會真的壓縮，\n壓縮成功後把接續封包送進對話一次。不會回答任何核准請求，也不會在工作途中插話。",
		EN: "The watcher listens to what the agent does and asks the policy whether a natural boundary\nwas reached. Only --mode auto compacts; after a compaction that worked, the packet goes into\nthe conversation once. It answers no approval request and never speaks into a running turn.",
	}
	HelpWatchCodex     = Text{ZH: "觀察 Codex app-server 的執行緒；給了 PROMPT 就自行啟動 app-server 執行", EN: "watch the threads of Codex's app-server; with PROMPTs, run them on an app-server of its own"}
	HelpWatchCodexLong = Text{
		ZH: "預設連上 codex 自己啟動的 daemon（$CODEX_HOME/app-server-control），沒有就等它出現。\nCodex 無法從外部在工作途中壓縮，所以只在執行緒閒置時動作。",
		EN: "Connects to the daemon that codex starts by itself ($CODEX_HOME/app-server-control), and waits\nfor it when there is none. Codex cannot be compacted from outside in the middle of a turn\nwithout ending it, so the watcher acts when a thread is idle.",
	}
	HelpWatchClaude     = Text{ZH: "以 headless 方式執行 Claude Code，逐一送出 PROMPT（或 stdin 的每一行）", EN: "run Claude Code headless and send it the PROMPTs (or the lines of stdin)"}
	HelpWatchClaudeLong = Text{
		ZH: "啟動 claude -p（stream-json），在每一輪結束時套用同一套政策：送出 /compact，再送出接續封包\n一次：有未完成的工作就自成一則訊息，否則隨使用者的下一則訊息。這個子行程的\nOvertone hook 會關閉，所以封包不會出現兩次。-- 之後的參數原樣交給 claude。",
		EN: "Starts claude -p with stream-json and applies the same policy at each turn's end: it sends\n/compact and then the packet, once: as a message of its own where work is open, else with the\nuser's next one. Overtone's hooks are off in that process, so that no second packet\nappears. What follows -- goes to claude as it is.",
	}
	HelpWatchOpencode     = Text{ZH: "觀察 opencode serve 的 session；給了 PROMPT 就在新的 session 逐一送出", EN: "watch the sessions of opencode serve; with PROMPTs, send them in a session of their own"}
	HelpWatchOpencodeLong = Text{
		ZH: "連上執行中的 opencode serve，沒有就等它出現。session 閒置時套用同一套政策：要求摘要，再把接續封包放進\n對話一次：有未完成的工作就開始新的一輪，否則放在使用者的下一則訊息之前。觀察期間，伺服器裡的\nOvertone 外掛不會自己壓縮。若伺服器有密碼，取自 OPENCODE_SERVER_PASSWORD。",
		EN: "Connects to a running opencode serve, and waits for it when there is none. When a session is idle\nit applies the same policy: it asks for a summary and puts the packet into the conversation, once:\nas a turn where work is open, else before the user's next message. Meanwhile Overtone's plugin in\nthat server leaves compactions to it. A password is taken from OPENCODE_SERVER_PASSWORD.",
	}
	HelpWatchURL      = Text{ZH: "opencode serve 的位址", EN: "address of opencode serve"}
	HelpWatchSession  = Text{ZH: "只觀察這個 session", EN: "watch only this session"}
	HelpWatchRemote   = Text{ZH: "app-server 位址：ws://、wss:// 或 unix://", EN: "address of the app-server: ws://, wss:// or unix://"}
	HelpWatchSocket   = Text{ZH: "app-server 的 unix socket（預設為 daemon 的）", EN: "the app-server's unix socket (default: the daemon's)"}
	HelpWatchToken    = Text{ZH: "存放 --remote bearer token 的環境變數名稱", EN: "environment variable with the bearer token for --remote"}
	HelpWatchMode     = Text{ZH: "off、tag、suggest 或 auto（預設取自設定）", EN: "off, tag, suggest or auto (default: from the configuration)"}
	HelpWatchAlone    = Text{ZH: "無人值守：工作未完成時，壓縮後不需要計畫也會繼續", EN: "nobody sits before it: while work is open it goes on after a compaction, also without a plan"}
	HelpWatchOnce     = Text{ZH: "第一次壓縮處理完就結束", EN: "end after the first compaction, whatever came of it"}
	HelpWatchThread   = Text{ZH: "只觀察這個執行緒", EN: "watch only this thread"}
	HelpWatchDebounce = Text{ZH: "一輪結束後要安靜多久才動作", EN: "how long a thread must be quiet after a turn"}
	HelpWatchInstall  = Text{ZH: "安裝成服務：登入後自動執行，中斷會重啟（systemd user unit 或 launchd agent）", EN: "install it as a service that starts with your session and again when it ends (systemd user unit or launchd agent)"}
	ServiceNone       = Text{ZH: "不知道如何在 %s 上安裝服務", EN: "no service is known for %s"}
	HintService       = Text{ZH: "請用你的服務管理工具執行：%s", EN: "have your service manager run: %s"}
	ServiceByHand     = Text{ZH: "服務管理工具沒有照做（%s）；請自行執行：%s", EN: "the service manager did not do it (%s); run it yourself: %s"}
	ServiceNothing    = Text{ZH: "沒有需要變更的項目", EN: "nothing to change"}
	ServiceInstalled  = Text{ZH: "服務已安裝：%s 會一直執行", EN: "the service is installed: %s is kept running"}
	ServiceNotRunning = Text{ZH: "%s 沒有在執行：服務只寫入了 %s", EN: "%s is not running: all there is of the service is %s"}
	ServiceRemoved    = Text{ZH: "服務已移除", EN: "the service is removed"}
	HelpWatchBin      = Text{ZH: "%s 的執行檔", EN: "the %s program"}
	WatchBadMode      = Text{ZH: "沒有名為 %s 的模式", EN: "there is no mode named %s"}
	HintModes         = Text{ZH: "可用的模式：off、tag、suggest、auto", EN: "there are: off, tag, suggest, auto"}
	WatchNoThread     = Text{ZH: "沒有這個執行緒：%s", EN: "there is no thread %s"}
	HintThreads       = Text{ZH: "codex resume 會列出執行緒；不給 --thread 就觀察全部", EN: "codex resume lists the threads; without --thread all are watched"}
	WatchBothAddress  = Text{ZH: "--remote 與 --socket 只能擇一", EN: "--remote and --socket exclude each other"}
	WatchSuggestMode  = Text{ZH: "模式 %s：只回報，不會壓縮", EN: "mode %s: reports only, nothing is compacted"}
)
