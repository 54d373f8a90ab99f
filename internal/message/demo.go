package message

import (
	_ "embed"
	"strings"
)

// The demo: its frame.
var (
	DemoIntro = Text{
		ZH: "三段故事，以真正的 hook（agent 的 host 每一步會執行的程式）演出，在一個用完就刪的資料夾裡。打勾的都檢查過；--full 顯示全部。",
		EN: "Three stories, through the real hooks (programs that an agent's host runs at each step), in a throw-away folder. A ✔ was checked; --full shows all.",
	}
	DemoAct      = Text{ZH: "%d. %s", EN: "%d. %s"}
	DemoMore     = Text{ZH: "… 另有 %d 行", EN: "… and %d more"}
	DemoProgress = Text{ZH: "✎ 進度 %s", EN: "✎ progress %s"}
	DemoEvents   = Text{ZH: "✎ 時間軸 %s", EN: "✎ timeline %s"}
	DemoHolds    = Text{ZH: "✔ %s", EN: "✔ %s"}
	DemoFailed   = Text{ZH: "第 %d 步之後不成立：%s", EN: "after step %d this does not hold: %s"}
	DemoKept     = Text{ZH: "保留在 %[1]s；進去看看：HOME=%[1]s overtone sessions", EN: "kept in %[1]s; to look around: HOME=%[1]s overtone sessions"}
	DemoEnd      = Text{ZH: "%d 次 hook 呼叫，%d 項檢查全部通過，耗時 %s；沒有使用網路。", EN: "%d hook calls, %d claims checked, %s; no network was used."}
	DemoNext     = Text{
		ZH: "接著，看你自己的 session（只讀）：\n  %[1]s audit             壓縮失去了什麼、花了多少\n  %[1]s init --dry-run    裝上 hook 會改哪些設定\n  %[1]s sessions          有哪些 session，怎麼接著做",
		EN: "Next, with your own sessions, which are only read:\n  %[1]s audit             what compactions lost and cost\n  %[1]s init --dry-run    which settings the hooks would change\n  %[1]s sessions          which there are, and how to go on with one",
	}
)

// What it claims.
var (
	DemoSummarised     = Text{ZH: "context 滿了，host 以摘要取代整段對話：「%s」", EN: "The context is full: the host puts a summary in the conversation's place: “%s”"}
	DemoClaimLost      = Text{ZH: "用到的 %d 個名字裡，摘要缺了 %d 個；交接補回 %d 個", EN: "of %d names in use the summary lacks %d; the hand-over puts %d back"}
	DemoClaimHanded    = Text{ZH: "%d 個字元，取自紀錄：你的原話、做到哪裡、這些名字", EN: "in %d characters from the record: your words, the state, the names"}
	DemoClaimIsolated  = Text{ZH: "審查的報告 %[1]d bytes 留在檔案裡；主 agent 只看到 %[2]d bytes 的結論", EN: "the review's report (%[1]d bytes) stays in a file; the main agent reads %[2]d"}
	DemoClaimVotes     = Text{ZH: "測試通過、審查不通過：兩者都回來才決定，工作退回開發", EN: "tests pass, the review fails: once both are in, development goes on"}
	DemoClaimLearned   = Text{ZH: "開發者這次的提示帶有報告、先前學到的事與第幾次重試", EN: "the developer is told the report, what was learned, and which try it is"}
	DemoClaimSuggested = Text{ZH: "紀錄長到 %s，一個階段完成時建議 /compact 一次，只給使用者", EN: "the record is %s long: /compact is suggested once, when a stage is done"}
	DemoClaimOnce      = Text{ZH: "之後有 %d 次機會，工作做到哪裡只說 %d 次（收據 %s）", EN: "after it, in %d hooks, the workflow is told %d time (receipt %s)"}
	DemoClaimGuarded   = Text{ZH: "主 agent 想自己改檔案：拒絕；只是讀：可以", EN: "the main agent tries to edit a file itself: refused; it may read"}
	DemoClaimDone      = Text{ZH: "%d 個階段全部完成，退回 %d 次、失敗 %d 次", EN: "all %d stages are done, with %d rejection and %d failures on the way"}
	DemoClaimVerified  = Text{ZH: "副本完整（%d 則訊息）；原檔一個 byte 都沒有變", EN: "the copy is whole (%d messages); the original has not changed by a byte"}
	DemoClaimSmaller   = Text{ZH: "壓縮的訊息約 %s → %s tokens（%s）；檔案 %s → %s（%s）", EN: "about %s → %s tokens (%s) of messages; file: %s → %s (%s)"}
	DemoClaimRecall    = Text{ZH: "overtone recall 一字不差地取回全部 %d 則原文", EN: "overtone recall gives back all %d originals, word for word"}
	DemoResume         = Text{ZH: "接續：%s", EN: "resume: %s"}
)

// DemoTurn is a turn of the session that the demo compresses: what is asked, the
// command that is run, what it prints, and the answer.
type DemoTurn struct {
	Ask, Tell       Text
	Command, Output string
}

// demoTexts are a table: first what its actors say, by name; then the turns: what is asked,
// the command and its output, and what is told.
//
//go:embed demo.txt
var demoTexts string

// DemoSays is what an actor says, or what an act is called.
func DemoSays(name string) Text {
	t, _ := entry(demoTexts, name)
	return demoLines(t)
}

func demoLines(t Text) Text {
	lines := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
	return Text{ZH: lines.Replace(t.ZH), EN: lines.Replace(t.EN)}
}

// DemoTurns are a small piece of work, from a symptom to its release.
func DemoTurns() (turns []DemoTurn) {
	eachText(demoTexts, func(name string, t Text) {
		last := len(turns) - 1
		switch t = demoLines(t); name {
		case "ask":
			turns = append(turns, DemoTurn{Ask: t})
		case "$": // in both languages the same: the one, then the other
			turns[last].Command, turns[last].Output = t.ZH, t.EN
		case "tell":
			turns[last].Tell = t
		}
	})
	return turns
}
