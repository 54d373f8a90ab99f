package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/redact"
)

// Name is a word of a text that only this project knows: a path, or an
// identifier of its code.
type Name struct {
	// Text is the word as it stands, Base what it is called by: the last
	// component of a path, else the word itself. Both are parts of the text.
	Text, Base []byte
	Path       bool
	Defined    bool // a word such as func or class stands before it
}

// An identifier of fewer bytes is as often a word of the language or a local;
// a longer name is data.
const (
	minIdentifier = 6
	minBase       = 3
)

// NameScan walks the names of a text. Escaped says that the text is the inside
// of a JSON string: session files are mostly such strings, and decoding all of
// them first would cost more than finding the names.
type NameScan struct {
	Text    []byte
	Escaped bool

	at         int
	words      int // seen in this line
	def        bool
	start, end int  // the rest of a word that is read in parts
	runEnd     int  // of the last words that backslashes join
	folders    bool // they are a path of Windows
}

// Next returns the next name; false at the end of the text.
func (s *NameScan) Next() (Name, bool) {
	for {
		if s.start < s.end {
			if n, ok := s.part(); ok {
				return n, true
			}
			continue
		}
		if !s.skip() {
			return Name{}, false
		}
		b, start := s.Text, s.at
		i := start
		for i < len(b) && class[b[i]]&isLower != 0 {
			i++ // nearly all there is
		}
		if i == len(b) || nameClass(b[i]) == 0 {
			s.at = i
			s.plain(b[start:i])
			continue
		}
		if b[i] == '/' && start > 0 && b[start-1] == ':' && bytes.HasPrefix(b[start:], []byte("//")) {
			s.at = addressEnd(b, i)
			continue
		}
		shape := nameClass(b[start])
		for ; i < len(b) && nameClass(b[i]) != 0; i++ {
			shape |= nameClass(b[i])
		}
		s.at = i
		word := b[start:i]
		spelt := spelled(word)
		if !spelt && shape&(isUnder|isSlash|isDot) == 0 {
			s.plain(word)
			continue
		}
		if len(word) > maxPath || start > 0 && b[start-1] == '*' || i < len(b) && b[i] == '*' && shape&(isSlash|isDot) != 0 {
			continue // data, or part of a pattern such as *_test.go
		}
		if shape&(isSlash|isDot) != 0 {
			if n, ok := s.path(word, shape); ok {
				return s.name(n), true
			}
			if shape&isSlash != 0 {
				continue
			}
		}
		if shape&^(isAlnum|isUnder) == 0 {
			if n, ok := s.identifier(word); ok {
				return n, true
			}
			continue
		}
		if !spelt && shape&isUnder == 0 {
			s.plain(word) // none of its parts can be written like a name
			continue
		}
		s.start, s.end = start, i
	}
}

// addressEnd is where an address ends: all of it, with its fields and quoted bytes, is no
// name of the project's. Behind a port there may stand the project's own files.
func addressEnd(b []byte, i int) int {
	for i < len(b) && (nameClass(b[i]) != 0 || strings.IndexByte("%?&=#", b[i]) >= 0) {
		i++
	}
	return i
}

// skip moves to the next byte of a word and keeps count of the lines.
func (s *NameScan) skip() bool {
	b, i := s.Text, s.at
	for i < len(b) {
		c := b[i]
		if nameClass(c) != 0 {
			s.at = i
			return true
		}
		i++
		switch {
		case c == '\n':
			s.newline()
		case c == '[' && bytes.HasSuffix(b[:i-1], []byte("u001b")): // a terminal's control
			for i < len(b) && strings.IndexByte("0123456789;?", b[i]) >= 0 {
				i++
			}
			i = min(len(b), i+1)
		case c == '%' && i+1 < len(b) && hexUpper(b[i]) && hexUpper(b[i+1]):
			i += 2 // of an address: src%2Fmain.rs
		case c != '\\' || i == len(b):
		case !s.Escaped:
			i = s.escape(i)
		case b[i] == '\\':
			i = s.escape(i + 1)
		case b[i] == 'u':
			i = min(len(b), i+5)
		default:
			if i++; b[i-1] == 'n' {
				s.newline()
			}
		}
	}
	s.at = i
	return false
}

