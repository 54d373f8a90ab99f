// Package shrink measures what compression keeps, test only: make eval.
//
// The judge shares no code and no list of words with the compressor. What a fact
// is and whether a text still has it is said by plain regular expressions; what a
// decision or a request sounds like, by words that the compressor does not know.
package shrink

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

type kind struct {
	name  string
	find  *regexp.Regexp
	valid func(string) bool
	// whole: the sentence or line around the match is what has to be kept.
	whole bool
	user  bool // in users' messages only
	soft  bool
	read  byte // by its letter in testdata/read.txt instead of by words
}

// readers maps the hash of a sentence to the letter of what a reader of the
// recorded sessions found it to be: D for a decision, a rule, a recommendation or
// a cause that later work rests on, R for what the user asks, corrects or forbids.
// They were read before the weights were tuned. Hashes, because the sessions are
// not ours to publish.
var readers = sync.OnceValue(func() map[string]byte {
	m := map[string]byte{}
	b, err := os.ReadFile("testdata/read.txt")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(b)) {
		m[strings.TrimSpace(line[2:])] = line[0]
	}
	return m
})

func readAs(sentence string) byte {
	h := sha256.Sum256([]byte(squeeze(sentence)))
	return readers()[hex.EncodeToString(h[:6])]
}

var kinds = []kind{
	{name: "path", find: regexp.MustCompile(`(?:\.{1,2}/|~/|/)?(?:[A-Za-z0-9_@.-]+/)+[A-Za-z0-9_@.-]*[A-Za-z0-9_]|\b[A-Za-z0-9_-]+\.(?:go|md|ts|tsx|js|json|jsonl|py|rs|yaml|yml|toml|sh|sql|txt|lock|css|html)\b`), valid: func(s string) bool { return len(s) > 3 && len(s) < 200 }},
	{name: "code", find: regexp.MustCompile("`[^`\n]{3,80}`|\\b(?:[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+)\\b")},
	{name: "quantity", find: regexp.MustCompile(`\b\d[\d,.]*\s?(?:%|(?:ms|s|sec|seconds?|minutes?|min|h|hours?|days?|KB|MB|GB|kB|bytes?|lines?|files?|tests?|tokens?|times|px|errors?|warnings?|items?|rows?|steps?|characters|chars|points?|percent|строк\w*|файл\w*|тест\w*)\b|[x×個个行秒分次件条條筆개줄초행])`)},
	{name: "reference", find: regexp.MustCompile(`https?://[^\s)>\]"']+|\b[0-9a-f]{7,40}\b|#\d{1,6}\b|[\w./-]+\.\w{1,5}:\d+|\bv?\d+\.\d+\.\d+\b`), valid: func(s string) bool {
		if strings.Trim(s, "0123456789abcdef") == "" {
			return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef")
		}
		return true
	}},
	{name: "error", whole: true, find: regexp.MustCompile(`(?i:\berrors?\b|\bfailed\b|\bfailure\b|\bpanic\b|\bexception\b|\bfatal\b|\w+Error\b|錯誤|错误|失敗|失败|逾時|エラー|오류|ошибк)`)},
	{name: "decision", whole: true, soft: true, find: regexp.MustCompile(`(?i:\b(?:going with|go with|opt for|stick with|stick to|in favou?r of|won['’]t|better|best|the fix|makes? sense|leave|intend|intended|the goal|goal is|supposed|no longer|rely on|relies on|responsible for|designed|as a result|in order to|the point|worth|important|simpler|simplest|cleaner|safer|only when|this way|that way|ideally|we can|lets us|the idea|necessary|per your)\b)|打算|考慮到|考虑到|鑑於|鉴于|為了|为了|不再|目標|目标|為準|为准|理想|予定|目的|ようにする|위해|목표|чтобы|цель`)},
	{name: "request", whole: true, soft: true, user: true, find: regexp.MustCompile(`(?i:^\W{0,4}(?:\d+[.)] )?(?:fix|add|remove|delete|update|create|write|check|run|implement|use|look|change|move|rename|explain|show|find|review|test|build|also|continue|try|do|does|is|are|should|give|set|put|open|read|start|stop|go|tell|list|search|investigate|analy[sz]e|ensure|provide|follow|consider|think|the user|you are|you should|you can|this is|when|if)\b)|^\W{0,4}(?:把|將|将|改|加|寫|写|看|檢查|检查|不用|要|再|先|用|做|給|给|查|讀|读|跑)`)},
	{name: "decided*", whole: true, read: 'D'},
	{name: "asked*", whole: true, user: true, read: 'R'},
}

