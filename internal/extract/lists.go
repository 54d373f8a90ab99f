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
	Question
	Past   // tells how things were
	Intent // begins by telling what the writer does next
	Back   // begins with a word that stands for what was said before
)

// cueWords are the lists: one line for each cue and language. A word that ends in
// * stands for all that begin so, two words stand side by side; in scripts that
// put no blanks between words a phrase is found anywhere. Words that would make
// every other sentence a decision ("should", "use") are left out: a list that
// finds everything says nothing.
const cueWords = `
decided: decided, decision:, we will use, we'll use, agreed, constraint:, requirement:, requirements:, invariant*, from now on, settled on, final answer, verdict:, recommendation:, conclusion:, approved, changes requested, needs changes, issues found, not compliant, compliant
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
choice: decide, decides, decision, decisions, chose, chosen, choose, chooses, choosing, instead, avoid, avoids, rejected, reverted, reverts, replaced, replaces, prefer, prefers, preferred, rather than, opted, keep, keeps, kept, drop, dropped, switch*, require*, trade-off, tradeoff, approach, recommend*, plan:, strategy, allow*, default, ensure, ensures, guarantee*
choice: 改為, 改为, 改用, 採用, 采用, 選擇, 选择, 改成, 替換, 替换, 取代, 保留, 建議, 建议, 方案, 傾向, 倾向, 避免
choice: 採用, 代わりに, 変更, 選択, 置き換え, 推奨, 避け, ことにし
choice: 대신, 변경, 선택, 채택, 교체, 권장, 유지
choice: вместо, выбрал*, выберем, заменил*, замен*, рекоменд*, лучше, оставить, оставляем, избега*
reason: because, since, due to, given that, reason, reasons, therefore, solution, means, cause, causes, caused, root cause, workaround, conclusion, so that, which means, otherwise, thus, hence, explains, turns out
reason: 因為, 因为, 根本, 意味, 原因, 結論, 结论, 所以, 由於, 由于, 理由, 因此, 導致, 导致, 否則, 否则
reason: 理由, 原因, なぜなら, ので, 結論, したがって, つまり
reason: 때문, 이유, 원인, 결론, 따라서, 그래서
reason: потому, причин*, поэтому, вывод, из-за, следовательно, иначе
asked: please, can you, could you, would you, will you, i want, i need, i'd like, make sure, need to, needs to, let's, we need, i would like, your task, help me, how do, how can, what is, why is, why does, figure out
asked: 請, 请, 幫, 帮, 麻煩, 麻烦, 能不能, 可以嗎, 可以吗, 我想, 我要, 需要, 希望, 為什麼, 为什么, 怎麼, 怎么, 如何
asked: ください, お願い, してほしい, できますか, 欲しい, どう, なぜ
asked: 해줘, 해 줘, 주세요, 부탁, 원해, 싶, 어떻게, 왜
asked: пожалуйста, можешь, можно, нужно, надо, хочу, сделай, добавь, исправь, почему, помоги, проверь
done: passed, passes, succeeded, succeeds, moved, opened, pushed, changed, extracted, fixed, implemented, completed, created, added, removed, renamed, merged, committed, verified, confirmed, now works, tests pass, updated, found, deployed, released, refactored, result:, results:, status:, summary:
done: 完成, 通過, 通过, 成功, 修好, 修正, 修復, 修复, 新增, 刪除, 删除, 已經, 已经, 結果, 结果, 發現, 发现, 驗證, 验证
done: 完了, 成功, 修正し, 追加し, 削除し, 結果, 確認し, 通り
done: 완료, 성공, 수정했, 추가했, 삭제했, 결과, 확인했, 통과
done: готово, успешно, исправил*, добавил*, удалил*, заверш*, результат*, прошли, проверил*, реализова*
trouble: error, errors, failed, fails, failing, failure, failures, bug, bugs, broken, breaks, crash*, panic*, exception*, wrong, missing, cannot, unable, regression*, undefined, timeout, deadlock*, leak*, issue, problem, invalid, stale, flaky, mismatch*, conflict*, refuse*, denied
trouble: 錯誤, 错误, 失敗, 失败, 問題, 问题, 異常, 异常, 崩潰, 崩溃, 找不到, 逾時, 超时, 無法, 无法, 缺少, 壞, 坏
trouble: エラー, 失敗, 問題, 例外, 壊れ, 見つから, できない, できません, バグ
trouble: 오류, 에러, 실패, 문제, 예외, 버그, 깨졌, 못 찾
trouble: ошибк*, сбой, пада*, упал*, проблем*, исключени*, сломал*, не работает, не найден*
denied: not, no, never, without, nothing, none, neither, nor, cannot, unless, except, instead, rather, nobody, nowhere, hardly, barely, only, avoid, non, lacks, lack, isn't, doesn't, don't, didn't, won't, can't, couldn't, shouldn't, wouldn't, wasn't, weren't, aren't, hasn't, haven't, hadn't, mustn't, needn't, ain't
denied: 不, 沒, 没, 無, 无, 非, 未, 勿, 別, 别, 除非, 否, 莫
denied: ない, ません, なく, ではなく, ずに, ぬ, 不, 未, 無, 除く, 以外
denied: 않, 없, 못, 아니, 말고, 마세요, 말 것, 제외, 안 
denied: не, нет, ни, без, нельзя, кроме, никогда, никак*, ничего, никто
contrast: but, however, except, unless, instead, though, although, yet, nevertheless, nonetheless, still, otherwise, not, no, nor, only, even so, that said, on the other hand, conversely, rather, yes, alas
contrast: 但, 不過, 不过, 然而, 除非, 除了, 否則, 否则, 可是, 卻, 却, 而不是, 反而, 只有, 只是, 不, 沒, 没
contrast: なぜなら, というのも, しかし, ただし, でも, ただ, 一方, とはいえ, いいえ, けれど, もっとも, なお
contrast: 왜냐하면, 하지만, 그러나, 다만, 단,, 그런데, 아니, 반면, 그래도
contrast: потому, но, однако, кроме, иначе, зато, нет, хотя, впрочем, а не, только, если не
argued: which, when, where, that, as, be, being, so, but, than, would, could, will, if, whether, while, yet, though, although, either, alternative*, option, options, question, want, once, until, already, rather, too, enough, actually
argued: 當, 当, 時, 时, 因而, 這樣, 这样, 如果, 若, 會, 会, 可以, 比, 更, 雖然, 虽然, 還是, 还是, 或者, 需要, 是否, 但
argued: とき, 場合, ため, もし, なら, より, かどうか, または, けど, まだ, すでに
argued: 경우, 때, 만약, 보다, 또는, 아직, 이미, 지만, 으면
argued: котор*, когда, что, если, чем, можно, либо, уже, пока, хотя, бы
past: was, were, had, wasn't, weren't
past: 原來, 原来, 當時, 当时, 之前, 以前, 本來, 本来
past: でした, だった, ました, ていた
past: 었다, 였다, 했다, 었습, 했습, 이었
past: был, была, было, были, стал*
back: this, that, that's, these, those, it, it's, they, hence, therefore, thus, consequently, so, such, same
back: 這, 这, 那, 它, 此, 該, 该, 因此, 所以, 於是, 于是, 故
back: これ, それ, そのため, その, この, したがって, だから
back: 이것, 그것, 이는, 이를, 따라서, 그래서
back: это, этот, эта, эти, он, она, они, поэтому, такой, такая
narration: let me, i'll, i will, now i, now let, let's, i'm going, i am going, next, great, perfect, good, okay, ok, sure, alright, looking at, i see, now, first, excellent, thanks, thank you, absolutely, i understand, i can see, here's, here is, here are, starting, got it, of course, certainly, i'm now, time to, sorry
narration: 讓我, 让我, 我來, 我来, 我先, 現在, 现在, 接下來, 接下来, 好的, 沒問題, 没问题, 首先, 我會, 我会, 收到, 明白, 了解, 我正在
narration: それでは, では, 次に, まず, はい, わかりました, 了解, これから
narration: 이제, 먼저, 네, 알겠습니다, 다음으로, 그럼
intent: let me, let us, i'll, i will, now let, let's, i'm going, i am going, i'm now, proceeding, continuing, moving on
intent: 讓我, 让我, 我來, 我来, 我先, 接下來, 接下来, 我正在
intent: それでは, 次に, これから
intent: 다음으로
intent: давайте, сейчас
narration: давайте, теперь, хорошо, сначала, понятно, отлично, сейчас, итак, ладно, конечно
`

