package message

// What overtone-team says.
var (
	TeamNone        = Text{ZH: "這台機器還沒有加入任何 hub", EN: "this machine belongs to no hub"}
	HintTeamNone    = Text{ZH: "在 hub 上執行 overtone-team invite 名稱 --out FILE，然後在這裡 overtone-team join FILE；或在這裡用 overtone-team up 建立 hub", EN: "run `overtone-team invite NAME --out FILE` on the hub and `overtone-team join FILE` here, or make this machine a hub with `overtone-team up`"}
	TeamBadMachine  = Text{ZH: "機器名稱 %q 不能使用", EN: "%q is no name for a machine"}
	HintTeamMachine = Text{
		ZH: "使用 1 到 63 個英文字母、數字、- 或 _",
		EN: "use 1 to 63 letters, digits, - or _",
	}
	TeamNoHub              = Text{ZH: "設定裡沒有 hub 的位址", EN: "the settings name no hub"}
	HintTeamHub            = Text{ZH: "hub 在執行嗎（overtone-team up）？這個名稱與埠從這裡連得到嗎？", EN: "is the hub running there (overtone-team up), and can its name and port be reached from here?"}
	HintTeamTLS            = Text{ZH: "憑證要對得上名稱、時間與這個團隊的 CA：兩邊的時鐘對嗎？hub 啟動時用 --name 給了這個名稱嗎？它會在到期前一個月自行更新憑證", EN: "its certificate has to fit the name, the time and this team's CA: are both clocks right, was the hub started with that --name? It renews its certificate by itself, a month before the end"}
	HintTeamStreams        = Text{ZH: "overtone-team up 會建立它；在別人的 hub 上用 overtone-team up --hub URL", EN: "`overtone-team up` makes it; on somebody else's hub, `overtone-team up --hub URL`"}
	TeamHubStuck           = Text{ZH: "hub 無法在 %s 開始服務", EN: "the hub does not come up at %s"}
	HintTeamHubStuck       = Text{ZH: "位址可能被占用；見 %s", EN: "perhaps the address is taken; see %s"}
	TeamNoRoutes           = Text{ZH: "叢集的節點要知道其他節點的位址", EN: "a node of a cluster has to know the others"}
	HintTeamRoutes         = Text{ZH: "--route tls://其他節點:6222，每個節點一個", EN: "--route tls://OTHER:6222, one for each"}
	HintTeamCA             = Text{ZH: "從第一個節點複製整個 hub 資料夾", EN: "copy the whole hub folder from the first node"}
	TeamUp                 = Text{ZH: "hub 在 %s 執行中（租戶 %s）。邀請其他機器：overtone-team invite 名稱", EN: "the hub is up at %s (tenant %s). To let another machine in: overtone-team invite NAME"}
	TeamPrepared           = Text{ZH: "hub %s 已備妥；這台機器叫 %s", EN: "hub %s is ready; this machine is %s"}
	TeamJoined             = Text{ZH: "已加入：這台機器叫 %s。開始送出：overtone-team ship --install", EN: "joined: this machine is %s. To start shipping: overtone-team ship --install"}
	TeamJoinedOther        = Text{ZH: "這台機器已經以 %s 的名字屬於一個 hub", EN: "this machine already belongs to a hub, as %s"}
	HintTeamJoined         = Text{ZH: "用 --force 換過去", EN: "--force moves it"}
	TeamUpTwice            = Text{ZH: "%s 的 hub 已經在執行", EN: "the hub of %s is running already"}
	HintTeamUpTwice        = Text{ZH: "先停止另一個 overtone-team up", EN: "end the other `overtone-team up` first"}
	HintTeamCertificate    = Text{ZH: "請檢查這台機器的時鐘；時鐘正確的話，刪除 %s，會重新製作", EN: "check this machine's clock; if it is right, delete %s, and it is made again"}
	HintTeamListen         = Text{ZH: "用 --listen（叢集則是 --cluster）選擇別的位址", EN: "choose another address with --listen, or --cluster"}
	TeamBadInvite          = Text{ZH: "%s 不是邀請：%v", EN: "%s is no invitation: %v"}
	HintTeamInvite         = Text{ZH: "在 hub 上執行 overtone-team invite NAME --out FILE，把 FILE 帶過來", EN: "run `overtone-team invite NAME --out FILE` on the hub and bring FILE here"}
	HintTeamKey            = Text{ZH: "hub 不認得這台機器的金鑰（可能有新的邀請取代了它，或已被撤銷）：在 hub 上執行 overtone-team invite %s，再在這裡 join --force", EN: "the hub does not know this machine's key; it was revoked, or a later invitation has replaced it: run `overtone-team invite %s` there, then `join --force` here"}
	HintTeamLogin          = Text{ZH: "這個叢集不認得這台機器：用 --creds FILE，或把名字與密碼寫進 --hub tls://名字:密碼@主機:4222", EN: "the cluster does not know this machine: --creds FILE, or its name and password in --hub tls://NAME:PASSWORD@HOST:4222"}
	TeamNoNode             = Text{ZH: "這台機器上沒有 hub", EN: "there is no hub on this machine"}
	HintTeamNoNode         = Text{ZH: "在執行 overtone-team up 的機器上邀請", EN: "invite on the machine that runs `overtone-team up`"}
	TeamUnknownMachine     = Text{ZH: "hub 不認得機器 %s", EN: "the hub knows no machine %s"}
	HintTeamUnknownMachine = Text{ZH: "它認得的有：%s", EN: "it knows: %s"}
	TeamRevoked            = Text{ZH: "%s 不能再連線了；團隊的金鑰它還有，要換金鑰見 SECURITY.md", EN: "%s cannot connect any more; it still has the team's key: SECURITY.md says how to change that"}
	TeamOutExists          = Text{ZH: "%s 已經存在", EN: "%s exists already"}
	HintTeamOutExists      = Text{ZH: "邀請含有金鑰，只寫入新檔案：換一個名稱，或先刪除它", EN: "an invitation holds keys and goes into a new file only: take another name, or delete that one first"}
	TeamInvited            = Text{ZH: "%s 的邀請含有金鑰：用安全的方式傳過去，然後刪除", EN: "the invitation of %s holds keys: hand it over safely, then delete it"}

	TeamOffline       = Text{ZH: "hub 暫時不在：%s", EN: "the hub is away: %s"}
	TeamShipped       = Text{ZH: "已送出 %d 個事件（%d 個 session）", EN: "shipped: events %d, sessions %d"}
	TeamLost          = Text{ZH: "session %s 的時間線在送出前已被修剪：較舊的事件不在檔案裡了", EN: "the timeline of session %s was trimmed before it was shipped: older events are no longer in the file"}
	TeamTaken         = Text{ZH: "session %s 現在由 %s 繼續", EN: "session %s goes on at %s now"}
	TeamTakenBoth     = Text{ZH: "session %s 現在由 %s 繼續；這台機器直到剛才都還當它是自己的（時鐘被調過，或 hub 太久不在）：這裡從交接之後做的事，那裡沒有", EN: "session %s goes on at %s now, and until now it went on here, too (a clock was set, or the hub was away): what was done here since then is not there"}
	TeamShipTwice     = Text{ZH: "這台機器已經有一個 shipper 在執行", EN: "a shipper is running on this machine already"}
	HintTeamShipTwice = Text{ZH: "一台機器一個就夠了；停止它：overtone-team ship --uninstall 或結束那個程序", EN: "one is enough; to stop it: `overtone-team ship --uninstall`, or end its process"}
	TeamRefused       = Text{ZH: "hub 不允許這台機器寫入 %s", EN: "the hub does not let this machine write to %s"}
	HintTeamRefused   = Text{ZH: "機器只能以自己的名字發布；權限見 docs/team.md", EN: "a machine publishes under its own name only; for the permissions see docs/team.md"}
	TeamLeased        = Text{ZH: "session %s 由 %s 持有（到 %s）", EN: "session %s is held by %s (until %s)"}
	HintTeamLeased    = Text{ZH: "在 %s 上執行 overtone-team handoff push", EN: "run `overtone-team handoff push` on %s first"}
	TeamTaking        = Text{ZH: "%s 正在移動 session %s（最晚到 %s）", EN: "%s is moving session %s just now (until %s at the latest)"}
	TeamShipTrouble   = Text{ZH: "暫時送不出去：%s", EN: "nothing can be shipped for now: %s"}
	TeamHubFull       = Text{ZH: "hub 的磁碟存不下任何東西：%s", EN: "the hub stores nothing, its disk is full: %s"}
	HintTeamHubFull   = Text{ZH: "在 hub 的機器上清出空間；之後它會自己繼續，什麼都不必重新啟動。在那之前，事件留在各台機器上", EN: "make room on the hub's machine: it then goes on by itself, nothing has to be started anew; until then events wait on their machines"}
	TeamAlone         = Text{ZH: "其他節點都沒有回應：在它們回應之前不讓任何機器連線，因為這個節點可能不知道誰已被排除。--alone 以這裡的名單開放連線", EN: "no other node answers: no machine is let in before one does, because this node may not know who was shut out. --alone lets them in by the list that is here"}
	TeamFull          = Text{ZH: "這個 hub 的磁碟存不下任何東西：%s。請清出空間；之後它會自己繼續", EN: "the disk of this hub is full: %s. Make room; it then goes on by itself"}
	TeamRoom          = Text{ZH: "磁碟又有空間了，hub 繼續", EN: "there is room on the disk again, and the hub goes on"}
	TeamTwin          = Text{ZH: "另一台機器也以 %s 的名字送出：是不是複製了 home？在 hub 上 overtone-team invite 另一個名字，再在其中一台 join --force", EN: "another machine ships under the name %s: was the home copied? On the hub: overtone-team invite OTHERNAME, then join --force on one of the two"}
	TeamCheckTwin     = Text{ZH: "另一台機器也以這個名字送出：同一個 session 的事件會被當成重複而略過", EN: "another machine ships under this name: events of the same session count as repeats"}
	HintTeamTwin      = Text{ZH: "是不是複製了 home？在 hub 上 overtone-team invite 另一個名字，再在其中一台 join --force", EN: "was the home copied? On the hub: overtone-team invite OTHERNAME, then join --force on one of the two"}
	HintTeamWentOn    = Text{ZH: "它在 %s 上繼續過：在那裡 handoff push，或在這裡先 overtone-team handoff pull %s", EN: "it went on at %s: push it there, or `overtone-team handoff pull %s` here first"}
	TeamNobody        = Text{ZH: "hub 上還沒有任何機器", EN: "no machine has shipped anything yet"}
	TeamNoEvents      = Text{ZH: "沒有事件", EN: "no events"}
	TeamSharing       = Text{ZH: "內容會離開這台機器的資料夾：", EN: "folders whose content leaves this machine:"}
	TeamNotAFolder    = Text{ZH: "%s 不是這裡的資料夾", EN: "%s is no folder here"}
	HintTeamNotFolder = Text{ZH: "寫出專案所在的資料夾，例如 overtone-team share .", EN: "name the folder that a project is in, such as overtone-team share ."}
	TeamNeverShared   = Text{ZH: "%s 本來就沒有分享", EN: "%s was not shared"}
	TeamSharesNone    = Text{ZH: "沒有任何資料夾的內容會離開這台機器（只有事件）", EN: "no content leaves this machine (events only)"}
)

