package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Said is what a text that stands as the user's turns out to be.
type Said uint8

const (
	NotSaid   Said = iota // a command, a host's text, a greeting: nothing was asked
	Nudge                 // go on, yes, thanks
	Picked                // an answer that only its question explains: "2", "yes, option 1"
	Pasted                // somebody else's text, without a word about it
	Requested             // a request, a question, a remark: the user's own words
)

// Request reads a user's message: what it is, and the user's own words in it
// with what was pasted between them left out.
func Request(text string) (Said, string) {
	text = strings.TrimSpace(OwnText(text))
	if text == "" || ownMark(text) {
		return NotSaid, ""
	}
	if text[0] == '/' {
		_, args, _ := strings.Cut(text, " ")
		name := strings.TrimSpace(text[:len(text)-len(args)])
		args = strings.TrimSpace(args)
		switch long := len(strings.Fields(args)) > 2 || wideRunes(args) > 5; {
		case !commandName(name): // a path at the start of a sentence
		case long:
			text = args
		case args != "" && strings.Contains(name, ":"): // a command of the user's own, and what it is to work on
			return Requested, text
		default:
			return NotSaid, ""
		}
	}
	words := plainWords(text)
	switch {
	case all(words, greetingWord), len(words) == 2 && greetingWord(words[0]): // hi there, hello Ada
		return NotSaid, ""
	case len(words) <= 6 && all(words, nudgeWord):
		return Nudge, text
	case len(text) == 1 && unicode.IsLetter(rune(text[0])), len(words) <= 6 && all(words, choiceWord) && utf8.RuneCountInString(text) <= 40:
		return Picked, text
	}
	own := unpasted(text)
	if own == "" {
		return Pasted, ""
	}
	return Requested, own
}

// OwnText takes out what hosts wrap into a user's message, and unwraps a slash
// command.
func OwnText(text string) string {
	if name, ok := between(text, "<command-name>", "</command-name>"); ok && strings.HasPrefix(text, "<command-") {
		args, _ := between(text, "<command-args>", "</command-args>")
		return name + " " + args
	}
	for _, tag := range [...]string{"system-reminder", "ide_opened_file", "ide_selection", "local-command-caveat", "local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr", "task-notification", "user-prompt-submit-hook", "environment_context"} {
		for {
			i := strings.Index(text, "<"+tag+">")
			if i < 0 {
				break
			}
			end := strings.Index(text[i:], "</"+tag+">")
			if end < 0 {
				break // it is spoken of
			}
			text = text[:i] + text[i+end+len(tag)+3:]
		}
	}
	return text
}

func between(text, open, closing string) (string, bool) {
	_, rest, ok := strings.Cut(text, open)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, closing)
	return strings.TrimSpace(inner), ok
}

// ownMark reports what stands in the user's place and is known by its own mark: the
// line of an interruption, and a packet of ours. Nothing else is judged by how it begins.
func ownMark(text string) bool {
	return text == "[Request interrupted by user]" || text == "[Request interrupted by user for tool use]" || strings.HasPrefix(text, "<overtone-packet ")
}