// cueTable is cueWords ready to be asked.
type cueTable struct {
	words   map[string]cueWord
	short   shortWords     // those of words that are short, for nearly all are
	pairs   map[string]Cue // two words with a blank between them
	stems   map[string]Cue
	phrases map[[3]byte][]cuePhrase // found anywhere, by their first character
	// Nearly no word is in the table or begins like a stem, nor does a phrase begin
	// at most characters: bits of its length and first letters tell so without a look
	// into it.
	maybe, heads, opens [filterBits / 64]uint64
}

// cueWord is what one word tells.
type cueWord struct {
	cue, colon Cue    // by itself; with a colon behind it
	first      string // the word itself where it begins a pair
}

const filterBits = 1 << 12

// filterBit is where a word of this length that begins so stands in a filter.
func filterBit(a, b, c byte, n int) (at int, bit uint64) {
	h := (uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(n)<<24) * 2654435761 >> 20
	return int(h / 64), 1 << (h % 64)
}

func wordBit[T string | []byte](w T) (int, uint64) {
	var b, c byte
	if len(w) > 1 {
		b = w[1]
	}
	if len(w) > 2 {
		c = w[2]
	}
	return filterBit(w[0], b, c, len(w))
}

func headBit[T string | []byte](w T) (int, uint64) {
	return filterBit(w[0], w[1], w[2], int(w[3]))
}

