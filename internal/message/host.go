package message

// Setting up, taking back, and checking an installation.
var (
	NoHosts          = Text{ZH: "PATH 上找不到任何認得的 coding agent，沒有寫入任何東西", EN: "no coding agent that Overtone knows is on PATH; nothing was written"}
	HintNoHosts      = Text{ZH: "先安裝一個，或預先準備：overtone init --host NAME（%s）", EN: "install one, or prepare one before it is there: overtone init --host NAME (%s)"}
	OneHost          = Text{ZH: "--host 在這裡只能給一個，而不是 %s", EN: "--host takes one host here, got %s"}
	HintOneHost      = Text{ZH: "去掉 --host 就包含所有 host，或每個 host 各執行一次", EN: "leave --host out for all of them, or run it once for each"}
	BadHost          = Text{ZH: "不認識的 host：%s", EN: "unknown host: %s"}
	BadLang          = Text{ZH: "不認識的語言：%s", EN: "unknown language: %s"}
	HintLangs        = Text{ZH: "可用：zh-TW、en", EN: "there are: zh-TW, en"}
	HintStore        = Text{ZH: "這個版本的 %s 可能以另一種方式保存 session：請更新 Overtone；hook 與工作流不受影響", EN: "this version of %s may keep its sessions in another way: bring Overtone up to date; hooks and workflows do not need them"}
	HintRepair       = Text{ZH: "請修正 %s", EN: "repair %s"}
	HintBrokenJSON   = Text{ZH: "請先修正 %s，沒有寫入任何東西", EN: "repair %s first; nothing was written"}
	TableRefused     = Text{ZH: "無法在 %s 加上表格 %s：%s 的寫法不容許", EN: "%s: the table %s cannot be added, the way %s is written forbids it"}
	HintTableRefused = Text{ZH: "把 %s 改寫成 [%[1]s.名稱] 形式的表格，或自行在其中加上 %[2]s，再執行一次；沒有寫入任何東西", EN: "write %s as tables [%[1]s.NAME], or add there yourself: %[2]s; then run it again. Nothing was written"}
	HintChangedFile  = Text{ZH: "請再執行一次", EN: "run it again"}
	HintEditConfig   = Text{ZH: "請自行在 %s 設定 %s: %s", EN: "set it yourself in %s: %s: %s"}

	AskLanguage = Text{ZH: "hook 訊息要用哪種語言？ 1) 繁體中文  2) English  [%s] ", EN: "Which language shall the hooks speak? 1) 繁體中文  2) English  [%s] "}
	AskApply    = Text{ZH: "套用以上變更？ [Y/n] ", EN: "Apply these changes? [Y/n] "}
	AskPurge    = Text{ZH: "刪除 %s 底下的一切，包含所有 session？ [y/N] ", EN: "Delete everything in %s, all sessions included? [y/N] "}
	NotApplied  = Text{ZH: "沒有套用", EN: "not applied"}

	InitCreate   = Text{ZH: "建立 %s", EN: "create %s"}
	InitEdit     = Text{ZH: "修改 %s", EN: "edit   %s"}
	InitRemove   = Text{ZH: "移除 %s", EN: "remove %s"}
	InitKeep     = Text{ZH: "不變 %s", EN: "as is  %s"}
	InitPlugin   = Text{ZH: "%s（plugin，%d 個檔案）", EN: "%s (plugin, %d files)"}
	InitNothing  = Text{ZH: "已安裝，沒有需要變更的項目", EN: "installed already, nothing to change"}
	InitDry      = Text{ZH: "只是預覽，沒有寫入任何東西", EN: "only a preview, nothing was written"}
	InitBackup   = Text{ZH: "備份：%s", EN: "backup: %s"}
	InitDone     = Text{ZH: "已安裝到 %s（模式 %s，hook 語言 %s）", EN: "installed into %s (mode %s, hooks speak %s)"}
	InitNext     = Text{ZH: "開啟新的 Claude Code session，之後以 overtone doctor 確認", EN: "start a new Claude Code session, then look with: overtone doctor"}
	InitCodex    = Text{ZH: "Codex 下次啟動時會請你審核這些 hook（或在 TUI 輸入 /hooks）；核准前不會執行", EN: "Codex asks you to review the hooks at its next start (or by /hooks); they do not run before you approve them"}
	InitCodexRun = Text{ZH: "Codex 的自動 compact 由觀察者執行：overtone watch codex（--install 讓它一直執行）；沒有它，模式 auto 什麼也不會壓縮", EN: "compaction in Codex is done by a watcher: overtone watch codex (--install keeps it running); without it mode auto compacts nothing"}
	InitAlso     = Text{ZH: "也找到 %s：overtone init --host %s", EN: "%s is here, too: overtone init --host %s"}

	WarnNotOnPath   = Text{ZH: "overtone 不在 PATH 上，agent 找不到它", EN: "overtone is not on PATH, agents will not find it"}
	HintPath        = Text{ZH: "把 %s 加入 PATH", EN: "add %s to PATH"}
	WarnOtherBinary = Text{ZH: "PATH 上的 overtone（%s）不是這一個（%s）", EN: "the overtone on PATH (%s) is not this one (%s)"}
	WarnNoProgram   = Text{ZH: "沒有安裝 %s：PATH 上找不到 %s；安裝之後 hook 才會生效", EN: "%s is not installed: there is no %s on PATH; the hooks wait until there is"}
	WarnStatusKept  = Text{ZH: "%s 已有你自己的 statusLine，予以保留；要一併顯示，請在你的程式裡執行 overtone statusline", EN: "%s has a statusLine of yours, which stays; to show both, call overtone statusline from your own program"}
	NoStatusLine    = Text{ZH: "%s 沒有可由程式提供的狀態列", EN: "%s has no status line that a program can fill"}
	HintNoStatus    = Text{ZH: "去掉 --statusline", EN: "leave --statusline out"}
	WarnOld         = Text{ZH: "%s %s 比支援的最舊版本 %s 還舊，hook 可能無法載入", EN: "%s %s is older than %s, the oldest known to work; its hooks may not load"}
	AskingVersions  = Text{ZH: "詢問各 agent 的版本", EN: "asking the agents for their versions"}
	WarnAskVersion  = Text{ZH: "無法得知版本：%s", EN: "the version is not known: %s"}
	WarnSuggest     = Text{ZH: "改用 suggest 模式：%s", EN: "going on with mode suggest: %s"}
	WarnRegister    = Text{ZH: "無法事先登記 plugin（%s）；可能從第二個 session 起才生效", EN: "the plugin could not be announced (%s); it may start only with the second session"}
	WarnUnregister  = Text{ZH: "無法取消登記 plugin（%s）；無害", EN: "the plugin could not be signed off (%s); this does no harm"}
	WarnKept        = Text{ZH: "%s 的 %s 自安裝後被改過，予以保留", EN: "%s: %s was changed since and stays"}
	WarnTableKept   = Text{ZH: "%s 已有你自己的 %s，予以保留；Overtone 沒有加上它的", EN: "%s has a %s of yours, which stays; Overtone adds none of its own"}
	WarnTableMore   = Text{ZH: "%s 的 %s 屬於 init 寫入的表格，一併移除", EN: "%s: %s is below the table that init wrote, and goes with it"}
	WarnConfig      = Text{ZH: "設定檔：%s", EN: "configuration: %s"}

	UninstallNothing = Text{ZH: "沒有安裝，沒有需要移除的項目", EN: "not installed, nothing to remove"}
	UninstallDone    = Text{ZH: "已移除；session 的狀態與設定保留在 %s（--purge 一併刪除）", EN: "removed; states of sessions and configuration stay in %s (--purge deletes them, too)"}
	UninstallClones  = Text{ZH: "continue 與 compress 做的副本留在各個 agent：%d（overtone sessions 列出它們，overtone sessions rm 移除）", EN: "clones that continue and compress made stay with their agents: %d (overtone sessions lists them, overtone sessions rm removes them)"}
	PurgeClones      = Text{ZH: "副本留在各個 agent，但失去原文：%d；要先移除它們：overtone sessions rm", EN: "clones stay with their agents, without their originals: %d; to remove them first: overtone sessions rm"}
	UninstallPurged  = Text{ZH: "已移除，%s 也已刪除", EN: "removed, and %s deleted"}
	PurgeRefused     = Text{ZH: "不會刪除 %s：它包含 home 或目前的資料夾", EN: "%s is not deleted: it holds the home or the current folder"}
	HintPurge        = Text{ZH: "請檢查 OVERTONE_HOME", EN: "look at OVERTONE_HOME"}

	DoctorBroken   = Text{ZH: "有 %d 項損壞", EN: "failed checks: %d"}
	DoctorFine     = Text{ZH: "一切正常", EN: "all is well"}
	DoctorWarned   = Text{ZH: "沒有損壞，%d 項值得注意", EN: "nothing is broken; worth a look: %d"}
	HintInit       = Text{ZH: "執行 overtone init", EN: "run: overtone init"}
	DoctorBinary   = Text{ZH: "overtone %s 在 PATH 上：%s", EN: "overtone %s is on PATH: %s"}
	DoctorVersions = Text{ZH: "PATH 上的 overtone（%s）是 %s，這一個是 %s", EN: "the overtone on PATH (%s) is %s, this one is %s"}
	HintVersions   = Text{ZH: "安裝同一個版本，agent 用的是 PATH 上的那一個", EN: "install one version; agents use the one on PATH"}
	DoctorDisk     = Text{ZH: "%s 可寫入", EN: "%s can be written"}
	DoctorNoDisk   = Text{ZH: "%s 無法寫入：%s", EN: "%s cannot be written: %s"}
	HintDisk       = Text{ZH: "檢查擁有者、權限與剩餘空間", EN: "look at its owner, its mode and the space left"}
	DoctorNoHome   = Text{ZH: "%s 還不存在", EN: "%s is not there yet"}
	DoctorModes    = Text{ZH: "權限只限本人（看過 %d 個檔案）", EN: "only you can read it (%d files looked at)"}
	DoctorOpen     = Text{ZH: "其他人可讀取 %d 個檔案，例如 %s", EN: "files that others can read: %d, such as %s"}
	DoctorLoose    = Text{ZH: "其他人可寫入 %d 個檔案，例如 %s", EN: "files that others can write: %d, such as %s"}
	HintModesFix   = Text{ZH: "chmod -R go= %s", EN: "chmod -R go= %s"}
	DoctorWalk     = Text{ZH: "無法完整檢視 %s：%s", EN: "%s could not be looked over: %s"}
	DoctorLocks    = Text{ZH: "沒有卡住的鎖", EN: "no lock is stuck"}
	DoctorHeld     = Text{ZH: "這些 session 的鎖一直被占用：%s", EN: "the lock of these sessions is held: %s"}
	HintHeld       = Text{ZH: "結束占用的 overtone 程序；鎖會隨程序消失", EN: "end the overtone process that holds it; the lock goes with it"}
	DoctorLeft     = Text{ZH: "%d 個未寫完的殘留檔案，例如 %s", EN: "half-written files left behind: %d, such as %s"}
	HintLeft       = Text{ZH: "可以刪除；overtone cleanup 也會處理過期的 session", EN: "they can be deleted; overtone cleanup removes old sessions, too"}
	DoctorTrusted  = Text{ZH: "可執行指令的工作流檔案：%s（%s，%s 信任）", EN: "a workflow file that may run commands: %s (%s, trusted %s)"}
	DoctorDistrust = Text{ZH: "%s 在 %s 信任之後改過或不見了：不會執行它的指令", EN: "%s was changed or is gone since it was trusted, %s: it runs nothing"}
	DoctorConfig   = Text{ZH: "設定檔沒有問題：%s", EN: "the configuration is fine: %s"}
	DoctorNoConfig = Text{ZH: "沒有設定檔，使用預設值：%s", EN: "there is no configuration, defaults hold: %s"}
	HintConfig     = Text{ZH: "該 key 使用預設值，其餘照檔案", EN: "the key has its default, the rest is as the file says"}
	DoctorPrompt   = Text{ZH: "提示檔沒有問題：%s", EN: "the prompt file is fine: %s"}
	DoctorNoPrompt = Text{ZH: "沒有提示檔，使用內建的：%s", EN: "there is no prompt file, the built-in one holds: %s"}

	DoctorNewer     = Text{ZH: "%s：比已驗證的版本（到 %s 為止）還新", EN: "%s: newer than the versions that were verified, up to %s"}
	HintNewer       = Text{ZH: "多半照常運作；有異狀時先以 %s 對照", EN: "it most likely works; if something looks odd, compare with %s"}
	DoctorVerified  = Text{ZH: "%s：已驗證", EN: "%s: verified"}
	DoctorBetween   = Text{ZH: "%s：未驗證，介於已驗證的版本之間：%s", EN: "%s: not verified, between those that are: %s"}
	HintFireCopilot = Text{ZH: "開啟新的 Copilot CLI session；hook 在 ~/.copilot/hooks/overtone.json", EN: "start a new session of Copilot CLI; the hooks are in ~/.copilot/hooks/overtone.json"}
	InitCopilot     = Text{ZH: "開啟新的 Copilot CLI session，之後以 overtone doctor 確認。壓縮由你執行（/compact）：hook 無法代勞", EN: "start a new session of Copilot CLI, then look with: overtone doctor. Compacting is up to you (/compact): no hook can do it there"}

	HintFireOpencode = Text{ZH: "重新啟動 opencode；plugin 在 ~/.config/opencode/plugin/overtone.js（--pure 會略過它）", EN: "start opencode anew; the plugin is ~/.config/opencode/plugin/overtone.js (--pure leaves it out)"}
	InitOpencode     = Text{ZH: "重新啟動 opencode，之後以 overtone doctor 確認。opencode 會在設定資料夾為 plugin 安裝它自己的 node_modules，uninstall 不會動它", EN: "start opencode anew, then look with: overtone doctor. For plugins opencode keeps a node_modules of its own in its folder, which uninstall leaves alone"}

	HintFireGemini   = Text{ZH: "開啟新的 Gemini CLI session；hook 在 ~/.gemini/settings.json", EN: "start a new session of Gemini CLI; the hooks are in ~/.gemini/settings.json"}
	InitGemini       = Text{ZH: "開啟新的 Gemini CLI session，之後以 overtone doctor 確認。壓縮由你執行（/compress）或由 host 自己：hook 無法代勞，也擋不下來", EN: "start a new session of Gemini CLI, then look with: overtone doctor. Compacting is up to you (/compress) and to the host: no hook can do it there, or hold it back"}
	DoctorRetention  = Text{ZH: "Gemini CLI 可能在下次啟動時刪除被 resume 過的 session", EN: "Gemini CLI may delete a session that was resumed, at a later start"}
	HintRetention    = Text{ZH: `在 ~/.gemini/settings.json 加上 "general": {"sessionRetention": {"enabled": false}}`, EN: `put "general": {"sessionRetention": {"enabled": false}} into ~/.gemini/settings.json`}
	TellUser         = Text{ZH: "[Overtone] 請在這次回答的開頭原樣轉告使用者這一行（使用者看不到 hook 的訊息）：\n%s", EN: "[Overtone] Please begin this answer by passing this line on to the user, as it stands (the user cannot see what hooks say):\n%s"}
	DoctorWatching   = Text{ZH: "Codex 的觀察者正在執行", EN: "a watcher of Codex is running"}
	DoctorNoWatcher  = Text{ZH: "Codex 的觀察者沒有執行：模式 %s 不會自動壓縮 Codex", EN: "no watcher of Codex is running: in mode %s nothing is compacted there"}
	DoctorGoalRests  = Text{ZH: "Codex 的目標暫停中，因為觀察者在壓縮途中結束了：%s", EN: "a goal of Codex rests, because its watcher died while it compacted: %s"}
	DoctorGuess      = Text{ZH: "%s 的視窗大小還沒有人說過：mode auto 以 %s tokens 計", EN: "nobody has told how large the window of %s is yet: mode auto reckons with %s tokens"}
	HintGuess        = Text{ZH: "設定 compact.context_window，或執行 overtone init --statusline 讓 host 說", EN: "set compact.context_window, or run: overtone init --statusline, and the host tells it"}
	InitGuess        = Text{ZH: "視窗大小以 host 說的為準；host 說之前，mode auto 以 %s tokens 計，除非設定了 compact.context_window", EN: "The window is what the host tells; until then mode auto reckons with %s tokens, unless compact.context_window is set"}
	HintGoalRests    = Text{ZH: "執行 overtone watch codex，它會讓目標繼續；或在 Codex 裡用 /goal resume", EN: "run: overtone watch codex, which sets it going; or in Codex: /goal resume"}
	DoctorIdleUnit   = Text{ZH: "Codex 觀察者的服務已安裝，但沒有執行", EN: "the service of Codex's watcher is installed, but does not run"}
	HintWatcher      = Text{ZH: "執行 overtone watch codex，或 overtone watch codex --install", EN: "run: overtone watch codex, or: overtone watch codex --install"}
	HintWatchUnit    = Text{ZH: "查看 %s 的狀態", EN: "look at the state of %s"}
	DoctorNoPlan     = Text{ZH: "Codex 的 update_plan 工具未啟用：不會有計畫邊界", EN: "Codex's update_plan tool is off: there will be no plan boundaries"}
	HintPlan         = Text{ZH: "在 Codex 的 config.toml 加上 [tools.update_plan] 與 enabled = true", EN: "add to Codex's config.toml: [tools.update_plan] with enabled = true"}
	DoctorCodexRoute = Text{
		ZH: "Codex 上的工作流：以 [workflow:…] 啟動（沒有斜線指令）；agent 的 Node Context 是獨立的訊息；agent 結束不會喚醒主 agent，因此要求它以 wait_agent 等待；agent 的最後一則訊息原樣交給主 agent",
		EN: "workflows on Codex: they start by [workflow:…] (there are no slash commands); an agent's Node Context is a message of its own; its end does not wake the main agent, which is told to wait_agent; its last message reaches the main agent as it is",
	}
	NoStages         = Text{ZH: "這個 agent 沒有階段 agent，[workflow:…] 標籤在此無效", EN: "this agent has no agents for stages: the [workflow:…] tag does nothing here"}
	HintUpgrade      = Text{ZH: "請升級 %s", EN: "upgrade %s"}
	DoctorHere       = Text{ZH: "%s：程式在 %s，hook 沒有安裝", EN: "%s: the program is here (%s), the hooks are not installed"}
	DoctorAway       = Text{ZH: "%s：程式不在 PATH 上，hook 也沒有安裝", EN: "%s: the program is not on PATH, and the hooks are not installed"}
	HintInitHost     = Text{ZH: "執行 overtone init --host %s", EN: "run: overtone init --host %s"}
	DoctorStatusOurs = Text{ZH: "狀態列由 Overtone 提供", EN: "the status line is Overtone's"}
	DoctorStatusKept = Text{ZH: "狀態列是你自己的", EN: "the status line is your own"}
	DoctorStatusNone = Text{ZH: "沒有狀態列", EN: "there is no status line"}
	HintStatusLine   = Text{ZH: "執行 overtone init --statusline", EN: "run: overtone init --statusline"}
	DoctorNowhere    = Text{ZH: "沒有任何 host 裝有 Overtone 的 hook", EN: "no host has Overtone's hooks"}
	DoctorPlugin     = Text{ZH: "plugin 的 %d 個檔案完整", EN: "the plugin's files are intact: %d"}
	DoctorNoPlugin   = Text{ZH: "plugin 不完整：缺 %d、被改 %d、多餘 %d 個檔案", EN: "the plugin's files are not intact: missing %d, changed %d, foreign %d"}
	DoctorSettings   = Text{ZH: "設定已就緒：%s", EN: "the settings are in place: %s"}
	DoctorBadJSON    = Text{ZH: "無法讀取 %s：%s", EN: "%s cannot be read: %s"}
	DoctorNoKeys     = Text{ZH: "%s 缺少 %s", EN: "%s lacks %s"}
	DoctorOff        = Text{ZH: "plugin 在 %s 中被停用", EN: "the plugin is switched off in %s"}
	HintOn           = Text{ZH: "在 Claude Code 輸入 /plugin，或執行 overtone init", EN: "switch it on by /plugin in Claude Code, or run: overtone init"}
	DoctorNoHooks    = Text{ZH: "%s 的 disableAllHooks 關閉了所有 hook", EN: "disableAllHooks in %s turns every hook off"}
	HintNoHooks      = Text{ZH: "移除 disableAllHooks", EN: "remove disableAllHooks"}
	DoctorMode       = Text{ZH: "模式 %s，與 Claude Code 的設定一致", EN: "mode %s, and Claude Code's settings agree"}
	DoctorNoWindow   = Text{ZH: "模式是 auto，但 %s 沒有對應的 %s", EN: "the mode is auto, but %s does not have the %s for it"}
	DoctorHasWindow  = Text{ZH: "模式是 %s，但 %s 仍有 auto 的 %s", EN: "the mode is %s, but %s still has the %s of auto"}
	DoctorNoRounds   = Text{ZH: "%s 不說壓縮屬於誰，需要 %s，但 %s 沒有", EN: "%s does not say whose a compaction is and needs %s, which %s does not have"}
	HintInitMode     = Text{ZH: "執行 overtone init --mode %s", EN: "run: overtone init --mode %s"}
	DoctorFired      = Text{ZH: "%s 的 hook 已觸發 %d／%d 種，最近：%s", EN: "%s: %d of %d hooks have fired, the last %s"}
	DoctorNotYet     = Text{ZH: "尚未：%s", EN: "not yet: %s"}
	DoctorNoFire     = Text{ZH: "%s 的 hook 從未觸發", EN: "%s: no hook has fired yet"}
	HintFire         = Text{ZH: "開一個新的 session 試試；仍然沒有時，在 Claude Code 輸入 /hooks 查看", EN: "start a new session; if nothing changes, look at /hooks in Claude Code"}
	HintFireCodex    = Text{ZH: "在 Codex 輸入 /hooks 核准，然後送出一個提示", EN: "approve them by /hooks in Codex, then send a prompt"}
	DoctorCore       = Text{ZH: "%s 的 %s 從未觸發，其他的卻有", EN: "%s: %s never fired, though others did"}
	DoctorApproved   = Text{ZH: "Codex 的 %d 個 hook 已審核", EN: "the %d hooks of Codex are reviewed"}
	DoctorHooksOff   = Text{ZH: "%s 的 hook 功能已關閉（%s）：沒有一個會執行", EN: "hooks are switched off in %s (%s): none of them runs"}
	HintHooksOff     = Text{ZH: "移除那個設定", EN: "take that setting out"}
	DoctorPending    = Text{ZH: "Codex 的 hook 有 %d／%d 個等待審核", EN: "%d of %d hooks wait for your review in Codex"}
	HintApprove      = Text{ZH: "在 Codex 輸入 /hooks", EN: "use /hooks in Codex"}

	DoctorNoSession = Text{ZH: "Overtone 的 hook 還沒有看過任何 session", EN: "no hook of Overtone's has seen a session yet"}
	DoctorTimeline  = Text{ZH: "session %s 的時間軸可讀（%d 行）", EN: "the timeline of session %s is readable (lines: %d)"}
	DoctorBadLines  = Text{ZH: "session %s 的時間軸有 %d 行損壞", EN: "the timeline of session %s has damaged lines: %d"}
	HintBadLines    = Text{ZH: "損壞的行會被略過；在它們被淘汰前不會提出 compact 建議", EN: "they are passed over; until they age out no compaction is suggested"}
	DoctorUnread    = Text{ZH: "session %[1]s 的 %[2]s 無法讀取：%[3]s", EN: "%[2]s of session %[1]s cannot be read: %[3]s"}
	HintUnread      = Text{ZH: "以 overtone workflow start NAME --force --session %s 重新開始：損壞的檔案會移到一旁", EN: "start again with overtone workflow start NAME --force --session %s, which moves the damaged file aside"}
	DoctorState     = Text{ZH: "工作流狀態可讀", EN: "the workflow's state is readable"}
	DoctorNoCompact = Text{ZH: "session %s 還沒有 compact 過", EN: "session %s was not compacted yet"}
	DoctorUnknown   = Text{ZH: "第 %d 次 compact（%s）：交接內容是否送達不明，沒有重送", EN: "compaction %d (%s): whether the hand-over arrived is not known; it was not sent again"}
	DoctorReceipt   = Text{ZH: "第 %d 次 compact（%s）：已送達，經由 %s", EN: "compaction %d (%s): delivered, by %s"}
	DoctorHanded    = Text{ZH: "第 %d 次 compact（%s）：已交給 host，經由 %s", EN: "compaction %d (%s): handed to the host, by %s"}
	DoctorEmpty     = Text{ZH: "第 %d 次 compact（%s）：沒有需要送達的內容", EN: "compaction %d (%s): there was nothing to deliver"}
	DoctorWaiting   = Text{ZH: "第 %d 次 compact（%s）：尚未送達", EN: "compaction %d (%s): not delivered yet"}
	HintWaiting     = Text{ZH: "會隨下一個提示送出", EN: "it goes out with the next prompt"}
	DoctorRunning   = Text{ZH: "第 %d 次 compact（%s）：進行中", EN: "compaction %d (%s): under way"}
	DoctorFailed    = Text{ZH: "第 %d 次 compact（%s）：失敗，沒有送出任何內容", EN: "compaction %d (%s): failed, nothing was sent"}
	DoctorLost      = Text{ZH: "第 %d 次 compact（%s）：內容未送達（%s）", EN: "compaction %d (%s): its text did not arrive (%s)"}
	HintLost        = Text{ZH: "overtone timeline --session %s", EN: "overtone timeline --session %s"}
	DoctorPacket    = Text{ZH: "最近的封包：%s", EN: "the last packet: %s"}

	AgoNow   = Text{ZH: "一小時內", EN: "within the hour"}
	AgoHours = Text{ZH: "%d 小時前", EN: "%d h ago"}
	AgoDays  = Text{ZH: "%d 天前", EN: "%d days ago"}
)