// commandName reports /compact, /workflows:plan.
func commandName(w string) bool {
	w = strings.TrimSpace(w)
	return len(w) > 1 && strings.Trim(w[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-") == ""
}

// plainWords are the words of a short text in lower case, without punctuation;
// a run of ideographs is one word. A long text gives its first words.
func plainWords(text string) []string {
	var out []string
	for f := range strings.FieldsFuncSeq(strings.ToLower(text[:min(len(text), 400)]), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	}) {
		if out = append(out, strings.ReplaceAll(f, "’", "'")); len(out) > 60 {
			break
		}
	}
	return out
}

func all(words []string, ok func(string) bool) bool {
	for _, w := range words {
		if !ok(w) {
			return false
		}
	}
	return len(words) > 0
}

func wideRunes(t string) int {
	n := 0
	for _, r := range t {
		if r >= 0x2e80 {
			n++
		}
	}
	return n
}

func greetingWord(w string) bool {
	return Listed(w, " hi hello hey hallo good morning afternoon evening there 你好 您好 哈囉 嗨 早安 早 午安 晚安 ")
}

func nudgeWord(w string) bool {
	return Listed(w, " yes y yep yeah yup ok okay k sure go on ahead continue carry keep going proceed please do it that this so thanks thank you thx great good nice perfect cool awesome excellent right correct exactly lgtm sounds looks next now was is the idea done fine again try resume let's lets alright well and 好 好的 好喔 好啊 繼續 继续 請繼續 请继续 繼續吧 可以 是 是的 對 对 沒錯 没错 嗯 謝謝 谢谢 行 開始 开始 開始吧 下一步 接著 接著做 做吧 沒問題 ")
}

func choiceWord(w string) bool {
	switch w {
	case "option", "options", "number", "no", "nope", "both", "all", "none", "first", "second", "third", "last", "one", "two", "three", "a", "b", "c", "d", "with", "use", "take", "i", "like", "want", "prefer", "for", "選", "選項", "方案", "第", "不", "不用", "不要", "都", "都要":
		return true
	}
	return strings.Trim(w, "0123456789") == "" || nudgeWord(w)
}

// unpasted is a text without what was pasted into it: fences, diffs, logs,
// output of programs. Where lines were left out, one mark stands; behind a colon
// it holds how they began, for without that the words before it ask nothing.
func unpasted(text string) string {
	var kept []string
	gap, prose := false, 0
	leave := func(line string) {
		if len(kept) == 0 || fenceOf(line) != "" {
			return
		}
		led := prose > 0 && strings.HasSuffix(strings.ReplaceAll(kept[len(kept)-1], "：", ":"), ":")
		switch {
		case led:
			kept = append(kept, pastedMark(line))
		case !gap:
			kept = append(kept, pastedMark(""))
		}
		gap = true
	}
	for line, own := range OwnLines(onOwnLine(text)) {
		switch {
		case line == "":
		case !own || foreign(line):
			leave(line)
		default:
			gap = false
			prose++
			kept = append(kept, line)
		}
	}
	if prose == 0 {
		return ""
	}
	for len(kept) > 0 && kept[len(kept)-1] == pastedMark("") {
		kept = kept[:len(kept)-1]
	}
	return strings.Join(kept, "\n")
}

// maxPastedHead is how much is told of what was pasted, in runes.
const maxPastedHead = 80

// pastedMark stands for lines that were left out.
func pastedMark(first string) string {
	if first != "" {
		if r := []rune(first); len(r) > maxPastedHead {
			first = string(r[:maxPastedHead])
		}
		first = strings.TrimSpace(first) + " "
	}
	return "[" + first + "…]"
}

func isPastedMark(line string) bool {
	return strings.HasPrefix(line, "[") && strings.HasSuffix(line, "…]")
}

// onOwnLine fences a screen that was pasted behind a colon in mid-line: what
// follows the colon after several blanks, and the indented lines below it.
func onOwnLine(text string) string {
	for at := 0; ; {
		i := strings.Index(text[at:], ":  ")
		if i < 0 {
			return text
		}
		at += i + 1
		first, rest, _ := strings.Cut(text[at:], "\n")
		n := 0
		for line := range strings.Lines(rest) {
			if t := strings.TrimSpace(line); t == "" || !strings.HasPrefix(line, "  ") && !foreign(t) {
				break
			}
			n += len(line)
		}
		if n > 0 && strings.TrimSpace(first) != "" {
			return text[:at] + "\n```\n" + strings.TrimSpace(first) + "\n" + strings.TrimSuffix(rest[:n], "\n") + "\n```\n" + rest[n:]
		}
	}
}

// foreign reports a line that people paste rather than write.
func foreign(line string) bool {
	switch line[0] {
	case '+', '|', '}', '{', ')', '>':
		return true
	case '@', '$': // of a diff, of a shell; @main.py and $PATH are written
		return strings.HasPrefix(line, "@@ ") || strings.HasPrefix(line, "$ ")
	case '<':
		return len(line) > 1 && (line[1] == '/' || line[1] >= 'a' && line[1] <= 'z')
	}
	for _, p := range [...]string{"│", "├", "└", "╭", "╰", "❯", "⏺", "⎿", "diff --git", "Traceback", "panic:", "goroutine ", "--- ", "FAIL\t", "ok  \t", "=== ", "#!", "//", "func ", "def "} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	if strings.HasSuffix(line, "{") || strings.HasSuffix(line, ";") || strings.HasSuffix(line, "},") || strings.HasSuffix(line, ")\\") {
		return true
	}
	// 2026-01-02 and 12:34:56 at the start: a log.
	if len(line) > 8 && line[0] >= '0' && line[0] <= '9' && (line[2] == ':' && line[5] == ':' || line[4] == '-' && line[7] == '-') {
		return true
	}
	letters, marks := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r) || unicode.IsSpace(r):
		default:
			marks++
		}
	}
	return letters < 2 || marks > letters
}

// Tasks reports whether a request sets something to be done. A remark, an answer
// or a question about what was done belongs to the task before it.
func Tasks(own string) bool {
	words := plainWords(own)
	if len(words) < 4 && wideRunes(own) < 5 {
		return false
	}
	low := " " + strings.ToLower(strings.ReplaceAll(own, "’", "'")) + " "
	plain := strings.NewReplacer(",", " ", ".", " ", ":", " ", "!", " ", "?", " ", "\n", " ").Replace(low)
	if len(words) > 0 && len(words) < 12 && continues(words[0]) {
		// After "好，幫我" a verb alone names nothing to work on.
		return mentions(low, " let's ") || mentions(low, "請", "请", "幫我", "帮我") && wideRunes(own)-wideRunes(words[0]) >= 6
	}
	return mentions(plain, " can you ", " could you ", " can we ", " could we ", " let's ", " lets ", " please ", " i want ", " i'd like ", " i would like ", " i need ", " we need to ", " we should ", " would you ", " help me ", " your task ", " implement", " address ", " i would suggest ",
		"請", "请", "幫", "帮", "我要", "我想", "實作", "实现", "加上", "新增", "修正", "修复", "檢查", "检查", "改成", "重構", "寫一", "写一") ||
		imperative(low, "do ") || imperative(low, tasks...)
}

