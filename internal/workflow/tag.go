package workflow

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// Tag is the name in the first [workflow:NAME] or [pipeline:NAME] of a prompt, in
// any case. Whether there is such a workflow is not asked here. A tag whose name no
// workflow can have counts where there is no other: whoever wrote it gets an answer.
func Tag(prompt string) (string, bool) {
	lower, odd := strings.ToLower(prompt), ""
	for i := 0; i < len(lower); {
		j := strings.IndexByte(lower[i:], '[')
		if j < 0 {
			break
		}
		i += j + 1
		for _, tag := range [...]string{"pipeline:", "workflow:"} {
			rest, ok := strings.CutPrefix(lower[i:], tag)
			if !ok {
				continue
			}
			name, _, closed := strings.Cut(rest, "]")
			name = strings.TrimSpace(name)
			switch {
			case closed && ValidName(name):
				return name, true
			case closed && odd == "" && len(name) <= maxName && !strings.ContainsAny(name, "\n["):
				odd = name
			}
		}
	}
	return odd, odd != ""
}

// Asked is the workflow that the user's own words ask for by a tag: outside code,
// quotations and what was pasted, not denied, and not what the sentence is about. Where
// a tag is only spoken of, asked is false and the name says which.
func Asked(prompt string) (name string, asked bool) {
	name, tagged := Tag(prompt)
	if !tagged {
		return "", false
	}
	_, own := extract.Request(prompt)
	for line := range strings.Lines(own) {
		if _, ok := Tag(extract.Spoken(line)); !ok || codeLine(prompt, line) {
			continue
		}
		for _, sentence := range extract.Sentences(line) {
			sentence = extract.Spoken(sentence)
			if found, ok := Tag(sentence); ok && asksFor(sentence, found) {
				return found, true
			}
		}
	}
	return name, false
}

// codeLine reports whether a line of a longer text is indented like code.
func codeLine(text, line string) bool {
	line = strings.TrimSpace(line)
	for raw := range strings.Lines(text) {
		if strings.TrimSpace(raw) == line {
			return strings.TrimSpace(text) != line && (strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t"))
		}
	}
	return false
}

// asksFor reports whether a sentence, folded, wants the workflow that it names. That
// it wants something else, or only speaks of the tag, is assumed where in doubt: the
// user is told how to ask for it.
func asksFor(sentence, name string) bool {
	open, end := strings.IndexByte(sentence, '['), 0
	for ; open >= 0; open += 1 + strings.IndexByte(sentence[open+1:], '[') {
		if end = strings.IndexByte(sentence[open:], ']'); end < 0 {
			return false
		}
		if n, ok := Tag(sentence[open : open+end+1]); ok && n == name {
			break
		}
		if strings.IndexByte(sentence[open+1:], '[') < 0 {
			return false
		}
	}
	before, after := wordsOf(sentence[:open]), wordsOf(sentence[open+end+1:])
	if slices.ContainsFunc(before, denying) || slices.ContainsFunc(before, reports) || spokenOf(before, after) {
		return false
	}
	if open > 0 && strings.IndexByte("'<(", sentence[open-1]) >= 0 || strings.HasPrefix(sentence, "<!--") {
		return false
	}
	for len(before) > 0 && polite(before[0]) {
		before = before[1:]
	}
	asks := strings.HasSuffix(strings.TrimRight(sentence, " "), "?") || strings.HasSuffix(sentence, "？")
	switch {
	case len(before) == 0: // it begins what the user wants
		return !asks || len(after) > 2 && !pointsBack(after)
	case extract.Wonders(sentence):
		return false
	}
	last := before[len(before)-1]
	return len(after) == 0 || leads(last) || endsClause(sentence[:open])
}

// pointsBack reports a question about what stands before it.
func pointsBack(after []string) bool {
	return (after[0] == "what" || after[0] == "what's" || after[0] == "how" || after[0] == "when" || after[0] == "who") &&
		slices.ContainsFunc(after, func(w string) bool {
			return w == "it" || w == "this" || w == "that" || w == "tag" || w == "mean"
		})
}

// wordsOf are the words of a folded text; a wide character is one of its own.
func wordsOf(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		word := ""
		for _, r := range w {
			if r < 0x2e80 {
				word += string(r)
				continue
			}
			if word != "" {
				out, word = append(out, word), ""
			}
			out = append(out, string(r))
		}
		if word != "" {
			out = append(out, word)
		}
	}
	return out
}

func denying(w string) bool {
	switch w {
	case "not", "no", "never", "without", "instead", "avoid", "skip", "stop", "rather", "nor", "cannot", "nicht", "kein", "keine", "keinen", "ohne", "nie", "pas", "sans", "jamais", "sin", "nunca", "não", "sem", "senza", "non", "не", "без", "нет",
		"不", "別", "别", "勿", "沒", "没", "免", "甭":
		return true
	}
	return strings.HasSuffix(w, "n't") || w == "dont"
}

// reports are words by which somebody else's words are told.
func reports(w string) bool {
	return extract.Listed(w, " says said say told tells wrote writes states stated readme docs documentation manual log logs output quote quoted according whether suggests suggested recommends 說 说 寫 写 ")
}

