package shrink

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generated session imitates how people and agents write about code: mostly
// prose with a name here and there, some lists, pasted output, diffs and
// reports. It is drawn from a seed, so every run measures the same texts.

type tongue struct {
	ask, narrate, explain, decide, chat, item, report []string
	stop                                              string
}

var english = tongue{
	stop: " ",
	ask: []string{
		"Can you take a look at {path}? Something in {ident} seems to be off since the last release and I would like to understand it before we ship.",
		"Please add a test for {ident} that covers the case where the list is empty.",
		"The build is red again on the main branch, could you find out why and fix it properly this time?",
		"I was thinking that we should probably split {path} because it has grown to {num} lines and nobody dares to touch it any more.",
		"When I run the tool on a large repository it takes about {num} seconds, which is far too slow for a hook.",
		"Could you also update the documentation while you are at it, especially the part about configuration?",
	},
	narrate: []string{
		"Let me start by looking at how this is currently done and then I will come back with a proposal.",
		"I'll read {path} first to see what the function really does.",
		"Now I have a good understanding of the situation, so let me make the change and run the tests.",
		"That looks good. Next I want to check the callers of {ident} to be sure that nothing else depends on the old behaviour.",
		"Great, all of that works as expected, so I can move on to the next step.",
		"Let me check whether the same problem exists in {path} as well.",
	},
	explain: []string{
		"The root of the problem is that {ident} is called while the lock is still held, so a second goroutine waits for ever.",
		"As far as I can see the value is computed once at start and then cached, which means that later changes in the environment are not picked up at all.",
		"In {path} the loop runs over all {num} entries for every request, and this is why the time grows with the square of the input.",
		"There are basically two ways to do this, and both of them have advantages as well as disadvantages that we should discuss before going on.",
		"The function {ident} returns early when the context is done, but the caller does not look at the error and carries on with half of the data.",
		"I think that the simplest thing that could possibly work here is to keep a small table in memory and to write it out when the session ends.",
		"It was introduced in commit {hash}, where the retry was moved from {ident} into the client.",
		"With the cache the median went from {num} ms down to {num} ms, while memory stayed at roughly {num} MB.",
		"This is a rather common mistake, and the compiler has no chance to see it because both types have the same underlying structure.",
		"The documentation says that the header is optional, but in practice every server that we have seen sends it along with the first answer.",
		"Note that {path} is generated, so any change there would be overwritten by the next run of the generator.",
		"What makes this hard to reproduce is that it happens only when two processes start within the same second.",
	},
	decide: []string{
		"We decided to keep the old format readable for one more release because several users still have files of version {num}.",
		"{ident} must never be called from a hook, since it opens the network.",
		"Let's go with the second option: the limit is {num} and it can be changed by the configuration.",
		"I would rather not add a dependency for this, so we write the {num} lines ourselves.",
	},
	chat: []string{
		"Thanks, that was really helpful and I think we are nearly there.",
		"Sounds good to me, please go ahead.",
		"Hmm, I am not so sure about that one to be honest, but let us try it and see how it feels.",
		"By the way, the meeting was moved to tomorrow so there is no hurry at all.",
		"I have been using this for a couple of days now and overall it feels a lot better than what we had before.",
	},
	item: []string{
		"`{ident}` now takes a context as its first argument",
		"moved the parsing from {path} into its own file",
		"added {num} test cases for the edge cases that we talked about",
		"removed the unused option and everything that belonged to it",
		"the default timeout is {num} seconds instead of {num}",
		"renamed {ident} to {ident} for the sake of consistency",
	},
	report: []string{
		"Everything is done. All {num} tests pass and the linter is quiet.",
		"I committed the change as {hash} and pushed it to the branch.",
		"The remaining work is in {path}, which still uses the old call in {num} places.",
		"Coverage went from {num}% to {num}%.",
	},
}

