package extract

import (
	"slices"
	"strings"
)

// Stops reports a message of the user's that tells its reader to stop, to wait, or
// to leave things as they are. A task may speak of all that: what it wants to wait or to
// be cancelled is then a program, or a word on a button.
func Stops(own string) bool {
	short := len(plainWords(own)) <= 6 && !strings.HasPrefix(own, "#")
	tasked := false
	for i, s := range Sentences(own) {
		if (i == 0 || short) && refuses(s) && !Tasks(own) {
			return true
		}
		low := strings.NewReplacer("don't stop", "", "do not stop", "", "dont stop", "", "never stop", "", "without stopping", "", "hold on to", "", "動畫", "", "动画", "", "動態", "", "动态", "").Replace(fold(dropQuoted(s)))
		if asksBack(low) && !mentions(" "+low, " can you ", " could you ", " would you ", " will you ") {
			continue // "why did you stop?"
		}
		said := cutAtMarks(low)
		var task []string
		if at := slices.IndexFunc(said, setsWork); at >= 0 {
			said, task, tasked = said[:at], said[at:], true
		}
		if stops(said, tasked) || slices.ContainsFunc(task, endsTask) {
			return true
		}
	}
	return false
}

// refuses reports an answer that is little more than a no. An empty field of a form is
// none: GitHub writes _No response_ into it.
func refuses(sentence string) bool {
	words := strings.Fields(fold(sentence))
	return len(words) > 0 && len(words) <= 2 && Listed(strings.TrimRight(words[0], ",.!;，。！"), denies)
}

// cutAtMarks cuts a folded sentence into its clauses.
func cutAtMarks(low string) []string {
	return strings.FieldsFunc(strings.NewReplacer(". ", ";", " - ", ";").Replace(low), func(r rune) bool { return strings.ContainsRune(",;:!?…—–，；：！？", r) })
}

// afterFillers are the words of a clause without the "ok", "please" or "then" in front.
func afterFillers(clause string) []string {
	words := strings.Fields(apart(clause))
	for len(words) > 0 && Listed(words[0], " please pls ok okay hey and but so now just well actually alright then also no can could would will you ") {
		words = words[1:]
	}
	return words
}

// setsWork reports a clause that sets work: an imperative, or the place where something is
// to be changed.
func setsWork(clause string) bool {
	for _, verb := range [...]string{
		"新增", "增加", "加上", "加入", "修正", "修復", "修复", "修改", "更新", "改成", "改為", "改为", "實作", "實現", "实现", "重構", "重构", "建立", "刪除", "删除", "移除", "移到", "顯示", "显示", "支援", "支持", "翻譯", "翻译", "調整", "调整", "寫一", "写一", "加一", "加到", "改用", "補上", "补上", "匯出", "导出",
		"追加して", "修正して", "実装して", "表示して", "作成して", "変更して", "直して", "書いて",
	} {
		if before, after, ok := strings.Cut(clause, verb); ok && !mentions(before, "不", "別", "别", "等我", "我先", "我再", "讓我", "让我", "先停", "停下") && !mentions(after, "しないで") {
			return true
		}
	}
	words := afterFillers(clause)
	if len(words) > 2 && Listed(words[0], " i we ") && Listed(words[1], " want need ") {
		words = words[1:] // I want the client to wait
	}
	if len(words) < 2 || Listed(words[0], halts) || words[1] == "nothing" {
		return false
	}
	if slices.Contains(tasks, words[0]+" ") || Listed(words[0], moreTasks) {
		return true
	}
	if _, place, ok := strings.Cut(clause, "in "); ok && words[0] == "in" { // in client.go
		place, _, _ = strings.Cut(place, " ")
		return strings.ContainsAny(strings.TrimRight(place, "."), "./_(\x00")
	}
	// Whatever the verb is: one with an object.
	return Listed(words[1], " the a an each every ein eine einen den der die un une le la les una el los las ") &&
		!strings.Contains(words[0], "'") && !Listed(words[0], noTask) && !(len(words) > 2 && words[2] == "rest")
}

