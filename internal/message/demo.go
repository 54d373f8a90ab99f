package message

// The demo: its frame.
var (
	HelpDemo     = Text{ZH: "在拋棄式的資料夾裡演一遍完整的故事（不連網路）", EN: "play a whole story in a throw-away home (no network)"}
	HelpDemoLong = Text{
		ZH: "每一步都是真正的 hook 呼叫：host 送進 stdin 的 JSON、hook 的回答，以及磁碟上的改變。\n" +
			"不會碰到你的 home，也不連網路；結束後一切都會刪除，除非使用 --keep。\n" +
			"每個宣稱都會檢查，有一個不成立就以 1 結束。",
		EN: "Every step is a real hook call: the JSON a host sends, what the hook answers, what changed on disk.\n" +
			"Your home is not touched and the network is not used; all of it is removed at the end unless --keep\n" +
			"is given. What the demo claims it checks, and it exits 1 when a claim does not hold.",
	}
	HelpKeep     = Text{ZH: "保留資料夾並印出路徑", EN: "keep the folder and print its path"}
	DemoIntro    = Text{ZH: "以下每一步都是真正的 hook 呼叫。← host 送來什麼　→ hook 回答誰　✎ 改變了什麼", EN: "Every step below is a real hook call.  ← what the host sent   → what the hook answered, and to whom   ✎ what changed"}
	DemoAct      = Text{ZH: "第 %d 幕　%s", EN: "Act %d. %s"}
	DemoSilent   = Text{ZH: "→ （無輸出）", EN: "→ (silent)"}
	DemoModel    = Text{ZH: "→ 主 agent 看到", EN: "→ the main agent reads"}
	DemoPerson   = Text{ZH: "→ 使用者看到", EN: "→ the person reads"}
	DemoAgent    = Text{ZH: "→ sub-agent 的提示變成", EN: "→ the sub-agent's prompt becomes"}
	DemoTool     = Text{ZH: "→ 工具的回答換成", EN: "→ the tool's answer becomes"}
	DemoDenied   = Text{ZH: "→ 拒絕這個工具", EN: "→ the tool is refused"}
	DemoBlocked  = Text{ZH: "→ 不讓它停下來", EN: "→ it may not stop yet"}
	DemoMore     = Text{ZH: "… 另有 %d 行", EN: "… %d more lines"}
	DemoProgress = Text{ZH: "✎ 進度 %s", EN: "✎ progress %s"}
	DemoEvents   = Text{ZH: "✎ 時間軸 %s", EN: "✎ timeline %s"}
	DemoFiles    = Text{ZH: "✎ 檔案 %s", EN: "✎ files %s"}
	DemoHolds    = Text{ZH: "✔ %s", EN: "✔ %s"}
	DemoFailed   = Text{ZH: "第 %d 步之後不成立：%s", EN: "after step %d this does not hold: %s"}
	DemoKept     = Text{ZH: "保留在 %[1]s；進去看看：HOME=%[1]s overtone sessions", EN: "kept in %[1]s; to look around: HOME=%[1]s overtone sessions"}
	DemoEnd      = Text{ZH: "%d 次 hook 呼叫，%d 個宣稱成立，耗時 %s；沒有使用網路。", EN: "%d hook calls, %d claims checked, %s; no network was used."}
	DemoGone     = Text{ZH: "拋棄式的 home 已刪除。", EN: "The throw-away home is gone."}
	DemoNext     = Text{ZH: "接著：overtone init --dry-run", EN: "Next: overtone init --dry-run"}
)

