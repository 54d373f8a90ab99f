package message

// What is wrong with a workflow's file, and what to do about it.
var (
	FlawMany    = Text{ZH: "階段太多：%d 個，上限 %d", EN: "too many stages: %d, at most %d"}
	FlawNone    = Text{ZH: "沒有階段", EN: "there are no stages"}
	FlawKey     = Text{ZH: "階段名稱 %s 不合格式", EN: "%s cannot be the name of a stage"}
	FlawTwice   = Text{ZH: "階段 %s 出現兩次", EN: "stage %s is there twice"}
	FlawStage   = Text{ZH: "不認識的階段 %s，也沒有指定 agent 或 run", EN: "unknown stage %s, with neither an agent nor a command"}
	FlawBoth    = Text{ZH: "%s 同時有 agent 與 run", EN: "%s has both an agent and a command"}
	FlawAgent   = Text{ZH: "找不到 agent %s", EN: "there is no agent %s"}
	FlawAfter   = Text{ZH: "after：沒有階段 %s", EN: "after: there is no stage %s"}
	FlawSelf    = Text{ZH: "%s 依賴自己", EN: "%s waits for itself"}
	FlawCycle   = Text{ZH: "循環：%s", EN: "a cycle: %s"}
	FlawGroup   = Text{ZH: "barrier 名稱 %s 不合格式", EN: "%s cannot be the name of a barrier"}
	FlawAlone   = Text{ZH: "barrier %s 只有 %s 一個階段", EN: "barrier %s has one stage only, %s"}
	FlawOpen    = Text{ZH: "barrier %s 無法收斂：%s 等待同組的 %s", EN: "barrier %s cannot close: %s waits for %s, which votes in it too"}
	FlawOnFail  = Text{ZH: "on_fail：沒有階段 %s", EN: "on_fail: there is no stage %s"}
	FlawAhead   = Text{ZH: "on_fail：%s 不在 %s 之前", EN: "on_fail: %s does not come before %s"}
	FlawNowhere = Text{ZH: "%s 的 FAIL 無處可回", EN: "a FAIL of %s goes nowhere"}
	FlawShadow  = Text{ZH: "%s 是內建工作流的名稱", EN: "%s is the name of a built-in workflow"}
	FlawName    = Text{ZH: "工作流名稱 %s 不合格式", EN: "%s cannot be the name of a workflow"}
	FlawOther   = Text{ZH: "name 是 %s，檔名卻是 %s", EN: "the name is %s, the file's is %s"}
	FlawField   = Text{ZH: "不認識的欄位 %s", EN: "unknown key %s"}
	FlawAgain   = Text{ZH: "%s 寫了兩次（第一次在第 %d 行）", EN: "%s is there twice, first on line %d"}
	FlawSyntax  = Text{ZH: "%s", EN: "not valid YAML: %s"}
	FlawRange   = Text{ZH: "%s：應介於 %s 與 %s 之間", EN: "%s: want something from %s to %s"}
	FlawPath    = Text{ZH: "context：%s 不在專案之內", EN: "context: %s is not inside the project"}
	FlawNoFile  = Text{ZH: "context：沒有檔案 %s", EN: "context: there is no file %s"}
	FlawPattern = Text{ZH: "when.paths：樣式 %s 太長、太複雜或離開專案", EN: "when.paths: pattern %s is too long, too complex or leaves the project"}
	FlawLong    = Text{ZH: "%s 太長（上限 %d）", EN: "%s is too long (at most %d)"}
	FlawRunOnly = Text{ZH: "%s 只用於有 run 的階段", EN: "%s belongs to a stage with a command"}

	HintFlawKey       = Text{ZH: "用大寫字母、數字與連字號，例如 LINT 或 LINT:fast", EN: "use capitals, digits and hyphens, such as LINT or LINT:fast"}
	HintFlawTwice     = Text{ZH: "重複的階段不加編號，會自動成為 X、X:2、X:3", EN: "list it without a number: a repeated stage becomes X, X:2, X:3 by itself"}
	HintFlawStageNear = Text{ZH: "是指 %s 嗎？自己的階段要寫 agent: 或 run:", EN: "did you mean %s? A stage of your own needs agent: or run:"}
	HintFlawStage     = Text{ZH: "自己的階段要寫 agent: 或 run:；內建的有 %s", EN: "a stage of your own needs agent: or run:; built in are %s"}
	HintFlawBoth      = Text{ZH: "刪去其中一個", EN: "take one of them out"}
	HintFlawAgent     = Text{ZH: "寫一個 .claude/agents/%s.md，或用現有的，例如 overtone:developer、general-purpose", EN: "write .claude/agents/%s.md, or name one that is there, such as overtone:developer or general-purpose"}
	HintFlawListed    = Text{ZH: "此檔案的階段有 %s", EN: "the stages of this file are %s"}
	HintFlawSelf      = Text{ZH: "從 after 中刪去", EN: "take it out of after"}
	HintFlawCycle     = Text{ZH: "刪去其中一個 after", EN: "take one of these out of an after"}
	HintFlawGroup     = Text{ZH: "用小寫字母、數字與連字號", EN: "use small letters, digits and hyphens"}
	HintFlawAlone     = Text{ZH: "barrier 至少要有兩個階段，否則刪去", EN: "a barrier joins two stages or more; else leave it out"}
	HintFlawOpen      = Text{ZH: "同組的階段並行，彼此不能等待；改 after 或移出 barrier", EN: "stages of a barrier run side by side: change after, or take one out of the barrier"}
	HintFlawAhead     = Text{ZH: "FAIL 只能回到它之前的階段，或它自己", EN: "a FAIL goes back to a stage before it, or to itself"}
	HintFlawNowhere   = Text{ZH: "寫 on_fail: 階段；若要照樣繼續，寫 on_fail: none", EN: "say on_fail: STAGE, or on_fail: none where the work should go on"}
	HintFlawShadow    = Text{ZH: "換一個檔名", EN: "call the file something else"}
	HintFlawName      = Text{ZH: "用小寫字母、數字與連字號，例如 release-candidate", EN: "use small letters, digits and hyphens, such as release-candidate"}
	HintFlawOther     = Text{ZH: "刪去 name，或改成與檔名相同", EN: "take name out, or make it the same"}
	HintFlawFields    = Text{ZH: "可用的有 %s", EN: "there are %s"}
	HintFlawPath      = Text{ZH: "寫專案之內的相對路徑", EN: "write a path below the project's folder"}
	HintFlawPattern   = Text{ZH: "最多四個 **，例如 src/**/*.go", EN: "at most four **, such as src/**/*.go"}

	WantAgent    = Text{ZH: "%s：應為 agent 的名稱：字母、數字與 - _ . : / @", EN: "%s: want an agent's name: letters, digits and - _ . : / @"}
	WantVisible  = Text{ZH: "%s：含有看不見的字元", EN: "%s: has characters that cannot be seen"}
	WantText     = Text{ZH: "%s：應為文字", EN: "%s: want text"}
	WantLabel    = Text{ZH: "%s：應為文字，或 {zh: …, en: …}", EN: "%s: want text, or {zh: …, en: …}"}
	WantList     = Text{ZH: "%s：應為清單", EN: "%s: want a list"}
	WantStages   = Text{ZH: "%s：應為階段的清單", EN: "%s: want a list of stages"}
	WantMap      = Text{ZH: "%s：應為「欄位: 值」", EN: "%s: want lines of the form key: value"}
	WantBool     = Text{ZH: "%s：應為true 或 false", EN: "%s: want true or false"}
	WantNumber   = Text{ZH: "%s：應為整數", EN: "%s: want a whole number"}
	WantDuration = Text{ZH: "%s：應為時間長度，例如 90s 或 10m", EN: "%s: want a duration, such as 90s or 10m"}
)
