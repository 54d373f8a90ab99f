package extract

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/redact"
)

const (
	// Longer words are data (base64, minified code), not names.
	maxName = 128
	maxPath = 512
)

// shape is what one look over the bytes of a word tells.
type shape struct {
	letters, upper, lower, digits       int
	slashes, dots, hyphens, underscores int
	colons, dollars, wide, humps        int
}

func shapeOf(w string) (h shape) {
	var prev uint16
	for i := 0; i < len(w); i++ {
		c := w[i]
		k := class[c]
		switch {
		case k&isLower != 0:
			h.letters++
			h.lower++
		case k&isUpper != 0:
			h.letters++
			h.upper++
			if prev&isLower != 0 {
				h.humps++
			}
		case k&isDigit != 0:
			h.digits++
		default:
			switch c {
			case '/':
				h.slashes++
			case '.':
				h.dots++
			case '-':
				h.hyphens++
			case '_':
				h.underscores++
			case ':':
				h.colons++
			case '$':
				h.dollars++
			default:
				if c >= utf8.RuneSelf {
					h.letters++
					h.wide++
				}
			}
		}
		prev = k
	}
	return h
}

func (s *scanner) classify(i, j int) {
	j = trimWord(s.text, i, j, kinds)
	if i == j {
		return
	}
	w := s.text[i:j]
	h := shapeOf(w)
	switch {
	case len(w) > maxPath:
	case h.letters+h.digits == 0:
	case h.slashes > 0:
		s.slashed(i, j, h)
	case len(w) > maxName:
	case h.letters == 0:
		s.numbers(i, j)
	default:
		s.name(i, j, h)
	}
}

func (s *scanner) slashed(i, j int, h shape) {
	w := s.text[i:j]
	if h.letters > 0 && h.colons == 0 && pathShape(w, h) {
		s.emit(Path, i, j)
		s.failName(w[strings.LastIndexByte(w, '/')+1:], j)
		return
	}
	if h.slashes == 1 && pairShape(w, h) {
		s.emit(Identifier, i, j)
		return
	}
	s.apart(i, j, '/') // 3/4, HTTP/2, and/or: the parts stand for themselves
}

// apart classifies the parts of the word [i,j) between marks.
func (s *scanner) apart(i, j int, mark byte) {
	for k := i; k <= j; k++ {
		if k == j || s.text[k] == mark {
			if k > i {
				s.classify(i, k)
			}
			i = k + 1
		}
	}
}

// pathShape tells a path from words that a writer joined with a slash.
func pathShape(w string, h shape) bool {
	if w[0] == '/' || w[0] == '~' || w[0] == '$' || w[0] == '.' {
		// "/2" or "/s" after a unit or bracket is no path.
		return h.letters >= 2 && (h.slashes > 1 || len(w) > 3)
	}
	if h.slashes >= 2 || h.underscores > 0 {
		return h.letters > 1
	}
	if h.dots > 0 && dotted(w) {
		return true
	}
	first, second, _ := strings.Cut(w, "/")
	return folder(first) || folder(second)
}

// pairShape reports whether one slash joins two words, such as a package in an
// organisation or the two halves of a choice.
func pairShape(w string, h shape) bool {
	a, b, _ := strings.Cut(w, "/")
	return h.letters > h.digits && len(a) >= 2 && len(b) >= 3 && a != "and" && a != "he" && b != "she"
}

// dotted reports whether a dot stands before or inside the last component: a
// suffix or a hidden file.
func dotted(w string) bool {
	last := w[strings.LastIndexByte(w, '/')+1:]
	dot := strings.LastIndexByte(last, '.')
	return dot >= 0 && dot+1 < len(last) && class[last[dot+1]]&(isLower|isUpper) != 0
}

// folder reports whether a bare name is a customary name of a source folder.
func folder(name string) bool {
	switch name {
	case "src", "internal", "cmd", "pkg", "lib", "libs", "app", "apps", "test", "tests", "testdata", "docs", "doc",
		"bin", "scripts", "script", "config", "configs", "hooks", "plugin", "plugins", "packages", "vendor",
		"node_modules", "dist", "build", "tools", "examples", "include", "api", "web", "ui", "server", "services",
		"components", "utils", "migrations", "assets", "public", "templates", "seeds", "facts", "samples", "vectors",
		"origin", "refs", "feature", "fix", "etc", "var", "usr", "tmp":
		return true
	}
	return false
}

