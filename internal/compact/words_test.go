package compact

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// talk plays a conversation: what begins with "a: " is the agent's, what begins with "q: "
// is a question of a tool, and what begins with "! " is its answer.
func talk(lines ...string) Words {
	var w Words
	question := ""
	for _, l := range lines {
		mark, text, _ := strings.Cut(l, " ")
		switch mark {
		case "works":
			w = w.Worked()
		case "ends", "esc":
			w = w.Ended(mark == "esc")
		case "a:":
			w = w.Said(text)
		case "q:":
			question = text
			w = w.Worked().AsksWith(text)
		case "!":
			w = w.Answer(question, text).AsksWith("").Worked()
		default:
			w = w.Hear(l, Typed, time.Time{})
		}
	}
	return w
}

// told is what is quoted, newest first, at so many units a text.
func told(w Words, most int) (out []string) {
	list, _ := w.Quote(most, func(h Word) int { return message.Units(h.Text) })
	for _, h := range list {
		out = append(out, h.Text)
	}
	return out
}

// Whatever the user types is kept as it is: no text is a task, a rule or nothing at all by
// how it begins or what it says.
func TestEveryTextIsHeard(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Please write the parser.", "continue", "hello", "2", "?", "thanks", "/review the diff", "@main.py add type hints, and never push", "[Image #1] make the header smaller", "```go\nfunc main() {}\n```",
		"API Error: 500 on login", "<div>why is this here?</div>", `{"amount": 3} is wrong`, "$PATH is empty", "[Overtone] is slow", "+1 for the second", "| a | b |", "> quoted\n\nfix it", "#42", "停", "👍", "\u200bzero width",
	} {
		w := talk("Port the shop.", "a: It is ported.", text)
		if got := w.Newest().Text; got != message.OneLine(text) {
			t.Errorf("%q is kept as %q", text, got)
		}
		if state, sign := w.State(false); state != StateCalled || sign != SignUser || w.Count != 2 {
			t.Errorf("%q: %s by %s, %d messages", text, state, sign, w.Count)
		}
	}
	before := talk("Port the shop.", "a: It is ported.")
	for _, text := range []string{"", " \n\t"} {
		if d := cmp.Diff(before, before.Hear(text, Typed, time.Time{})); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// The newest message has more room than older ones, the first is kept apart, and each
// that is cut keeps both of its ends: what is asked stands in one of them.
func TestHowMuchIsKept(t *testing.T) {
	t.Parallel()
	long := func(name string, n int) string {
		return name + " begins " + strings.Repeat("長 ", n/2) + "ends " + name
	}
	for _, n := range []int{100, 250, 400, 700, 7900, 20_000, 1 << 20} {
		w := talk(long("one", n), long("two", n))
		for at, most := range []int{maxOlder, maxNewest} {
			name := []string{"one", "two"}[at]
			got, whole := w.Heard[at].Text, long(name, n)
			if units := message.Units(got); units > most || units < min(most, message.Units(whole))-2 || !strings.HasPrefix(got, name+" begins 長") || !strings.HasSuffix(got, "長 ends "+name) {
				t.Errorf("%d: %d of %d units: %s", n, units, most, got)
			}
			if cut := strings.Contains(got, between); cut != (message.Units(whole) > most) {
				t.Errorf("%d: cut %v", n, cut)
			}
		}
		if w.First.Text != w.Heard[0].Text || w.Count != 2 {
			t.Errorf("%d: first %q of %d", n, w.First.Text, w.Count)
		}
	}
	got := talk(long("one", 1000)).Heard[0].Text
	head, tail, _ := strings.Cut(got, between)
	if a, b := message.Units(head), message.Units(tail); a < 2*b-2 || a > 2*b+2 {
		t.Errorf("%d units of the head, %d of the tail", a, b)
	}
}

// A short message stands with the end of what the agent had said before it, once; a long
// one tells by itself what is meant.
func TestShortMessagesHaveWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	const asked = "By hand, or generated? 1. By hand 2. Generated"
	for name, c := range map[string]struct {
		lines []string
		to    string
	}{
		"short":                    {[]string{"Port it.", "a: " + asked, "2"}, asked},
		"long":                     {[]string{"Port it.", "a: " + asked, strings.Repeat("x", short)}, ""},
		"almost long":              {[]string{"Port it.", "a: " + asked, strings.Repeat("x", short-1)}, asked},
		"the second one after it":  {[]string{"Port it.", "a: " + asked, "2", "and quickly"}, ""},
		"work between":             {[]string{"Port it.", "a: " + asked, "works", "2"}, asked},
		"what an app shows is not": {[]string{"Port it.", "a: " + asked + "\n\n::git-push{branch=\"a\"}", "2"}, asked},
		"the first message":        {[]string{"2"}, ""},
		"nothing was said":         {[]string{"Port it.", "a:  ", "2"}, ""},
	} {
		if got := talk(c.lines...).Newest().To; got != c.to {
			t.Errorf("%s: to %q, want %q", name, got, c.to)
		}
	}
	w := talk("Port it.", "a: "+strings.Repeat("word ", 400)+"the very end", "2")
	if to := w.Newest().To; message.Units(to) > maxClosing || !strings.HasPrefix(to, "… ") || !strings.HasSuffix(to, " the very end") {
		t.Errorf("%d units: %q", message.Units(to), to)
	}
	if to := w.Hear("and now?", Typed, time.Time{}).Heard[1].To; message.Units(to) > maxTo || !strings.HasPrefix(to, "… ") || !strings.HasSuffix(to, " the very end") {
		t.Errorf("an older one's: %d units: %q", message.Units(to), to)
	}
}

// What comes through tools and with commands is kept as that, and begins no turn; an
// approved plan and a goal do.
func TestWaysOfSayingSomething(t *testing.T) {
	t.Parallel()
	for how, want := range map[How]struct {
		state State
		first bool
	}{
		Typed: {StateCalled, true}, AsPlan: {StateCalled, true}, AsGoal: {StateCalled, true},
		WithRefusal: {StateUnderWay, false}, WithCompact: {StateUnderWay, false}, WithAnswer: {StateUnderWay, false},
	} {
		w := Words{}.Worked().Hear("Use the second one.", how, time.Time{})
		if state, _ := w.State(false); state != want.state || (w.First.Text != "") != want.first || (w.Count == 1) != want.first || len(w.Heard) != 1 || w.Heard[0].How != how {
			t.Errorf("%q: %s, %+v", how, state, w)
		}
		// It is never the latest request while something was typed.
		w = talk("Port it.").Hear("Use the second one.", how, time.Time{})
		if got := w.Newest().Text; (got == "Port it.") == want.first {
			t.Errorf("%q: the newest is %q", how, got)
		}
	}
	w := talk("Port it.", "q: Which one?", "! the second")
	if d := cmp.Diff([]Word{{Text: "Port it."}, {Text: "the second", To: "Which one?", How: WithAnswer}}, w.Heard); d != "" || w.Asking != "" || w.Last != LastTool {
		t.Errorf("%+v\n%s", w, d)
	}
	if got := talk("Port it.", "q: Which one?", "!  "); len(got.Heard) != 1 {
		t.Errorf("an empty answer: %+v", got.Heard)
	}
	for at, want := range map[time.Time]int64{{}: 0, noon: noon.UnixMilli()} {
		if got := (Words{}).Hear("x", Typed, at).Heard[0].At; got != want {
			t.Errorf("heard at %d, want %d", got, want)
		}
	}
}

// Answers to many questions do not crowd out what was typed.
func TestManyAnswers(t *testing.T) {
	t.Parallel()
	lines := []string{"Port it.", "Never push."}
	for i := range 3 * maxHeard {
		lines = append(lines, fmt.Sprintf("q: Question %d?", i), fmt.Sprintf("! answer %d", i))
	}
	w := talk(lines...)
	if got, want := told(w, 1000), []string{"answer 71", "answer 70", "Never push.", "Port it."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if w.Newest().Text != "Never push." || len(w.Heard) > maxHeard {
		t.Errorf("%+v", w)
	}
	// What was typed with a command is none of them.
	if got, want := told(w.Hear("keep the names", WithCompact, noon), 1000), []string{"keep the names", "answer 71", "answer 70", "Never push.", "Port it."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// Nor do they take the room of the newest message.
	answer := "! " + strings.Repeat("y", 300)
	w = talk("Port it.", strings.Repeat("x", 500), "q: A?", answer, "q: B?", answer+"z")
	if got := told(w, 900); len(got) != 3 || len(got[1]) != 500 {
		t.Errorf("%q", got)
	}
}

// The newest come first; what does not fit is passed over, and what is said twice is told
// once.
func TestQuote(t *testing.T) {
	t.Parallel()
	fifty := strings.Repeat("x", 50)
	for name, c := range map[string]struct {
		lines []string
		most  int
		want  []string
		more  int
	}{
		"all fit":                     {[]string{"one", "two", "three"}, 100, []string{"three", "two", "one"}, 0},
		"one does not":                {[]string{"one", fifty, "three"}, 20, []string{"three", "one"}, 1},
		"exactly":                     {[]string{"one", "two", "three"}, 11, []string{"three", "two", "one"}, 0},
		"a unit less":                 {[]string{"one", "two", "three"}, 10, []string{"three", "two"}, 1},
		"twice":                       {[]string{"go", "one", "go"}, 100, []string{"go", "one"}, 1},
		"nothing was said":            {nil, 100, nil, 0},
		"answers, the newest two":     {[]string{"one", "q: A?", "! a", "q: B?", "! b", "q: C?", "! c"}, 100, []string{"c", "b", "one"}, 0},
		"an answer in the same words": {[]string{"one", "2", "q: A?", "! 2"}, 100, []string{"2", "2", "one"}, 0},
		"typed after an answer":       {[]string{"one", "q: A?", "! a", "two"}, 100, []string{"two", "a", "one"}, 0},
		"no room beside the newest":   {[]string{fifty, "q: A?", "! an answer"}, 55, []string{fifty}, 0},
	} {
		w := talk(c.lines...)
		list, more := w.Quote(c.most, func(h Word) int { return message.Units(h.Text) })
		var got []string
		for _, h := range list {
			got = append(got, h.Text)
		}
		if !slices.Equal(got, c.want) || more != c.more {
			t.Errorf("%s: %q and %d more, want %q and %d", name, got, more, c.want, c.more)
		}
	}
}

// anyText is a text of a person's, short or long, in any script, pasted logs among them.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"go", "好", "2", "繼續，不要停", "<div>", "[Image #1] x", "@a.go y", " … ", "a … b"}),
		rapid.StringMatching(`[a-z ]{1,90}`),
		rapid.StringN(1, 200, 800),
		rapid.Custom(func(t *rapid.T) string {
			unit := rapid.SampledFrom([]string{"x", "word ", "長", "😀", "12:01 error\n", "e\u0301"}).Draw(t, "unit")
			return "begin " + strings.Repeat(unit, rapid.IntRange(1, 4000).Draw(t, "n")) + " end"
		}),
	)
}

// anyWords is a conversation of any events.
func anyWords(t *rapid.T, each func(w Words, typed string)) Words {
	var w Words
	for range rapid.IntRange(1, 60).Draw(t, "events") {
		text := anyText().Draw(t, "text")
		switch rapid.IntRange(0, 8).Draw(t, "event") {
		case 0:
			w = w.Said(text)
		case 1:
			w = w.Worked()
		case 2:
			w = w.Ended(rapid.Bool().Draw(t, "interrupted"))
		case 3:
			w = w.AsksWith(text)
		case 4:
			w = w.Answer(text, anyText().Draw(t, "answer"))
		case 5:
			w = w.Hear(text, rapid.SampledFrom([]How{WithRefusal, WithCompact}).Draw(t, "how"), time.Time{})
		default:
			w = w.Hear(text, rapid.SampledFrom([]How{Typed, Typed, AsPlan, AsGoal}).Draw(t, "how"), time.Time{})
			each(w, text)
		}
	}
	return w
}

// What is kept is bounded however long the session is; the newest message is always kept,
// whole or by both of its ends; and storing changes nothing.
func TestWordsAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		typed := 0
		w := anyWords(t, func(w Words, text string) {
			text = strings.TrimSpace(text)
			if text == "" {
				return
			}
			line := message.OneLine(text)
			typed++
			got := w.Newest().Text
			head, tail, cut := strings.Cut(got, between)
			switch {
			case line == "":
				if got == "" {
					t.Fatalf("%q is dropped", text)
				}
			case message.Units(line) <= maxNewest && got != line:
				t.Fatalf("%q is kept as %q", line, got)
			case message.Units(line) > maxNewest && (!cut || !strings.HasPrefix(line, head) || !strings.HasSuffix(line, tail) || head == "" || tail == ""):
				t.Fatalf("of %.60q… is kept %q", line, got)
			}
			if state, _ := w.State(false); state != StateCalled {
				t.Fatalf("after words it is %s", state)
			}
		})
		if w.Count != typed || len(w.Heard) > maxHeard {
			t.Fatalf("%d messages, %d counted, %d kept", typed, w.Count, len(w.Heard))
		}
		newest := w.Newest()
		for i, h := range w.Heard {
			most := maxOlder
			if !slices.ContainsFunc(w.Heard[i+1:], func(o Word) bool { return o.How.prompts() }) && h.How.prompts() {
				most = maxNewest
			}
			if n := message.Units(h.Text); n > most || h.Text == "" || message.Units(h.To) > maxClosing || strings.ContainsAny(h.Text+h.To, "\n\x00") {
				t.Fatalf("%d units of %d: %+v", n, most, h)
			}
		}
		if message.Units(w.First.Text) > maxOlder || message.Units(w.Closing) > maxClosing || message.Units(w.Asking) > maxClosing {
			t.Fatalf("%+v", w)
		}
		data, err := json.Marshal(w)
		var back Words
		if err != nil || json.Unmarshal(data, &back) != nil || !cmp.Equal(w, back) {
			t.Fatalf("%s is read as %+v", data, back)
		}
		if len(data) > 80<<10 {
			t.Fatalf("%d bytes", len(data))
		}
		// What is told keeps to its room, and tells the newest message before all others
		// that were typed.
		room := rapid.IntRange(0, 2000).Draw(t, "room")
		cost := func(h Word) int { return message.Units(h.Text) + message.Units(h.To) + 3 }
		list, more := w.Quote(room, cost)
		used, shown, aside := 0, 0, 0
		for _, h := range list {
			if used += cost(h); h.How.aside() {
				aside++
			}
			if !h.How.prompts() {
				continue
			}
			if shown++; shown == 1 && h.Text != newest.Text && cost(newest) <= room {
				t.Fatalf("the newest is %q, told is %q", newest.Text, h.Text)
			}
		}
		if used > room || aside > mostAside || more != typed-shown || shown == 0 && typed > 0 && cost(newest) <= room {
			t.Fatalf("%d of %d units, %d aside, %d told and %d more of %d", used, room, aside, shown, more, typed)
		}
	})
}