var chinese = tongue{
	ask: []string{
		"可以幫我看一下 {path} 嗎？上次發佈之後 {ident} 好像就怪怪的，我想在上線之前先弄清楚原因。",
		"請幫 {ident} 補一個測試，要涵蓋清單是空的情況。",
		"主分支的建置又紅了，麻煩找出原因，這次請好好修一下。",
		"我在想是不是應該把 {path} 拆開，因為它已經長到{num}行了，現在沒有人敢動它。",
		"在大型專案上跑這個工具大概要 {num} 秒，對一個 hook 來說實在太慢了。",
		"順便也請更新一下文件，特別是關於設定的那個部分。",
	},
	narrate: []string{
		"我先看看目前是怎麼做的，然後再提出一個建議給你參考。",
		"先讀 {path}，確認這個函式實際上做了什麼。",
		"現在我對整個狀況有了比較完整的了解，接下來就開始修改並且執行測試。",
		"看起來沒有問題。接著我想檢查一下 {ident} 的呼叫端，確保沒有其他地方依賴舊的行為。",
		"很好，上面這些都如預期運作，可以進行下一步了。",
	},
	explain: []string{
		"問題的根源在於 {ident} 是在還持有鎖的時候被呼叫的，所以第二個行程會永遠等下去。",
		"就我看到的情況，這個值只在啟動的時候計算一次然後就被快取起來，也就是說之後環境的改變完全不會反映出來。",
		"在 {path} 裡面，迴圈對每個請求都會跑過全部{num}筆資料，這就是時間隨著輸入平方成長的原因。",
		"基本上有兩種做法，兩種都各有優點和缺點，我們應該先討論一下再繼續往下做。",
		"函式 {ident} 在 context 結束時會提早返回，但是呼叫端沒有檢查錯誤，就拿著一半的資料繼續跑。",
		"我覺得最簡單可行的方法是在記憶體裡面放一個小表格，等到工作階段結束的時候再寫出去。",
		"這是在提交 {hash} 引入的，當時把重試從 {ident} 搬到了客戶端。",
		"加上快取以後，中位數從 {num} 毫秒降到 {num} 毫秒，記憶體大約維持在 {num} MB。",
		"這其實是一個滿常見的錯誤，編譯器沒有辦法看出來，因為兩個型別底層的結構是一樣的。",
		"請注意 {path} 是產生出來的檔案，所以在那裡做的任何修改都會被下一次產生覆蓋掉。",
		"這個問題之所以很難重現，是因為只有兩個行程在同一秒內啟動的時候才會發生。",
	},
	decide: []string{
		"我們決定讓舊格式再保留一個版本可以讀取，因為還有好幾位使用者的檔案是第{num}版。",
		"{ident} 絕對不可以在 hook 裡面呼叫，因為它會連上網路。",
		"就採用第二個方案：上限是 {num}，並且可以由設定檔修改。",
		"我不太想為了這個增加相依套件，所以那{num}行我們自己寫。",
	},
	chat: []string{
		"謝謝，這真的很有幫助，我想我們快要完成了。",
		"聽起來不錯，請繼續。",
		"嗯，老實說我對這一點不是很確定，不過我們先試試看，看看感覺如何再說。",
		"對了，會議改到明天了，所以完全不用急。",
	},
	item: []string{
		"`{ident}` 現在以 context 作為第一個參數",
		"把解析的部分從 {path} 搬到獨立的檔案",
		"針對之前討論過的邊界情況增加了 {num} 個測試案例",
		"移除了沒有使用的選項以及所有跟它相關的東西",
		"預設的逾時由 {num} 秒改為 {num} 秒",
		"為了一致性，把 {ident} 改名為 {ident}",
	},
	report: []string{
		"全部完成了。{num} 個測試全數通過，檢查工具也沒有任何訊息。",
		"我已經把修改提交為 {hash}，並且推送到分支上。",
		"剩下的工作在 {path}，那裡還有 {num} 個地方使用舊的呼叫方式。",
		"涵蓋率從 {num}% 提升到 {num}%。",
	},
}

type writer struct {
	*rand.Rand
	t tongue
	// What the session is about: names come up again and again.
	paths, idents []string
}

func (w *writer) pick(from []string) string { return from[w.IntN(len(from))] }

var (
	genDirs  = []string{"internal", "cmd", "pkg", "src", "web", "store", "client", "session", "hooks", "parser", "engine", "report", "queue", "auth", "render"}
	genFiles = []string{"lock", "pool", "reader", "writer", "state", "config", "main", "index", "handler", "migrate", "tail", "options", "router", "cache_test", "stream"}
	genExts  = []string{"go", "go", "go", "ts", "md", "json", "py", "yaml"}
	genVerbs = []string{"read", "write", "parse", "load", "flush", "merge", "apply", "resolve", "open", "retry", "find", "decode"}
	genNouns = []string{"Session", "State", "Config", "Header", "Chunk", "Timeout", "Token", "Entry", "Buffer", "Barrier", "Turn", "Message"}
)