// escape returns where the text goes on behind a backslash of its own that ends before i:
// a quoted line end is no letter of the word behind it.
func (s *NameScan) escape(i int) int {
	b := s.Text
	digits := 0
	switch {
	case i == len(b):
		return i
	case b[i] == 'u':
		digits = 4
	case b[i] == 'x':
		digits = 2
	case strings.IndexByte("nrtbfvsdwBSDW", b[i]) < 0 || s.folder(i):
		return i
	case b[i] == 'n':
		s.newline()
	}
	end := i + 1 + digits
	if end > len(b) || bytes.ContainsFunc(b[i+1:end], func(r rune) bool { return r >= utf8.RuneSelf || class[r]&isHex == 0 }) {
		return i
	}
	return end
}

// folder reports that the backslash before i parts folders: the run of words that it joins
// begins with a drive, or with a word and ends with a file's name.
func (s *NameScan) folder(i int) bool {
	if i <= s.runEnd {
		return s.folders
	}
	b, from := s.Text, i
	inRun := func(c byte) bool { return nameClass(c) != 0 || c == '\\' || c == ':' }
	for from > s.runEnd && inRun(b[from-1]) {
		from--
	}
	for s.runEnd = i; s.runEnd < len(b) && inRun(b[s.runEnd]); {
		s.runEnd++
	}
	run := b[from:s.runEnd]
	drive := len(run) > 2 && run[1] == ':' && run[2] == '\\'
	s.folders = drive || nameClass(run[0]) != 0 && FileName(run[bytes.LastIndexByte(run, '\\')+1:])
	return s.folders
}

// hexUpper reports a digit as addresses quote bytes with them; a format has lower ones.
func hexUpper(c byte) bool { return class[c]&isHex != 0 && class[c]&isLower == 0 }

func (s *NameScan) newline() { s.words, s.def = 0, false }

// plain notes what an ordinary word says about the names behind it.
func (s *NameScan) plain(word []byte) {
	if s.words++; s.words > 4 || len(word) > 9 {
		return
	}
	switch string(bytes.TrimLeft(word, "+-")) { // of a patch
	case "func", "type", "class", "def", "fn", "function", "interface", "struct", "enum", "trait", "module", "const", "var", "let", "public", "private", "export":
		s.def = true
	}
}

func (s *NameScan) name(n Name) Name {
	n.Defined = s.def && !n.Path
	s.def = false
	return n
}

func (s *NameScan) path(word []byte, shape uint16) (Name, bool) {
	for len(word) > 0 && nameClass(word[len(word)-1])&(isDot|isSlash|isMark) != 0 {
		word = word[:len(word)-1]
	}
	if shape&isMark != 0 && shape&isDigit != 0 {
		word = contextLine(word)
	}
	if shape&isSlash == 0 {
		for len(word) > 0 && nameClass(word[0])&isMark != 0 {
			word = word[1:]
		}
		// resp.json() is a call.
		if !FileName(word) || s.at < len(s.Text) && s.Text[s.at] == '(' {
			return Name{}, false
		}
		if word[0] == '_' {
			return Name{}, false
		}
	}
	slash := bytes.LastIndexByte(word, '/')
	base := word[slash+1:]
	if len(base) < minBase || len(base) > maxName || base[0] == '_' && FileName(base[1:]) || !nameable(base) || slash >= 0 && s.noPath(word, slash) {
		return Name{}, false
	}
	return Name{Text: word, Base: base, Path: true}, true
}