// No secret is kept, wherever it stands in a text and wherever the text is cut.
func TestWordsHoldNoSecret(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + "x9Kq2ZrT7vLmW4pYb8NcD3sFh6JgA1uEoQ5i"
	rapid.Check(t, func(t *rapid.T) {
		filler := rapid.SampledFrom([]string{"word ", "x ", "log line 12\n", "長 "}).Draw(t, "filler")
		text := strings.Repeat(filler, rapid.IntRange(0, 3000).Draw(t, "before")) + secret + " " + strings.Repeat(filler, rapid.IntRange(0, 3000).Draw(t, "behind"))
		w := Words{}.Hear(text, rapid.SampledFrom([]How{Typed, WithRefusal, WithCompact, AsPlan}).Draw(t, "how"), noon).Said(text).AsksWith(text).Hear("2", Typed, noon).Answer(text, text).Said(text).AsksWith(text)
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(secret) - 10 {
			if strings.Contains(string(data), secret[i:i+10]) {
				t.Fatalf("%s shows in %s", secret[i:i+10], data)
			}
		}
	})
}

// What hearing costs follows the length of the text at most.
func TestHearingIsLinear(t *testing.T) {
	spent := func(f func()) uint64 {
		var before, after runtime.MemStats
		f() // what is built on first use
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, unit := range map[string]string{"words": "a word of it ", "lines": "2026-01-01 12:00:01 error: x\n", "no blank": "abc1", "Chinese": "這是一行。", "blanks": " \n"} {
		last := uint64(0)
		for size := 16 << 10; size <= 1<<20; size *= 2 {
			text := "a" + strings.Repeat(unit, size/len(unit)) + "b"
			n := spent(func() { _ = talk("one").Hear(text, Typed, noon) })
			if last > 0 && n > 2*last+(64<<10) || n > 4<<20 {
				t.Errorf("%s: %d bytes for %d, %d for half of it", name, n, size, last)
			}
			last = n
		}
		// Nor does it grow with what was heard before.
		var w Words
		hear := func(n int) {
			for i := range n {
				w = w.Hear(fmt.Sprint(i, strings.Repeat(unit, 100)), Typed, noon)
			}
		}
		hear(maxHeard)
		if a, b := spent(func() { hear(50) }), spent(func() { hear(100) }); b > 2*a+a/2 {
			t.Errorf("%s: %d bytes for 50 messages, %d for 100", name, a, b)
		}
	}
}

// A host's file may lag behind its hooks: what they have heard since the file's newest
// piece is added once and in order, and what they know of the turn is then the newest.
func TestMissed(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	long := "begin " + strings.Repeat("x", 900) + " end"
	hooks := Words{}.Hear("one", Typed, at(1)).Said("Fine.").Ended(false).Hear("two", Typed, at(2)).Worked().Hear("three", Typed, at(3)).Said("All is done.").Ended(false)
	file := func(lines ...string) Words { return talk(lines...) }
	for name, c := range map[string]struct {
		file, heard Words
		end         int
		want        []string
		last        Last
		over        bool
	}{
		"the file has all":                 {file("one", "two", "three", "works"), hooks, 4, []string{"one", "two", "three"}, LastTool, false},
		"but its times are older":          {file("one", "two", "three", "works"), hooks, 0, []string{"one", "two", "three"}, LastTool, false},
		"the last one is missing":          {file("one", "two", "works"), hooks, 2, []string{"one", "two", "three"}, LastAgent, true},
		"two are missing":                  {file("one", "a: Fine."), hooks, 1, []string{"one", "two", "three"}, LastAgent, true},
		"told by text, not by time":        {file("one", "two", "works"), hooks, 1, []string{"one", "two", "three"}, LastAgent, true},
		"there is no file yet":             {Words{}, hooks, -1, []string{"one", "two", "three"}, LastAgent, true},
		"what is older than the file":      {file("uno", "dos", "tres", "works"), hooks, 3, []string{"uno", "dos", "tres"}, LastTool, false},
		"without a time nothing is missed": {file("works"), talk("one", "two"), 0, nil, LastTool, false},
		"what came through tools is not":   {file("one", "works"), Words{}.Hear("one", Typed, at(1)).Hear("no", WithRefusal, at(2)), 1, []string{"one"}, LastTool, false},
		"a long one is known":              {file(long, "works"), Words{}.Hear(long, Typed, at(2)), 1, []string{cutEnds(long, maxNewest)}, LastTool, false},
		"also when the hooks have cut it":  {file(long, "works"), Words{}.Hear(long, Typed, at(2)).Hear("two", Typed, at(3)), 1, []string{cutEnds(long, maxOlder), "two"}, LastUser, false},
	} {
		got, newest := c.file.Missed(c.heard, at(c.end).UnixMilli())
		var texts []string
		for _, h := range got.Heard {
			texts = append(texts, h.Text)
		}
		if !slices.Equal(texts, c.want) || got.Last != c.last || got.Over != c.over || got.Count != len(c.want) {
			t.Errorf("%s: %q, last %q, over %v, %d counted", name, texts, got.Last, got.Over, got.Count)
		}
		if len(c.want) > 0 && got.First.Text != cutEnds(c.want[0], maxOlder) {
			t.Errorf("%s: the first is %q", name, got.First.Text)
		}
		if missed := !cmp.Equal(c.file, got); missed == newest.IsZero() || missed && newest.UnixMilli() != c.heard.Newest().At {
			t.Errorf("%s: heard at %s", name, newest)
		}
		if again, _ := got.Missed(c.heard, at(c.end).UnixMilli()); !cmp.Equal(got.Heard, again.Heard) || got.Count != again.Count {
			t.Errorf("%s: told again, it is added again: %+v", name, again.Heard)
		}
	}
}

// The language is that of the user's own short texts: logs are English everywhere, and
// names of files belong to none.
func TestWordsLang(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("2026-01-01 12:00:01 error: the request to the server has failed again\n", 40)
	for name, c := range map[string]struct {
		lines []string
		want  message.Lang
	}{
		"too little":                      {[]string{"ok"}, ""},
		"a name in Chinese":               {[]string{"Please rename 文件.go", "a: 好的，我會處理這個檔案。"}, message.EN},
		"names in letters":                {[]string{"請把 cart.go 的 roundTotal 改名", "a: Done, all is renamed."}, message.ZH},
		"Japanese is told in English":     {[]string{"テストを先に直してください。"}, message.EN},
		"short Chinese beside a long log": {[]string{log, "這個錯誤怎麼修？", "先修登入"}, message.ZH},
		"the log is the newest":           {[]string{"登入壞了，請修好", log}, message.ZH},
		"the log is the first of many":    {[]string{log + "幫我看一下", "修好登入", "繼續"}, message.ZH},
		"short English beside Chinese":    {[]string{strings.Repeat("這是一份很長的文件。", 100), "Please fix the login page."}, message.EN},
		"only a log":                      {[]string{log}, message.EN},
		"only a long text in Chinese":     {[]string{strings.Repeat("這是一份很長的文件。", 100)}, message.ZH},
		"as many words as ideographs":     {[]string{"請用 docker compose 部署 staging server"}, message.EN},
		"answers do not count":            {[]string{"Please fix the login page.", "q: Which?", "! 第二個，改用資料庫保存登入狀態，並且把舊的資料一起搬過去，不要留下任何檔案"}, message.EN},
	} {
		if got := talk(c.lines...).Lang(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// Wherever the log is cut, it stays a log.
	for n := range 40 {
		w := talk("修好登入", strings.Repeat("a", n)+" "+log, "然後部署")
		if got := w.Lang(); got != message.ZH {
			t.Errorf("cut %d letters later: %q", n, got)
		}
	}
}