// sentences splits a text at full stops and line ends.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		for len(line) > 0 {
			end := len(line)
			for i, r := range line {
				n := i + utf8.RuneLen(r)
				if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && n < len(line) && line[n] == ' ' && letters(line[:n]) > 1 {
					end = n
					break
				}
			}
			if s := strings.TrimSpace(line[:end]); s != "" {
				out = append(out, s)
			}
			line = line[end:]
		}
	}
	return out
}

// letters counts them: "A." and "3." begin something.
func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// found lists the distinct facts of one kind in a message.
func found(k kind, text string, user bool) []string {
	if k.user && !user {
		return nil
	}
	var out []string
	if k.read != 0 {
		for _, s := range sentences(text) {
			if readAs(s) == k.read {
				out = append(out, s)
			}
		}
	} else if k.whole {
		fence := false
		for _, s := range sentences(text) {
			if strings.HasPrefix(s, "```") {
				fence = !fence
			}
			n := utf8.RuneCountInString(s)
			if k.soft && (fence || n < 15 || looksLikeCode(s) || announces.MatchString(s)) || n > 300 || n < 8 {
				continue
			}
			if k.find.MatchString(s) {
				out = append(out, s)
			}
		}
	} else {
		for _, m := range k.find.FindAllString(text, -1) {
			if m = strings.TrimSpace(m); k.valid == nil || k.valid(m) {
				out = append(out, m)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// announces tells headings, lead-ins and talk about the next step from what they
// announce.
var announces = regexp.MustCompile(`(?i)^#|[:：]\W*$|^\W*(?:now |next,? |first,? )?(?:let me|let's|let us|i['’]ll|i will|i['’]m going to|now)\b|^\W*(?:讓我|让我|我先|我來|我来)`)

func looksLikeCode(s string) bool {
	signs := 0
	for _, r := range s {
		if strings.ContainsRune("{}();=<>[]|\\", r) {
			signs++
		}
	}
	return signs*8 > len(s)
}

// has reports whether a text still states the fact: a sentence word for word,
// anything else with no letter, digit or underscore on either side.
func has(k kind, text, fact string) bool {
	if k.whole {
		return strings.Contains(squeeze(text), squeeze(fact))
	}
	fact = strings.Trim(fact, "`")
	for at := 0; ; {
		i := strings.Index(text[at:], fact)
		if i < 0 {
			return false
		}
		i += at
		if !wordByte(text, i-1) && !wordByte(text, i+len(fact)) {
			return true
		}
		at = i + 1
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func wordByte(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var denial = regexp.MustCompile(`(?i)\b(?:not|no|never|without|cannot|nothing|none|neither|nor|unless|except|instead|\w+n['’]t|не|нет|нельзя|без)\b|不|沒|没|無|无|未|勿|別|除非|ない|ません|않|없|못|아니`)

func words(s string) []string {
	var out []string
	run := 0
	for i, r := range s + " " {
		switch {
		case unicode.IsLetter(r) && r < 0x2E80 || r == '_':
			run++
			continue
		case r >= 0x2E80 && unicode.IsLetter(r):
			out = append(out, string(r))
		}
		if run >= 4 {
			out = append(out, strings.ToLower(s[i-runBytes(s[:i], run):i]))
		}
		run = 0
	}
	return out
}

func runBytes(s string, runes int) int {
	n := 0
	for range runes {
		_, w := utf8.DecodeLastRuneInString(s[:len(s)-n])
		n += w
	}
	return n
}

// denials counts the denied sentences of which most words are still there, and
// those of them whose denial is gone. What stands word for word in the text is
// itself, however many words it shares with another.
func denials(text, result string) (kept, lost int) {
	own := map[string]bool{}
	for _, s := range sentences(text) {
		own[strings.TrimSpace(s)] = true
	}
	var outs []map[string]bool
	var denied []bool
	results := sentences(result)
	for _, s := range results {
		set := map[string]bool{}
		for _, w := range words(s) {
			set[w] = true
		}
		outs, denied = append(outs, set), append(denied, denial.MatchString(s))
	}
	for _, s := range sentences(text) {
		ws := words(s)
		if !denial.MatchString(s) || len(ws) < 4 || len(ws) > 60 {
			continue
		}
		best, at := 0, -1
		for n, set := range outs {
			hit := 0
			for _, w := range ws {
				if set[w] {
					hit++
				}
			}
			if hit > best {
				best, at = hit, n
			}
		}
		if at < 0 || best*10 < len(ws)*6 || !denied[at] && own[strings.TrimSpace(results[at])] {
			continue
		}
		kept++
		if !denied[at] {
			lost++
		}
	}
	return kept, lost
}

var filler = regexp.MustCompile(`(?i)^\W*(?:i see|great|perfect|good|okay|ok|sure|excellent|now|let me|i'll|i will|let's|done|thanks?|alright|got it|here (?:is|are)|好的|沒問題|我先|讓我|わかりました|네|хорошо)\b[^0-9/_` + "`" + `]*$`)

// remnants counts the pieces of a result, and those that say nothing: filler, a
// lead-in without its list, a table's header without rows, a word or two.
func remnants(result string) (pieces int, empty []string) {
	if mark.MatchString(result) {
		return 0, nil
	}
	lines := strings.Split(result, "\n")
	for i, line := range lines {
		for _, s := range sentences(line) {
			if strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
				continue
			}
			pieces++
			facts := 0
			for _, k := range kinds {
				if hard(k) {
					facts += len(found(k, s, false))
				}
			}
			next := ""
			for _, l := range lines[i+1:] {
				if next = strings.TrimSpace(l); next != "" {
					break
				}
			}
			switch {
			case strings.HasPrefix(s, "|") && !strings.HasPrefix(next, "|") && (i == 0 || !strings.HasPrefix(strings.TrimSpace(lines[i-1]), "|")) && facts == 0:
				empty = append(empty, s)
			case (strings.HasSuffix(strings.TrimRight(s, "*_"), ":") || strings.HasSuffix(s, "：")) && next == "":
				empty = append(empty, s)
			case facts > 0:
			case (strings.HasPrefix(s, "#") || strings.HasSuffix(strings.TrimRight(s, "*_"), ":") || strings.HasSuffix(s, "：")) && next != "":
			case strings.HasPrefix(s, "|"):
			case len(words(s)) < 2 || len([]rune(s)) < 60 && filler.MatchString(s) && !denial.MatchString(s):
				empty = append(empty, s)
			}
		}
	}
	return pieces, empty
}

var mark = regexp.MustCompile(`^…(?:#[0-9a-f]{8}(?: ×[0-9]+)?)?$`)

// cutTokens counts words of a result that the text does not have.
func cutTokens(text, result string) int {
	if mark.MatchString(result) {
		return 0
	}
	have := map[string]bool{}
	for _, w := range strings.Fields(text) {
		have[w] = true
	}
	n := 0
	for _, w := range strings.Fields(result) {
		// Sentences of scripts without blanks end inside what Fields takes for a word.
		if !have[w] && w != "…" && strings.IndexFunc(w, func(r rune) bool { return r >= 0x2E80 }) < 0 {
			n++
		}
	}
	return n
}