// shortStem is how long a stem is at least, in bytes.
const shortStem = 4

type cuePhrase struct {
	text string
	cue  Cue
}

// atStart are the cues that count at the beginning of a sentence only.
const atStart = Contrast | Narration | Intent | Back

var cueNames = map[string]Cue{
	"decided": Decided, "rule": Rule, "duty": Duty, "choice": Choice, "reason": Reason, "asked": Asked, "done": Done,
	"trouble": Trouble, "denied": Denied, "contrast": Contrast, "narration": Narration, "argued": Argued, "past": Past, "intent": Intent, "back": Back,
}

var cues = sync.OnceValue(newCueTable)

func newCueTable() *cueTable {
	t := &cueTable{words: map[string]cueWord{}, pairs: map[string]Cue{}, stems: map[string]Cue{}, phrases: map[[3]byte][]cuePhrase{}}
	for line := range strings.Lines(cueWords) {
		name, list, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			continue
		}
		cue := cueNames[name]
		for w := range strings.SplitSeq(list, ", ") {
			switch first, _ := utf8.DecodeRuneInString(w); {
			case unspaced(first):
				k := [3]byte([]byte(w))
				t.phrases[k] = append(t.phrases[k], cuePhrase{w, cue})
				at, bit := filterBit(k[0], k[1], k[2], 0)
				t.opens[at] |= bit
			case strings.HasSuffix(w, "*"):
				t.stems[strings.TrimSuffix(w, "*")] |= cue
				at, bit := headBit(w)
				t.heads[at] |= bit
			default:
				t.add(w, cue)
			}
		}
	}
	t.short.fill(t.words)
	return t
}

func (t *cueTable) add(w string, cue Cue) {
	own, _, pair := strings.Cut(w, " ")
	own, colon := strings.CutSuffix(own, ":")
	e := t.words[own]
	switch {
	case pair:
		t.pairs[w] |= cue
		e.first = own
	case colon:
		e.colon |= cue
	default:
		e.cue |= cue
	}
	t.words[own] = e
	at, bit := wordBit(own)
	t.maybe[at] |= bit
}

// unspaced reports whether words of r's script are found anywhere in a text:
// Chinese and Japanese put no blanks between them, Korean glues endings on.
func unspaced(r rune) bool { return ideograph(r) || r >= 0x3040 && r <= 0x30FF }

// cuesOf reads the cues of a sentence.
func cuesOf(sentence string) Cue { return cues().of(sentence) }

