package extract

import "strings"

// Hold is what a sentence of the user's asks to be kept to.
type Hold uint8

const (
	Free      Hold = iota
	Wish           // holds for the task at hand
	Corrected      // says that something was wrong, or is to be otherwise
	Lasting        // holds until it is taken back
	Guard          // not without asking
)

// Holds weighs a sentence of the user's. A question forbids nothing, and what is quoted
// was said by somebody else.
func Holds(sentence string) Hold {
	low := " " + strings.ToLower(strings.ReplaceAll(unquoted(sentence), "’", "'")) + " "
	plain := apart(low)
	switch {
	case mentions(low, "ask me before", "ask me first", "ask before", "ask first", "check with me", "wait for my", "until i say", "until i confirm", "until i approve", "without my", "without asking", "unless i say", "before i say", "let me approve", "let me review before",
		"先問我", "先问我", "問過我", "问过我", "經我同意", "经我同意", "經我確認", "经我确认", "等我確認", "等我确认", "等我同意", "等我说", "等我說", "不要擅自", "未經我", "未经我", "勝手に", "確認してから", "許可なく", "聞いてから",
		"sans mon accord", "sans me demander", "sans ma validation", "demande moi avant", "demande-moi avant", "ohne meine", "ohne mich zu fragen", "ohne rückfrage", "frag mich vorher", "frag vorher", "erst fragen", "sin preguntarme", "sin mi permiso", "sin mi aprobación", "pregúntame antes", "sem me perguntar", "sem minha", "senza chiedere", "senza il mio", "без моего", "без спроса", "спроси меня", "сначала спроси", "먼저 물어", "허락 없이"):
		return Guard
	case asksBack(low):
		return Free
	case mentions(low, "don't ", "do not ", "dont ") && mentions(low, " anything", " yet ", " yet,", " yet.", " for now", " just "):
		return Wish // not now is not never
	case imperative(low, "never ", "don't ", "do not ", "dont ", "always ", "avoid ", "make sure ", "stick to ", "stay on ", "only ever ", "only touch ", "only change ", "only edit ", "only use ", "only write ", "only work ", "only commit ", "stop using ", "stop adding ", "stop writing ", "stop making ", "stop running ", "stop changing ", "stop committing ", "stop creating ", "quit using ", "no more ", "hands off ", "stay away from ", "stay out of ", "refrain from ", "nothing but "),
		mentions(low, " must ", " mustn't ", " forbidden", " not allowed", " from now on", " under no circumstances", " constraint:", " requirement:", " decided ", " decision:", " we will use ", " we'll use ", " agreed ", " i don't want ", " we don't want ", " i do not want "),
		mentions(plain, " we never ", " we always ", " we don't use ", " we do not use ", " we only use ", " is off limits ", " are off limits ", " is read only ", " are read only ", " going forward ", " at all times ", " without exception ", " is not to be ", " are not to be ") && !mentions(plain, " why ", " because we ", " error ", " says ", " said "),
		mentions(plain, " every new ", " each new ", " all new ") && mentions(plain, " gets ", " get ", " needs ", " need ", " has ", " have ", " goes ", " go "),
		mentions(low, "決定", "决定", "約定", "原則", "不要", "不可", "不得", "禁止", "必須", "必须", "一律", "務必", "务必", "请勿", "請勿", "千萬", "千万", "只能", "永遠", "永远", "別 ", "切勿", "不准", "不能", "不許", "不许", "嚴禁", "严禁", "只讀", "只读", "唯讀", "今後", "今后", "從現在起", "从现在起", "以後都", "以后都", "一定要"),
		mentions(low, "ないでください", "しないで", "ないように", "ないこと", "てはいけ", "ては駄目", "てはだめ", "禁止", "必ず", "絶対", "今後は", "これからは", "統一して", "以外は", "触らない", "使わない"),
		mentions(low, "하지 마", "하지마", "쓰지 마", "항상", "절대", "반드시", "금지", "앞으로는"),
		mentions(plain, " nie ", " niemals ", " immer ", " auf keinen fall ", " ab sofort ", " ab jetzt ", " von nun an ", " künftig ", " in zukunft ", " ausschließlich ", " grundsätzlich ", " verboten ", " darf nicht ", " dürfen nicht ", " darf nie ", " bitte keine ", " bitte kein ", " bitte keinen ", " bitte nicht ", " finger weg ", " nicht mehr ", " nicht anfassen "),
		mentions(plain, " jamais ", " toujours ", " interdit", " désormais ", " dorénavant ", " à partir de maintenant ", " uniquement ", " il ne faut ", " on n'utilise pas ", " n'utilise pas ", " n'utilisez pas ", " ne touche pas ", " ne touchez pas ", " ne modifie pas ", " ne change pas ", " arrête de ", " arrêtez de ", " pas question ") && !mentions(plain, " toujours pas "),
		mentions(plain, " nunca ", " siempre ", " jamás ", " prohibido", " a partir de ahora ", " de ahora en adelante ", " únicamente ", " no toques ", " no uses ", " no cambies ", " no hagas ", " no subas ", " no borres ", " deja de ", " sempre ", " a partir de agora ", " não use ", " não mexa ", " não toque ", " proibido", " d'ora in poi ", " non toccare ", " non usare ", " vietato "),
		mentions(plain, " никогда ", " всегда ", " нельзя ", " больше не ", " запрещ", " ни в коем случае ", " с этого момента ", " впредь ", " обязательно ", " не трогай ", " не меняй ", " не используй ", " не пушь ", " не коммить ", " не удаляй "):
		return Lasting
	case mentions(low, " wrong", " not what i", " i don't like", " i meant ", " i did not ", " i didn't ", " actually", " revert ", " undo ", " no, ", " no. ", " nope", " that's not ", " that is not ", " shouldn't ", " should not ", " instead of ", " instead. ", " rather ", " let's not ", " still not ", " abandon ", " forget about ", " drop the ",
		"不對", "不对", "錯了", "错了", "不是這", "不是这", "改成", "改為", "改为", "應該", "应该", "還原", "还原", "取消", "我是說", "我的意思", "換成", "换成", "不用了", "不用", "違う", "じゃなくて", "ではなく", "べき", "戻して",
		" falsch ", " sondern ", " statt ", " stattdessen ", " nein ", " doch nicht ", " soll ", " sollte ", " sollen ", " plutôt ", " au lieu ", " non, ", " il faut ", " en lugar ", " en vez ", " debe ", " deben ", " вместо ", " неправильно ", " нет, ", " должн", " надо "):
		return Corrected
	case imperative(low, "keep ", "prefer ", "leave "),
		mentions(low, " ideally", " i'd prefer", " i would prefer", " i'd like ", " by default ", " backwards compat", " backward compat", " at most ", " no need to ", " only if ", " only when ", " only on ",
			"只要", "保持", "儘量", "尽量", "最好", "避免", "預設", "默认", "至少", "最多", "だけ", "のみ", "まま", "したい", "ほしい",
			" nur ", " kein", " ohne ", " lieber ", " behalte", " seulement ", " pas de ", " sans ", " garde ", " solo ", " sólo ", " sin ", " mantén ", " только ", " без ", " оставь "):
		return Wish
	}
	return Free
}

