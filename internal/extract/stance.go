package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Whether work is to go on can be read from the last words of both sides: of the
// user, who may have told the agent to stop or may only have asked something, and
// of the agent, which may have left the next step to its user. The lists are
// meant to find too much rather than too little: who takes a "wait" for no wait
// acts against the user's words, who errs the other way asks for one more word.

// Wonders reports a message that only asks something: an answer is all that it
// wants.
func Wonders(own string) bool {
	low := fold(own)
	words := plainWords(own)
	if len(words) == 0 && wideRunes(own) == 0 {
		return false
	}
	asking := mentions(low, "為什麼", "为什么", "什麼", "什么", "怎麼", "怎么", "哪", "誰", "谁", "多少", "嗎", "吗")
	if len(words) > 0 {
		switch words[0] {
		case "what", "what's", "why", "how", "how's", "where", "where's", "when", "which", "who", "who's", "whose":
			asking = asking || len(words) <= 30
		}
	}
	if !asksBack(low) && !asking {
		return false
	}
	plain := apart(low)
	for _, p := range [...]string{" can you ", " could you ", " would you ", " will you ", " please "} {
		if _, rest, ok := strings.Cut(plain, p); ok {
			verb, _, _ := strings.Cut(strings.TrimPrefix(rest, "please "), " ")
			switch verb {
			case "tell", "explain", "describe", "show", "clarify", "remind", "summarize", "summarise", "say", "confirm":
				return true
			}
			return false
		}
	}
	return !mentions(low, "請", "请", "幫", "帮") && (asking || !Tasks(own))
}

// Urges reports a nudge that lets its reader go on. Thanks do not.
func Urges(own string) bool {
	words := plainWords(own)
	// "all good, thanks" chooses nothing.
	content := slices.ContainsFunc(words, func(w string) bool {
		return Listed(w, " no nope none done good fine great perfect thanks thank thx ")
	})
	return slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case "yes", "y", "yep", "yeah", "yup", "sure", "go", "ahead", "continue", "carry", "keep", "going", "proceed", "do", "next", "resume", "try", "again", "let's", "lets",
			"繼續", "继续", "請繼續", "请继续", "繼續吧", "可以", "是", "是的", "開始", "开始", "開始吧", "下一步", "接著", "接著做", "做吧":
			return true
		}
		return !content && (strings.Trim(w, "0123456789") == "" || w == "option" || w == "both" || w == "all")
	})
}

// closer is how much of a message's end is read for what its writer leaves to the
// reader, in runes.
const closer = 700

// Yields reports a message of the agent's after which the next word is its user's:
// it asks, waits, hands over a choice, proposes a plan, or says that all is done.
func Yields(text string) bool {
	if strings.Contains(text, "<proposed_plan>") || OpenQuestion(text) != "" {
		return true
	}
	end := []rune(strings.TrimSpace(unfenced(text)))
	last := string(end[max(0, len(end)-closer):])
	if slices.ContainsFunc(Sentences(last), func(s string) bool { return asksBack(fold(s)) }) {
		return true
	}
	return mentions(apart(fold(last)),
		// Who speaks to the reader leaves the word to him.
		" you ", " your ", " yours ", " you'd ", " you'll ", " you're ", " please ", " let me know ", " tell me ", "你", "您", "請確", "请确", "請告", "请告", "請選", "请选", "請決", "请决", "請先", "请先",
		" usted", " tú ", " por favor", " dime ", " avísame ", " indícame ", " vous ", " votre ", " veuillez ", " dis moi ", " dites ", " dein", " bitte ", " sag mir ", " bescheid ", " você", " fammi sapere ", " ваш", " вам ", " вас ", " вы ", " твое", " тебя ", " скажите", " сообщите", " уточните", " выберите", " пожалуйста", "ください", "ご確認", "ご指示", "ご判断", "お願い", "よろしい", "주세요", "proszę", "lütfen",
		// Who waits or stops does not go on.
		" wait ", " waits ", " waiting ", " awaiting ", " await ", " awaits ", " pending review", " pending approval", " pending decision", " pending confirmation", " pending input", " pending feedback", " pending a ", " decision needed", " needs a decision", " need a decision", " decision required", " decision is ", " approval", " approve", " permission", " sign off", " go ahead ", " green light", " input needed", " input required", " confirmation", " on hold", " paused ", " pausing ",
		" stopped here ", " i stopped ", " i've stopped ", " i have stopped ", " stopping here ", " stop here ", " stopped as ", " stopped before ", " stopped and ", " blocked ", " standing by ", " stand by ", " standby ", " ready for review", " ready when ", " before i proceed", " before proceeding", " before i continue", " before continuing", " before i go on", " i won't ", " i will not ", " won't proceed", " not proceed", " unable to ", " cannot proceed", " can't proceed", " over to ", " say the word", " up to the user",
		"等待", "等候", "等你", "待確認", "待确认", "待審", "待审", "確認後", "确认后", "核准", "批准", "同意後", "授權", "要不要", "需要決定", "需要决定", "暫停", "暂停", "先停", "停在", "已停", "告訴我", "告诉我", "選擇", "选择", "待ち", "待機", "お待ち", "承認", "ご連絡", "指示", "どちら", "停止し", "中断", "기다리", "대기", "승인", "결정해", "확인 부탁",
		" espero ", " esperando ", " a la espera", " en espera", " esperaré ", " confirmación", " aprobación", " decisión", " attends ", " en attente", " attente ", " ta validation", " la validation", " une validation", " de validation", " pour validation", " validation requise", " validation nécessaire", " approbation", " warte ", " wartet ", " freigabe", " bestätigung", " genehmigung", " entscheidung", " aguard", " confirmação", " aprovação", " decisão", " in attesa", " attendo ", " conferma", " approvazione", " czekam", " decyzj", " bekliyor", " onay", " жду ", " ждем ", " ждём ", " ожида", " подтвержд", " одобрени", " разрешени", " остановил", "بانتظار", "في انتظار", "انتظر", "प्रतीक्षा", "इंतज़ार",
		// Who is done has nothing to go on with, whatever a list of steps says.
		" all done ", " all is done ", " all tasks ", " all steps ", " all work ", " everything is ", " everything has ", " everything was ", " nothing is left ", " nothing left ", " no work is left", "全部完成", "都完成", "全部做完", "都做完", "已全部", "すべて完了", "todo listo", "alles erledigt", "tout est terminé", "всё готово", "все готово")
}

