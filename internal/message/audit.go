package message

// The audit of past sessions.
var (
	BadSince        = Text{ZH: "--since 無法理解：%q", EN: "--since: cannot read %q"}
	HintSince       = Text{ZH: "例如 30d、12h、2026-01-31", EN: "for example 30d, 12h, 2026-01-31"}
	BadPolicy       = Text{ZH: "--policy 無法使用：%s", EN: "--policy: %s"}
	AuditNone       = Text{ZH: "找不到任何 session（Claude Code、Codex、Copilot CLI、opencode、Gemini CLI）。", EN: "There are no sessions here, neither of Claude Code nor of Codex, Copilot CLI, opencode or Gemini CLI."}
	AuditNoneMatch  = Text{ZH: "沒有符合條件的 session。", EN: "No session matches."}
	AuditTryDemo    = Text{ZH: "想先看看 Overtone 做什麼：overtone demo", EN: "To see what Overtone does, run: overtone demo"}
	AuditWrote      = Text{ZH: "已寫入 %s", EN: "wrote %s"}
	AuditNotKept    = Text{ZH: "結果無法留給下次使用：%v", EN: "nothing could be kept for the next time: %v"}
	AuditUnread     = Text{ZH: "無法讀取：%s", EN: "could not be read: %s"}
	AuditUnreadMore = Text{ZH: "還有 %d 個檔案無法讀取（--json 全部列出）", EN: "more files that could not be read: %d (--json names them)"}
	AuditUnreadAll  = Text{ZH: "%d 個 session 檔沒有一個讀得出來", EN: "none of the %d session files could be read"}
	HintUnreadAll   = Text{ZH: "檢查檔案的權限；overtone doctor 檢查安裝", EN: "look at the files' permissions; `overtone doctor` looks at the installation"}

	AuditHead      = Text{ZH: "%s 個 session，%s 個檔案（%s），%s 至 %s", EN: "sessions %s · files %s (%s) · %s to %s"}
	AuditShortMid  = Text{ZH: "%[2]d 次壓縮中有 %[1]d 次打在工作途中；共等待 %[3]s。", EN: "Struck in mid-work: %[1]d of %[2]d compactions. Waited for them: %[3]s."}
	AuditShortLost = Text{
		ZH: "遺失而之後用到的專案名稱與指令：%d 個（共用到 %d 個）；Overtone 的交接會寫到其中 %d 個。",
		EN: "Lost, and needed afterwards: %d of %d names and commands of the projects. Overtone's hand-over would have stated %d of them.",
	}
	AuditShortEach = Text{ZH: "逐一列出：overtone audit --lost", EN: "One by one: overtone audit --lost"}
	AuditShortKept = Text{ZH: "沒有找到遺失而之後用到的專案名稱或指令。", EN: "No name or command of the projects was found that was lost and needed afterwards."}
	AuditLostOf    = Text{ZH: "%s · session %s · 第 %d 次壓縮 · %s", EN: "%s · session %s · compaction %d · %s"}
	AuditLostKept  = Text{ZH: "交接會寫到", EN: "the hand-over states it"}
	AuditLostGone  = Text{ZH: "交接也沒有寫到", EN: "the hand-over does not state it either"}
	AuditTokens    = Text{ZH: "token", EN: "tokens"}
	AuditTokensOf  = Text{ZH: "%s：輸入 %s · 輸出 %s · 寫入快取 %s · 讀取快取 %s", EN: "%s: input %s · output %s · cache written %s · cache read %s"}
	AuditCost      = Text{ZH: "費用", EN: "cost"}
	AuditCostOf    = Text{ZH: "%s（%s 的定價，取自 %s）", EN: "%s at list prices of %s, from %s"}
	AuditUnpriced  = Text{ZH: "；另有 %s token 的價格未知", EN: "; the price of %s tokens is unknown"}
	AuditUnknown   = Text{ZH: "未知", EN: "unknown"}
	AuditNoFolder  = Text{ZH: "資料夾未知", EN: "no folder known"}
	AuditNoModel   = Text{ZH: "模型未知", EN: "unknown model"}

	AuditCompactions = Text{ZH: "壓縮", EN: "COMPACTIONS"}
	AuditNoCompact   = Text{ZH: "這段時間沒有壓縮。", EN: "Nothing was compacted in this time."}
	AuditCount       = Text{ZH: "次數", EN: "how many"}
	AuditCountOf     = Text{ZH: "%d：自動 %d · 手動 %d · 未註明 %d；失敗 %d", EN: "%d: automatic %d · manual %d · not said %d; failed %d"}
	AuditMid         = Text{ZH: "發生於", EN: "struck"}
	AuditMidOf       = Text{ZH: "工作途中 %d · 自然邊界 %d · 兩輪之間 %d", EN: "in mid-work %d · at a natural boundary %d · between turns %d"}
	AuditMidUnseen   = Text{ZH: " · 檔案沒有之前的內容 %d", EN: " · the file does not show what came before %d"}
	AuditWait        = Text{ZH: "等待", EN: "waited"}
	AuditWaitOf      = Text{ZH: "%s：host 寫明 %d 次 · 由前後紀錄的時間估計 %d 次；未知 %d 次不計", EN: "%s: told by the host %d · estimated from the lines around it %d; left out, as nobody knows: %d"}
	AuditNeeded      = Text{ZH: "之後用到", EN: "needed after"}
	AuditKept        = Text{ZH: "%s %d：遺失 %d，其中 Overtone 的交接會寫到 %d", EN: "%s %d: lost %d, of which Overtone's hand-over states %d"}
	AuditNames       = Text{ZH: "名稱", EN: "names"}
	AuditCommands    = Text{ZH: "指令", EN: "commands"}
	AuditAgain       = Text{ZH: "重做", EN: "done again"}
	AuditAgainOf     = Text{ZH: "%d 個檔案重讀、%d 個指令重跑；到第一次編輯的動作數（中位數）：%s", EN: "files read %d · commands run %d · actions to the first edit (median) %s"}
	AuditJudged      = Text{ZH: "可判斷", EN: "judged"}
	AuditJudgedOf    = Text{ZH: "%[2]d 次壓縮中的 %[1]d 次", EN: "%[1]d of %[2]d compactions"}
	AuditNoSummary   = Text{ZH: "；摘要無法讀取（已加密）：%d", EN: "; the summary cannot be read (encrypted): %d"}
	AuditNoBefore    = Text{ZH: "；檔案沒有壓縮前的內容：%d", EN: "; the file does not show what came before: %d"}
	AuditLostJudged  = Text{ZH: "遺失了什麼，可判斷的是 %s。", EN: "What was lost could be told of %s."}

	AuditWhatIf     = Text{ZH: "如果由政策決定", EN: "WHAT IF THE POLICY HAD DECIDED"}
	AuditWhatIfFile = Text{ZH: "政策：%s", EN: "policy: %s"}
	AuditHappened   = Text{ZH: "實際", EN: "HAPPENED"}
	AuditByPolicy   = Text{ZH: "政策", EN: "POLICY"}
	AuditForced     = Text{ZH: "工作途中／不得已", EN: "interrupting"}
	AuditAtBoundary = Text{ZH: "在自然邊界", EN: "at a boundary"}
	AuditBetween    = Text{ZH: "兩輪之間", EN: "between turns"}
	AuditAll        = Text{ZH: "合計", EN: "in all"}
	AuditNotNeeded  = Text{ZH: "視窗未滿就壓縮", EN: "with room left"}
	AuditLate       = Text{ZH: "盡量晚", EN: "LATE"}
	AuditWasted     = Text{ZH: "之後對話就結束", EN: "nothing followed"}
	AuditFromCache  = Text{ZH: "讀快取的 token", EN: "tokens from the cache"}
	AuditAnew       = Text{ZH: "重新送出的 token", EN: "tokens sent anew"}
	AuditWaitPrompt = Text{ZH: "送出訊息後等待", EN: "waited at a prompt"}
	AuditWaitWork   = Text{ZH: "工作途中等待", EN: "waited in mid-work"}
	AuditPays       = Text{
		ZH: "以這些 session 來看，政策%s：%s（實際 %s），等待 %s（實際 %s），其中工作途中 %s（實際 %s）。",
		EN: "On these sessions the policy %s: %s (as it was %s), waiting %s (as it was %s), of that in mid-work %s (as it was %s).",
	}
	TuneSetting    = Text{ZH: "設定（剩餘 %）", EN: "SETTING, PERCENT FREE"}
	TuneTurn       = Text{ZH: "含 turn_end", EN: "with turn_end"}
	TuneNow        = Text{ZH: "目前", EN: "in force"}
	TuneKeep       = Text{ZH: "維持目前的設定：要找的是壓縮最少的，而沒有其他設定能壓縮得更少，又不多打斷、不多花費。", EN: "Keep the setting in force. What is looked for is the fewest compactions, and no other makes fewer without interrupting more often or costing more."}
	TuneLooks      = Text{ZH: "overtone audit --tune 找更適合這些 session 的設定。", EN: "overtone audit --tune looks for a setting that serves these sessions better."}
	TuneKeeps      = Text{ZH: "overtone audit --tune 不會改任何設定：沒有其他設定能少壓縮，而不多打斷、不多花費。", EN: "overtone audit --tune would change nothing: no other setting makes fewer compactions without interrupting more often or costing more."}
	TuneWould      = Text{ZH: "overtone audit --tune 會建議 %s：壓縮 %d 次而不是 %d 次，打斷 %d 次（目前 %d 次）。", EN: "overtone audit --tune would advise %s: %d compactions instead of %d, of which %d interrupt (in force: %d)."}
	TuneAdvice     = Text{ZH: "建議 %s：壓縮 %d 次而不是 %d 次，打斷 %d 次（目前 %d 次）。--write 寫入設定。", EN: "Advised: %s. Compactions: %d instead of %d; of these interrupt: %d (in force: %d). --write puts it into the settings."}
	AuditMean      = Text{ZH: "平均 context", EN: "mean context"}
	AuditWhatIfMid = Text{
		ZH: "要比的是「工作途中／不得已」這一列：會打斷工作的壓縮，實際 %[2]d 次中有 %[1]d 次，依政策 %[4]d 次中有 %[3]d 次。",
		EN: "Compare the row “interrupting”, the compactions that interrupt work: %[1]d of %[2]d as it was, %[3]d of %[4]d with the policy.",
	}
	AuditWhatIfMore = Text{
		ZH: "合計較多，是因為政策不等視窗滿了才壓縮：趁還有空間，在做完一步時就壓縮。",
		EN: "They are more in all because the policy does not wait for a full window: it takes a finished step while there is room.",
	}
	AuditWaitNote = Text{
		ZH: "等待的時間：實際 %[2]d 次中有 %[1]d 次由 host 寫明，其餘是估計：取前後紀錄之間的時間；看不出來的，以及沒有發生的，取這些 session 通常的時間。",
		EN: "Waiting: the host has timed %[1]d of %[2]d compactions. The others are estimated by the time between the lines around them. Where that does not tell, and for compactions that did not happen, it is what is usual in these sessions.",
	}
	AuditReckoned = Text{
		ZH: "三者以同一種方式估計，所以「實際」的花費與等待，與報告開頭的不同。盡量晚：事後來看，視窗滿了才壓縮，取之前最後一個邊界；沒有人能事先知道。",
		EN: "All three are estimated in the same way, so cost and waiting of HAPPENED differ from those at the head of the report. LATE is hindsight: not before the window is full, and then at the last boundary before. Nobody can know that one in advance.",
	}
	AuditWhatIfNote = Text{
		ZH: "政策：auto 模式，從剩餘 %s 起在每個允許的邊界壓縮；suggest 模式在同樣的地方只是建議。",
		EN: "POLICY is mode auto: a compaction at each boundary that its tiers allow, from %s free on; mode suggest only suggests there.",
	}
	AuditWindowUnk   = Text{ZH: "%d 次壓縮在每一欄都照實計入：視窗大小未知。", EN: "Compactions in windows of unknown size: %d. Every column counts them as they happened."}
	AuditUnseen      = Text{ZH: "%d 次壓縮在每一欄都照實計入（等待除外）：檔案沒有壓縮前的內容。", EN: "Compactions before which the file shows nothing: %d. Every column counts them as they happened, without the waiting."}
	AuditCacheTitle  = Text{ZH: "快取", EN: "CACHE"}
	AuditCacheOf     = Text{ZH: "寫入 %s：壓縮後 %s（%s），過期 %d 次後重寫 %s（%s）", EN: "written %s: after compactions %s (%s), again as it had expired (%d ×) %s (%s)"}
	AuditExpiryUSD   = Text{ZH: "過期後重寫，比從快取讀取多花 %s", EN: "writing it again cost %s more than reading it from the cache would have"}
	AuditRepaid      = Text{ZH: "一次壓縮約 %s 個請求後回本（中位數）；%[2]d 次中有 %[3]d 次回本", EN: "a compaction is repaid after %s requests (median); %[3]d of %[2]d were"}
	AuditNeverRepaid = Text{ZH: "沒有一次壓縮能算出何時回本", EN: "for no compaction it can be told when it is repaid"}

	AuditLookAt   = Text{ZH: "摘要漏了什麼、會交接什麼：", EN: "What a summary left out, and what is handed over instead:"}
	AuditNewest   = Text{ZH: "最近的壓縮", EN: "NEWEST COMPACTIONS"}
	AuditByDay    = Text{ZH: "每日", EN: "BY DAY"}
	AuditByProj   = Text{ZH: "依專案", EN: "BY PROJECT"}
	AuditByModel  = Text{ZH: "依模型", EN: "BY MODEL"}
	AuditMore     = Text{ZH: "還有 %d 筆（--all 全部列出）", EN: "%d more (--all shows all)"}
	ColWhen       = Text{ZH: "時間", EN: "WHEN"}
	ColTrigger    = Text{ZH: "觸發", EN: "TRIGGER"}
	ColFromTo     = Text{ZH: "TOKEN", EN: "TOKENS"}
	ColWait       = Text{ZH: "等待", EN: "WAIT"}
	ColMid        = Text{ZH: "工作中", EN: "MID-WORK"}
	ColBefore     = Text{ZH: "前一個邊界 · 步", EN: "BOUNDARY · STEPS AGO"}
	ColAfter      = Text{ZH: "後一個邊界 · 步", EN: "BOUNDARY · STEPS LATER"}
	ColLost       = Text{ZH: "用到／遺失／交接後仍遺失", EN: "NEEDED/LOST/WITH OURS"}
	ColRepay      = Text{ZH: "回本", EN: "REPAID AFTER"}
	ColWhatIf     = Text{ZH: "政策", EN: "POLICY"}
	ColDay        = Text{ZH: "日期", EN: "DAY"}
	ColWeek       = Text{ZH: "週（週一起）", EN: "WEEK FROM MONDAY"}
	ColMonth      = Text{ZH: "月", EN: "MONTH"}
	ColBlock      = Text{ZH: "五小時區間", EN: "FIVE HOURS"}
	AuditUnderWay = Text{ZH: "進行中", EN: "under way"}
	ColModel      = Text{ZH: "模型", EN: "MODEL"}
	ColSessions   = Text{ZH: "SESSION", EN: "SESSIONS"}
	ColRequests   = Text{ZH: "請求", EN: "REQUESTS"}
	ColInput      = Text{ZH: "輸入", EN: "INPUT"}
	ColOutput     = Text{ZH: "輸出", EN: "OUTPUT"}
	ColWritten    = Text{ZH: "寫快取", EN: "TO CACHE"}
	ColRead       = Text{ZH: "讀快取", EN: "FROM CACHE"}
	ColUSD        = Text{ZH: "美元", EN: "USD"}
	AuditYes      = Text{ZH: "是", EN: "yes"}
	AuditNo       = Text{ZH: "否", EN: "no"}
	AuditNear     = Text{ZH: "%s · %d", EN: "%s · %d"}

	PageNeedsScripts = Text{ZH: "這個頁面需要 JavaScript。同樣的內容在指令列：overtone audit", EN: "This page needs JavaScript. The same is on the command line: overtone audit"}
)