// fileSuffix reports whether ext is a customary suffix of files in projects.
func fileSuffix(ext string) bool {
	switch ext {
	case "go", "mod", "sum", "md", "mdx", "txt", "json", "jsonl", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf",
		"js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "svelte", "css", "scss", "less", "html", "htm", "xml", "svg",
		"py", "pyi", "ipynb", "rb", "rs", "java", "kt", "kts", "swift", "c", "h", "cc", "cpp", "hpp", "cxx", "m", "mm",
		"cs", "fs", "php", "pl", "lua", "r", "jl", "ex", "exs", "erl", "hs", "ml", "scala", "clj", "dart", "zig", "nim",
		"sh", "bash", "zsh", "fish", "ps1", "bat", "cmd", "sql", "proto", "graphql", "csv", "tsv", "log", "lock", "env",
		"png", "jpg", "jpeg", "gif", "ico", "pdf", "zip", "tar", "gz", "tgz", "so", "dll", "exe", "wasm", "db", "sqlite",
		"tmpl", "tpl", "patch", "diff", "txtar", "rst", "adoc", "tf", "gradle", "cmake", "mk", "pem", "crt", "key", "bak", "tmp":
		return true
	}
	return false
}

// numbers emits the numerals of a word without letters: dates, times and ranges
// give each part, a version stays whole.
func (s *scanner) numbers(i, j int) {
	t := s.text
	for i < j {
		if class[t[i]]&isDigit == 0 {
			i++
			continue
		}
		k, end := s.digits(i, j)
		if !s.listMark(i, end) {
			if end == j && end < len(t) && t[end] == '%' {
				end++
			}
			s.emit(Number, i, end)
		}
		i = k
	}
}

// listMark reports whether a numeral numbers an item: the first thing of its
// line, at most two digits, a full stop or bracket and a blank behind it.
func (s *scanner) listMark(i, j int) bool {
	t := s.text
	return j-i <= 2 && j+1 < len(t) && (t[j] == '.' || t[j] == ')') && (t[j+1] == ' ' || t[j+1] == '\t') &&
		strings.TrimLeft(t[s.lineStart:i], " \t>") == ""
}

func (s *scanner) name(i, j int, h shape) {
	t := s.text
	start := i
	for i < j && strings.IndexByte(".-~$", t[i]) >= 0 {
		i++
	}
	if i == j {
		return
	}
	w := t[i:j]
	lead := t[start:i]
	s.failName(w, j)
	switch {
	case redact.IsUUID(w):
		s.emit(Hash, i, j)
	case h.digits > 0 && h.letters > 0 && hexHash(w):
		s.emit(Hash, i, j)
	case class[w[0]]&isDigit != 0:
		s.measure(i, j)
	case version(w):
		s.emit(Number, i, j)
	case h.dots > 0 && (lead == "" || lead == ".") && h.colons == 0 && filename(w):
		s.emit(Path, i, j)
	case lead == "." && len(w) >= 3 && h.wide == 0 && h.dots == 1:
		// A hidden file such as .gitignore.
		s.emit(Path, start, j)
	case h.hyphens >= len(lead) && lead == "--" && len(w) >= 2, h.dollars > 0 && lead == "$":
		s.emit(Identifier, start, j)
	case h.wide > 0:
	case h.hyphens > len(lead):
		s.hyphenated(i, j, h)
	case h.dots > len(lead):
		s.qualified(i, j)
	case codeLike(w, h) || j < len(t) && t[j] == '(' && len(w) >= 3 && !strings.HasPrefix(t[j:], "(s)"):
		s.emit(Identifier, i, j)
	}
}

// codeLike reports whether a bare word is spelled as only names in code are.
func codeLike(w string, h shape) bool {
	switch {
	case h.underscores > 0 && h.letters >= 2, h.humps > 0, h.colons > 0:
		return true
	case h.digits > 0:
		return h.letters >= 1 && len(w) >= 2
	case h.lower == 0:
		return false // JSON is a word
	}
	// HTTPServer, URLs: capitals in front of a hump.
	return h.upper >= 2 && h.lower >= 2 && class[w[0]]&isUpper != 0
}

// digits is how far a number goes that begins at i: with what may stand in one, and without
// what stands behind its last digit.
func (s *scanner) digits(i, j int) (k, end int) {
	for k = i; k < j && (class[s.text[k]]&isDigit != 0 || strings.IndexByte(".,_", s.text[k]) >= 0); k++ {
	}
	for end = k; class[s.text[end-1]]&isDigit == 0; end-- {
	}
	return k, end
}

