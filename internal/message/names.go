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

// named is what a word of a kind is called, empty where the table does not have it.
func named(kind, word string) Text {
	t, _ := entry(nameTexts, kind+"."+word)
	return t
}

var (
	stateAsked = Text{ZH: "等使用者回答：%s", EN: "waits for the user's answer: %s"}
	noSign     = Text{ZH: "沒有跡象說明接下來由誰說話", EN: "nothing shows whose word is next"}
)

// Stands is how work stands and what shows it.
func Stands(state, question, sign string, l Lang) string {
	shown := cmp.Or(named("sign", sign), noSign).In(l)
	if state == "asked" && question != "" {
		return ExplainShown.Format(l, stateAsked.Format(l, question), shown)
	}
	return ExplainShown.Format(l, cmp.Or(named("state", state), AuditUnknown).In(l), shown)
}

// ConditionName is what a condition of the suggestion after a stage is called; one that is
// not known keeps its name.
func ConditionName(name string) Text {
	return cmp.Or(named("condition", name), Text{ZH: name, EN: name})
}

// Counted is the name of what is counted in a list, such as messages that were
// left alone and facts that were lost; none for names of somebody else's.
func Counted(name string) Text { return named("count", name) }

var refusedOther = Text{ZH: "在說別的事", EN: "is about something else"}

// RefusedFor is why a result was not taken.
func RefusedFor(reason string) Text { return cmp.Or(named("refused", reason), refusedOther) }

// SettingWhy is why a key of a host's settings is written, empty where it is not known.
func SettingWhy(key string) Text { return named("setting", key) }