// The program for hooks.
var (
	WarnNoHook      = Text{ZH: "%s 沒有 overtone-hook：hook 改為執行 overtone hook，結果相同，但啟動較慢", EN: "there is no overtone-hook in %s: hooks run `overtone hook`, which does the same and starts slower"}
	WarnCodexTrust  = Text{ZH: "Codex 的 hook 指令有變更：Codex 會再次請你審核（或在 TUI 輸入 /hooks）；核准前不會執行", EN: "the commands of Codex's hooks have changed: Codex asks you to review them again (or by /hooks); they do not run before you approve them"}
	DoctorHook      = Text{ZH: "hook 執行 %s（%s）", EN: "hooks run %s (%s)"}
	DoctorHookOther = Text{ZH: "%s 是 %s，overtone 是 %s", EN: "%s is %s, overtone is %s"}
	HintHookOther   = Text{ZH: "從同一個版本安裝兩者，再執行 overtone init", EN: "install both from one release, then run: overtone init"}
	DoctorHookGone  = Text{ZH: "%s 的 hook 執行 %s，它不存在", EN: "the hooks of %s run %s, which is not there"}
	DoctorOutdated  = Text{ZH: "%s：較舊的安裝，仍可運作", EN: "%s: an older set-up, which still works"}
	HintRetrust     = Text{ZH: "執行 overtone init --host %s；Codex 之後會再次請你審核這些 hook", EN: "run: overtone init --host %s; Codex then asks you to review the hooks again"}
)