// Its acts.
var (
	DemoActStart    = Text{ZH: "一個標籤啟動工作流", EN: "A tag starts a workflow"}
	DemoActDev      = Text{ZH: "開發：sub-agent 帶著 Node Context 出發", EN: "Development: the sub-agent gets its node context"}
	DemoActBarrier  = Text{ZH: "審查與測試並行；審查不通過", EN: "Review and test in parallel; the review fails"}
	DemoActBack     = Text{ZH: "退回開發，帶著反思與報告", EN: "Back to development, with the report and what was learned"}
	DemoActSuggest  = Text{ZH: "再審一次：通過，而 transcript 已經太大", EN: "Once more: all pass, and the transcript has grown large"}
	DemoActCompact  = Text{ZH: "Context 壓縮：狀態只送回一次", EN: "The context is compacted: the state comes back exactly once"}
	DemoActGuard    = Text{ZH: "主 agent 想自己動手", EN: "The main agent tries to do the work itself"}
	DemoActEnd      = Text{ZH: "回顧、文件、收尾", EN: "Retrospective, docs, the end"}
	DemoActCompress = Text{ZH: "把一段舊 session 壓成可以 resume 的副本", EN: "An old session is compressed, on a clone that resumes"}
)

// What its actors say.
var (
	DemoPrompt       = Text{ZH: "[workflow:quick] 為 API 加上每個使用者的速率限制", EN: "[workflow:quick] add a rate limit per user to the API"}
	DemoTask         = Text{ZH: "完成速率限制", EN: "implement the rate limit"}
	DemoTaskTest     = Text{ZH: "測試速率限制", EN: "test the rate limit"}
	DemoTaskReview   = Text{ZH: "審查速率限制", EN: "review the rate limit"}
	DemoTaskRetro    = Text{ZH: "回顧這次的工作", EN: "look back at this piece of work"}
	DemoTaskDocs     = Text{ZH: "更新速率限制的文件", EN: "document the rate limit"}
	DemoDevDone      = Text{ZH: "已在 internal/limit/bucket.go 實作令牌桶，並接到 middleware。", EN: "The token bucket is in internal/limit/bucket.go and wired into the middleware."}
	DemoDevAgain     = Text{ZH: "已加鎖並補上競態測試。", EN: "The map is guarded now, with a test under the race detector."}
	DemoTestDone     = Text{ZH: "41 個測試全部通過。", EN: "All 41 tests pass."}
	DemoReviewFailed = Text{
		ZH: "# 審查報告\n\n## CRITICAL\n- internal/limit/bucket.go:42 在沒有鎖的情況下同時讀寫 map，高負載時會 panic：`fatal error: concurrent map writes`。\n\n## MEDIUM\n- internal/limit/bucket.go:71 從不移除閒置的使用者，記憶體只增不減。\n- internal/api/middleware.go:18 回傳 429 時沒有 Retry-After。\n\n## 做得好的地方\n- 桶的計算以 time.Duration 進行，沒有浮點誤差。",
		EN: "# Review\n\n## CRITICAL\n- internal/limit/bucket.go:42 reads and writes the map without a lock; under load it panics: `fatal error: concurrent map writes`.\n\n## MEDIUM\n- internal/limit/bucket.go:71 never drops idle users, so memory only grows.\n- internal/api/middleware.go:18 answers 429 without Retry-After.\n\n## Well done\n- The bucket counts in time.Duration, so there is no rounding.",
	}
	DemoReviewHint  = Text{ZH: "bucket.go:42 的 map 沒有鎖", EN: "the map in bucket.go:42 has no lock"}
	DemoReviewGood  = Text{ZH: "審查通過，先前三點都已處理。", EN: "The review passes; all three points are dealt with."}
	DemoRetroDone   = Text{ZH: "沒有需要改善的地方。", EN: "Nothing to improve."}
	DemoDocsDone    = Text{ZH: "README 已說明速率限制的設定。", EN: "The README explains the settings of the rate limit."}
	DemoPhrase      = Text{ZH: "concurrent map writes", EN: "concurrent map writes"}
	DemoTranscript  = Text{ZH: "transcript 長到 %s", EN: "the transcript has grown to %s"}
	DemoGoOn        = Text{ZH: "繼續", EN: "go on"}
	DemoSessionAsk  = Text{ZH: "第 %d 步：匯入器在 internal/import/reader_%02d.go 第 %d 行停下來，請找出原因。", EN: "Step %d: the importer stops in internal/import/reader_%02d.go at line %d, please find out why."}
	DemoSessionTell = Text{
		ZH: "我先看了 internal/import/reader_%02[1]d.go，這個檔案其實不長，結構也很清楚，看起來沒有什麼特別的地方。接著我重新跑了一次測試，想確認問題是不是還在，結果它確實還在。\n錯誤訊息是：import: row %[2]d: unexpected EOF。\n我想了一下，也許可以從幾個方向來看這個問題，例如緩衝區的大小、檔案的編碼，或是呼叫端提早關閉了檔案。\n原因是 readRow 在第 %[3]d 行忽略了 io.ErrUnexpectedEOF。\n決定：把緩衝區改為 %[4]d bytes，並在 commit %[5]s 修正。\n修正之後測試就通過了，整體看起來相當順利，之後如果還有類似的情況，可以用同樣的方式來處理。",
		EN: "I started with internal/import/reader_%02[1]d.go. It is not a long file, its structure is quite clear, and nothing about it looks unusual at first sight. Then I ran the tests once more, to make sure that the problem is still there, and indeed it was.\nThe error is: import: row %[2]d: unexpected EOF.\nI thought about it for a while; one could look at this from several sides, for example the size of the buffer, the encoding of the file, or a caller that closes the file too early.\nThe cause: readRow ignores io.ErrUnexpectedEOF at line %[3]d.\nDecision: make the buffer %[4]d bytes and fix it in commit %[5]s.\nAfter that the tests passed, all of it looks rather good by now, and should something like this come up again, it can be handled in the very same way.",
	}
)

