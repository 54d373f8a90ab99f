package extract

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Cue is what the words of a sentence tell about it.
type Cue uint16

const (
	Decided   Cue = 1 << iota // something was decided
	Rule                      // what must never, or always, be done
	Duty                      // what must be done
	Choice                    // weaker words of choosing, changing, preferring
	Reason                    // why
	Asked                     // somebody is asked to do something
	Done                      // what was done, or came out
	Trouble                   // something failed
	Denied                    // a denial, an exception, a condition
	Contrast                  // begins by limiting what was said before
	Narration                 // begins like talk about what comes next
	Argued                    // weighs one thing against another, or says when
	Back                      // begins with a word that stands for what was said before
	Open                      // introduces options, or is one of them
	Question
)

// cueWords are the lists: one line for each cue and language. A word that ends in
// * stands for all that begin so, two words stand side by side; in scripts that
// put no blanks between words a phrase is found anywhere. Words that would make
// every other sentence a decision ("use", "set") are left out: a list that finds
// everything says nothing.
const cueWords = `
decided: decided, decision:, we'll use, agreed, constraint:, requirement:, requirements:, invariant*, now on, settled on, final answer, verdict:, recommendation:, conclusion:, i recommend, i'd recommend, i would recommend, would recommend, recommended, i suggest, i'd suggest, i'd go, i'd pick, approved, changes requested, needs changes, issues found, not compliant, compliant
decided: 決定, 决定, 決策, 决策, 約定, 约定, 原則, 原则, 定案, 拍板
decided: 決め, 確定, 方針, 取り決め
decided: 결정, 확정, 합의, 원칙, 하기로
decided: решили, решено, решил, решение, договорил*, принцип*, инвариант*
rule: must not, must never, must always, never, do not, don't
duty: must, should, should not, shouldn't, forbidden, prohibited, not allowed, required to, mandatory, always, has to, have to, needs, ought
rule: 必須, 必须, 不可, 不得, 禁止, 一律, 不要
duty: 需, 應, 应, 務必, 务必, 只能, 不准, 千萬, 千万, 應該, 应该, 不能
duty: ほうがいい, 方がいい, 必要
duty: 필요, 좋겠
duty: следует, стоит, необходимо, нужно
rule: 必ず, べき, してはいけ, してはなら, なければなら, しないで, 絶対
rule: 반드시, 절대, 금지, 하지 마, 해야, 안 된다, 안 됩
rule: должен, должна, должны, должно, нельзя, никогда, всегда, обязательно, запрещ*
choice: decide, decides, decision, decisions, chose, chosen, choose, chooses, choosing, instead, avoid, avoids, rejected, reverted, reverts, replaced, replaces, prefer, prefers, preferred, rather than, opted, keep, keeps, kept, drop, dropped, switch*, require*, trade-off, tradeoff, recommend*, plan:, allow*, default, ensure, ensures, guarantee*
choice: 改為, 改为, 改用, 採用, 采用, 選擇, 选择, 改成, 替換, 替换, 取代, 保留, 建議, 建议, 方案, 傾向, 倾向, 避免
choice: 採用, 代わりに, 変更, 選択, 置き換え, 推奨, 避け, ことにし
choice: 대신, 변경, 선택, 채택, 교체, 권장, 유지
choice: вместо, выбрал*, выберем, заменил*, замен*, рекоменд*, лучше, оставить, оставляем, избега*
reason: because, since, due to, given that, reason, reasons, therefore, solution, means, cause, causes, caused, root cause, the issue, the bug, the problem, the culprit, workaround, conclusion, so that, which means, otherwise, thus, hence, explains, turns out, looks like, seems, likely, apparently
reason: 因為, 因为, 根本, 意味, 原因, 結論, 结论, 所以, 由於, 由于, 理由, 因此, 導致, 导致, 否則, 否则
reason: 理由, 原因, なぜなら, ので, 結論, したがって, つまり
reason: 때문, 이유, 원인, 결론, 따라서, 그래서
reason: потому, причин*, поэтому, вывод, из-за, следовательно, иначе
asked: please, can you, could you, would you, will you, i want, i need, i'd like, make sure, need to, needs to, let's, we need, would like, your task, help me, how do, how can, what is, why is, why does, figure out
asked: 請, 请, 幫, 帮, 麻煩, 麻烦, 能不能, 可以嗎, 可以吗, 我想, 我要, 需要, 希望, 為什麼, 为什么, 怎麼, 怎么, 如何
asked: ください, お願い, してほしい, できますか, 欲しい, どう, なぜ
asked: 해줘, 해 줘, 주세요, 부탁, 원해, 싶, 어떻게, 왜
asked: пожалуйста, можешь, можно, нужно, надо, хочу, сделай, добавь, исправь, почему, помоги, проверь
done: passed, passes, succeeded, succeeds, moved, opened, pushed, changed, extracted, fixed, implemented, completed, created, added, removed, renamed, merged, committed, verified, confirmed, now works, tests pass, updated, deployed, released, refactored, result:, results:, status:, summary:
done: 完成, 通過, 通过, 成功, 修好, 修正, 修復, 修复, 新增, 刪除, 删除, 已經, 已经, 結果, 结果, 驗證, 验证
done: 完了, 成功, 修正し, 追加し, 削除し, 結果, 確認し, 通り
done: 완료, 성공, 수정했, 추가했, 삭제했, 결과, 확인했, 통과
done: готово, успешно, исправил*, добавил*, удалил*, заверш*, результат*, прошли, проверил*, реализова*
trouble: error, errors, failed, fails, failing, failure, failures, bug, bugs, broken, breaks, crash*, panic*, exception*, wrong, missing, cannot, unable, regression*, undefined, timeout, deadlock*, leak*, issue, problem, invalid, stale, flaky, mismatch*, conflict*, refuse*, denied
trouble: 錯誤, 错误, 失敗, 失败, 問題, 问题, 異常, 异常, 崩潰, 崩溃, 找不到, 逾時, 超时, 無法, 无法, 缺少, 壞, 坏
trouble: エラー, 失敗, 問題, 例外, 壊れ, 見つから, できない, できません, バグ
trouble: 오류, 에러, 실패, 문제, 예외, 버그, 깨졌, 못 찾
trouble: ошибк*, сбой, пада*, упал*, проблем*, исключени*, сломал*, не работает
denied: not, no, never, without, nothing, none, neither, nor, cannot, unless, except, instead, rather, nobody, nowhere, hardly, barely, only, avoid, non, lacks, lack, isn't, doesn't, don't, didn't, won't, can't, couldn't, shouldn't, wouldn't, wasn't, weren't, aren't, hasn't, haven't, hadn't, mustn't, needn't, ain't
denied: 不, 沒, 没, 無, 无, 非, 未, 勿, 別, 别, 除非, 否, 莫
denied: ない, ません, なく, ではなく, ずに, ぬ, 不, 未, 無, 除く, 以外
denied: 않, 없, 못, 아니, 말고, 마세요, 말 것, 제외, 안 
denied: не, нет, ни, без, нельзя, кроме, никогда, никак*, ничего, никто
contrast: but, however, except, unless, instead, though, although, yet, nevertheless, nonetheless, still, otherwise, not, no, nor, only, even so, that said, conversely, rather, yes, alas
contrast: 但, 不過, 不过, 然而, 除非, 除了, 否則, 否则, 可是, 卻, 却, 而不是, 反而, 只有, 只是, 不, 沒, 没
contrast: なぜなら, というのも, しかし, ただし, でも, ただ, 一方, とはいえ, いいえ, けれど, もっとも, なお
contrast: 왜냐하면, 하지만, 그러나, 다만, 단,, 그런데, 아니, 반면, 그래도
contrast: потому, но, однако, кроме, иначе, зато, нет, хотя, впрочем, а не, только, если не
argued: which, when, where, that, as, be, being, so, but, than, would, could, will, if, whether, while, yet, though, although, either, alternative*, option, options, question, want, once, until, already, rather, too, enough, actually
argued: 因而, 這樣, 这样, 如果, 雖然, 虽然, 還是, 还是, 或者, 是否, 這時, 这时, 的時候, 的时候
argued: とき, 場合, ため, もし, なら, より, かどうか, または, けど, まだ, すでに
argued: 경우, 때, 만약, 보다, 또는, 아직, 이미, 지만, 으면
argued: котор*, когда, что, если, чем, можно, либо, уже, пока, хотя, бы
open: options, option, alternatives, approaches, possibilities, choices, two ways, three ways, few ways, several ways
open: 選項, 选项, 方案, 選択肢, 候補
open: 옵션, 선택지, 방안
open: вариант*, альтернатив*
back: this, that, that's, these, those, it, it's, they, hence, therefore, thus, consequently, so, such, same
back: 這, 这, 那, 它, 此, 該, 该, 因此, 所以, 於是, 于是, 故
back: これ, それ, そのため, その, この, したがって, だから
back: 이것, 그것, 이는, 이를, 따라서, 그래서
back: это, этот, эта, эти, он, она, они, поэтому, такой, такая
narration: let me, let us, i'll, i will, now i, now let, let's, i'm, proceeding, continuing, moving on, next, great, perfect, good, okay, ok, sure, alright, looking at, i see, can see, now, first, excellent, thanks, thank you, absolutely, i understand, here's, here is, here are, starting, got it, of course, certainly, time to, sorry
narration: 讓我, 让我, 我來, 我来, 我先, 現在, 现在, 接下來, 接下来, 好的, 沒問題, 没问题, 首先, 我會, 我会, 收到, 明白, 了解, 我正在
narration: それでは, では, 次に, まず, はい, わかりました, 了解, これから
narration: 이제, 먼저, 네, 알겠습니다, 다음으로, 그럼
narration: давайте, теперь, хорошо, сначала, понятно, отлично, сейчас, итак, ладно, конечно
`