func (t *cueTable) of(sentence string) Cue {
	var found Cue
	var room [2*maxName + 1]byte
	n, prev := 0, ""
	wide := false
	for i := 0; i < len(sentence); {
		c := sentence[i]
		if c < utf8.RuneSelf && class[c]&isAlnum == 0 && c != '_' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(sentence[i:])
			if unspaced(r) {
				wide = true
				i += size
				continue
			}
			if !cueLetter(r) {
				i += size
				continue
			}
		}
		j, plain := cueWordEnd(sentence, i)
		if j-i > maxName {
			i, prev = j, ""
			continue
		}
		var e cueWord
		var tells Cue
		if plain {
			e, tells = t.plain(sentence, i, j)
		} else {
			e, tells = t.word(append(room[:0], foldWord(sentence[i:j])...))
		}
		if j < len(sentence) && sentence[j] == ':' {
			tells |= e.colon
		}
		pair := Cue(0)
		if prev != "" {
			pair = t.pairs[string(appendFolded(append(append(room[:0], prev...), ' '), sentence[i:j], plain))]
			tells |= pair
		}
		// The first words may stand behind a list mark or emphasis.
		if n > 1 || n == 1 && pair&atStart == 0 {
			tells &^= atStart
		}
		found |= tells
		prev = e.first
		n++
		i = j
	}
	if wide {
		found |= t.wide(sentence)
	}
	if end := strings.TrimRight(sentence, " \t*_\"”」』)）"); strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？") {
		found |= Question
	}
	return found
}

// cueWordEnd is where the word at i ends, and whether all of it is ASCII.
func cueWordEnd(t string, i int) (end int, plain bool) {
	plain = true
	for {
		for i < len(t) && class[t[i]]&isAlnum != 0 {
			i++
		}
		if i == len(t) {
			break
		}
		c := t[i]
		if c == '_' {
			i++
			continue
		}
		if c < utf8.RuneSelf && c != '\'' && c != '-' {
			break
		}
		r, size := utf8.DecodeRuneInString(t[i:])
		if !cueLetter(r) && !joinsWord(r, t[i+size:]) {
			break
		}
		plain = plain && c < utf8.RuneSelf
		i += size
	}
	return i, plain
}

// wide finds the phrases of scripts without blanks. What counts at the start is
// looked for there.
func (t *cueTable) wide(sentence string) Cue {
	head := len(sentence) - len(strings.TrimLeft(sentence, " \t-*•>#0123456789.)、"))
	var found Cue
	for i := 0; i+2 < len(sentence); i++ {
		c := sentence[i]
		if c < wideLead {
			continue
		}
		if at, bit := filterBit(c, sentence[i+1], sentence[i+2], 0); t.opens[at]&bit == 0 {
			continue
		}
		for _, p := range t.phrases[[3]byte{c, sentence[i+1], sentence[i+2]}] {
			if (p.cue&atStart == 0 || i == head) && strings.HasPrefix(sentence[i:], p.text) {
				found |= p.cue
			}
		}
	}
	return found
}

// wideLead is the least byte that a character of those scripts begins with.
const wideLead = 0xE2

// word looks a folded word up, and tells its own cues with those of its stem.
func (t *cueTable) word(w []byte) (e cueWord, tells Cue) {
	if at, bit := wordBit(w); t.maybe[at]&bit != 0 {
		e = t.words[string(w)]
		tells = e.cue
	}
	if n := len(w); n > 2 && w[n-1] == 't' && w[n-2] == '\'' && w[n-3] == 'n' {
		tells |= Denied
	}
	return e, tells | t.stem(w)
}

// stem is what the stem of a folded word tells.
func (t *cueTable) stem(w []byte) Cue {
	if len(w) < shortStem {
		return 0
	}
	if at, bit := headBit(w); t.heads[at]&bit == 0 {
		return 0
	}
	for k := min(len(w), 12); k >= shortStem; k-- {
		if s, ok := t.stems[string(w[:k])]; ok {
			return s
		}
	}
	return 0
}

func cueLetter(r rune) bool {
	return (unicode.IsLetter(r) || r == '_' || unicode.IsDigit(r)) && !unspaced(r)
}

// joinsWord reports whether r holds a word together: don't, trade-off.
func joinsWord(r rune, rest string) bool {
	if r != '\'' && r != '’' && r != '-' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return cueLetter(next)
}

func foldWord(w string) string {
	w = strings.ToLower(w)
	if strings.Contains(w, "’") {
		w = strings.ReplaceAll(w, "’", "'")
	}
	return w
}