// noPath reports a word with a slash that names no file of a project: an address, a tag
// that closes, two words such as text/html, a range such as main..HEAD, a version, a size,
// and what hosts and we keep of sessions.
func (s *NameScan) noPath(word []byte, slash int) bool {
	at := cap(s.Text) - cap(word)
	before, base := byte(0), word[slash+1:]
	if at > 0 {
		before = s.Text[at-1]
	}
	switch {
	case before == '<', bytes.HasSuffix(s.Text[:at], []byte(`\u003c`)), bytes.Contains(base, []byte("..")):
		return true
	case bytes.Contains(word, []byte("/.overtone/")), bytes.Contains(word, []byte("/.claude/projects/")), bytes.Contains(word, []byte("/.codex/sessions/")):
		return true
	case FileName(base):
		return false
	}
	plain := !bytes.ContainsFunc(base, func(r rune) bool { return r >= utf8.RuneSelf || class[r]&(isLower|isUpper) == 0 }) && !identifier(base)
	return nameClass(base[0])&isDigit != 0 || bytes.IndexByte(base[1:], '@') >= 0 ||
		plain && bytes.IndexByte(word, '/') == slash && strings.IndexByte("/.~", word[0]) < 0
}

// contextLine cuts what grep puts behind a file's name: setup.go-88-text.
func contextLine(w []byte) []byte {
	for i := 1; i < len(w)-1; i++ {
		if w[i] != '-' || nameClass(w[i+1])&isDigit == 0 {
			continue
		}
		j := i + 1
		for j < len(w) && nameClass(w[j])&isDigit != 0 {
			j++
		}
		if (j == len(w) || w[j] == '-') && FileName(w[bytes.LastIndexByte(w[:i], '/')+1:i]) {
			return w[:i]
		}
	}
	return w
}

// FileName reports whether a word ends like the name of a file.
func FileName(w []byte) bool {
	dot := bytes.LastIndexByte(w, '.')
	return dot > 0 && len(w)-dot <= 8 && fileSuffix(string(w[dot+1:]))
}

// part reads the next identifier of a dotted or hyphenated word.
func (s *NameScan) part() (Name, bool) {
	b := s.Text
	i := s.start
	for i < s.end && nameClass(b[i])&(isAlnum|isUnder) == 0 {
		i++
	}
	j := i
	for j < s.end && nameClass(b[j])&(isAlnum|isUnder) != 0 {
		j++
	}
	s.start = j
	return s.identifier(b[i:j])
}

func (s *NameScan) identifier(w []byte) (Name, bool) {
	if len(w) < minIdentifier || len(w) > maxName || !identifier(w) || !nameable(w) {
		s.plain(w)
		return Name{}, false
	}
	return s.name(Name{Text: w, Base: w}), true
}

// identifier reports camelCase, PascalCase, snake_case and UPPER_SNAKE.
func identifier(w []byte) bool { return class[w[0]]&isDigit == 0 && spelled(w) }

// spelled reports a hump, also that of HTTPServer, or an underscore between letters.
func spelled(w []byte) bool {
	var prev uint16
	seen := false // a letter or digit before the last underscore
	for i, c := range w {
		k := nameClass(c)
		switch {
		case k&isUpper != 0 && prev&(isLower|isDigit) != 0,
			k&isLower != 0 && prev&isUpper != 0 && i >= 2 && nameClass(w[i-2])&isUpper != 0,
			k&isUnder == 0 && prev&isUnder != 0 && seen:
			return true
		}
		seen = seen || k&isUnder == 0
		prev = k
	}
	return false
}

// nameable leaves out what has the shape of a name and names nothing here: ids,
// hashes, numbers, and the words of the hosts' own tools.
func nameable(w []byte) bool {
	var seen uint16
	digits, hash := 0, true // all of its letters and digits may be those of a hash
	for _, c := range w {
		if class[c]&isAlnum != 0 {
			seen |= class[c]
			hash = hash && class[c]&isHex != 0
			digits++
		}
	}
	if seen&(isLower|isUpper) == 0 || hash && seen&isDigit != 0 && digits >= minHash {
		return false
	}
	// <date>-<uuid> and the like, mostly digits of an id; <program>-<hash>, as builds are
	// called; what is left of a secret; and where Claude Code puts what runs in the background.
	name, suffix := w, []byte(nil)
	if dot := bytes.LastIndexByte(w, '.'); dot > 0 {
		name, suffix = w[:dot], w[dot:]
	}
	if len(name) >= 36 && redact.IsUUID(string(name[len(name)-36:])) || hexHash(string(name[bytes.LastIndexByte(name, '-')+1:])) || bytes.Contains(w, []byte("REDACTED")) || string(suffix) == ".output" {
		return false
	}
	return !hostWord(string(w)) && !callID(w)
}