// cueTable is cueWords ready to be asked. A word, a stem and a pair of words are
// known by their hash, so that a text is read once and nothing of it is copied.
type cueTable struct {
	words map[uint64]cueWord
	// has is a bit for each hash: nearly no word of a text is in the table.
	has     [1 << 6]uint64
	phrases map[[3]byte][]cuePhrase // found anywhere, by their first character
}

// cueWord is what a word tells: by itself, with a colon behind it, and as the
// beginning of another.
type cueWord struct {
	cue, colon, stem Cue
	pairs            bool // with the word behind it
}

type cuePhrase struct {
	text string
	cue  Cue
}

// atStart are the cues that count at the beginning of a sentence only.
const atStart = Contrast | Narration | Back

var cueNames = map[string]Cue{
	"decided": Decided, "rule": Rule, "duty": Duty, "choice": Choice, "reason": Reason, "asked": Asked, "done": Done,
	"trouble": Trouble, "denied": Denied, "contrast": Contrast, "narration": Narration, "argued": Argued, "back": Back, "open": Open,
}

var cues = sync.OnceValue(func() *cueTable {
	t := &cueTable{words: map[uint64]cueWord{}, phrases: map[[3]byte][]cuePhrase{}}
	for line := range strings.Lines(cueWords) {
		name, list, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		for w := range strings.SplitSeq(list, ", ") {
			if w != "" {
				t.add(w, cueNames[name])
			}
		}
	}
	return t
})