// asksBack reports a folded text that ends with a question.
func asksBack(low string) bool {
	low = strings.TrimRight(low, " *_`)）」』\"'。")
	return slices.ContainsFunc([]string{"?", "？", "嗎", "吗", "ですか", "ますか", "؟"}, func(end string) bool { return strings.HasSuffix(low, end) })
}

// apart is a folded text with blanks for its marks, and around it: a word in it
// has a blank on each side.
func apart(low string) string {
	return " " + strings.Join(strings.FieldsFunc(low, func(r rune) bool {
		return unicode.IsSpace(r) || r != '\'' && r < utf8.RuneSelf && unicode.IsPunct(r) || r == '—' || r == '–' || r == '…' || r == '¿' || r == '¡'
	}), " ") + " "
}

// Announces reports a message whose end says what its writer does next.
func Announces(text string) bool {
	end := []rune(strings.TrimSpace(text))
	low := fold(string(end[max(0, len(end)-300):]))
	return mentions(low, " next, ", " next: ") || mentions(apart(low),
		" i'll ", " i will ", " let me ", " now i ", " next i ", " next up ", " now let", " moving on", " continuing", " starting ", " going on ", "接下來", "接下来", "接著", "接着", "现在", "現在", "下一步", "繼續", "继续", "再來", "再来",
		" als nächstes ", " nun ", " jetzt ", " danach ", " ich werde ", " ich mache ", " weiter mit ", " weiter geht", " fahre fort ", " ich beginne ", " je passe ", " je vais ", " maintenant ", " ensuite ", " je continue ", " je commence ", " prochaine étape ", " ahora ", " voy a ", " paso a ", " sigo ", " continúo ", " a continuación ", " siguiente ", " agora ", " vou ", " em seguida ", " adesso ", " ora ", " passo a ", " continuo ",
		" теперь ", " перехожу ", " сейчас ", " далее ", " дальше ", " продолжаю ", " приступаю ", " следующ", "次に", "次は", "これから", "続けて", "引き続き", "進めます", "移ります", "다음으로", "이제", "계속")
}

// SaysDone reports whether the end of a text claims that the work is done.
func SaysDone(text string) bool {
	low := " " + strings.ToLower(message.OneLine(message.End(text, 400))) + " "
	return mentions(low, " done.", " done!", " done:", " done ", " finished", " completed", " complete.", " complete!", " is complete", " fixed", " implemented", " all tests pass", " ready for review", "已完成", "完成了", "全部完成", "都完成", "修好了", "搞定") &&
		!mentions(low, " not done", " not finished", " not complete", " not fixed", " not yet", " remaining", " still ", " next step", " next up", " next, ", " next i", " i will ", " i'll ", " let me ", "未完成", "還沒", "尚未", "接下來", "下一步")
}

