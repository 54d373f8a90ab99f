package config

import (
	"errors"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The library's time grows with the square of nesting, keys and line length
// (15 s for 64 KiB of "["), so text that no settings file contains is refused
// before it gets there.
const (
	maxSource = 64 << 10
	maxLines  = 4000
	maxLine   = 4 << 10
	maxOpen   = 32 // "[" and "{" open at once
)

// syntaxError is a place where the text stops being YAML.
type syntaxError struct {
	line int
	msg  said
}

// parse returns the body of the first document. Around what is not YAML it keeps
// every entry that can be read alone, and reports the others.
func (d *decoder) parse(src []byte) ast.Node {
	text, bad := sourceText(src)
	if bad != nil {
		d.add(bad.line, "", bad.msg)
		return nil
	}
	file, bad := parseYAML(withoutComments(text))
	if bad != nil {
		if file, bad = d.salvage(text); bad != nil {
			return nil
		}
	}
	body, second := documents(file)
	if second != nil {
		d.report(position(second), "", "只讀第一份 YAML 文件", "only the first YAML document is read")
	}
	return body
}

// sourceText is the text of a file that is not too large to be one.
func sourceText(src []byte) (string, *syntaxError) {
	text := strings.TrimPrefix(string(src), "\ufeff")
	switch {
	case len(src) > maxSource:
		return "", &syntaxError{1, say("超過 %d KiB", "larger than %d KiB", maxSource>>10)}
	case strings.Count(text, "\n") > maxLines:
		return "", &syntaxError{1, say("超過 %d 行", "more than %d lines", maxLines)}
	}
	return text, nil
}

// documents are the first two of a file that hold anything.
func documents(file *ast.File) (first, second ast.Node) {
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.NullNode, *ast.DirectiveNode, *ast.CommentGroupNode:
			continue
		}
		if first != nil {
			return first, doc.Body
		}
		first = doc.Body
	}
	return first, nil
}

