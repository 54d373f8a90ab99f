package message

// The demo: its frame.
var (
	DemoIntro = Text{
		ZH: "三段故事，以真正的 hook（agent 的 host 每一步會執行的程式）演出，在一個用完就刪的資料夾裡。打勾的都檢查過；--full 顯示全部。",
		EN: "Three stories, through the real hooks (programs that an agent's host runs at each step), in a folder that is removed again. A ✔ was checked; --full shows all.",
	}
	DemoAct      = Text{ZH: "%d. %s", EN: "%d. %s"}
	DemoSilent   = Text{ZH: "→ （無輸出）", EN: "→ (silent)"}
	DemoModel    = Text{ZH: "→ 主 agent 看到", EN: "→ the main agent reads"}
	DemoPerson   = Text{ZH: "→ 使用者看到", EN: "→ the person reads"}
	DemoAgent    = Text{ZH: "→ sub-agent 的提示變成", EN: "→ the sub-agent's prompt becomes"}
	DemoTool     = Text{ZH: "→ 工具的回答換成", EN: "→ the tool's answer becomes"}
	DemoDenied   = Text{ZH: "→ 拒絕這個工具", EN: "→ the tool is refused"}
	DemoBlocked  = Text{ZH: "→ 不讓它停下來", EN: "→ it may not stop yet"}
	DemoMore     = Text{ZH: "… 另有 %d 行", EN: "… and %d more"}
	DemoProgress = Text{ZH: "✎ 進度 %s", EN: "✎ progress %s"}
	DemoEvents   = Text{ZH: "✎ 時間軸 %s", EN: "✎ timeline %s"}
	DemoHolds    = Text{ZH: "✔ %s", EN: "✔ %s"}
	DemoFailed   = Text{ZH: "第 %d 步之後不成立：%s", EN: "after step %d this does not hold: %s"}
	DemoKept     = Text{ZH: "保留在 %[1]s；進去看看：HOME=%[1]s overtone sessions", EN: "kept in %[1]s; to look around: HOME=%[1]s overtone sessions"}
	DemoEnd      = Text{ZH: "%d 次 hook 呼叫，%d 個宣稱成立，耗時 %s；沒有使用網路。", EN: "%d hook calls, %d claims checked, %s; no network was used."}
	DemoNext     = Text{
		ZH: "接著，看你自己的 session（只讀）：\n  %[1]s audit             壓縮失去了什麼、花了多少\n  %[1]s init --dry-run    裝上 hook 會改哪些設定\n  %[1]s sessions          有哪些 session，怎麼接著做",
		EN: "Next, with your own sessions, which are only read:\n  %[1]s audit             what compactions lost and cost\n  %[1]s init --dry-run    which settings the hooks would change\n  %[1]s sessions          which there are, and how to go on with one",
	}
)

// Its acts.
var (
	DemoActLost     = Text{ZH: "壓縮拿走了什麼，又還回了什麼", EN: "What a compaction takes, and what is put back"}
	DemoActWorkflow = Text{ZH: "一個工作流：開發、審查、測試、回顧、文件", EN: "A workflow: develop, review, test, look back, document"}
	DemoActCompress = Text{ZH: "一段舊 session 變小，照樣接得下去", EN: "An old session gets smaller and goes on"}
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
	DemoReviewHint = Text{ZH: "bucket.go:42 的 map 沒有鎖", EN: "the map in bucket.go:42 has no lock"}
	DemoReviewGood = Text{ZH: "審查通過，先前三點都已處理。", EN: "The review passes; all three points are dealt with."}
	DemoRetroDone  = Text{ZH: "沒有需要改善的地方。", EN: "Nothing to improve."}
	DemoDocsDone   = Text{ZH: "README 已說明速率限制的設定。", EN: "The README explains the settings of the rate limit."}
	DemoPhrase     = Text{ZH: "concurrent map writes", EN: "concurrent map writes"}
	DemoSummarised = Text{ZH: "context 滿了，host 以摘要取代整段對話：「%s」", EN: "The context is full: the host puts a summary in the conversation's place: “%s”"}
	DemoSummary    = Text{
		ZH: "使用者的每晚匯入會掉資料。原因是含換行的引號欄位；匯入器改用 encoding/csv 的 csv.Reader，並以 ReuseRecord 加速到 2.2 秒，符合限制。測試全部通過。有任何一列被拒絕時結束碼為 3。",
		EN: "The user's nightly import lost rows. The cause were quoted fields with line breaks; the importer now uses csv.Reader of encoding/csv, and ReuseRecord makes it fast enough (2.2 s). All tests pass. The exit code is 3 when a row is refused.",
	}
)

