package compress

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

type reason string

const (
	reasonEmpty    reason = "empty"
	reasonLonger   reason = "not shorter"
	reasonInvented reason = "invented facts"
	reasonLost     reason = "lost facts"
	reasonFormat   reason = "unreadable reply"
	reasonUndenied reason = "lost a denial"
	reasonClaim    reason = "claims a success"
	reasonAside    reason = "is about something else"
)

// refusedError is the error of a result that did not pass the checks. It is worth
// another attempt.
type refusedError struct {
	reason reason
	Facts  []extract.Fact
	Detail string
}

func (e *refusedError) Error() string { return e.In(message.EN) }

// In is the error in a language.
func (e *refusedError) In(lang message.Lang) string {
	msg := message.Refused.Format(lang, message.Named("refused", string(e.reason)).In(lang))
	if e.Detail != "" {
		msg += ": " + e.Detail
	}
	if len(e.Facts) == 0 {
		return msg
	}
	shown := make([]string, 0, 3)
	for _, f := range e.Facts[:min(3, len(e.Facts))] {
		shown = append(shown, f.Text)
	}
	if n := len(e.Facts) - len(shown); n > 0 {
		shown = append(shown, message.RefusedMore.Format(lang, n))
	}
	return msg + ": " + strings.Join(shown, ", ")
}

// checkResult decides whether a result may stand for its original, and lists the
// paths, numbers, code and other facts it lost. A loss alone refuses a result
// only with keepFacts. What is quoted word for word can turn nothing round; mark is
// the original's.
func checkResult(original, result, mark string, keepFacts, quoted bool) (lost []extract.Fact, err error) {
	if strings.TrimSpace(result) == "" {
		return nil, &refusedError{reason: reasonEmpty}
	}
	if message.Units(result) > message.Units(original) || result == original {
		return nil, &refusedError{reason: reasonLonger}
	}
	before := extract.Facts(original)
	if result == mark || IsMark(result) && strings.HasPrefix(result, mark+timesSign) {
		// Its digits stand in no text; that is what they are for.
		result = ""
	}
	after := extract.Facts(result)
	if !quoted {
		if made := extract.Invented(before, after); len(made) > 0 {
			return nil, &refusedError{reason: reasonInvented, Facts: made}
		}
		if bare := extract.Undenied(original, result); len(bare) > 0 {
			return nil, &refusedError{reason: reasonUndenied, Detail: message.Head(message.OneLine(bare[0]), 100)}
		}
		if claims := extract.Unearned(original, result); len(claims) > 0 {
			return nil, &refusedError{reason: reasonClaim, Detail: message.Head(message.OneLine(claims[0]), 100)}
		}
	}
	lost = extract.Lost(before, after)
	if keepFacts {
		var hard []extract.Fact
		for _, f := range lost {
			switch f.Kind {
			case extract.Path, extract.URL, extract.Hash, extract.Number, extract.Code:
				hard = append(hard, f)
			}
		}
		if len(hard) > 0 {
			return nil, &refusedError{reason: reasonLost, Facts: hard}
		}
	}
	return lost, nil
}

func (p Pool) check(r Request, result string, quoted bool) ([]extract.Fact, error) {
	return checkResult(r.Text, result, r.mark(), p.KeepFacts, quoted)
}