// withoutComments makes lines that are nothing but a comment empty: the file that init
// writes consists of them, and the library takes four times as long with them as without.
// Where a text goes over several lines, such a line may belong to it, and all stay.
func withoutComments(src string) string {
	var b strings.Builder
	for line := range strings.Lines(src) {
		switch text := strings.TrimSpace(line); {
		case text == "" || text[0] == '#':
			b.WriteByte('\n')
		case !strings.Contains(text, ":") || strings.ContainsAny(text, "|>\"'"):
			return src
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// parseYAML never panics, whatever the library does.
func parseYAML(src string) (file *ast.File, bad *syntaxError) {
	if bad := screen(src); bad != nil {
		return nil, bad
	}
	defer func() {
		if r := recover(); r != nil {
			file, bad = nil, &syntaxError{1, said{"不是可讀的 YAML", "not readable as YAML"}}
		}
	}()
	file, err := parser.ParseBytes([]byte(src), 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return file, nil
	}
	text := err.Error()
	bad = &syntaxError{line: 1}
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) {
		text = at.GetMessage()
		if tk := at.GetToken(); tk != nil && tk.Position != nil {
			bad.line = tk.Position.Line
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	bad.msg = notYAML(text)
	return nil, bad
}

// notYAML says in Chinese what the library says in English: by a word of its sentence,
// as it has some fifty of them for a handful of mistakes. Of a tab its English says
// nothing that helps.
func notYAML(text string) said {
	const tab = "not YAML: a tab cannot indent a line; indent with blanks"
	for _, mistake := range []struct{ words, zh, en string }{
		{`non-map value`, "要寫成 \"key: value\"", "want \"key: value\""},
		{`escape character`, "不是 YAML：雙引號裡有不認得的跳脫字元；改用單引號即可", text},
		{`tab character`, "不是 YAML：縮排不能用 Tab，請用空格", tab},
		{`character ' '`, "不是 YAML：縮排不能用 Tab，請用空格", tab}, // a tab, by now
		{`quoted text`, "不是 YAML：引號沒有成對", text},
		{`']'`, "不是 YAML：中括號 [ ] 沒有成對", "not YAML: brackets [ ] do not match"},
		{`'}'`, "不是 YAML：大括號 { } 沒有成對", "not YAML: braces { } do not match"},
		{`sequence`, "不是 YAML：這裡不能放清單項目，請檢查縮排", text},
		{`anchor`, "不是 YAML：& 有特別的意思，請把這段文字放進引號", text},
		{`alias`, "不是 YAML：* 有特別的意思，請把這段文字放進引號", text},
	} {
		if strings.Contains(text, mistake.words) {
			return said{mistake.zh, mistake.en}
		}
	}
	return said{"不是 YAML：請檢查冒號、縮排與引號", text}
}

// screen refuses text that the library should not see.
func screen(src string) *syntaxError {
	open, line := 0, 0
	for text := range strings.Lines(src) {
		line++
		switch {
		case !utf8.ValidString(text):
			return &syntaxError{line, said{"不是有效的 UTF-8", "not valid UTF-8"}}
		case strings.ContainsRune(text, 0):
			return &syntaxError{line, said{"含有 NUL 字元", "contains a NUL character"}}
		case len(text) > maxLine:
			return &syntaxError{line, say("這一行超過 %d KiB", "line is longer than %d KiB", maxLine>>10)}
		}
		open += strings.Count(text, "[") + strings.Count(text, "{")
		if open > maxOpen {
			return &syntaxError{line, said{"巢狀太深", "nested too deeply"}}
		}
		open = max(0, open-strings.Count(text, "]")-strings.Count(text, "}"))
	}
	return nil
}

// salvage takes what is not YAML out of a text, one entry after the other as the library
// stumbles over them, and reports each. Empty lines stay in their place, so that positions
// stay true.
func (d *decoder) salvage(text string) (*ast.File, *syntaxError) {
	lines := strings.SplitAfter(text, "\n")
	for {
		file, bad := parseYAML(strings.Join(lines, ""))
		if bad == nil || len(d.problems) == maxProblems {
			return file, bad
		}
		at := opened(lines, min(bad.line, len(lines))-1)
		d.add(at+1, keyAt(lines, at), bad.msg)
		outer, _ := indent(lines[at])
		for i := at; i < len(lines); i++ {
			if n, ok := indent(lines[i]); i > at && ok && n <= outer {
				break
			}
			lines[i] = lines[i][len(strings.TrimRight(lines[i], "\n")):]
		}
	}
}

// opened is the line with the bracket that is still open where the library noticed, else
// that line itself.
func opened(lines []string, at int) int {
	first, open := at, 0
	for i, line := range lines[:at] {
		if _, ok := indent(line); !ok {
			continue
		}
		if open == 0 {
			first = i
		}
		open = max(0, open+strings.Count(line, "[")+strings.Count(line, "{")-strings.Count(line, "]")-strings.Count(line, "}"))
	}
	if open == 0 {
		return at
	}
	return first
}

// keyAt is the dotted key that a line stands under, as far as keys can be told.
func keyAt(lines []string, at int) string {
	key, outer := "", math.MaxInt
	for i := at; i >= 0; i-- {
		name, _, ok := strings.Cut(lines[i], ":")
		if n, full := indent(lines[i]); full && n < outer {
			outer = n
			if name = strings.Trim(strings.TrimSpace(name), "\"'"); ok && !strings.ContainsAny(name, " []{},\x00\ufffd") {
				key = strings.TrimSuffix(join(name, key), ".")
			}
		}
	}
	return key
}

// indent counts leading blanks; the second result is false for lines that carry
// nothing.
func indent(line string) (int, bool) {
	trimmed := strings.TrimLeft(line, " \t")
	n := len(line) - len(trimmed)
	return n, strings.TrimSpace(trimmed) != "" && trimmed[0] != '#'
}
