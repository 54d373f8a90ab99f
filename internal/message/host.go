package message

// Setting up, taking back, and checking an installation.
var (
	HelpInit     = Text{ZH: "安裝到 Claude Code 或 Codex（先顯示差異，並備份）", EN: "install into Claude Code or Codex (shows the diff, keeps a backup)"}
	HelpInitLong = Text{
		ZH: "把 Overtone 裝進 host：Claude Code 是 plugin 與 settings.json 的幾個 key，Codex 是 hooks.json。\n" +
			"原檔會先備份到 $OVERTONE_HOME/backup，overtone uninstall 可逐位元組還原。重複執行不會改變任何東西。\n\n" +
			"--mode auto 會降低 Claude Code 自動 compact 的門檻，並由 hook 擋到自然邊界為止；\n" +
			"啟用前會在本機以假模型實測一次（不連網路、不動你的資料），以 --no-probe 略過。\n\n" +
			"例：\n  overtone init --dry-run\n  overtone init --host codex\n  overtone init --mode auto --yes",
		EN: "Puts Overtone into a host: for Claude Code a plugin and a few keys of settings.json, for Codex\n" +
			"hooks.json. The files are backed up to $OVERTONE_HOME/backup first; overtone uninstall gives them back\n" +
			"byte for byte. Running it again changes nothing.\n\n" +
			"--mode auto lowers the point where Claude Code compacts by itself, and the hook holds it off until a\n" +
			"natural boundary. Before that is relied upon it is tried once against a model on this machine (no\n" +
			"network, none of your data); --no-probe leaves that out.\n\n" +
			"Examples:\n  overtone init --dry-run\n  overtone init --host codex\n  overtone init --mode auto --yes",
	}
	HelpUninstall     = Text{ZH: "移除安裝，設定逐位元組還原", EN: "take the installation back; settings become what they were"}
	HelpUninstallLong = Text{
		ZH: "設定檔若自安裝後未被修改，會逐位元組還原；否則只移除屬於 Overtone 的項目。\nsession 與設定會保留，除非使用 --purge。",
		EN: "A settings file that was not edited since gets its old bytes back; from any other only what is\nOvertone's is removed. Sessions and configuration stay unless --purge is given.",
	}
	HelpDoctor     = Text{ZH: "檢查安裝是否正常，並說明如何修正", EN: "check the installation, with advice"}
	HelpDoctorLong = Text{
		ZH: "檢查執行檔、版本、plugin、設定、各 hook 是否觸發、最近一次 compact 的收據、權限、鎖與設定檔。\n沒有 ✗ 時以 0 結束，否則為 1。什麼都不會被修改。",
		EN: "Checks the binary, versions, plugin, settings, which hooks have fired, the receipt of the last\ncompaction, permissions, locks and configuration. Exits 0 without a ✗, else 1. Changes nothing.",
	}
	HelpHost        = Text{ZH: "claude-code 或 codex", EN: "claude-code or codex"}
	HelpHostAll     = Text{ZH: "只處理此 host（預設全部）", EN: "only this host (default: all)"}
	HelpMode        = Text{ZH: "到達邊界時：tag、suggest 或 auto（預設依設定檔）", EN: "at a boundary: tag, suggest or auto (default: as configured)"}
	HelpLang        = Text{ZH: "hook 訊息的語言：zh-TW 或 en（預設依 locale）", EN: "language of what hooks print: zh-TW or en (default: the locale's)"}
	HelpYes         = Text{ZH: "不要發問", EN: "ask nothing"}
	HelpProbe       = Text{ZH: "實測已安裝的 Claude Code 是否接受 PreCompact 的 block", EN: "try whether the installed Claude Code lets PreCompact block"}
	HelpNoProbe     = Text{ZH: "不實測", EN: "do not try"}
	HelpPurge       = Text{ZH: "連同 session、設定與備份一併刪除", EN: "delete sessions, configuration and backups, too"}
	HelpInitDryRun  = Text{ZH: "只顯示差異，不寫入", EN: "show the diff, write nothing"}
	BadHost         = Text{ZH: "不認識的 host：%s", EN: "unknown host: %s"}
	HintHosts       = Text{ZH: "可用：claude-code、codex", EN: "there are: claude-code, codex"}
	BadMode         = Text{ZH: "不認識的模式：%s", EN: "unknown mode: %s"}
	HintInitModes   = Text{ZH: "可用：tag、suggest、auto", EN: "there are: tag, suggest, auto"}
	BadLang         = Text{ZH: "不認識的語言：%s", EN: "unknown language: %s"}
	HintLangs       = Text{ZH: "可用：zh-TW、en", EN: "there are: zh-TW, en"}
	HintBrokenJSON  = Text{ZH: "請先修正 %s，沒有寫入任何東西", EN: "repair %s first; nothing was written"}
	HintChangedFile = Text{ZH: "請再執行一次", EN: "run it again"}
	HintEditConfig  = Text{ZH: "請自行在 %s 設定 %s: %s", EN: "set it yourself in %s: %s: %s"}

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
	InitCodexRun = Text{ZH: "Codex 的自動 compact 由 overtone watch codex 執行", EN: "compaction in Codex is done by: overtone watch codex"}
	InitAlso     = Text{ZH: "也找到 Codex：overtone init --host codex", EN: "Codex is here, too: overtone init --host codex"}
	InitProbing  = Text{ZH: "正在本機實測 PreCompact 的 block（約 3 秒）…", EN: "trying on this machine whether PreCompact may block (about 3 s) …"}
	InitProbed   = Text{ZH: "Claude Code %s 接受 PreCompact 的 block", EN: "Claude Code %s lets PreCompact block"}
	InitWouldTry = Text{ZH: "將先實測 PreCompact 的 block", EN: "would first try whether PreCompact may block"}

	WarnNotOnPath   = Text{ZH: "overtone 不在 PATH 上，hook 找不到它", EN: "overtone is not on PATH, the hooks will not find it"}
	HintPath        = Text{ZH: "把 %s 加入 PATH", EN: "add %s to PATH"}
	WarnOtherBinary = Text{ZH: "PATH 上的 overtone（%s）不是這一個（%s）", EN: "the overtone on PATH (%s) is not this one (%s)"}
	WarnNoClaude    = Text{ZH: "找不到 claude 程式", EN: "there is no claude program"}
	WarnOldClaude   = Text{ZH: "Claude Code %s 比支援的最舊版本 %s 還舊，hook 可能無法載入", EN: "Claude Code %s is older than %s, the oldest known to work; its hooks may not load"}
	WarnOldCodex    = Text{ZH: "Codex %s 比已驗證的版本 %s 還舊", EN: "Codex %s is older than %s, the oldest known to work"}
	WarnAskVersion  = Text{ZH: "無法得知版本：%s", EN: "the version is not known: %s"}
	WarnSuggest     = Text{ZH: "改用 suggest 模式：%s", EN: "going on with mode suggest: %s"}
	ProbeNoClaude   = Text{ZH: "找不到 claude 程式，無法實測", EN: "there is no claude program to try"}
	ProbeRefused    = Text{ZH: "已安裝的 Claude Code 不理會 PreCompact 的 block", EN: "the installed Claude Code ignores a block by PreCompact"}
	ProbeFailed     = Text{ZH: "實測沒有結論（%s）；確定要用時加上 --no-probe", EN: "the try was not conclusive (%s); --no-probe insists"}
	WarnRegister    = Text{ZH: "無法事先登記 plugin（%s）；可能從第二個 session 起才生效", EN: "the plugin could not be announced (%s); it may start only with the second session"}
	WarnUnregister  = Text{ZH: "無法取消登記 plugin（%s）；無害", EN: "the plugin could not be signed off (%s); this does no harm"}
	WarnKept        = Text{ZH: "%s 的 %s 自安裝後被改過，予以保留", EN: "%s: %s was changed since and stays"}
	WarnConfig      = Text{ZH: "設定檔：%s", EN: "configuration: %s"}

	UninstallNothing = Text{ZH: "沒有安裝，沒有需要移除的項目", EN: "not installed, nothing to remove"}
	UninstallDone    = Text{ZH: "已移除；session 與設定保留在 %s", EN: "removed; sessions and configuration stay in %s"}
	UninstallPurged  = Text{ZH: "已移除，%s 也已刪除", EN: "removed, and %s deleted"}
	PurgeRefused     = Text{ZH: "不會刪除 %s：它包含家目錄或目前目錄", EN: "%s is not deleted: it holds the home or the current folder"}
	HintPurge        = Text{ZH: "請檢查 OVERTONE_HOME", EN: "look at OVERTONE_HOME"}
)