// polite are words that may stand before a request.
func polite(w string) bool {
	return extract.Listed(w, " please pls ok okay hey hi hello now then so and also first next just let's lets can could would will you bitte por favor s'il te vous plaît 請 请 幫 帮 我 來 来 麻 煩 烦 好 的 先 ")
}

// leads are words behind which a tag says how the work is to be done.
func leads(w string) bool {
	return extract.Listed(w, " please use using run start with via through try do launch begin in by as take want mit nutze starte avec utilise lance con usa используй запусти 用 以 走 跑 行 動 动 始 で ")
}

// endsClause reports whether a clause ends before a tag. Who is named before a colon
// is quoted.
func endsClause(before string) bool {
	before = strings.TrimSpace(before)
	if rest, ok := strings.CutSuffix(strings.ReplaceAll(before, "：", ":"), ":"); ok {
		w := wordsOf(rest)
		if len(w) == 0 {
			return false
		}
		switch w[len(w)-1] {
		case "user", "human", "assistant", "agent", "prompt", "log", "info", "debug", "warn", "warning", "error", "input", "output", "example", "message", "msg", "line", "said", "says", "text":
			return false
		}
		return len(w) > 1 || w[0] == "task" || w[0] == "todo"
	}
	return strings.HasSuffix(before, ",") || strings.HasSuffix(before, "，") || strings.HasSuffix(before, ";") || strings.HasSuffix(before, "；") || strings.HasSuffix(before, "-") || strings.HasSuffix(before, "—") || strings.HasSuffix(before, "–")
}

// spokenOf reports a tag that the sentence is about.
func spokenOf(before, after []string) bool {
	if n := len(before); n > 0 {
		switch before[n-1] {
		case "the", "a", "an", "this", "that", "where", "when", "why", "how", "about", "what", "which", "whether", "if", "tag", "like", "mentions", "mention", "see", "called", "named", "of", "is", "was", "does", "typing", "typed", "wrote", "write", "says", "said", "than", "handles", "parses", "der", "die", "das", "le", "la", "el":
			return true
		}
	}
	if len(after) == 0 {
		return false
	}
	switch after[0] {
	case "is", "isn't", "was", "wasn't", "does", "doesn't", "did", "didn't", "starts", "started", "works", "worked", "means", "tag", "tags", "or", "vs", "should", "shouldn't", "would", "has", "had", "can't", "cannot", "fails", "failed", "runs", "ran", "ist", "heißt", "fait", "est", "是", "會", "会", "的", "嗎", "吗", "這", "这", "有":
		return true
	}
	next := ""
	if len(after) > 1 {
		next = after[1]
	}
	switch after[0] + " " + next {
	case "not this", "not now", "not yet", "not needed", "no thanks", "don't use", "don't start", "don't run":
		return true
	}
	return len(after) > 2 && (after[0] == "do" && after[1] == "not" || after[0] == "please" && after[1] == "don't") && (after[2] == "use" || after[2] == "start" || after[2] == "run")
}

// Overrules reports words of the user's that put a workflow aside: the work is to be
// done otherwise, or not at all.
func Overrules(own string) bool {
	for _, sentence := range extract.Sentences(own) {
		low := extract.Spoken(sentence)
		w := wordsOf(low)
		if slices.ContainsFunc(w, ofWorkflows) && (slices.ContainsFunc(w, denying) || slices.ContainsFunc(w, drops)) {
			return true
		}
		for _, p := range [...]string{"do it yourself", "do this yourself", "do that yourself", "fix it yourself", "change it yourself", "yourself, directly", "do it directly", "just do it here", "no agents", "without agents", "不用代理", "不要代理", "你自己做", "你自己改", "自己來就好", "直接改就好", "不用審查", "不用走流程", "別走流程", "不要走流程", "跳過流程"} {
			if strings.Contains(low, p) {
				return true
			}
		}
	}
	return false
}

func ofWorkflows(w string) bool {
	return extract.Listed(w, " workflow workflows pipeline pipelines stage stages reviewer delegate delegating subagent subagents ")
}

func drops(w string) bool {
	return extract.Listed(w, " forget drop abandon cancel end quit leave ignore abort pause halt enough ")
}

// Resumes reports words of the user's that let a workflow go on which rests.
func Resumes(prompt string) bool {
	said, own := extract.Request(prompt)
	if said != extract.Requested {
		return extract.Urges(own)
	}
	low := " " + strings.Join(wordsOf(extract.Spoken(own)), " ") + " "
	for _, p := range [...]string{" go on ", " go ahead ", " continue ", " carry on ", " proceed ", " resume ", " keep going ", " next stage ", " 繼 續 ", " 继 续 ", " 接 著 ", " 接 着 ", " 下 一 步 ", " mach weiter ", " continúa ", " sigue ", " 続 け て ", " продолжай "} {
		if strings.Contains(low, p) {
			return !extract.Stops(own) && !Overrules(own) && !extract.Wonders(own)
		}
	}
	return false
}