// tasks begin a sentence that sets something to be done.
var tasks = []string{"add ", "fix ", "create ", "make ", "write ", "update ", "remove ", "rename ", "change ", "check ", "review ", "refactor ", "move ", "investigate ", "build ", "run ", "find ", "use ", "replace ", "test ", "debug ", "explain ", "list ", "show ", "analyze ", "analyse ", "set up ", "continue with ", "work on ", "look at ", "try ", "revert ", "merge ", "release ", "deploy ", "document ", "improve ", "port ", "migrate ", "upgrade ", "delete ", "split ", "read "}

// continues reports a first word that answers what was said before.
func continues(w string) bool {
	return Listed(w, " yes y yep yeah ok okay sure no nope but hmm and right correct good great nice perfect cool thanks exactly also 可以 好 好的 好啊 行 嗯 對 对 是 是的 沒錯 没错 不錯 不错 沒問題 没问题 ")
}

// Sentences cuts a text into sentences, list items and lines.
func Sentences(text string) []string {
	var out []string
	add := func(s string) {
		s = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), "-*•> "))
		if s != "" {
			out = append(out, s)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if isPastedMark(line) {
			continue
		}
		start := 0
		for i, r := range line {
			end := i + utf8.RuneLen(r)
			switch r {
			case '.', '!', '?':
				if end+1 < len(line) && line[end] == ' ' && (r != '.' || !unicode.IsLower(rune(line[end+1]))) && i > 2 && line[i-2] != ' ' {
					add(line[start:end])
					start = end
				}
			case '。', '！', '？', '；':
				add(line[start:end])
				start = end
			}
		}
		add(line[start:])
	}
	return out
}

// imperative reports a phrase with nobody in front of it: at the start of the
// sentence or of a clause that begins with it.
func imperative(low string, phrases ...string) bool {
	for _, p := range phrases {
		for from := 0; ; {
			i := strings.Index(low[from:], " "+p)
			if i < 0 {
				break
			}
			i += from
			before := strings.TrimRight(low[:i], " ")
			for _, w := range [...]string{"", ",", ".", ":", ";", "-", "–", "(", "!", "?", " please", " and", " so", " also", " then", " just", " again", " now"} {
				if w == "" && before == "" || w != "" && strings.HasSuffix(before, w) {
					return true
				}
			}
			from = i + 1
		}
	}
	return false
}

// Listed reports whether a word stands in a list of words with a blank on each side.
func Listed(word, list string) bool { return strings.Contains(list, " "+word+" ") }

// AnyListed reports whether one of the words does.
func AnyListed(words []string, list string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return Listed(w, list) })
}

func mentions(low string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
}

// OpenQuestion is the question that a text ends with, "" for none: what its writer
// waits to be answered. A question in the middle is often its writer's own.
func OpenQuestion(text string) string {
	text = strings.TrimSpace(unfenced(text))
	// The last paragraph, and the one before it where it is a list of choices.
	paras := strings.Split(text, "\n\n")
	for i := len(paras) - 1; i >= max(0, len(paras)-2); i-- {
		list := Sentences(paras[i])
		for j := len(list) - 1; j >= 0; j-- {
			s := list[j]
			marked := strings.HasSuffix(strings.TrimRight(s, "*_`) "), "?") || strings.HasSuffix(s, "？")
			// Behind a question stand the choices or a reason for it; what its
			// writer answers himself was asked of nobody.
			if marked && (j == len(list)-1 || isList(paras[i]) || toUser(s)) || asks(s) {
				return s
			}
		}
		if i == len(paras)-1 && !isList(paras[i]) {
			break
		}
	}
	return ""
}

// toUser reports a question that only the reader can answer.
func toUser(s string) bool {
	return mentions(" "+strings.ToLower(s)+" ", " you ", " you'd ", " your ", " should i ", " shall i ", " may i ", " want me ", " do we ", " should we ", " shall we ", "你", "您", "要不要", "是否")
}

func unfenced(text string) string {
	var b strings.Builder
	fence := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fence = !fence
			continue
		}
		if !fence {
			b.WriteString(line)
		}
	}
	return b.String()
}

func isList(para string) bool {
	n := 0
	for line := range strings.Lines(para) {
		line = strings.TrimSpace(line)
		if len(line) > 1 && (line[0] == '-' || line[0] == '*' || line[0] >= '1' && line[0] <= '9' && (line[1] == '.' || line[1] == ')')) {
			n++
		}
	}
	return n > 0
}

// asks reports a sentence that waits for an answer without a question mark.
func asks(s string) bool {
	low := strings.ToLower(s)
	return mentions(low, "let me know if you'd like", "let me know if you want", "let me know which", "let me know whether", "let me know how you", "please confirm", "please choose", "tell me which", "waiting for your", "i need your", "would you like me to", "請告訴我", "請確認", "請選擇", "等你確認", "要不要", "是否要", "請問")
}