func (w *writer) newPath() string {
	p := w.pick(genDirs)
	for range 1 + w.IntN(2) {
		p += "/" + w.pick(genDirs)
	}
	return p + "/" + w.pick(genFiles) + "." + w.pick(genExts)
}

func (w *writer) newIdent() string {
	v, n := w.pick(genVerbs), w.pick(genNouns)
	switch w.IntN(4) {
	case 0:
		return v + n
	case 1:
		return strings.ToUpper(v[:1]) + v[1:] + n
	case 2:
		return v + "_" + strings.ToLower(n)
	}
	return v + n + w.pick(genNouns)
}

func (w *writer) num() string {
	switch w.IntN(6) {
	case 0:
		return fmt.Sprint(w.IntN(10))
	case 1:
		return fmt.Sprintf("%d.%d", w.IntN(100), w.IntN(10))
	case 2:
		return fmt.Sprintf("%d,%03d", 1+w.IntN(90), w.IntN(1000))
	}
	return fmt.Sprint(10 + w.IntN(990))
}

func (w *writer) hash() string { return fmt.Sprintf("%07x", w.Uint32()>>4|1<<27)[:7] }

// fill puts names and values into a sentence.
func (w *writer) fill(s string) string {
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			return s
		}
		j := i + strings.IndexByte(s[i:], '}')
		var v string
		switch s[i+1 : j] {
		case "path":
			v = w.pick(w.paths)
			if w.IntN(3) == 0 {
				v += fmt.Sprintf(":%d", 1+w.IntN(900))
			}
		case "ident":
			v = w.pick(w.idents)
		case "num":
			v = w.num()
		case "hash":
			v = w.hash()
		}
		s = s[:i] + v + s[j+1:]
	}
}

func (w *writer) sentences(n int, from ...[]string) string {
	var out []string
	for range n {
		out = append(out, w.fill(w.pick(from[w.IntN(len(from))])))
	}
	return strings.Join(out, w.t.stop)
}

func (w *writer) list(n int) string {
	var b strings.Builder
	for i := range n {
		mark := "- "
		if n > 4 {
			mark = fmt.Sprintf("%d. ", i+1)
		}
		b.WriteString(mark + w.fill(w.pick(w.t.item)) + "\n")
	}
	return b.String()
}

func (w *writer) code() string {
	id, n := w.pick(w.idents), w.pick(genNouns)
	low := strings.ToLower(n)
	return "```go\nfunc " + id + "(ctx context.Context, " + low + " *" + n + ") error {\n\tif " + low +
		" == nil {\n\t\treturn nil\n\t}\n\tfor i := range " + low + ".Items {\n\t\tif err := ctx.Err(); err != nil {\n\t\t\treturn fmt.Errorf(\"" +
		strings.ToLower(w.pick(genVerbs)) + " %d: %w\", i, err)\n\t\t}\n\t}\n\treturn " + low + ".Close()\n}\n```\n"
}

func (w *writer) testOutput() string {
	var b strings.Builder
	for range 4 + w.IntN(12) {
		id := w.newIdent()
		switch w.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "--- FAIL: Test%s (%d.%02ds)\n    %s:%d: got %s, want %s\n", id, w.IntN(9), w.IntN(100), w.pick(genFiles)+"_test.go", w.IntN(400), w.num(), w.num())
		case 1:
			fmt.Fprintf(&b, "FAIL\texample.com/tool/%s\t%d.%03ds\n", w.pick(genDirs), w.IntN(20), w.IntN(1000))
		default:
			fmt.Fprintf(&b, "ok  \texample.com/tool/%s/%s\t%d.%03ds\n", w.pick(genDirs), w.pick(genDirs), w.IntN(20), w.IntN(1000))
		}
	}
	return b.String()
}

