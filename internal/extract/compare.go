package extract

import (
	"iter"
	"strings"
	"sync"
	"unicode/utf8"
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
func Missing(units []Unit, original, result string, user bool) (l Losses) {
	for _, u := range units {
		if strings.Contains(result, original[u.Start:u.End]) {
			continue
		}
		l.Add(u.Loss(user))
	}
	return l
}

// Loss is what is lost with a unit; a request is a user's.
func (u *Unit) Loss(user bool) Losses {
	switch {
	case u.Kind == CodeLine || u.Kind == Lead:
		return Losses{}
	case user && u.Cues&(Asked|Question|Rule) != 0:
		return Losses{Sentences: 1, Requests: 1}
	case u.Cues&Decided != 0, u.Cues&(Rule|Open) == Rule:
		return Losses{Sentences: 1, Decisions: 1}
	}
	return Losses{Sentences: 1}
}

// Undenied lists the sentences of a result that state what the original denies:
// most of their words stand in a sentence with a denial, they have none, and no
// sentence of the original says the same without one.
func Undenied(original, result string) []string {
	var bare []string
	for t, u := range reworded(original, result) {
		if u.Cues&Denied == 0 {
			bare = append(bare, t)
		}
	}
	if len(bare) == 0 {
		return nil
	}
	var plain, denied []map[string]bool
	for _, u := range flat(original) {
		t := original[u.Start:u.End]
		if u.Cues&Denied != 0 {
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

// reworded walks what a result says in words of its own.
func reworded(original, result string) iter.Seq2[string, Unit] {
	return func(yield func(string, Unit) bool) {
		for _, u := range flat(result) {
			t := result[u.Start:u.End]
			if u.Kind != CodeLine && !strings.Contains(original, t) && !yield(t, u) {
				return
			}
		}
	}
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
	words(t, func(w string) {
		if len(w) >= 3 {
			set[strings.ToLower(w)] = true
		}
	})
	return set
}

// About reports whether an answer is about a text: of the longer words it has, the
// text has a third or more. A model that declines, or answers what it was to shorten,
// says other things.
func About(text, answer string) bool {
	known, words, found := wordsOf(text), 0, 0
	for w := range wordsOf(answer) {
		if len(w) == 3 && w[0] < utf8.RuneSelf {
			continue // "the" is in every text
		}
		words++
		if known[w] {
			found++
		}
	}
	return words < 4 || 3*found >= words
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
	for t := range reworded(original, result) {
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
	for _, u := range flat(original) {
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