// stops reports clauses that set no work but stop it. Behind a task, "nothing else" says
// how far it goes.
func stops(said []string, tasked bool) bool {
	for len(said) > 0 && len(afterFillers(said[0])) == 0 {
		said = said[1:]
	}
	if len(said) == 0 {
		return false
	}
	all := strings.Join(said, ", ")
	plain, words := apart(all), afterFillers(all)
	switch first := words[0]; {
	case Listed(first, halts) && (len(words) <= 4 || len(afterFillers(said[0])) == 1), Listed(first, waits), first == "wait" && len(words) > 1 && Listed(words[1], until):
		return true
	case mentions(plain, " you wait ", " you should wait ", " you must wait ", " we should wait ", " we must wait ", " we wait ", " we'll wait ", " let's wait ", " lets wait ", " rather wait "), waitsFor(plain, theUser+deciders):
		return true
	case mentions(plain, " tomorrow ", " for today ", " demain ", " morgen ", " mañana ") && (!tasked && len(words) <= 4 || AnyListed(words, goingOn) || mentions(plain, " i will ", " we will ")):
		return true
	case wideRunes(all) <= 8 && mentions(all, nounsToo...):
		return true
	case !tasked && mentions(plain, " do nothing ", " nothing more ", " nothing else ", " nothing further ", " no further ", " no more changes "):
		return true
	}
	return slices.ContainsFunc(said, func(clause string) bool {
		return leaves(clause, tasked) || beginsWithStop(clause, 6) || endsInStop(clause)
	}) || mentions(plain,
		" stop here ", " stop there ", " wait until we ", "等待我", "等到我",
		" stop now ", " stop everything ", " stop all ", " stop working ", " stop the work ", " stop for ", " stop right ", " please stop ", " must stop ", " you to stop ",
		"n't continue ", " not continue ", "n't go on ", " not go on ", "n't proceed ", " not proceed ", " dont continue ", " dont proceed ", " hold on ", " hold off ", " that's enough ", " thats enough ", " enough for ", " that's all ", " that is all ",
		" call it a day ", " take over ", " take it from here ", " take a break ", " pause here ", " not now ", " not yet ", " forget it ", " never mind ", " nevermind ", " let me think ", " let me review ", " let me check ", " let me look ", " let me read ", " let me decide ",
		" i'll review ", " i will review ", " i'll check ", " i will check ", " i'll look ", " i will look ", " i'll decide ", " i will decide ", " i'll have a look ", " get back to you ",
		"停下", "先停", "停一下", "停手", "住手", "不要動", "不要动", "別動", "别动", "先不要", "先別", "先别", "不要再做", "不要再改", "不要再動", "不要再动", "別再做", "别再做", "別再改", "别再改", "等一下", "稍等", "先等", "等我", "夠了", "够了", "到此為止", "到此为止", "不用了", "不要做", "別做", "别做", "什麼都不", "什么都不", "不要繼續", "不要继续", "別繼續", "别继续", "我先看", "我再看", "讓我看", "让我看", "讓我想", "让我想",
		"やめて", "止めて", "ストップ", "待って", "中止して", "しないで", "そのままで", "もういい", "お待ち", "멈춰", "그만", "중지", "기다려", "하지 마", "하지마",
		" ничего не делай", " больше ничего", " не продолжай", " не надо ", " остановись", " остановитесь", " подожди", " хватит ",
		" no hagas ", " nada más ", " no sigas ", " no continúes ", " déjalo ", " detente ", " não faça ", " nada mais ", " não continue ", " ne fais ", " rien de plus ", " ne continue ", " ne faites ", " arrête ", " arrêtez ",
		"先到這", "先到这", "到這裡", "到这里", "到這邊", "就這樣", "就这样", "先這樣", "先这样", "今天就到", "沒事了", "没事了", "明天再", "ここまで", "以上です", "また明日", "十分です", "までにして", "여기까지", "충분",
		" das war's ", " das war es ", " das wär's ", " das wäre alles ", " das ist alles ", " das reicht ", " für heute ", " schluss ", " bis morgen ", " mehr nicht ", " genug ",
		" c'est tout ", " c'est bon pour ", " ça suffit ", " pour aujourd'hui ", " pour l'instant ", " à demain ", " on s'arrête ", " rien d'autre ",
		" eso es todo ", " es todo ", " por hoy ", " por ahora ", " hasta mañana ", " es suficiente ", " isso é tudo ", " é tudo ", " por hoje ", " até amanhã ", " è tutto ", " per oggi ", " basta così ", " a domani ",
		" на сегодня ", " это всё ", " это все ", " достаточно ", " до завтра ", " пока всё ", " пока все ", " дождись ", " ничего не трогай ", " thanks that's it ", " done for today ", " done for now ",
		" hör auf ", " nichts mehr ", " mach nichts ", " nicht weiter ", " lass es ", " warte ", " non fare ", " niente più ", " fermati ", " niets meer ")
}