func (w *writer) log() string {
	var b strings.Builder
	for range 5 + w.IntN(20) {
		at := fmt.Sprintf("2025-11-%02d %02d:%02d:%02d", 1+w.IntN(28), w.IntN(24), w.IntN(60), w.IntN(60))
		switch w.IntN(7) {
		case 0:
			fmt.Fprintf(&b, "%s ERROR %s: open %s: permission denied\n", at, w.pick(w.idents), w.pick(w.paths))
		case 1:
			fmt.Fprintf(&b, "%s WARN  request took %d ms, limit is %d ms\n", at, w.IntN(9000), 1000*w.IntN(9))
		case 2:
			fmt.Fprintf(&b, "%s ERROR request failed with status %d after %d attempts\n", at, 400+w.IntN(110), w.IntN(9))
		default:
			fmt.Fprintf(&b, "%s INFO  handled request in %d ms\n", at, w.IntN(300))
		}
	}
	return b.String()
}

func (w *writer) trace() string {
	var b strings.Builder
	fmt.Fprintf(&b, "panic: runtime error: index out of range [%d] with length %d\n\ngoroutine %d [running]:\n", w.IntN(90), w.IntN(90), 1+w.IntN(200))
	for range 3 + w.IntN(6) {
		fmt.Fprintf(&b, "example.com/tool/%s.%s(0xc000%06x)\n\t/home/dev/tool/%s:%d +0x%x\n", w.pick(genDirs), w.newIdent(), w.IntN(1<<24), w.newPath(), 1+w.IntN(900), w.IntN(4096))
	}
	return b.String()
}

func (w *writer) diff() string {
	p := w.pick(w.paths)
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\nindex %s..%s 100644\n--- a/%s\n+++ b/%s\n@@ -%d,7 +%d,9 @@ func %s(\n", p, p, w.hash(), w.hash(), p, p, w.IntN(400), w.IntN(400), w.pick(w.idents))
	for range 3 + w.IntN(6) {
		fmt.Fprintf(&b, "%s\t%s(%s, %d)\n", w.pick([]string{" ", "+", "-"}), w.newIdent(), strings.ToLower(w.pick(genNouns)), w.IntN(100))
	}
	return b.String()
}

func (w *writer) message() string {
	t := w.t
	// Output reaches users' and agents' texts by pasting only: what tools print
	// has entries of its own.
	switch w.IntN(20) {
	case 0, 1:
		return w.sentences(2+w.IntN(3), t.ask, t.chat)
	case 2, 3, 4:
		return w.sentences(2+w.IntN(4), t.narrate, t.explain)
	case 5, 6:
		return w.sentences(3+w.IntN(5), t.chat, t.ask, t.decide, t.explain)
	case 7, 8, 9:
		return w.sentences(4, t.explain) + "\n\n" + w.sentences(3+w.IntN(5), t.explain, t.decide, t.chat) + "\n\n" + w.list(2+w.IntN(5)) + "\n" + w.sentences(3, t.narrate, t.report)
	case 10, 11:
		return w.sentences(3, t.narrate, t.explain) + "\n\n" + w.code() + "\n" + w.sentences(3+w.IntN(4), t.explain, t.decide)
	case 12:
		return w.sentences(2, t.ask, t.explain) + "\n\n" + w.testOutput() + "\n" + w.sentences(3, t.chat, t.explain)
	case 13:
		return w.sentences(2, t.ask, t.chat) + "\n" + w.log() + "\n" + w.sentences(4, t.ask, t.explain)
	case 14:
		return w.sentences(2, t.ask) + "\n" + w.trace() + "\n" + w.sentences(4, t.chat, t.explain)
	case 15:
		return w.sentences(3, t.explain) + "\n" + w.diff() + w.sentences(3, t.decide, t.report, t.explain)
	}
	return w.sentences(2, t.report) + "\n\n" + w.list(3+w.IntN(6)) + "\n" + w.sentences(5+w.IntN(12), t.explain, t.decide, t.chat) + "\n\n" + w.sentences(3, t.report, t.decide, t.narrate)
}

func generateSession(seed uint64, t tongue) []string {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 42)), t: t}
	for range 30 {
		w.paths = append(w.paths, w.newPath())
		w.idents = append(w.idents, w.newIdent())
	}
	var out []string
	for range 400 {
		if m := w.message(); len(m) >= 80 {
			out = append(out, m)
		}
	}
	return out
}
