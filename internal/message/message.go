// Package message holds every text that a person or a model reads, in both
// languages. A text is a package-level value, so a missing one is a compile
// error and the catalogue costs nothing at start: the values are constant data. Long
// tables of them are files.
//
// The Chinese texts are part of the product's contract: other tools look for
// them. A test reads this package's source and fails when a text lacks a
// language or when the two disagree about their verbs.
package message

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Lang names a language of the catalogue.
type Lang string

const (
	ZH Lang = "zh-TW"
	EN Lang = "en"
)

// Parse maps a configured or locale name (zh_TW.UTF-8, zh-Hant, en_US, C) to a
// language. The second result is false for an empty or unknown name.
func Parse(name string) (Lang, bool) {
	n := strings.ToLower(name)
	switch {
	case strings.HasPrefix(n, "zh"):
		return ZH, true
	case strings.HasPrefix(n, "en"), n == "c", strings.HasPrefix(n, "c."), n == "posix":
		return EN, true
	}
	return ZH, false
}

// Locale is the language of the user's locale: Chinese for zh*, else English. The
// first variable that is set decides, as everywhere. named is false where none is.
func Locale(getenv func(string) string) (l Lang, named bool) {
	name := locale(getenv)
	if l, ok := Parse(name); ok {
		return l, true
	}
	return EN, name != "" // also C and POSIX, in which every program speaks English
}

// NamesLanguage reports whether the locale names a language. C and POSIX do not: whoever works in
// a container has them, whatever he speaks.
func NamesLanguage(getenv func(string) string) bool {
	name, _, _ := strings.Cut(locale(getenv), ".")
	return name != "" && name != "C" && name != "POSIX"
}

// locale is the first variable of the locale that is set.
func locale(getenv func(string) string) string {
	return cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG"))
}

// Spoken is the language of what hosts and models are told: the configured one,
// and of a user who never chose, the locale's where it names one. Where it does
// not, the contract's default holds.
func Spoken(configured Lang, chosen bool, getenv func(string) string) Lang {
	if l, named := Locale(getenv); named && !chosen {
		return l
	}
	return configured
}

// Told is the language of a hand-over, which speaks of one session: the configured one,
// else that of the user's own texts in the session, else the locale's, and English where
// that names none.
func Told(configured Lang, chosen bool, session Lang, getenv func(string) string) Lang {
	switch l, _ := Locale(getenv); {
	case chosen:
		return configured
	case session != "":
		return session
	default:
		return l
	}
}

// Text is one text in both languages. It may hold fmt verbs, the same ones in
// the same order in both (or indexed verbs where the order differs).
type Text struct {
	ZH string `json:"zh"`
	EN string `json:"en"`
}

// In returns the text in l; anything that is not English is Chinese, the
// contract's default.
func (t Text) In(l Lang) string {
	if l == EN {
		return t.EN
	}
	return t.ZH
}

// Format is In followed by fmt.Sprintf; texts, errors and lists among args are told in the
// language, too, and Chinese has its own quotes.
func (t Text) Format(l Lang, args ...any) string {
	args = told(args, l)
	t.ZH = strings.NewReplacer(" %q ", "「%s」", " %q", "「%s」", "%q ", "「%s」", "%q", "「%s」").Replace(t.ZH)
	return fmt.Sprintf(t.In(l), args...)
}

func told(args []any, l Lang) []any {
	args = slices.Clone(args)
	for i, a := range args {
		switch a := a.(type) {
		case Text:
			args[i] = a.In(l)
		case error:
			args[i] = ErrorText(a, l)
		case []string:
			args[i] = strings.Join(a, Text{ZH: "、", EN: ", "}.In(l))
		}
	}
	return args
}

// eachText reads a table of texts: a line for each with its name and both languages,
// and tabs between them.
func eachText(table string, fn func(name string, t Text)) {
	for line := range strings.Lines(table) {
		if line == "\n" {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		zh, en, _ := strings.Cut(rest, "\t")
		fn(name, Text{ZH: zh, EN: en})
	}
}

// entry is the text of a name in such a table, and whether it has one. It searches the
// table: a map would be built on every hook call.
func entry(table, name string) (Text, bool) {
	rest, ok := strings.CutPrefix(table, name+"\t")
	if !ok {
		_, rest, ok = strings.Cut(table, "\n"+name+"\t")
	}
	line, _, _ := strings.Cut(rest, "\n")
	zh, en, _ := strings.Cut(line, "\t")
	return Text{ZH: zh, EN: en}, ok
}

// helpTexts are what command lines say of themselves. A line for each command, with its
// short text, begins what belongs to it: a line without a name has its long text, those of
// its flags begin with "--", and those of its examples with "$". Before the first command
// stand flags that many have.
//
//go:embed help.txt
var helpTexts string

// EachHelp passes the lines of that table. A "\n" in a text stands for the end of a line.
func EachHelp(fn func(name string, t Text)) { eachText(helpTexts, fn) }