// measure splits a word that begins with a digit: 10ms, 64-bit, 3rd, 1.2.3-rc1.
func (s *scanner) measure(i, j int) {
	t := s.text
	if strings.HasPrefix(t[i:j], "0x") || strings.HasPrefix(t[i:j], "0X") {
		s.emit(Number, i, j)
		return
	}
	k, end := s.digits(i, j)
	switch {
	case end < j && end == k && class[t[k]]&(isLower|isUpper) != 0 && measureUnit(t[k:j]):
		s.emit(Number, i, j)
	case end < j && end == k && class[t[k]]&(isLower|isUpper) != 0:
		// 2captcha, 3fa9: a name that begins with a digit.
		s.emit(Identifier, i, j)
	default:
		s.emit(Number, i, end)
		s.classify(min(end+1, j), j)
	}
}

// measureUnit reports whether letters behind a numeral measure it.
func measureUnit(t string) bool {
	if len(t) > 4 {
		return false
	}
	for i := 0; i < len(t); i++ {
		if class[t[i]]&(isLower|isUpper) == 0 {
			return false
		}
	}
	return true
}

// hyphenated takes a name apart at its hyphens, unless it is a name as a whole.
func (s *scanner) hyphenated(i, j int, h shape) {
	w := s.text[i:j]
	if h.digits > 0 || h.underscores > 0 || h.humps > 0 || strings.Count(w, "-") >= 2 {
		s.emit(Identifier, i, j)
		return
	}
	s.apart(i, j, '-')
}

// qualified handles dotted words: pkg.Name, a.b.c, but not e.g. or U.S.
func (s *scanner) qualified(i, j int) {
	w := s.text[i:j]
	short := 0
	for part := range strings.SplitSeq(w, ".") {
		if len(part) < 2 {
			short++
		}
	}
	if short*2 <= strings.Count(w, ".")+1 {
		s.emit(Identifier, i, j)
	}
}

// filename reports whether a word without slashes names a file. Node.js and its
// kind are products.
func filename(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	if dot <= 0 || !fileSuffix(w[dot+1:]) {
		return false
	}
	return w[dot+1:] != "js" || class[w[0]]&isUpper == 0
}

func version(w string) bool {
	return (w[0] == 'v' || w[0] == 'V') && len(w) >= 2 && class[w[1]]&isDigit != 0 && strings.Trim(w[1:], "0123456789.") == ""
}

func hexHash(w string) bool {
	if len(w) < minHash || len(w) > maxHash {
		return false
	}
	var seen uint16
	for i := 0; i < len(w); i++ {
		k := class[w[i]]
		if k&isHex == 0 {
			return false
		}
		seen |= k
	}
	return seen&isDigit != 0 && (seen&isLower != 0) != (seen&isUpper != 0)
}

// failName notes when the word w, which ends at j, speaks of a failure.
func (s *scanner) failName(w string, j int) {
	if len(w) <= maxName {
		s.failWord(w, lastHump(w), j)
	}
}

// failWord is failName for a word of which the last part is known.
func (s *scanner) failWord(w, hump string, j int) {
	if s.failing == report || len(w) < 4 {
		return
	}
	switch hump {
	case "error", "errors", "panic", "exception", "fatal", "fail", "failed", "failure", "fails", "cannot", "denied",
		"refused", "undefined", "timeout", "crashed", "unreachable", "unexpected", "aborted", "invalid", "unable":
		s.fail(j)
	case "Error", "Exception", "Failure", "Panic":
		s.fail(j)
		// TypeError and the like are how programs report.
		if len(w) > len(hump) {
			s.failing = report
		}
	case "Failed", "Fatal", "Cannot", "Timeout", "Unable", "Invalid":
		s.fail(j)
	case "ERROR", "FAIL", "FAILED", "FATAL", "PANIC", "Traceback", "panicked", "SIGSEGV", "ENOENT", "EACCES", "ECONNREFUSED":
		s.failing = report
	}
}

// lastHump returns the last part of a camel-case word: Error of TypeError.
func lastHump(w string) string {
	for i := len(w) - 1; i > 0; i-- {
		if class[w[i]]&isUpper != 0 && class[w[i-1]]&isLower != 0 {
			return w[i:]
		}
	}
	return w
}