// What it claims.
var (
	DemoClaimLost      = Text{ZH: "用到的 %d 個名字裡，摘要缺了 %d 個；交接補回 %d 個", EN: "of %d names in use the summary lacks %d; the hand-over puts %d back"}
	DemoClaimHanded    = Text{ZH: "%d 個字元，取自紀錄：你的原話、做到哪裡、這些名字", EN: "in %d characters from the record: your words, the state, the names"}
	DemoClaimIsolated  = Text{ZH: "審查的報告 %[1]d bytes 留在檔案裡；主 agent 只看到 %[2]d bytes 的結論", EN: "the review's report (%[1]d bytes) stays in a file; the main agent reads %[2]d"}
	DemoClaimVotes     = Text{ZH: "測試通過、審查不通過：兩者都回來才決定，工作退回開發", EN: "tests pass, the review fails: once both are in, development goes on"}
	DemoClaimLearned   = Text{ZH: "開發者這次的提示帶有報告、先前學到的事與第幾次重試", EN: "with the report, what was learned, and which try it is"}
	DemoClaimSuggested = Text{ZH: "紀錄長到 %s，一個階段完成時建議 /compact 一次，只給使用者", EN: "the record is %s long: /compact is suggested once, when a stage is done"}
	DemoClaimOnce      = Text{ZH: "之後有 %d 次機會，工作做到哪裡只說 %d 次（收據 %s）", EN: "after it, in %d hooks, the state is told %d time (receipt %s)"}
	DemoClaimGuarded   = Text{ZH: "主 agent 想自己改檔案：拒絕；只是讀：可以", EN: "the main agent tries to edit a file itself: refused; it may read"}
	DemoClaimDone      = Text{ZH: "%d 個階段全部完成，退回 %d 次、失敗 %d 次", EN: "all %d stages are done, with %d rejection and %d failures on the way"}
	DemoClaimVerified  = Text{ZH: "副本完整（%d 則訊息）；原檔一個 byte 都沒有變", EN: "the copy is whole (%d messages); the original has not changed by a byte"}
	DemoClaimSmaller   = Text{ZH: "壓縮的訊息約 %s → %s tokens（%s）；檔案 %s → %s（%s）", EN: "about %s → %s tokens (%s) of messages; the file: %s → %s (%s)"}
	DemoClaimRecall    = Text{ZH: "overtone recall 一字不差地取回全部 %d 則原文", EN: "overtone recall gives back all %d originals, word for word"}
	DemoResume         = Text{ZH: "接續：%s", EN: "resume: %s"}
)

// DemoTurn is a turn of the session that the demo compresses: what is asked, the
// command that is run, what it prints, and the answer.
type DemoTurn struct {
	Ask, Tell       Text
	Command, Output string
}

