package workflow

import (
	"slices"
	"strings"

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
	before, after := extract.Words(sentence[:open]), extract.Words(sentence[open+end+1:])
	if slices.ContainsFunc(extract.Words(lastClause(sentence[:open])), extract.Denying) || extract.AnyListed(before, reports) || spokenOf(before, after) {
		return false
	}
	if open > 0 && strings.IndexByte("'<(", sentence[open-1]) >= 0 || strings.HasPrefix(sentence, "<!--") {
		return false
	}
	for len(before) > 0 && extract.Listed(before[0], polite) {
		before = before[1:]
	}
	switch asks := asksWhat(sentence); {
	case len(before) == 0: // it begins what the user wants
		return asks == "" || asks == "?" && len(after) > 2 && !pointsBack(after)
	case extract.Wonders(sentence):
		return false
	case endsClause(sentence[:open]):
		return true
	}
	return (len(after) == 0 || extract.Listed(before[len(before)-1], leads)) && !tells(sentence[:open])
}

// asksWhat is how a sentence ends that asks something, "" for none.
func asksWhat(sentence string) string {
	sentence = strings.TrimRight(sentence, " ")
	for _, end := range [...]string{"?", "？", "嗎", "吗", "呢", "什麼", "什么", "哪", "か", "何", "とは", "؟"} {
		if strings.HasSuffix(sentence, end) {
			return strings.ReplaceAll(end, "？", "?")
		}
	}
	return ""
}

// tells reports a clause before a tag that tells something instead of asking for it:
// somebody else does it, or did, or it is about what people type.
func tells(before string) bool {
	for _, p := range [...]string{"昨", "上次", "之前", "如果", "使用者", "用戶", "用户", "有人", "剛", "刚", "當", "他", "她", "若"} {
		if strings.Contains(before, p) {
			return true
		}
	}
	w := extract.Words(lastClause(before))
	all := len(w)
	if extract.AnyListed(w, speaksOfWords) || len(w) > 1 && (w[0] == "should" || w[0] == "shall") && (w[1] == "i" || w[1] == "we") {
		return true
	}
	for len(w) > 0 && (extract.Listed(w[0], polite) && w[0] != "you" || (w[0] == "you" || w[0] == "we") && len(w) < all) {
		w = w[1:]
	}
	return len(w) > 0 && extract.Listed(w[0], somebody) && !extract.AnyListed(w, wants)
}

// lastClause is the last one that says something.
func lastClause(text string) string {
	for _, end := range [...]string{". ", ",", ";", ":", "，", "；", "：", " and ", " then ", " und ", " et ", " y "} {
		for {
			_, rest, ok := strings.Cut(text, end)
			if !ok || len(extract.Words(rest)) == 0 {
				break
			}
			text = rest
		}
	}
	return text
}

// pointsBack reports a question about what stands before it.
func pointsBack(after []string) bool {
	return (after[0] == "what" || after[0] == "what's" || after[0] == "how" || after[0] == "when" || after[0] == "who") &&
		slices.ContainsFunc(after, func(w string) bool {
			return w == "it" || w == "this" || w == "that" || w == "tag" || w == "mean"
		})
}

// endsClause reports whether a clause ends before a tag. Who is named before a colon
// is quoted.
func endsClause(before string) bool {
	before = strings.TrimSpace(before)
	if rest, ok := strings.CutSuffix(strings.ReplaceAll(before, "：", ":"), ":"); ok {
		w := extract.Words(rest)
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
		case "the", "a", "an", "this", "that", "where", "when", "why", "how", "about", "what", "which", "whether", "if", "tag", "like", "mentions", "mention", "see", "called", "named", "of", "is", "was", "does", "typing", "typed", "wrote", "write", "says", "said", "than", "can", "could", "would", "will", "handles", "parses", "der", "die", "das", "le", "la", "el":
			return true
		}
	}
	if len(after) == 0 {
		return false
	}
	switch after[0] {
	case "is", "isn't", "was", "wasn't", "does", "doesn't", "did", "didn't", "starts", "started", "works", "worked", "means", "tag", "tags", "or", "vs", "should", "shouldn't", "would", "has", "had", "can't", "cannot", "fails", "failed", "runs", "ran", "ist", "heißt", "fait", "est", "是", "會", "会", "的", "嗎", "吗", "這", "这", "有",
		"hangs", "hung", "keeps", "kept", "takes", "took", "seems", "looks", "needs", "gets", "got", "crashes", "crashed", "breaks", "broke", "stops", "stopped", "gives", "gave", "says", "hängt", "funktioniert", "geht", "macht", "marche", "fonctionne", "plante", "falla", "funciona", "не", "卡", "壞", "坏", "は", "が", "っ", "も", "の":
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

// Lists of words, with a blank on each side of each.
const (
	// speaksOfWords are words of a clause whose tag is what somebody types or reads.
	speaksOfWords = " how who whom which whether when whenever if where why what users user people someone somebody anyone prompt prompts text texts message messages string strings tag tags section button field ran used tried started typed worked failed was were did had wie wann wenn ob comment quand qui como cuando quien как когда если кто "
	// somebody are first words of a clause that tells of somebody or something.
	somebody = " i i'm i've i'll we we've he she it they you my our your his their the this that these those a an some every everybody everyone most yesterday today last once usually sometimes often maybe perhaps after before while since because although was wer wo ich wir er sie es man der die das gestern que quoi je nous il elle on si mon hier qué yo nosotros ella ayer mi что я мы он она они вчера "
	// wants are words by which somebody says what is to be done.
	wants = " want wanna like need should möchte will veux voudrais quiero quisiera хочу "
	// reports are words by which somebody else's words are told.
	reports = " says said say told tells wrote writes states stated readme docs documentation manual log logs output quote quoted according whether suggests suggested recommends 說 说 寫 写 "
	// polite are words that may stand before a request.
	polite = " please pls ok okay hey hi hello now then so and also first next just let's lets can could would will you bitte por favor s'il te vous plaît 請 请 幫 帮 我 來 来 麻 煩 烦 好 的 先 "
	// leads are words behind which a tag says how the work is to be done.
	leads = " please use using run start with via through try do launch begin in by as take want mit nutze nimm starte avec utilise lance con usa используй запусти 用 以 走 跑 行 動 动 始 で "
)