// The columns of fleet.
var (
	FleetMachine = Text{ZH: "機器", EN: "MACHINE"}
	FleetSeen    = Text{ZH: "最後出現", EN: "SEEN"}
	FleetSession = Text{ZH: "session", EN: "SESSION"}
	FleetLeft    = Text{ZH: "剩餘 context", EN: "CONTEXT LEFT"}
	FleetPacket  = Text{ZH: "最近的封包", EN: "LAST PACKET"}
	FleetLast    = Text{ZH: "最後事件", EN: "LAST EVENT"}
	FleetHolder  = Text{ZH: "持有者", EN: "HOLDER"}
)

// doctor of the hub.
var (
	TeamCheckReach       = Text{ZH: "hub 可連線：%s（%s）", EN: "hub reachable: %s (%s)"}
	TeamCheckSkew        = Text{ZH: "時鐘相差 %s", EN: "clocks differ by %s"}
	TeamCheckSkewBad     = Text{ZH: "時鐘相差 %s：租約的到期時間不可信", EN: "clocks differ by %s: the end of a lease cannot be trusted"}
	TeamCheckStream      = Text{ZH: "事件：%d 筆，%s，副本 %d，保留 %s", EN: "events: %d, %s, replicas %d, kept for %s"}
	TeamCheckMemory      = Text{ZH: "事件串流不在磁碟上", EN: "the stream of events is not kept on disk"}
	TeamCheckTTL         = Text{ZH: "租約不會自行到期：hub 太舊或設定不對", EN: "leases do not end by themselves: the hub is too old, or set up otherwise"}
	TeamCheckRollup      = Text{ZH: "任一台機器都能刪掉別人的狀態、租約與內容：hub 的串流是較舊的版本建立的", EN: "any machine can delete the states, leases and content of others: the hub's streams were made by an older version"}
	TeamCheckShipper     = Text{ZH: "shipper 執行中", EN: "the shipper is running"}
	TeamCheckNoShip      = Text{ZH: "shipper 沒有執行：事件留在本機", EN: "no shipper runs: events stay on this machine"}
	TeamCheckLag         = Text{ZH: "尚未送出的事件：%d", EN: "events not shipped yet: %d"}
	TeamCheckWhole       = Text{ZH: "hub 有這台機器的 %d 個事件，沒有遺失；重複 %d 筆（讀取時略過）", EN: "the hub has %d events of this machine, none missing; %d repeated (readers drop them)"}
	TeamCheckLost        = Text{ZH: "hub 有這台機器的 %d 個事件，缺 %d 個；重複 %d 筆（讀取時略過）", EN: "the hub has %d events of this machine, %d are missing; %d repeated (readers drop them)"}
	TeamCheckForeign     = Text{ZH: "%d 筆訊息的識別碼與名字不符，讀取時略過", EN: "%d messages whose id does not fit their name; readers drop them"}
	TeamCheckOwn         = Text{ZH: "只能以自己的名字發布", EN: "publishes under its own name only"}
	TeamCheckOpen        = Text{ZH: "這台機器可以用別人的名字發布：hub 沒有設定權限", EN: "this machine can publish under any name: the hub has no permissions set"}
	TeamCheckKey         = Text{ZH: "可以讀取團隊的加密內容", EN: "can read what is encrypted for the team"}
	TeamCheckNoKey       = Text{ZH: "沒有團隊的金鑰：交接與共享的內容無法讀取", EN: "has no key of the team: hand-overs and shared content cannot be read"}
	HintTeamShip         = Text{ZH: "overtone-team ship --install", EN: "overtone-team ship --install"}
	HintTeamClock        = Text{ZH: "讓兩邊的時鐘同步（NTP）", EN: "let both keep time by NTP"}
	HintTeamOld          = Text{ZH: "需要 nats-server 2.11 以上，然後執行 overtone-team up --hub URL", EN: "nats-server 2.11 or newer is needed; then run `overtone-team up --hub URL`"}
	HintTeamRollup       = Text{ZH: "用這個版本重新啟動 overtone-team up；在別人的 hub 上執行 overtone-team up --hub URL", EN: "start `overtone-team up` of this version anew; on somebody else's hub, run `overtone-team up --hub URL`"}
	HintTeamOpen         = Text{ZH: "docs/team.md 列出每台機器的權限", EN: "docs/team.md lists the permissions of a machine"}
	HintTeamMissing      = Text{ZH: "時間線只留最新的 2,000 行：shipper 離線太久就補不回來", EN: "a timeline keeps its newest 2,000 lines: what a shipper misses for longer is gone"}
	TeamDoctorFailed     = Text{ZH: "hub 有 %d 個問題", EN: "problems with the hub: %d"}
	HintTeamDoctorFailed = Text{ZH: "每個問題後面都寫了做法", EN: "what to do stands below each"}
)