// DemoTurns are a small piece of work, from a symptom to its release.
func DemoTurns() []DemoTurn {
	return []DemoTurn{
		{
			Ask: Text{
				ZH: "每晚的匯入會掉資料：orders.csv 有 48,210 列，資料表只有 48,173 列。請找出匯入器（importer）在哪裡丟掉它們，先不要改程式。",
				EN: "The nightly import loses rows: orders.csv has 48,210, the table has 48,173. Please find out where the importer drops them, and do not change anything yet.",
			},
			Command: "grep -n 'err' internal/import/*.go",
			Output:  "internal/import/reader.go:41:\tif err != nil {\ninternal/import/reader.go:88:\t\tslog.Debug(\"skip row\", \"err\", err)\ninternal/import/reader.go:89:\t\tcontinue\n",
			Tell: Text{
				ZH: "我從匯入器開始看，整個套件只有三個檔案，結構相當清楚。原因在 internal/import/reader.go 第 88 行：readRow 的錯誤只以 debug 等級記錄，然後就跳過該列。所以少掉的 37 列沒有任何人看到，結束碼仍是 0。我沒有改任何程式。下一步可以把被跳過的列印出來。",
				EN: "I started with the importer; the package has three files, and its structure is quite clear. The cause is in internal/import/reader.go at line 88: an error of readRow is logged at level debug only, and the row is skipped. So nobody saw the 37 rows that are missing, and the exit code is still 0. I did not change anything. The next step could be to print the rows that are skipped.",
			},
		},
		{
			Ask: Text{
				ZH: "好，把被跳過的列印出來。結束碼先不要動，排程會因此重跑。",
				EN: "Good, print the rows that are skipped. Leave the exit code as it is, or the scheduler will run it again.",
			},
			Command: "go run ./cmd/import --dry-run orders.csv",
			Output:  "skip row 1207: unexpected EOF\nskip row 1208: wrong number of fields\nskip row 3391: unexpected EOF\n",
			Tell: Text{
				ZH: "現在看得到了。37 列全部都有一個欄位含有引號與換行，例如第 1207 列的地址欄。錯誤是：import: row 1207: unexpected EOF。bufio.Scanner 以換行切割，所以一筆紀錄變成兩筆壞掉的列。結束碼沒有變更，排程不會重跑。",
				EN: "Now one can see them. All 37 rows have a quoted field with a line break in it, such as the address of row 1207. The error is: import: row 1207: unexpected EOF. bufio.Scanner cuts at line breaks, so one record becomes two broken rows. The exit code was not changed, so the scheduler does not run it again.",
			},
		},
		{
			Ask: Text{
				ZH: "那就改用 encoding/csv。欄位數不固定的舊檔案也要能讀，除非標頭缺少 order_id。",
				EN: "Then use encoding/csv. Old files with a varying number of fields must still be read, unless the header lacks order_id.",
			},
			Command: "go test ./internal/import -run TestReadRow -v",
			Output:  "--- FAIL: TestReadRowQuoted (0.00s)\n    reader_test.go:57: row 2: got 2 fields, want 3\n",
			Tell: Text{
				ZH: "我把 bufio.Scanner 換成 csv.Reader，並設定 FieldsPerRecord = -1，讓舊檔案仍能讀取。決定：沒有 order_id 標頭的檔案直接拒絕，不猜欄位順序，因為猜錯會寫入錯誤的訂單。TestReadRowQuoted 還沒有通過：reader_test.go:57 得到 2 個欄位，應為 3 個。我接著看這個測試。",
				EN: "I replaced bufio.Scanner by csv.Reader and set FieldsPerRecord = -1, so that old files are still read. Decision: a file without the header order_id is refused, its columns are not guessed, because a wrong guess would write wrong orders. TestReadRowQuoted does not pass yet: reader_test.go:57 gets 2 fields and wants 3. I will look at that test next.",
			},
		},
		{
			Ask: Text{
				ZH: "測試資料是不是用了兩個單引號？CSV 只認雙引號。",
				EN: "Does the test's data use two single quotes? CSV knows double quotes only.",
			},
			Command: "go test ./internal/import -v",
			Output:  "--- PASS: TestReadRow (0.00s)\n--- PASS: TestReadRowQuoted (0.00s)\n--- PASS: TestReadRowShort (0.00s)\nok  \texample.com/api/internal/import\t0.412s\n",
			Tell: Text{
				ZH: "對，測試資料寫錯了，程式沒有錯。我改了 testdata/quoted.csv 第 2 行，沒有改程式。internal/import 的 9 個測試現在全部通過，耗時 0.412 秒。",
				EN: "Yes: the test's data was wrong, the code was not. I changed line 2 of testdata/quoted.csv and left the code as it is. All 9 tests of internal/import pass now, in 0.412 s.",
			},
		},
		{
			Ask: Text{
				ZH: "速度呢？整個檔案匯入不可以超過 2.5 秒，否則會撞到備份。",
				EN: "What about the speed? The whole file must not take more than 2.5 seconds, or it runs into the backup.",
			},
			Command: "go test ./internal/import -bench ReadAll -count 5",
			Output:  "BenchmarkReadAll-8   \t       1\t3412884120 ns/op\t812345680 B/op\t 9642011 allocs/op\n",
			Tell: Text{
				ZH: "我跑了五次基準測試，結果相當穩定。匯入現在要 3.4 秒，之前是 1.9 秒，所以還沒有達到 2.5 秒的限制。大部分時間花在配置記憶體：每列 200 次配置，共 812 MB。我建議設定 ReuseRecord，而不是回到 bufio.Scanner。",
				EN: "I ran the benchmark five times, and the numbers are rather stable. The import takes 3.4 s now and took 1.9 s before, so it does not meet the limit of 2.5 s. Most of that is allocation: 200 for each row, 812 MB in all. I suggest to set ReuseRecord instead of going back to bufio.Scanner.",
			},
		},
		{
			Ask: Text{
				ZH: "試試看，但是不要把同一個 slice 存進佇列，之前出過這種錯。",
				EN: "Try it, but do not keep the same slice in the queue, we had that bug before.",
			},
			Command: "go test ./internal/import -bench ReadAll -count 5",
			Output:  "BenchmarkReadAll-8   \t       1\t2187310442 ns/op\t 96213344 B/op\t  482110 allocs/op\n",
			Tell: Text{
				ZH: "用了 ReuseRecord 之後是 2.2 秒、96 MB，符合 2.5 秒的限制。送進佇列之前，internal/import/queue.go 第 31 行會以 slices.Clone 複製該列，所以不會共用同一個 slice。決定：保留 csv.Reader 與 ReuseRecord。已提交為 commit 7c1d0e4a。",
				EN: "With ReuseRecord it takes 2.2 s and 96 MB, which meets the limit of 2.5 s. Before a row goes into the queue, internal/import/queue.go copies it with slices.Clone at line 31, so no slice is shared. Decision: keep csv.Reader with ReuseRecord. It is committed as 7c1d0e4a.",
			},
		},
		{
			Ask: Text{
				ZH: "還有兩列的金額是 0，檔案裡寫的是 12,50。不要猜地區設定，請拒絕並印出行號。",
				EN: "Two rows have the amount 0 where the file says 12,50. Do not guess the locale: refuse them, and print the line.",
			},
			Command: "grep -n 'ParseFloat' internal/import/*.go",
			Output:  "internal/import/amount.go:19:\tv, _ := strconv.ParseFloat(s, 64)\n",
			Tell: Text{
				ZH: "internal/import/amount.go 第 19 行忽略了 ParseFloat 的錯誤，所以 12,50 變成 0。現在會回報：orders.csv:20417: amount \"12,50\": use a point。沒有猜測地區設定。被拒絕的列會寫入 rejected.csv，其餘照常匯入。",
				EN: "internal/import/amount.go ignores the error of ParseFloat at line 19, so 12,50 became 0. It now reports: orders.csv:20417: amount \"12,50\": use a point. No locale is guessed. Rows that are refused go to rejected.csv, and the others are imported as before.",
			},
		},
		{
			Ask: Text{
				ZH: "若有任何一列被拒絕，結束碼要是 3，這樣監控才看得到。",
				EN: "If any row is refused, the exit code shall be 3, so that the monitoring sees it.",
			},
			Command: "go run ./cmd/import orders.csv; echo exit $?",
			Output:  "imported 48208 rows, refused 2 (rejected.csv)\nexit 3\n",
			Tell: Text{
				ZH: "完成：匯入 48,208 列，拒絕 2 列，結束碼 3。沒有被拒絕的列時仍是 0，排程只在結束碼 1 時重跑，所以不受影響。cmd/import/main_test.go 檢查這三種情況。commit 是 b20f93e1。",
				EN: "Done: 48,208 rows are imported, 2 refused, exit code 3. Without refused rows it is still 0, and the scheduler runs it again only after 1, so nothing changes for it. cmd/import/main_test.go checks all three. The commit is b20f93e1.",
			},
		},
		{
			Ask: Text{
				ZH: "請在 staging 跑一次，並和昨天的資料表比對。",
				EN: "Please run it on staging, and compare it with yesterday's table.",
			},
			Command: "make staging-import && make staging-compare",
			Output:  "staging: imported 48208 rows in 2.3s\ncompare: 48171 equal, 37 new, 2 amounts differ\n",
			Tell: Text{
				ZH: "staging 的結果如預期：48,171 列相同，37 列是之前遺失的，2 列金額不同，就是被拒絕的那兩列。耗時 2.3 秒。沒有發現重複的 order_id。",
				EN: "Staging shows what we expect: 48,171 rows are equal, 37 are the ones that were lost, and 2 amounts differ, which are the two refused rows. It took 2.3 s. No order_id is there twice.",
			},
		},
		{
			Ask: Text{
				ZH: "很好。請把結束碼 3 寫進 docs/import.md，然後準備發布。",
				EN: "Very good. Put exit code 3 into docs/import.md, then get the release ready.",
			},
			Command: "git log --oneline -4 && git status --short",
			Output:  "e81c7740 docs: exit codes of the import\nb20f93e1 import: exit 3 when rows are refused\n7c1d0e4a import: read records, not lines\n",
			Tell: Text{
				ZH: "docs/import.md 現在說明結束碼 0、1、3 與 rejected.csv。三個 commit 都在 release/2.4 上，工作樹是乾淨的。尚未推送，等你確認。",
				EN: "docs/import.md now explains the exit codes 0, 1 and 3, and rejected.csv. All three commits are on release/2.4, and the working tree is clean. Nothing is pushed yet; I wait for your word.",
			},
		},
	}
}
