package message

// What a command line says of itself: help, usage, sessions, settings, versions.
var (
	HelpHelp           = Text{ZH: "說明某個指令", EN: "help about a command"}
	HelpFlag           = Text{ZH: "顯示說明", EN: "show this help"}
	HelpVersion        = Text{ZH: "顯示版本、commit，以及是否有修改", EN: "the version, its commit, and whether it was modified"}
	UsageTitle         = Text{ZH: "用法：", EN: "Usage:"}
	UsageFlag          = Text{ZH: "選項", EN: "flags"}
	UsageCommand       = Text{ZH: "指令", EN: "command"}
	UsageCommands      = Text{ZH: "指令：", EN: "Commands:"}
	UsageExamples      = Text{ZH: "範例：", EN: "Examples:"}
	UsageFlags         = Text{ZH: "選項：", EN: "Flags:"}
	UsageGlobal        = Text{ZH: "共用選項：", EN: "Global flags:"}
	UsageDefault       = Text{ZH: "（預設 %s）", EN: " (default %s)"}
	UsageMore          = Text{ZH: "各指令的說明：%s 指令 --help", EN: "More about a command: %s COMMAND --help"}
	UnknownFlag        = Text{ZH: "沒有這個選項：%s", EN: "unknown flag: %s"}
	FlagNeedsValue     = Text{ZH: "%s 需要一個值", EN: "%s needs a value"}
	FlagBadValue       = Text{ZH: "%s：%q 不是%s", EN: "%s: %q is not %s"}
	FlagBadSyntax      = Text{ZH: "無法理解的選項：%s", EN: "cannot read the flag %s"}
	FlagsExclude       = Text{ZH: "%s 與 %s 不能並用", EN: "%s and %s exclude each other"}
	FlagPort           = Text{ZH: "0 到 65535 的數字", EN: "a number from 0 to 65535"}
	FlagNumber         = Text{ZH: "數字", EN: "a number"}
	FlagBool           = Text{ZH: " true 或 false", EN: "true or false"}
	FlagDuration       = Text{ZH: "時間長度（例如 90s、5m）", EN: "a length of time such as 90s or 5m"}
	FlagText           = Text{ZH: "可用的值", EN: "a value it takes"}
	UnknownCommand     = Text{ZH: "%[2]q 沒有 %[1]q 這個指令", EN: "unknown command %[1]q for %[2]q"}
	MissingArg         = Text{ZH: "缺少參數 %s", EN: "missing argument %s"}
	ExtraArg           = Text{ZH: "多餘的參數 %q", EN: "unexpected argument %q"}
	UnknownShell       = Text{ZH: "沒有 %s 的補全；可用：%s", EN: "no completion for %s; there are: %s"}
	WaitsForLock       = Text{ZH: "正在等 %s：另一個程序鎖住了它（Ctrl-C 放棄；overtone doctor 會說明）", EN: "waiting for %s, which another process has locked (Ctrl-C gives up; overtone doctor tells more)"}
	NotWritten         = Text{ZH: "輸出無法寫出：%v", EN: "write output: %v"}
	ManySessions       = Text{ZH: "%q 符合 %d 個 session：%s", EN: "%q matches %d sessions: %s"}
	ManySessionsMore   = Text{ZH: "%q 符合 %d 個 session：%s，以及另外 %d 個", EN: "%q matches %d sessions: %s and %d more"}
	HelpCompletion     = Text{ZH: "shell 的自動補全", EN: "completion for your shell"}
	HelpCompletionLong = Text{
		ZH: "印出讓 shell 補全指令、session、預設組合、服務與工作流的腳本。",
		EN: "Prints what makes a shell complete commands, sessions, presets, providers and workflows.",
	}
	VersionCommit   = Text{ZH: "commit", EN: "commit"}
	VersionClean    = Text{ZH: "（未修改）", EN: "(unmodified)"}
	VersionModified = Text{ZH: "（有修改）", EN: "(modified)"}
	HelpConfig      = Text{ZH: "目前生效的設定，以及各自的來源", EN: "the settings in force and where each comes from"}
	HelpConfigLong  = Text{
		ZH: "每個設定的值與來源：預設值、設定檔、auto-compact.md 或環境變數；也列出設定中的問題。",
		EN: "Each setting with its value and origin: the default, the settings file, auto-compact.md or a variable; what is wrong in them is said, too.",
	}
	HelpConfigAll       = Text{ZH: "也列出不需要調整的設定", EN: "also those that nobody has to turn"}
	HelpConfigChanged   = Text{ZH: "只列出非預設的設定", EN: "only what is not the default"}
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
	ExplainRequest      = Text{ZH: "最新的要求：%s", EN: "the latest request: %s"}
	ExplainRepaid       = Text{ZH: "；現在壓縮約 %s 個請求後回本（價格只在兩個邊界之間取捨，不單獨決定）", EN: "; a compaction now is repaid after %s requests (price breaks ties, it never decides)"}
	ExplainNotRepaid    = Text{ZH: "；現在壓縮不會讓 context 變小", EN: "; a compaction now would not make the context smaller"}
)