// callID reports the ids that hosts give to calls and messages, toolu_01A6Bf…, and GitHub
// to all that it keeps.
func callID(w []byte) bool {
	i := bytes.IndexByte(w[:min(len(w), 6)], '_')
	if i < 0 || !bytes.ContainsAny(w[i:], "0123456789") {
		return false
	}
	switch string(w[:i]) {
	case "toolu", "call", "msg", "req", "ctc", "rs", "fc":
		return true
	}
	rest := w[i+1:]
	return (bytes.HasPrefix(rest, []byte("kw")) || bytes.HasPrefix(rest, []byte("kg"))) && len(rest) > 8 && nameClass(rest[2]) == isUpper && !bytes.ContainsFunc(w[:i], unicode.IsLower)
}

// hostWord reports words of the hosts' own tools: their names, the keys and
// fixed values of their inputs.
func hostWord(w string) bool {
	switch w {
	case "null", "in_progress", "files_with_matches", "file_path", "old_string", "new_string", "replace_all", "output_mode",
		"head_limit", "run_in_background", "subagent_type", "activeForm", "multiSelect", "tool_use", "tool_result", "tool_use_error",
		"tool_use_id", "notebook_path", "cell_id", "edit_mode", "task_id", "bash_id", "shell_id", "allowed_domains", "blocked_domains",
		"TodoWrite", "TodoRead", "MultiEdit", "NotebookEdit", "NotebookRead", "BashOutput", "KillShell", "KillBash", "TaskOutput", "TaskCreate",
		"TaskUpdate", "TaskList", "TaskGet", "TaskStop", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion", "SlashCommand", "WebFetch", "WebSearch", "SendMessage",
		"ToolSearch", "agentId", "agent_id", "system-reminder", "general-purpose", "local-command-stdout", "local-command-stderr", "local-command-caveat",
		"apply_patch", "update_plan", "exec_command", "write_stdin", "max_output_tokens", "yield_time_ms", "shell_command", "view_image",
		"with_escalated_permissions", "sandbox_permissions", "require_escalated", "justification", "timeout_ms", "prefix_rule", "session_id", "call_id", "chunk_id", "wall_time_seconds", "original_token_count":
		return true
	}
	return false
}

// States reports whether a text states a name literally: not as a part of a
// longer word.
func States(text, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		if wholeWord(text, i, i+len(name)) {
			return true
		}
		from = i + 1
	}
}

// Stated is [States] of one text for many names: the text is read once, not once for each.
func Stated(text string) func(name string) bool {
	at := map[string][]int{} // where each word of the text begins
	for i := 0; i < len(text); {
		from, to := wordIn(text, i)
		if from < to {
			at[text[from:to]] = append(at[text[from:to]], from)
		}
		i = to
	}
	return func(name string) bool {
		from, to := wordIn(name, 0)
		if from == to { // none of ASCII
			return States(text, name)
		}
		for _, i := range at[name[from:to]] {
			if i -= from; i >= 0 && strings.HasPrefix(text[i:], name) && wholeWord(text, i, i+len(name)) {
				return true
			}
		}
		return false
	}
}

// wordIn is where the first word of a text behind i begins and ends.
func wordIn(text string, i int) (from, to int) {
	for i < len(text) && !inWord(text[i]) {
		i++
	}
	for to = i; to < len(text) && inWord(text[to]); {
		to++
	}
	return i, to
}

// wholeWord reports that a part of a text is no part of a longer word.
func wholeWord(text string, from, to int) bool {
	return (from == 0 || !inWord(text[from-1])) && (to == len(text) || !inWord(text[to]))
}

func inWord(c byte) bool { return class[c]&(isAlnum|isUnder) != 0 }

// nameClass is what a byte is in a name, 0 for none. Ideographs stand beside names without
// a blank, and files that are called by them are known from the tools' inputs.
func nameClass(c byte) uint16 { return class[c] & isName }