// leaves reports a clause that begins with the order to leave something.
func leaves(clause string, tasked bool) bool {
	low := strings.Join(afterFillers(clause), " ") + " "
	for _, p := range [...]string{"cancel it ", "cancel that ", "cancel everything ", "hang on ", "stop it ", "stop that ", "leave it ", "leave everything "} {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	before, _, found := strings.Cut(" "+low, " anything ")
	verb := strings.LastIndexByte(before, ' ')
	if !found || tasked || verb < 0 || !Listed(before[verb+1:], " do touch change delete ") {
		return false
	}
	// "The button doesn't do anything" tells of a fault.
	before = before[:verb+1]
	return before == " don't " || before == " do not " || before == " dont " || before == " never " ||
		strings.HasSuffix(before, " not to ") || strings.HasSuffix(before, " you to ") || strings.HasSuffix(before, " you ")
}

// endsTask reports a clause beside work that says where it ends: "then stop", "but wait
// for my go".
func endsTask(clause string) bool {
	words, plain := afterFillers(clause), apart(clause)
	return len(words) > 0 && len(words) <= 2 && Listed(words[0], halts) || beginsWithStop(clause, 4) || endsInStop(clause) ||
		waitsFor(plain, theUser) || len(words) > 0 && words[0] == "wait" && waitsFor(plain, deciders) ||
		len(words) > 0 && Listed(words[0], " we we'll let's lets ") && strings.Contains(plain, " tomorrow ") && AnyListed(words[1:], goingOn) ||
		mentions(plain, " stop here ", " stop there ", " pause here ", " all for today ", " enough for today ", " done for today ", " call it a day ", "等我", "先停", "先暫停", "先暂停", "今天先", "今天就", "先這樣", "先这样", "今日はここまで")
}

// endsInStop reports a clause that is a word for stopping, or whose last words are "and stop".
// Where something else is made to do so, it is that which stops.
func endsInStop(clause string) bool {
	words := afterFillers(clause)
	n := len(words)
	if n == 1 {
		return Listed(words[0], halts) || strings.HasSuffix(strings.TrimRight(words[0], "。"), "就停")
	}
	return n > 2 && Listed(strings.TrimRight(words[n-1], "."), " stop wait pause halt ") && Listed(words[n-2], " and then ") &&
		!AnyListed(words, " make let have has should must so that to it they ")
}

// waitsFor reports a wait for one of those who have a say, not for a program.
func waitsFor(plain, who string) bool {
	_, after, ok := strings.Cut(plain, " wait ")
	words := strings.Fields(after)
	return ok && len(words) > 1 && Listed(words[0], until) && AnyListed(words[1:min(len(words), 5)], who)
}

// beginsWithStop reports a clause that begins with a Chinese word for stopping which is as often
// a noun, and is so short that it says little else.
func beginsWithStop(clause string, most int) bool {
	clause = strings.TrimSpace(clause)
	for rest := ""; rest != clause; {
		rest = clause
		for _, p := range [...]string{"請", "请", "你", "好", "嗯", "那", "就", "先", "幫我", "帮我", " "} {
			clause = strings.TrimPrefix(clause, p)
		}
	}
	return wideRunes(clause) <= most && slices.ContainsFunc(nounsToo, func(p string) bool { return strings.HasPrefix(clause, p) }) &&
		!slices.ContainsFunc([]string{"後", "后", "時", "时", "前"}, func(p string) bool { return strings.HasSuffix(clause, p) })
}

var nounsToo = []string{"停止", "暫停", "暂停", "等等", "取消", "等到", "等待", "中止"}

const (
	until = " for until till "
	// theUser and deciders are those for whose word an agent waits.
	theUser  = " i i'm i've i'd me my "
	deciders = " ci review reviews approval confirmation permission go answer reply feedback instructions tomorrow monday "
	// goingOn are words beside "tomorrow" and "for today" that tell of our work.
	goingOn = " i'll we'll let's lets continue go resume rest more again see until back leave later stop enough done finished all that's weiter seguimos "
	// moreTasks are verbs that begin a task, beside those that Tasks knows.
	moreTasks = " implement print have schedule set ensure support translate solve rewrite extend füge ändere behebe schreib schreibe zeige entferne nutze verwende utilise ajoute corrige écris fais supprime remplace usa añade agrega haz escribe cambia muestra "
	// noTask are words in front of an article that are no verb, or one that leaves things.
	noTask = " for at in on by with until till after before once during of from as to or not only is was are were than enough leave keep save skip forget take für bis auf mit ist lass lasse lasst pour avec est sur laisse laissez por con es deja "
	// halts are first words that stop whoever is at work.
	halts = " stop halt wait pause abort freeze cancel enough hold quit 停 等 stopp warte wartet arrête arrêtez arrete attends attendez alto detente espera espere basta pare pára fermati fermo aspetta стоп хватит остановись остановитесь подожди подождите погоди прекрати отмена dur bekle czekaj przestań zatrzymaj wacht vänta sluta "
	// waits are first words that mean waiting, whatever follows them.
	waits = " warte wartet attends attendez espera espere esperen aguarde aspetta aspettate подожди подождите дождись дождитесь жди czekaj wacht vänta bekle "
	// denies are first words of an answer that refuses.
	denies = " no nope nah none not don't dont never later nein non нет не não nee nej nie いいえ いや 아니 아니요 不 不要 不用 不行 不可以 別 别 先不 沒有 没有 算了 para "
)
