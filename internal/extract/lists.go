package extract

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// filler reports whether a Latin word can go without changing what a sentence
// claims. Words of denial, condition and direction stay.
func filler(w string) bool {
	if len(w) > 9 {
		return false
	}
	if class[w[0]]&isUpper != 0 {
		w = strings.ToLower(w)
	}
	switch w {
	case "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am", "it", "its", "this", "that",
		"these", "those", "i", "ll", "ve", "re", "me", "my", "we", "our", "us", "you", "your", "he", "she", "they", "their",
		"them", "of", "and", "as", "so", "there", "here", "which", "who", "will", "would", "can", "could", "do", "does",
		"did", "have", "has", "had", "just", "really", "very", "quite", "rather", "also", "too", "some", "such", "let",
		"now", "then", "well", "please", "thanks", "basically", "actually", "simply", "probably", "perhaps", "maybe",
		"sure", "great", "good", "ok", "okay", "like", "want", "going", "see", "look", "looking", "think", "at", "by",
		"in", "on", "for", "to", "what", "how", "about":
		return true
	}
	return false
}

// decisive reports whether a Latin word tells of a decision, a demand or a
// reason.
func decisive(w string) bool {
	if len(w) < 4 || len(w) > 10 {
		return false
	}
	switch strings.ToLower(w) {
	case "decide", "decided", "decision", "must", "never", "always", "because", "instead", "reason", "cause", "chose",
		"chosen", "agreed", "reverted", "rejected", "required", "requires", "forbidden", "avoid", "conclusion",
		"therefore", "cannot", "workaround":
		return true
	}
	return false
}

// decisiveHan is decisive for a run of Chinese.
func decisiveHan(t string) bool {
	for i, r := range t {
		var second string
		switch r {
		case '決', '决':
			second = "定"
		case '必':
			second = "須须"
		case '不':
			second = "可要能"
		case '因':
			second = "為为"
		case '原':
			second = "因"
		case '改':
			second = "為为用"
		case '採', '采':
			second = "用"
		case '結', '结':
			second = "論论"
		case '禁':
			second = "止"
		case '務', '务':
			second = "必"
		default:
			continue
		}
		if next, _ := utf8.DecodeRuneInString(t[i+utf8.RuneLen(r):]); strings.ContainsRune(second, next) {
			return true
		}
	}
	return false
}

// trimHan shrinks a run of Chinese by filler at either end.
func trimHan(t string, a, b int) (int, int) {
	for again := true; again; {
		again = false
		for _, w := range [...]string{"其實", "基本上", "然後", "接著", "接下來", "另外", "我們", "我覺得", "我想", "我先", "請", "麻煩", "現在", "目前", "所以", "這個"} {
			if strings.HasPrefix(t[a:b], w) {
				a += len(w)
				again = true
			}
		}
		for _, w := range [...]string{"一下", "的", "了", "吧", "呢", "喔", "啊", "嗎"} {
			if strings.HasSuffix(t[a:b], w) {
				b -= len(w)
				again = true
			}
		}
	}
	return a, b
}

// strong words make a line a decision or an invariant. They are few and
// strong: a hand-over that lists every "should" says nothing.
var strong = []string{
	"decided", "decision:", "we will use", "we'll use", "must not", "must never", "must always", "never ", "invariant",
	"do not ", "don't ", "agreed", "constraint:", "requirement:", "from now on",
	"決定", "決策", "必須", "不可", "不得", "禁止", "一律", "不要", "約定", "原則",
}

// Decision reports whether a line states a decision or an invariant.
func Decision(line string) bool {
	low := strings.ToLower(line)
	return slices.ContainsFunc(strong, func(w string) bool { return strings.Contains(low, w) })
}
