package message

// What a command line says of itself: help, usage, sessions, settings, versions.
var (
	UsageTitle       = Text{ZH: "用法：", EN: "Usage:"}
	UsageFlag        = Text{ZH: "選項", EN: "flags"}
	UsageCommand     = Text{ZH: "指令", EN: "command"}
	UsageCommands    = Text{ZH: "指令：", EN: "Commands:"}
	UsageExamples    = Text{ZH: "範例：", EN: "Examples:"}
	UsageFlags       = Text{ZH: "選項：", EN: "Flags:"}
	UsageGlobal      = Text{ZH: "共用選項：", EN: "Global flags:"}
	UsageDefault     = Text{ZH: "（預設 %s）", EN: " (default %s)"}
	UsageMore        = Text{ZH: "各指令的說明：%s 指令 --help", EN: "More about a command: %s COMMAND --help"}
	UnknownFlag      = Text{ZH: "沒有這個選項：%s", EN: "unknown flag: %s"}
	FlagNeedsValue   = Text{ZH: "%s 需要一個值", EN: "%s needs a value"}
	FlagBadValue     = Text{ZH: "%s：%q 不是%s", EN: "%s: %q is not %s"}
	FlagBadSyntax    = Text{ZH: "無法理解的選項：%s", EN: "cannot read the flag %s"}
	FlagsExclude     = Text{ZH: "%s 與 %s 不能並用", EN: "%s and %s exclude each other"}
	FlagPort         = Text{ZH: " 0 到 65535 的數字", EN: "a number from 0 to 65535"}
	FlagNumber       = Text{ZH: "數字", EN: "a number"}
	FlagBool         = Text{ZH: " true 或 false", EN: "true or false"}
	FlagDuration     = Text{ZH: "時間長度（例如 90s、5m）", EN: "a length of time such as 90s or 5m"}
	FlagText         = Text{ZH: "可用的值", EN: "a value it takes"}
	UnknownCommand   = Text{ZH: "沒有 %q 這個指令（在 %q 之下）", EN: "unknown command %q for %q"}
	MissingArg       = Text{ZH: "缺少參數 %s", EN: "missing argument %s"}
	ExtraArg         = Text{ZH: "多餘的參數 %q", EN: "unexpected argument %q"}
	UnknownShell     = Text{ZH: "沒有 %s 的補全", EN: "no completion for %s"}
	WaitsForLock     = Text{ZH: "正在等 %s：%s鎖住了它（Ctrl-C 放棄；overtone doctor 會說明）", EN: "waiting for %s, which %s has locked (Ctrl-C gives up; overtone doctor tells more)"}
	WaitsForSomebody = Text{ZH: "另一個程序", EN: "another process"}
	WaitsForProcess  = Text{ZH: "程序 %s ", EN: "process %s"}
	NotWritten       = Text{ZH: "輸出無法寫出：%v", EN: "write output: %v"}
	VersionCommit    = Text{ZH: "commit", EN: "commit"}
	VersionClean     = Text{ZH: "（未修改）", EN: "(unmodified)"}
	VersionModified  = Text{ZH: "（有修改）", EN: "(modified)"}
	HereNone         = Text{
		ZH: "這裡還沒有任何 agent 的 session。\n  %[1]s demo      看看它做什麼（不碰你的 home）\n  %[1]s init      裝上 hook\n  %[1]s --help    所有指令",
		EN: "There is no session of any agent here yet.\n  %[1]s demo      see what it does, without touching your home\n  %[1]s init      install the hooks\n  %[1]s --help    all commands",
	}
	HereNext = Text{
		ZH: "  %[1]s audit               壓縮失去了什麼、花了多少\n  %[1]s continue SESSION    接著做下去，在同一個或另一個 agent\n  %[1]s doctor              裝好了什麼，缺了什麼\n  %[1]s --help              所有指令",
		EN: "  %[1]s audit               what compactions lost and cost\n  %[1]s continue SESSION    go on with one, in its agent or in another\n  %[1]s doctor              what is installed, and what is missing\n  %[1]s --help              all commands",
	}
	ConfigWrote         = Text{ZH: "已寫入 %s", EN: "written to %s"}
	ConfigOverruled     = Text{ZH: "環境變數 %s 優先：目前生效的是 %s", EN: "the variable %s wins: what holds now is %s"}
	ColKey              = Text{ZH: "設定", EN: "KEY"}
	ColOrigin           = Text{ZH: "來源", EN: "FROM"}
	OriginDefault       = Text{ZH: "預設值", EN: "default"}
	OriginLocale        = Text{ZH: "locale", EN: "the locale"}
	ConfigAllDefault    = Text{ZH: "所有設定都是預設值", EN: "every setting is the default"}
	NoSuchSession       = Text{ZH: "沒有名為 %s 的 session", EN: "there is no session %s"}
	HintDidYouMean      = Text{ZH: "你是指 %s 嗎？", EN: "did you mean %s?"}
	TimelineEmpty       = Text{ZH: "session %s 沒有事件", EN: "session %s has no events"}
	TimelineOther       = Text{ZH: "沒有這種類型的；不加 --type 會列出全部", EN: "none of these types; without --type all are listed"}
	TimelineUnseen      = Text{ZH: "沒有 hook 看過它：事件由 hook 記下，從 overtone init 之後開始。它的檔案說了什麼：overtone compact explain %s", EN: "no hook has seen it: hooks write events down, from `overtone init` on. What its file tells: overtone compact explain %s"}
	SessionTwice        = Text{ZH: "指定了兩個 session：%s 與 %s", EN: "two sessions are named: %s and %s"}
	ExplainCacheWarm    = Text{ZH: "快取：仍有效，%s 過期（還有 %s）", EN: "cache: warm until %s (%s left)"}
	ExplainCacheCold    = Text{ZH: "快取：%s 前已過期，此刻壓縮不會多花重寫的錢", EN: "cache: expired %s ago, so the next request writes all of it again anyway"}
	ExplainCacheNone    = Text{ZH: "快取：host 沒有說明", EN: "cache: the host does not say"}
	ExplainCacheUnknown = Text{ZH: "快取：沒有可讀的請求", EN: "cache: no request to go by"}
	ExplainCompacted    = Text{ZH: "請求：%d 次；壓縮：%d 次", EN: "requests: %d; compactions: %d"}
	ExplainState        = Text{ZH: "工作：%s", EN: "the work: %s"}
	ExplainShown        = Text{ZH: "%s（%s）", EN: "%s (%s)"}
	ExplainRequest      = Text{ZH: "使用者最新的話：%s", EN: "the user's newest words: %s"}
	ExplainRepaid       = Text{ZH: "；現在壓縮約 %s 個請求後回本（價格只在兩個邊界之間取捨，不單獨決定）", EN: "; a compaction now is repaid after %s requests (price breaks ties, it never decides)"}
	ExplainNotRepaid    = Text{ZH: "；現在壓縮不會讓 context 變小", EN: "; a compaction now would not make the context smaller"}
)
