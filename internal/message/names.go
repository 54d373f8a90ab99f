package message

import (
	"cmp"
	_ "embed"
)

// nameTexts are what things are called that the code knows by a word: states of the work
// and what shows them, conditions, what is counted, reasons of a refusal, settings of hosts.
//
//go:embed names.txt
var nameTexts string

// Named is what a word of a kind is called, empty where the table does not have it.
func Named(kind, word string) Text {
	t, _ := entry(nameTexts, kind+"."+word)
	return t
}

var (
	stateAsked = Text{ZH: "等使用者回答：%s", EN: "waits for the user's answer: %s"}
	noSign     = Text{ZH: "沒有跡象說明接下來由誰說話", EN: "nothing shows whose word is next"}
)

// Stands is how work stands and what shows it.
func Stands(state, question, sign string, l Lang) string {
	shown := cmp.Or(Named("sign", sign), noSign).In(l)
	if state == "asked" && question != "" {
		return ExplainShown.Format(l, stateAsked.Format(l, question), shown)
	}
	return ExplainShown.Format(l, cmp.Or(Named("state", state), AuditUnknown).In(l), shown)
}