var states = map[string]Text{
	"working":  {ZH: "進行中", EN: "under way"},
	"called":   {ZH: "使用者說了話，還沒有人回應", EN: "the user has said something that nobody has answered yet"},
	"finished": {ZH: "已完成，下一句話由使用者說", EN: "finished; the next word is the user's"},
	"stopped":  {ZH: "使用者已中止", EN: "stopped by the user"},
	"asked":    {ZH: "等使用者回答", EN: "waits for the user's answer"},
}

var stateAsked = Text{ZH: "等使用者回答：%s", EN: "waits for the user's answer: %s"}

// evidence is what shows a state.
var evidence = map[string]Text{
	"tool-asks":    {ZH: "agent 用工具提出的問題還沒有回答", EN: "a question that the agent asked with a tool has no answer"},
	"proposes":     {ZH: "agent 提出的計畫等使用者決定", EN: "a plan of the agent's waits for a decision"},
	"interrupted":  {ZH: "使用者打斷了 agent", EN: "the user has interrupted the agent"},
	"at-work":      {ZH: "最後發生的是工具呼叫", EN: "a call of a tool was the last thing that happened"},
	"user-last":    {ZH: "最後說話的是使用者", EN: "the user's words are the last"},
	"asks":         {ZH: "agent 的最後一段話是問題", EN: "the agent's last message asks something"},
	"told-to-stop": {ZH: "使用者要求停下", EN: "the user has told the agent to stop"},
	"says-done":    {ZH: "agent 的最後一段話說已完成", EN: "the agent's last message says that it is done"},
	"plan-done":    {ZH: "計畫的步驟都完成了", EN: "every step of the plan is done"},
	"yields":       {ZH: "agent 的最後一段話把下一步留給使用者", EN: "the agent's last message leaves the next step to the user"},
	"announces":    {ZH: "agent 的最後一段話說了接下來要做什麼", EN: "the agent's last message says what comes next"},
	"wonders":      {ZH: "使用者只是提問，而 agent 已回答", EN: "the user only asked something, and the agent has answered"},
}

var noEvidence = Text{ZH: "沒有跡象說明是否還有事要做", EN: "nothing shows whether anything is left to do"}

// Stands is how work stands and what shows it, for a person.
func Stands(state, question string, shown []string, l Lang) string {
	return ExplainShown.Format(l, StateOf(state, question, l), ShownBy(shown, l))
}

// ShownBy is what shows how work stands, in words: the first of the names decides.
func ShownBy(names []string, l Lang) string {
	if len(names) > 0 {
		if text, ok := evidence[names[0]]; ok {
			return text.In(l)
		}
	}
	return noEvidence.In(l)
}

// StateOf is how work stands, in words; question is what the agent waits to be told.
func StateOf(state, question string, l Lang) string {
	if state == "asked" && question != "" {
		return stateAsked.Format(l, question)
	}
	if text, ok := states[state]; ok {
		return text.In(l)
	}
	return AuditUnknown.In(l)
}