// Bears reports a sentence of the user's that says how something is to be, be it only by
// the way: what is quoted of an older message.
func Bears(sentence string) bool {
	if Holds(sentence) != Free {
		return true
	}
	low := " " + strings.ToLower(strings.ReplaceAll(sentence, "’", "'")) + " "
	return imperative(low, "use ", "no ", "only ", "just ", "fix ", "put ", "move ") || mentions(low,
		" should ", " instead ", " is right", " are right", " i want ", " we want ", " default ", " at least ", " only ", " without ", " if there ", " when there ", " need to ", " needs to ", " have to ", " has to ", " make it ", " so that ", " as long as ", " unless ", " important", " focus on ", " remember ", " note that ", " in case ", " for all ", " not ", "n't ", " let's ", " i think ", " the goal ", " like ",
		"只", "保留", "也要", "應", "应", "まま", "だけ")
}

// unquoted is a sentence without what it quotes.
func unquoted(s string) string {
	for _, q := range [...][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {` "`, `"`}} {
		for {
			i := strings.Index(s, q[0])
			if i < 0 {
				break
			}
			end := strings.Index(s[i+len(q[0]):], q[1])
			if end < 0 {
				break
			}
			s = s[:i] + " " + s[i+len(q[0])+end+len(q[1]):]
		}
	}
	return s
}
