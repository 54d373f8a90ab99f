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
	if slices.ContainsFunc(wordsOf(lastClause(sentence[:open])), denying) || slices.ContainsFunc(before, reports) || spokenOf(before, after) {
		return false
	}
	if open > 0 && strings.IndexByte("'<(", sentence[open-1]) >= 0 || strings.HasPrefix(sentence, "<!--") {
		return false
	}
	for len(before) > 0 && polite(before[0]) {
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
	return (len(after) == 0 || leads(before[len(before)-1])) && !tells(sentence[:open])
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
	w := wordsOf(lastClause(before))
	all := len(w)
	if slices.ContainsFunc(w, speaksOfWords) || len(w) > 1 && (w[0] == "should" || w[0] == "shall") && (w[1] == "i" || w[1] == "we") {
		return true
	}
	for len(w) > 0 && (polite(w[0]) && w[0] != "you" || (w[0] == "you" || w[0] == "we") && len(w) < all) {
		w = w[1:]
	}
	return len(w) > 0 && somebody(w[0]) && !slices.ContainsFunc(w, wants)
}

// lastClause is the last one that says something.
func lastClause(text string) string {
	for _, end := range [...]string{". ", ",", ";", ":", "，", "；", "：", " and ", " then ", " und ", " et ", " y "} {
		for {
			_, rest, ok := strings.Cut(text, end)
			if !ok || len(wordsOf(rest)) == 0 {
				break
			}
			text = rest
		}
	}
	return text
}

// speaksOfWords are words of a clause whose tag is what somebody types or reads.
func speaksOfWords(w string) bool {
	return extract.Listed(w, " how who whom which whether when whenever if where why what users user people someone somebody anyone prompt prompts text texts message messages string strings tag tags section button field ran used tried started typed worked failed was were did had wie wann wenn ob comment quand qui como cuando quien как когда если кто ")
}

// somebody are first words of a clause that tells of somebody or something.
func somebody(w string) bool {
	return extract.Listed(w, " i i'm i've i'll we we've he she it they you my our your his their the this that these those a an some every everybody everyone most yesterday today last once usually sometimes often maybe perhaps after before while since because although was wer wo ich wir er sie es man der die das gestern que quoi je nous il elle on si mon hier qué yo nosotros ella ayer mi что я мы он она они вчера ")
}

// wants are words by which somebody says what is to be done.
func wants(w string) bool {
	return extract.Listed(w, " want wanna like need should möchte will veux voudrais quiero quisiera хочу ")
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
	return extract.Listed(w, " please use using run start with via through try do launch begin in by as take want mit nutze nimm starte avec utilise lance con usa используй запусти 用 以 走 跑 行 動 动 始 で ")
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

// Resumes reports words of the user's that let a workflow go on which rests. Where they
// hang on something that is still to come, or somebody else is to go on, they do not.
func Resumes(prompt string) bool {
	said, own := extract.Request(prompt)
	if said != extract.Requested {
		return extract.Urges(own) && !extract.Stops(own)
	}
	for _, sentence := range extract.Sentences(own) {
		sentence = extract.Spoken(sentence)
		if slices.ContainsFunc(wordsOf(sentence), defers) || slices.ContainsFunc(deferring[:], func(p string) bool { return strings.Contains(sentence, p) }) {
			continue
		}
		for clause := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(",;:，；：", r) }) {
			if goesOn(clause) {
				return !extract.Stops(own) && !Overrules(own) && !extract.Wonders(own)
			}
		}
	}
	return false
}

// HoldsBack reports words of the user's beside an agent that works on, after which its end
// does not lead to the next stage: they want something before that, or are neither a
// question nor a task.
func HoldsBack(prompt string) bool {
	said, own := extract.Request(prompt)
	if said != extract.Requested || extract.Wonders(own) {
		return false
	}
	return !extract.Tasks(own) || slices.ContainsFunc(wordsOf(extract.Spoken(own)), func(w string) bool {
		return defers(w) || denying(w) || extract.Listed(w, " first hold wait zuerst erst d'abord primero prima сначала 先 ")
	})
}

// goesOn reports a clause that tells its reader to go on.
func goesOn(clause string) bool {
	low := " " + strings.Join(wordsOf(clause), " ") + " "
	for _, p := range [...]string{" go on ", " go ahead ", " continue ", " carry on ", " proceed ", " resume ", " keep going ", " next stage ", " 繼 續 ", " 继 续 ", " 接 著 ", " 接 着 ", " 下 一 步 ", " mach weiter ", " continúa ", " sigue ", " 続 け て ", " продолжай "} {
		before, _, ok := strings.Cut(low, p)
		if !ok {
			continue
		}
		w := strings.Fields(before)
		near := w[max(0, len(w)-4):]
		return !slices.ContainsFunc(near, denying) && (len(w) == 0 || !extract.Listed(w[len(w)-1], " i i'll i'd i'm we'll me he she they ich je я "))
	}
	return false
}

// defers are words by which going on hangs on something that is still to come.
func defers(w string) bool {
	return extract.Listed(w, " before until till unless after once when if later tomorrow myself monday tuesday wednesday thursday friday saturday sunday soon bevor bis wenn sobald später morgen avant quand après tard demain antes cuando hasta después mañana luego amanhã depois domani dopo когда пока если после завтра позже потом ")
}

var deferring = [...]string{"明天", "晚點", "晚点", "下週", "下周", "下次", "改天", "之後再", "之后再", "等我", "我看", "我再", "我來", "我来", "之前", "如果", "後で", "あとで", "明日", "나중"}