func (t *cueTable) add(w string, cue Cue) {
	if first, _ := utf8.DecodeRuneInString(w); unspaced(first) {
		k := [3]byte([]byte(w))
		t.phrases[k] = append(t.phrases[k], cuePhrase{w, cue})
		return
	}
	w, stem := strings.CutSuffix(w, "*")
	w, colon := strings.CutSuffix(w, ":")
	h := uint64(0)
	for i, word := range strings.Fields(w) {
		if i > 0 {
			e := t.words[h]
			e.pairs = true
			t.note(h, e)
		}
		h = pairHash(h, wordHash(word))
	}
	e := t.words[h]
	switch {
	case stem:
		e.stem |= cue
	case colon:
		e.colon |= cue
	default:
		e.cue |= cue
	}
	t.note(h, e)
}

func (t *cueTable) note(h uint64, e cueWord) {
	t.words[h] = e
	t.has[h>>58] |= 1 << (h >> 52 & 63)
}

func (t *cueTable) word(h uint64) (e cueWord) {
	if t.has[h>>58]>>(h>>52&63)&1 != 0 {
		e = t.words[h]
	}
	return e
}

const hashStart, hashStep = 14695981039346656037, 1099511628211

func wordHash(w string) uint64 {
	h := uint64(hashStart)
	for _, r := range w {
		h = (h ^ uint64(r)) * hashStep
	}
	return h
}

// pairHash is the hash of a word behind another; 0 stands for none.
func pairHash(before, h uint64) uint64 { return h ^ before*hashStep }

// unspaced reports whether words of r's script are found anywhere in a text:
// Chinese and Japanese put no blanks between them, Korean glues endings on.
func unspaced(r rune) bool { return ideograph(r) || r >= 0x3040 && r <= 0x30FF }