// The command line of overtone-team.
var (
	TeamManySessions = Text{ZH: "不只一個 session 以 %s 開頭", EN: "more than one session begins with %s"}
)

// Sessions that move.
var (
	TeamNotShared      = Text{ZH: "%s 的內容不分享", EN: "the content of %s is not shared"}
	HintTeamNotShared  = Text{ZH: "交接會送出對話（遮蔽機密並加密）；同意的話：overtone-team share %s", EN: "a hand-over sends the conversation, redacted and encrypted; to agree: overtone-team share %s"}
	TeamTooLarge       = Text{ZH: "session 檔案有 %s，太大了", EN: "the session's file is %s: too large"}
	HintTeamTooLarge   = Text{ZH: "先 overtone compress %s，再交接那個 clone", EN: "make a clone with `overtone compress %s` and push that"}
	TeamAtWork         = Text{ZH: "session %s 還在工作", EN: "session %s is still at work"}
	HintTeamAtWork     = Text{ZH: "等它停下來再交接；--force 會送出目前為止的部分", EN: "push when it has stopped; --force sends what there is so far"}
	TeamNotOffered     = Text{ZH: "沒有人交出 session %s", EN: "nobody has pushed session %s"}
	HintTeamNotOffered = Text{ZH: "在原本的機器上執行 overtone-team handoff push；overtone-team fleet 列出 session", EN: "run `overtone-team handoff push` on its machine; `overtone-team fleet` lists sessions"}
	TeamCommit         = Text{ZH: "%s 上是 commit %s（%s），%s 卻在 %s", EN: "%s was at commit %s (%s), and %s is at %s"}
	HintTeamCommit     = Text{ZH: "git -C %s checkout %s（必要時先 fetch），或 --anyway", EN: "git -C %s checkout %s (fetch first where it is missing), or --anyway"}
	TeamNoFolder       = Text{ZH: "這裡沒有資料夾 %s", EN: "there is no folder %s here"}
	HintTeamFolder     = Text{ZH: "在專案資料夾裡執行，或用 --dir 指定", EN: "run it in the project's folder, or name it with --dir"}
	TeamPushed         = Text{ZH: "session %s 已交出（%s）。在另一台機器上：overtone-team handoff pull %s", EN: "session %s is offered (%s). On the other machine: overtone-team handoff pull %s"}
	TeamPushedDirty    = Text{ZH: "注意：有 %d 個檔案尚未 commit，不會跟著過去", EN: "note: %d files are not committed; they do not travel"}
	TeamPulled         = Text{ZH: "session %s 從 %s 移到這裡", EN: "session %s came over from %s"}
	TeamPulledBack     = Text{ZH: "session %s 就在這裡，在這裡繼續", EN: "session %s is here, and goes on here"}
	TeamHere           = Text{ZH: "session %s 已經在這裡的 %s 繼續", EN: "session %s goes on here already, in %s"}
	HintTeamHere       = Text{ZH: "要換資料夾：先 overtone-team handoff push %s，再 pull --dir", EN: "for another folder: `overtone-team handoff push %s` first, then pull --dir"}
	TeamBackup         = Text{ZH: "先前的檔案留在 %s", EN: "the file that was here before is kept at %s"}
	TeamPulledOld      = Text{ZH: "%s 最後持有它，沒有交出來，租約就到期了：那裡在 %s 推送之後做的事不在這裡；它的時鐘若不準，可能還在那裡繼續", EN: "%s had it last and never handed it over before its lease ended: what was done there after the push by %s is not here, and if its clock is wrong it may still go on there"}
	TeamMovedNote      = Text{ZH: "[Overtone] 這個 session 從機器 %s 移到了 %s，現在在這裡繼續。", EN: "[Overtone] This session has moved from machine %s to %s and goes on here."}
	TeamMovedDirty     = Text{ZH: "原機器上有 %d 個檔案尚未 commit，這裡沒有。", EN: "%d files were not committed on the other machine and are missing here."}

	// What the hooks of a session that is elsewhere say.
	SessionElsewhere = Text{ZH: "[Overtone] 這個 session 已交給機器 %s（%s），不能在這裡繼續，否則兩台機器會做同一件事。要拿回來：在那裡 overtone-team handoff push %s，然後在這裡 overtone-team handoff pull %[3]s。", EN: "[Overtone] This session was handed over to machine %s (%s) and must not go on here, or two machines would do the same work. To take it back: run overtone-team handoff push %s there, then overtone-team handoff pull %[3]s here."}
	SessionOffered   = Text{ZH: "[Overtone] 這個 session 已交出，等待另一台機器接手，不能在這裡繼續。要收回：overtone-team handoff pull %s", EN: "[Overtone] This session is offered to another machine and must not go on here. To take it back: overtone-team handoff pull %s"}
	SessionClock     = Text{ZH: "[Overtone] 這台機器的時鐘被調回到租約寫下的時間（%s）之前，租約何時到期無從得知，別台機器可能已經接手。校正時鐘，或執行 overtone-team ship，或 overtone-team handoff pull %s。", EN: "[Overtone] This machine's clock was set back, behind the moment at which the lease of the session was written (%s), so nobody here knows when the lease ends; another machine may have taken it over. Set the clock right, or run overtone-team ship, or overtone-team handoff pull %s."}
	SessionUnleased  = Text{ZH: "[Overtone] 這台機器對這個 session 的租約在 %s 到期而未更新，別台機器可能已經接手。執行 overtone-team ship，或 overtone-team handoff pull %s。", EN: "[Overtone] This machine's lease of the session ended at %s without being renewed; another machine may have taken it over. Run overtone-team ship, or overtone-team handoff pull %s."}
)

// Searching what the team has shared.
var (
	TeamBadQuery   = Text{ZH: "要找什麼，要列出幾個（至少一個）？", EN: "what is to be looked for, and how many (at least one) are to be shown?"}
	HintTeamRecall = Text{ZH: "搜尋了 %d 個分享過的 session；分享的資料夾裡的工作由 ship 送出，對話要 handoff push 過才會在這裡", EN: "%d shared sessions were searched; `ship` sends the work of folders that are shared, conversations are here once they were pushed (overtone-team handoff push)"}
)