// What it claims.
var (
	DemoClaimIsolated  = Text{ZH: "報告 %[1]d bytes 在 %[2]s；主 agent 只看到 %[3]d bytes，沒有報告的內容", EN: "the report's %[1]d bytes are in %[2]s; the main agent saw %[3]d bytes and none of its findings"}
	DemoClaimVotes     = Text{ZH: "TEST 通過、REVIEW 不通過：兩票到齊才決定，退回 DEV", EN: "TEST passed and REVIEW failed: decided when both votes were in, and the work goes back to DEV"}
	DemoClaimLearned   = Text{ZH: "DEV 的提示帶有報告、反思記憶與重試次數", EN: "DEV's prompt carries the report, the reflection memory and the retry count"}
	DemoClaimSuggested = Text{ZH: "建議 /compact 一次，只給使用者", EN: "/compact was suggested once, to the person only"}
	DemoClaimQuiet     = Text{ZH: "PreCompact 對 host 輸出 %d bytes（它的 stdout 會混進摘要的提示）", EN: "PreCompact printed %d bytes to the host (its stdout would end up in the summariser's prompt)"}
	DemoClaimOnce      = Text{ZH: "%d 次機會，恢復文字送達 %d 次；收據：%s", EN: "%d occasions, the recovery text was delivered %d time; receipt: %s"}
	DemoClaimGuarded   = Text{ZH: "主 agent 的 Edit 被拒絕，唯讀的 Bash 不受影響", EN: "the main agent's Edit was refused, a reading Bash was not"}
	DemoClaimDone      = Text{ZH: "%d 個階段全部完成，拒絕 %d 次、失敗 %d 次", EN: "all %d stages are done, with %d rejection and %d failures on the way"}
	DemoClaimSource    = Text{ZH: "原檔的 SHA-256 沒有改變（%s…）", EN: "the source's SHA-256 is what it was (%s…)"}
	DemoClaimVerified  = Text{ZH: "副本通過檢查：父鏈、工具成對、%d 則訊息", EN: "the clone passes the verifier: parent chain, tool pairs, %d messages"}
	DemoClaimSmaller   = Text{ZH: "壓縮的訊息約 %s → %s tokens（−%d%%）；檔案 %s → %s", EN: "the compressed messages: about %s → %s tokens (−%d%%); the file: %s → %s"}
	DemoClaimFacts     = Text{ZH: "%d 個路徑、數字、雜湊與錯誤訊息中保留 %d 個", EN: "of %d paths, numbers, hashes and error lines %d are still stated"}
	DemoClaimRecall    = Text{ZH: "overtone recall %s 一字不差地還原 %d bytes", EN: "overtone recall %s gives back the original's %d bytes exactly"}
	DemoResume         = Text{ZH: "接續：%s", EN: "resume: %s"}
)