// cuesOf reads the cues of a sentence. What it quotes as code tells nothing of it.
func cuesOf(sentence string) Cue {
	t := cues()
	var found Cue
	n, before := 0, uint64(0) // words so far; the last one, where it may begin a pair
	wide := false
	for i := 0; i < len(sentence); {
		c := sentence[i]
		switch {
		case c == '`':
			i += 2 + strings.IndexByte(sentence[i+1:], '`')
			continue
		case c < utf8.RuneSelf && class[c]&isAlnum == 0 && c != '_':
			i++
			continue
		case c >= utf8.RuneSelf:
			if r, size := utf8.DecodeRuneInString(sentence[i:]); !cueLetter(r) {
				wide = wide || unspaced(r)
				i += size
				continue
			}
		}
		h, end, tells := t.stems(sentence, i)
		e := t.word(h)
		tells |= e.cue
		if strings.HasPrefix(sentence[end:], ":") {
			tells |= e.colon
		}
		pair := Cue(0)
		if before != 0 {
			pair = t.word(pairHash(before, h)).cue
			tells |= pair
		}
		// The first words may stand behind a list mark or emphasis.
		if n > 1 || n == 1 && pair&atStart == 0 {
			tells &^= atStart
		}
		found |= tells
		if before = 0; e.pairs {
			before = h
		}
		n++
		i = end
	}
	if wide {
		found |= t.wide(sentence)
	}
	if end := strings.TrimRight(sentence, " \t*_\"”」』)）"); strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？") {
		found |= Question
	}
	if crossed(sentence) {
		found |= Decided | Trouble
	}
	return found
}

// crossed reports whether a unit begins with the sign of a verdict against
// something. Whoever leaves it out takes a failed review for a pass.
func crossed(t string) bool {
	t = strings.TrimLeft(t, "-*_#>|0123456789.) ")
	return strings.HasPrefix(t, "❌") || strings.HasPrefix(t, "✗") || strings.HasPrefix(t, "✘") || strings.HasPrefix(t, "🚫") || strings.HasPrefix(t, "⛔") || strings.HasPrefix(t, "🔴")
}

// stems reads the word at i: its hash, where it ends, and what the stems that it
// begins with tell.
func (t *cueTable) stems(s string, i int) (h uint64, end int, tells Cue) {
	h = hashStart
	var last [2]rune
	for end = i; end < len(s); {
		r, size := rune(s[end]), 1
		switch {
		case class[s[end]]&isUpper != 0:
			r += 'a' - 'A'
		case class[s[end]]&isAlnum != 0 || r == '_':
		case r < utf8.RuneSelf && r != '\'' && r != '-':
			return h, end, tells
		default:
			r, size = utf8.DecodeRuneInString(s[end:])
			if r == '’' {
				r = '\''
			}
			if !cueLetter(r) && !joinsWord(r, s[end+size:]) {
				return h, end, tells
			}
			r = unicode.ToLower(r)
		}
		h = (h ^ uint64(r)) * hashStep
		end += size
		tells |= t.word(h).stem
		if r == 't' && last == [2]rune{'n', '\''} {
			tells |= Denied
		}
		last = [2]rune{last[1], r}
	}
	return h, end, tells
}

// wide finds the phrases of scripts without blanks. What counts at the start is
// looked for there.
func (t *cueTable) wide(sentence string) (found Cue) {
	head := len(sentence) - len(strings.TrimLeft(sentence, " \t-*•>#0123456789.)、"))
	for i := 0; i+2 < len(sentence); i++ {
		if sentence[i] < wideLead {
			continue
		}
		for _, p := range t.phrases[[3]byte([]byte(sentence[i:i+3]))] {
			if (p.cue&atStart == 0 || i == head) && strings.HasPrefix(sentence[i:], p.text) {
				found |= p.cue
			}
		}
	}
	return found
}

// wideLead is the least byte that a character of those scripts begins with.
const wideLead = 0xE2

func cueLetter(r rune) bool {
	return (unicode.IsLetter(r) || r == '_' || unicode.IsDigit(r)) && !unspaced(r)
}

// joinsWord reports whether r holds a word together: don't, trade-off.
func joinsWord(r rune, rest string) bool {
	if r != '\'' && r != '-' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return cueLetter(next)
}