// Overrules reports words of the user's that put a workflow aside: the work is to be
// done otherwise, or not at all.
func Overrules(own string) bool {
	for _, sentence := range Sentences(own) {
		low := Spoken(sentence)
		w := Words(low)
		if AnyListed(w, ofWorkflows) && (slices.ContainsFunc(w, Denying) || AnyListed(w, drops)) ||
			mentions(low, "do it yourself", "do this yourself", "do that yourself", "fix it yourself", "change it yourself", "yourself, directly", "do it directly", "just do it here", "no agents", "without agents", "不用代理", "不要代理", "你自己做", "你自己改", "自己來就好", "直接改就好", "不用審查", "不用走流程", "別走流程", "不要走流程", "跳過流程") {
			return true
		}
	}
	return false
}

// Resumes reports words of the user's that let a workflow go on which rests. Where they
// hang on something that is still to come, or somebody else is to go on, they do not.
func Resumes(prompt string) bool {
	said, own := Request(prompt)
	if said != Requested {
		return Urges(own) && !Stops(own)
	}
	for _, sentence := range Sentences(own) {
		sentence = Spoken(sentence)
		if AnyListed(Words(sentence), defers) || mentions(sentence, "明天", "晚點", "晚点", "下週", "下周", "下次", "改天", "之後再", "之后再", "等我", "我看", "我再", "我來", "我来", "之前", "如果", "後で", "あとで", "明日", "나중") {
			continue
		}
		for clause := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(",;:，；：", r) }) {
			if letsGoOn(clause) {
				return !Stops(own) && !Overrules(own) && !Wonders(own)
			}
		}
	}
	return false
}

// HoldsBack reports words of the user's beside an agent that works on, after which its end
// does not lead to the next stage: they want something before that, or are neither a
// question nor a task.
func HoldsBack(prompt string) bool {
	said, own := Request(prompt)
	if said != Requested || Wonders(own) {
		return false
	}
	return !Tasks(own) || slices.ContainsFunc(Words(Spoken(own)), func(w string) bool {
		return Listed(w, defers) || Denying(w) || Listed(w, " first hold wait zuerst erst d'abord primero prima сначала 先 ")
	})
}

// letsGoOn reports a clause that tells its reader to go on.
func letsGoOn(clause string) bool {
	low := " " + strings.Join(Words(clause), " ") + " "
	for _, p := range [...]string{" go on ", " go ahead ", " continue ", " carry on ", " proceed ", " resume ", " keep going ", " next stage ", " 繼 續 ", " 继 续 ", " 接 著 ", " 接 着 ", " 下 一 步 ", " mach weiter ", " continúa ", " sigue ", " 続 け て ", " продолжай "} {
		before, _, ok := strings.Cut(low, p)
		if !ok {
			continue
		}
		w := strings.Fields(before)
		near := w[max(0, len(w)-4):]
		return !slices.ContainsFunc(near, Denying) && (len(w) == 0 || !Listed(w[len(w)-1], " i i'll i'd i'm we'll me he she they ich je я "))
	}
	return false
}

const (
	ofWorkflows = " workflow workflows pipeline pipelines stage stages reviewer delegate delegating subagent subagents "
	drops       = " forget drop abandon cancel end quit leave ignore abort pause halt enough "
	// defers are words by which going on hangs on something that is still to come.
	defers = " before until till unless after once when if later tomorrow myself monday tuesday wednesday thursday friday saturday sunday soon bevor bis wenn sobald später morgen avant quand après tard demain antes cuando hasta después mañana luego amanhã depois domani dopo когда пока если после завтра позже потом "
)

// Words are the words of a folded text; a wide character is one of its own.
func Words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		from := 0
		for i, r := range w {
			if r < 0x2e80 {
				continue
			}
			if from < i {
				out = append(out, w[from:i])
			}
			from = i + utf8.RuneLen(r)
			out = append(out, w[i:from])
		}
		if from < len(w) {
			out = append(out, w[from:])
		}
	}
	return out
}

// Denying reports a word that denies what stands beside it.
func Denying(w string) bool {
	switch w {
	case "not", "no", "never", "without", "instead", "avoid", "skip", "stop", "rather", "nor", "cannot", "nicht", "kein", "keine", "keinen", "ohne", "nie", "pas", "sans", "jamais", "sin", "nunca", "não", "sem", "senza", "non", "не", "без", "нет",
		"不", "別", "别", "勿", "沒", "没", "免", "甭":
		return true
	}
	return strings.HasSuffix(w, "n't") || w == "dont"
}
