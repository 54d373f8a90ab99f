package extract

import (
	"strings"
	"sync"
	"unicode"
)

// Losses counts what a shortened text no longer says word for word.
type Losses struct {
	Sentences int `json:"sentences"`
	Requests  int `json:"requests"`
	Decisions int `json:"decisions"`
}

// Add adds another text's losses.
func (l *Losses) Add(m Losses) {
	l.Sentences += m.Sentences
	l.Requests += m.Requests
	l.Decisions += m.Decisions
}

// Missing counts the units of a text that a result does not hold. Requests are a
// user's.
func Missing(original, result string, user bool) (l Losses) {
	for _, u := range Split(original) {
		t := original[u.Start:u.End]
		if u.Kind == CodeLine || u.Kind == Lead || strings.Contains(result, t) {
			continue
		}
		l.Sentences++
		c := u.Cues
		if !u.cued {
			c = cuesOf(t)
		}
		switch {
		case user && c&(Asked|Question|Rule) != 0:
			l.Requests++
		case c&(Decided|Rule) != 0:
			l.Decisions++
		}
	}
	return l
}

// Undenied lists the sentences of a result that state what the original denies:
// most of their words stand in a sentence with a denial, they have none, and no
// sentence of the original says the same without one.
func Undenied(original, result string) []string {
	var bare []string
	for _, u := range Split(result) {
		// What is quoted word for word is most of what builtin writes.
		t := result[u.Start:u.End]
		if u.Kind != CodeLine && !strings.Contains(original, t) && cuesOf(t)&Denied == 0 {
			bare = append(bare, t)
		}
	}
	if len(bare) == 0 {
		return nil
	}
	var plain, denied []map[string]bool
	for _, u := range Split(original) {
		t := original[u.Start:u.End]
		if cuesOf(t)&Denied != 0 {
			denied = append(denied, wordsOf(t))
		} else {
			plain = append(plain, wordsOf(t))
		}
	}
	var out []string
	for _, t := range bare {
		set := wordsOf(t)
		if len(set) < 3 {
			continue
		}
		if d := overlap(set, denied); d*4 >= len(set)*3 && d > overlap(set, plain) {
			out = append(out, t)
		}
	}
	return out
}

// overlap is the largest number of words that set shares with one of the sets.
func overlap(set map[string]bool, sets []map[string]bool) int {
	best := 0
	for _, s := range sets {
		n := 0
		for w := range set {
			if s[w] {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}

// wordsOf is the set of a sentence's words of three letters or more; characters
// of scripts without blanks count one by one.
func wordsOf(t string) map[string]bool {
	set := map[string]bool{}
	from := -1
	end := func(i int) {
		if from >= 0 && i-from >= 3 {
			set[strings.ToLower(t[from:i])] = true
		}
		from = -1
	}
	for i, r := range t {
		switch {
		case unspaced(r) && unicode.IsLetter(r):
			end(i)
			set[string(r)] = true
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			if from < 0 {
				from = i
			}
		default:
			end(i)
		}
	}
	end(len(t))
	return set
}

// successWords claim that something works now. Few and plain: a wrong refusal
// costs a request, a false success the user's trust.
var successWords = sync.OnceValue(func() *Phrases {
	return NewPhrases([]string{
		"passed", "passes", "pass", "succeeded", "successful", "successfully", "fixed", "works", "working", "resolved", "done", "completed", "complete",
		"通過", "通过", "成功", "修好", "修復", "修复", "完成", "解決", "解决", "完了", "成功し", "통과", "성공", "완료", "해결", "успешно", "исправлено", "готово", "прошли",
	})
})

// Unearned lists the sentences of a result that claim a success which the
// original does not: nothing succeeded there, or something else did ("lint passes,
// the tests failed" becomes "tests pass").
func Unearned(original, result string) []string {
	var claims []string
	for _, u := range Split(result) {
		t := result[u.Start:u.End]
		if u.Kind == CodeLine || strings.Contains(original, t) {
			continue
		}
		for _, c := range clauses(t) {
			if claim(c) {
				claims = append(claims, c)
			}
		}
	}
	if len(claims) == 0 {
		return nil
	}
	var earned, others []map[string]bool
	for _, u := range Split(original) {
		for _, c := range clauses(original[u.Start:u.End]) {
			if u.Kind != CodeLine && claim(c) {
				earned = append(earned, wordsOf(c))
			} else {
				others = append(others, wordsOf(c))
			}
		}
	}
	var out []string
	for _, t := range claims {
		set := wordsOf(t)
		for w := range set {
			if successWords().In(w) {
				delete(set, w)
			}
		}
		if len(earned) == 0 || overlap(set, earned) == 0 && overlap(set, others) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// claim reports whether a clause says, without a denial, that something succeeded.
func claim(t string) bool { return cuesOf(t)&Denied == 0 && successWords().In(fold(t)) }

// clauses cuts a sentence where another statement may begin.
func clauses(t string) []string {
	return strings.FieldsFunc(strings.NewReplacer(" and ", ";", " but ", ";", " while ", ";", ", ", ";").Replace(t), func(r rune) bool {
		return strings.ContainsRune(";；，、", r)
	})
}