func (sp Span) key(text string) string {
	w := text[sp.Start:sp.End]
	switch sp.Kind {
	case Path:
		for strings.HasPrefix(w, "./") {
			w = w[2:]
		}
		return w
	case Hash:
		return strings.ToLower(w)
	case Number:
		return numeral(w)
	}
	return w
}

// numeral strips what surrounds and groups the digits of a number.
func numeral(w string) string {
	if strings.HasPrefix(w, "0x") || strings.HasPrefix(w, "0X") {
		return strings.ToLower(w)
	}
	if w[0] == 'v' || w[0] == 'V' {
		w = w[1:]
	}
	end := 0
	for end < len(w) && (class[w[end]]&isDigit != 0 || strings.IndexByte(".,_", w[end]) >= 0) {
		end++
	}
	w = strings.TrimRight(w[:end], ".,_")
	if strings.IndexByte(w, ',') >= 0 {
		w = strings.ReplaceAll(w, ",", "")
	}
	if strings.IndexByte(w, '_') >= 0 {
		w = strings.ReplaceAll(w, "_", "")
	}
	return w
}

// numerals collects every form in which a text has a number, so that a reader
// who writes it differently is not accused: each run of digits, wherever it
// stands, with and without its separators, and small numbers written as words.
func numerals(text string) map[string]struct{} {
	set := map[string]struct{}{}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case class[c]&isDigit != 0:
			j := i
			for j < len(text) && (class[text[j]]&isDigit != 0 || strings.IndexByte(".,_", text[j]) >= 0) {
				j++
			}
			run := strings.TrimRight(text[i:j], ".,_")
			set[numeral(run)] = struct{}{}
			for part := range strings.FieldsFuncSeq(run, func(r rune) bool { return r == ',' || r == '_' }) {
				set[part] = struct{}{}
				for p := range strings.SplitSeq(part, ".") {
					set[p] = struct{}{}
				}
				// A version may be cut to its first places: 1.26 of 1.26.8.
				if v := strings.SplitN(part, ".", 4); len(v) > 2 {
					set[v[0]+"."+v[1]] = struct{}{}
					set[v[0]+"."+v[1]+"."+v[2]] = struct{}{}
				}
			}
			i = j
		case class[c]&(isLower|isUpper) != 0:
			j := i
			for j < len(text) && class[text[j]]&(isLower|isUpper) != 0 {
				j++
			}
			if d := numberOf()[strings.ToLower(text[i:j])]; d != "" {
				set[d] = struct{}{}
			}
			i = j
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(text[i:])
			if d := numberOf()[string(r)]; d != "" {
				set[d] = struct{}{}
			}
			i += n
		default:
			i++
		}
	}
	return set
}

// numberWords are the words for 0, 1, 2 and so on.
const numberWords = "zero none 零|one once first single 一|two twice second both pair 二 兩 两|three third thrice 三|four fourth 四|five fifth 五|six sixth 六|seven 七|eight eighth 八|nine ninth 九|ten tenth 十|eleven|twelve dozen"

var numberOf = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for n, list := range strings.Split(numberWords, "|") {
		for w := range strings.FieldsSeq(list) {
			of[w] = strconv.Itoa(n)
		}
	}
	return of
})

// trimmed shrinks [a,b) to what is not blank.
func trimmed(t string, a, b int) (int, int) {
	for a < b && (t[a] == ' ' || t[a] == '\t' || t[a] == '\r') {
		a++
	}
	for a < b && (t[b-1] == ' ' || t[b-1] == '\t' || t[b-1] == '\r') {
		b--
	}
	return a, b
}

// words yields the runs of letters, digits and underscores, and each ideograph.
func words(text string, yield func(w string)) {
	for i := 0; i < len(text); {
		j, alone := i, false
		for j < len(text) && !alone {
			c := text[j]
			if class[c]&isAlnum != 0 || c == '_' {
				j++
				continue
			}
			if c < utf8.RuneSelf {
				break
			}
			r, n := utf8.DecodeRuneInString(text[j:])
			if alone = ideograph(r); alone && j > i || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			j += n
		}
		if j > i {
			yield(text[i:j])
			i = j
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		i += n
	}
}

func wordSet(text string) map[string]struct{} {
	set := map[string]struct{}{}
	words(text, func(w string) { set[w] = struct{}{} })
	return set
}

func hasWords(set map[string]struct{}, text string) bool {
	all := true
	words(text, func(w string) {
		if all {
			_, all = set[w]
		}
	})
	return all
}
