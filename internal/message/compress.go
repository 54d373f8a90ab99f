package message

// What the commands compress, recall and sessions say.
var (
	RmNoClone     = Text{ZH: "%s 不是由 overtone 建立的副本", EN: "%s is not a clone that overtone made"}
	HintRmNoClone = Text{ZH: "overtone sessions 以「副本來源」欄標出它們", EN: "overtone sessions marks clones in the column CLONE OF"}
	RmUsed        = Text{ZH: "副本 %s 建立後曾被使用：現在 %s，建立時 %s", EN: "the clone %s was used since it was made: %s now, %s then"}
	HintRmUsed    = Text{ZH: "若仍要移除，加上 --force", EN: "--force removes it all the same"}
	RmLast        = Text{ZH: "副本 %s 的來源 %s 已不存在：副本與它的原文可能是最後的一份", EN: "the source of the clone %s is gone (%s): the clone and its originals may be all that is left of it"}
	RmFreed       = Text{ZH: "為副本保留的原文也已移除：%s", EN: "originals that were kept for clones are gone, too: %s"}
	RmStays       = Text{ZH: "%s 的原文（%s）留下：session %s 仍引用它們", EN: "originals of %s stay (%s): session %s still refers to them"}
	RmBusy        = Text{ZH: "原文暫時留下：正在建立另一個副本；下次 compress 或 sessions rm 會處理", EN: "originals stay for now: another clone is being made; the next compress or sessions rm sees to them"}
	RmNeedYes     = Text{ZH: "沒有終端機可以確認", EN: "there is no terminal to confirm on"}
	HintRmNeedYes = Text{ZH: "加上 --yes", EN: "add --yes"}
	AskRm         = Text{ZH: "移除副本 %s（%s，%s）？[y/N] ", EN: "remove the clone %s (%s, %s)? [y/N] "}
	RmDone        = Text{ZH: "已移除 %s（%s）", EN: "removed %s (%s)"}
	ClonesProblem = Text{ZH: "整理副本的原文：%s", EN: "tidying the originals of clones: %s"}
	RmKept        = Text{ZH: "保留 %s", EN: "kept %s"}
	SessionsMore  = Text{ZH: "另有 %d 個；overtone sessions -n %d 全部列出", EN: "%d more; overtone sessions -n %d lists all"}
	SessionsNone  = Text{ZH: "沒有符合條件的 session", EN: "no session matches"}
	ColHost       = Text{ZH: "HOST", EN: "HOST"}
	ColClone      = Text{ZH: "副本來源", EN: "CLONE OF"}

	NeedSession        = Text{ZH: "沒有指定 session", EN: "no session is named"}
	HintSessions       = Text{ZH: "overtone sessions 會列出它們", EN: "overtone sessions lists them"}
	NoSessions         = Text{ZH: "找不到任何 session", EN: "there are no sessions"}
	PickSession        = Text{ZH: "選擇 session（1-%d）：", EN: "session (1-%d): "}
	BadChoice          = Text{ZH: "%q 不在清單中", EN: "%q is not in the list"}
	BadOnOff           = Text{ZH: "--users 必須是 on 或 off", EN: "--users must be on or off"}
	BadPreset          = Text{ZH: "沒有名為 %q 的預設組合", EN: "unknown preset %q"}
	HintThereAre       = Text{ZH: "可用：%s", EN: "there are: %s"}
	BadRange           = Text{ZH: "%s %q：格式是 START-END:LEVEL，例如 0-50:%s", EN: "%s %q: want START-END:LEVEL, such as 0-50:%s"}
	BadRangeStart      = Text{ZH: "%s %q：起點 %q 不是數字", EN: "%s %q: start %q is not a number"}
	BadRangeEnd        = Text{ZH: "%s %q：終點 %q 不是數字", EN: "%s %q: end %q is not a number"}
	BadRangeBounds     = Text{ZH: "%s %s：範圍必須在 0 到 100 之間", EN: "%s %s: bounds must be between 0 and 100"}
	BadRangeOrder      = Text{ZH: "%s %s：起點必須小於終點", EN: "%s %s: start must be less than end"}
	BadRangeLevel      = Text{ZH: "%s %s：程度必須是其中之一：%s", EN: "%s %s: level must be one of %s"}
	BandsOverlap       = Text{ZH: "分段不可重疊：%s 與 %s", EN: "compression bands must not overlap: %s and %s"}
	RangesOverlap      = Text{ZH: "%s 的範圍不可重疊：%s 與 %s", EN: "%s: ranges must not overlap: %s and %s"}
	CompressTimeout    = Text{ZH: "壓縮超過時限 %s", EN: "compression timeout after %s"}
	SessionShrank      = Text{ZH: "session 在讀取時變短了", EN: "the session became shorter while it was read"}
	BadProvider        = Text{ZH: "沒有名為 %q 的 provider", EN: "there is no provider named %q"}
	MissingKeyText     = Text{ZH: "provider %s 需要環境變數 %s", EN: "provider %s needs %s in the environment"}
	HintKey            = Text{ZH: "設定它，或使用不需要金鑰的 --provider builtin", EN: "set it, or use --provider builtin, which needs none"}
	MirrorProblem      = Text{ZH: "無法讀取 %s 的 session：%v", EN: "cannot read the sessions of %s: %v"}
	NoCopilotClone     = Text{ZH: "Copilot CLI 的 session 是一個含資料庫的資料夾，副本無法 resume", EN: "a session of Copilot CLI is a folder with a database: a clone of it could not be resumed"}
	HintNoCopilotClone = Text{ZH: "overtone recall 仍能搜尋它，overtone compact packet 印出交接內容", EN: "overtone recall searches it all the same, and overtone compact packet prints a hand-over"}
	AllFailed          = Text{ZH: "%d 則訊息都無法壓縮，沒有建立副本；第一個錯誤：%s", EN: "messages that could be compressed: none of %d, and no clone was made; the first error: %s"}
	HintAllFailed      = Text{ZH: "--provider builtin 不需要網路與模型", EN: "--provider builtin needs neither network nor model"}
	NothingToDo        = Text{ZH: "這裡沒有可壓縮的內容", EN: "there is nothing to compress here"}
	HintNothing        = Text{ZH: "已壓縮過、太短或由 host 寫入的訊息會略過，preset 也不動使用者不長的訊息與最新幾輪；--dry-run 顯示原因，--bands 0-100:compress 壓縮所有訊息", EN: "messages that are short, compressed before or written by the host are left alone, and by presets those of users that are not long and of the newest turns; --dry-run shows which, --bands 0-100:compress takes all others"}
	TimelineProblem    = Text{ZH: "timeline：%s", EN: "timeline: %s"}
	ConfigNotSet       = Text{ZH: "%s：檔案的寫法無法把 %s 設為 %s", EN: "%s: the way it is written, %s cannot be set to %s"}

	PlanHead     = Text{ZH: "%[2]s · %[1]s · %[3]d 輪 · context 約 %[4]s tokens", EN: "%[2]s · %[1]s · turns: %[3]d · context about %[4]s tokens"}
	PlanDead     = Text{ZH: "之前 %d 行已不在 context 中，原樣保留", EN: "lines from before the live context, which stay as they are: %d"}
	PlanProblems = Text{ZH: "%d 行無法讀取，照抄", EN: "lines that cannot be read, copied as they are: %d"}
	PlanTools    = Text{ZH: "工具：移除 %d 次呼叫、截短 %d 次；思考：移除 %d 處；約 %s tokens", EN: "tools: calls removed %d, cut short %d; thinking removed: %d; about %s tokens"}
	PlanSkipped  = Text{ZH: "略過：%s", EN: "left alone: %s"}
	PlanNote     = Text{ZH: "加入一段工作現況的說明：約 %s tokens", EN: "a note on how the work stands is added: about %s tokens"}
	PlanTarget   = Text{ZH: "目標：context 約 %s tokens（%s）", EN: "target: context about %s tokens (%s)"}
	PlanCost     = Text{ZH: "%s：送出約 %s tokens、收回約 %s tokens，%s", EN: "%s: about %s tokens out, %s tokens back, %s"}
	PlanLocal    = Text{ZH: "%s：在本機執行，不花費", EN: "%s: on this machine, no cost"}
	PlanUnasked  = Text{ZH: "%s：沒有要壓縮的訊息，不會用到它，不花費（--preset heavy 會壓縮較舊的回答）", EN: "%s: no message is compressed, so it is not asked, no cost (--preset heavy compresses older answers)"}
	CostAbout    = Text{ZH: "約 US$%.4f（%s 的定價，取自 %s）", EN: "about US$%.4f at list prices of %s, from %s"}
	CostUnknown  = Text{ZH: "費用不明", EN: "cost unknown"}
	ColBand      = Text{ZH: "分段", EN: "BAND"}
	ColTurns     = Text{ZH: "輪", EN: "TURNS"}
	ColMessages  = Text{ZH: "訊息", EN: "MESSAGES"}
	ColTokens    = Text{ZH: "TOKENS", EN: "TOKENS"}
	ColTarget    = Text{ZH: "目標", EN: "TARGET"}
	ColID        = Text{ZH: "SESSION", EN: "SESSION"}
	ColProject   = Text{ZH: "專案", EN: "PROJECT"}
	ColAge       = Text{ZH: "時間", EN: "AGE"}
	ColCompacted = Text{ZH: "壓縮", EN: "COMPACTED"}
	ColSize      = Text{ZH: "大小", EN: "SIZE"}
	ColTitle     = Text{ZH: "標題", EN: "TITLE"}

	ProgressBar  = Text{ZH: "%s %d/%d · 失敗 %d · 剩餘 %s", EN: "%s %d/%d · %d failed · %s left"}
	DoneCounts   = Text{ZH: "其中壓縮了 %d／%d 則訊息：%s → %s tokens", EN: "in it, messages compressed: %d of %d, %s → %s tokens"}
	DoneCached   = Text{ZH: "取自先前結果：%d 則", EN: "taken from earlier results: %d"}
	DoneFailed   = Text{ZH: "失敗、保留原文：%d 則", EN: "failed, and left as they were: %d"}
	DoneContext  = Text{ZH: "整個 context：%s → 約 %s tokens（%s）", EN: "whole context: %s → about %s tokens (%s)"}
	DoneGone     = Text{ZH: "不再逐字出現的句子：%d（其中使用者的要求 %d、決定 %d）", EN: "sentences no longer stated: %d (users' requests %d, decisions %d)"}
	DoneRecall   = Text{ZH: "原文：例如 overtone recall %s", EN: "originals: overtone recall %s, for example"}
	DoneMark     = Text{ZH: "只剩代碼的訊息，例如 %s：overtone recall %s", EN: "of a message that is only a mark by now, such as %s: overtone recall %s"}
	DoneSearch   = Text{ZH: "移除或截短的工具內容仍在來源中：overtone recall 加上幾個詞就找得到", EN: "what tools said is still in the source: overtone recall and a few words find it"}
	FewTurns     = Text{ZH: "只有 %d 輪：範圍以整輪計算，百分比因此很粗略", EN: "few turns here (%d): a range takes whole turns, so percentages are coarse"}
	DoneLost     = Text{ZH: "不再逐字出現：%s", EN: "no longer stated word for word: %s"}
	DoneRedacted = Text{ZH: "送出前遮蔽：%s", EN: "redacted before sending: %s"}
	DoneSpent    = Text{ZH: "用量：送出 %s、收回 %s tokens", EN: "used: %s tokens out, %s back"}
	DoneFailure  = Text{ZH: "第 %d 行：%s", EN: "line %d: %s"}
	Refused      = Text{ZH: "結果被拒絕：%s", EN: "result refused: %s"}
	RefusedMore  = Text{ZH: "另有 %d 個", EN: "and %d more"}
	DoneMore     = Text{ZH: "……還有 %d 則", EN: "… and %d more"}
	DoneClone    = Text{ZH: "副本：%s", EN: "clone: %s"}
	LegacyPacket = Text{ZH: "這是最早期的 rollout 格式，目前的 codex 無法開啟；壓縮後的對話改以文字輸出", EN: "this rollout has the format of the first versions, which codex no longer opens; the compressed history is printed as text instead"}
	DoneUndo     = Text{ZH: "不要它了：overtone sessions rm %s（原 session 不受影響）", EN: "undo: overtone sessions rm %s (the source stays as it is)"}
	DoneResume   = Text{ZH: "接續：%s", EN: "resume: %s"}
	CloneTitle   = Text{ZH: "%s（壓縮；原文：overtone recall）", EN: "%s (compressed; originals: overtone recall)"}

	CloneNote = Text{
		ZH: "這個 session 是 %s 的壓縮副本：較舊的訊息只留下部分句子，工具呼叫可能已移除。`…#` 加八個字元（例如 `…#14045ce5`）代表整則未保留的訊息，後面的 `×3` 表示連續三則，其餘各則只是 `…`，用同一組八個字元取回。需要原文時用工具 `recall` 查這八個字元或關鍵字，或執行 `overtone recall 14045ce5`、`overtone recall \"關鍵字\"`。",
		EN: "This session is a compressed copy of %s: of older messages some sentences are left, and tool calls may be gone. `…#` and eight characters, such as `…#14045ce5`, stand for a message of which nothing was kept, with `×3` for three in a row, of which the others are only `…`; the eight print all of them. Where you need an original, ask the tool `recall` for these eight characters or for words, or run `overtone recall 14045ce5` or `overtone recall \"words\"`.",
	}
	CloneNames = Text{ZH: "上文沒有提到、但用過的名稱", EN: "Names in use that nothing above states"}

	RecallGone        = Text{ZH: "原文所在的 session %s 已不存在，也不在快取中", EN: "the session %s that held the original is gone, and it is not in the cache"}
	RecallChanged     = Text{ZH: "session %s 中的原文已不同", EN: "the original in session %s is no longer the same"}
	RecallNoRef       = Text{ZH: "session %[1]s 中沒有 %[2]s", EN: "session %[1]s has no %[2]s"}
	RecallManyRefs    = Text{ZH: "session %[1]s 中有多則訊息以 %[2]s 開頭", EN: "several messages of session %[1]s begin with %[2]s"}
	RecallNone        = Text{ZH: "找不到 %q", EN: "nothing found for %q"}
	RecallUnsaid      = Text{ZH: "沒有 session 有 %q 本身", EN: "no session has %q itself"}
	HintRecallNone    = Text{ZH: "試試較少或不同的詞；overtone sessions 列出有哪些 session", EN: "try fewer or other words; overtone sessions lists what there is"}
	RecallRemoved     = Text{ZH: "已移出 context", EN: "no longer in context"}
	RecallCopies      = Text{ZH: "另有 %d 處說同樣的話", EN: "said elsewhere, too: %d"}
	Indexing          = Text{ZH: "讀取 session %s %s / %s", EN: "reading sessions %s %s of %s"}
	RecallEmpty       = Text{ZH: "沒有要找的詞，也沒有參照", EN: "there is nothing to look for"}
	HintRecallNoRef   = Text{ZH: "uuid 至少寫四個字元，行號寫成 L12；其他文字會當成查詢：overtone recall 加上幾個詞", EN: "a uuid needs four characters at least, a line is written L12; overtone recall and a few words search instead"}
	RecallNoMark      = Text{ZH: "沒有以 %s 為代碼的原文", EN: "there is no original with the digits %s"}
	HintRecallMark    = Text{ZH: "它的來源與副本可能都已移除", EN: "its source and its clone may both have been removed"}
	SessionsClosed    = Text{ZH: "有些 session 無法列出：%s", EN: "some sessions cannot be listed: %s"}
	RecallBehind      = Text{ZH: "索引無法更新，最新的內容可能不在結果中：%s", EN: "the index could not be brought up to date, the newest lines may be missing: %s"}
	RecallBusy        = Text{ZH: "另一個程序正在更新索引，最新的內容可能不在結果中", EN: "another process is bringing the index up to date, the newest lines may be missing"}
	HintRecallSession = Text{ZH: "這是一個 session；用 overtone recall --session %s 加上詞語在其中搜尋", EN: "that is a session; overtone recall --session %s WORDS searches it"}
	HintRecallWords   = Text{ZH: "搜尋需要文字或數字：表情與標點不在索引中，單獨一個字母或數字也不在", EN: "a search needs words or numbers: emoji and punctuation are not indexed, nor is a single letter or digit"}
	RecallInstead     = Text{ZH: "沒有 session 含有「%s」：以下是「%s」", EN: "no session has “%s”; showing “%s”"}
	RecallWithout     = Text{ZH: "沒有 session 含有「%s」", EN: "no session has “%s”"}
	RecallFewer       = Text{ZH: "沒有一則含有全部的詞：以下只含有其中一些", EN: "nothing has all of these words: what follows has some of them"}
	RecallMore        = Text{ZH: "另有 %d 筆；--limit %d 全部列出", EN: "%d more; --limit %d lists all"}
)
