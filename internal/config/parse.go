package config

import (
	"errors"
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

// parse reads the first document and hands its body to take. Of a text that is not YAML
// it reads each section by itself, and reports those that cannot be read.
func (d *decoder) parse(src []byte, take func(Node)) {
	text, bad := sourceText(src)
	if bad != nil {
		d.add(bad.line, "", bad.msg)
		return
	}
	body, bad := d.document(withoutComments(text))
	if bad == nil {
		take(body)
		return
	}
	for _, section := range sections(text) {
		if body, bad = d.document(section); bad == nil {
			take(body)
		} else {
			key, _, ok := strings.Cut(section, ":")
			if !ok || strings.ContainsAny(key, " []{},\"'\n\x00\ufffd") {
				key = ""
			}
			d.add(bad.line, key, bad.msg)
		}
		d.offset += strings.Count(section, "\n")
	}
}

func (d *decoder) document(text string) (Node, *syntaxError) {
	file, bad := parseYAML(text)
	if bad != nil {
		return Node{}, bad
	}
	body, second := documents(file)
	if second != nil {
		d.report(position(second), "", "只讀第一份 YAML 文件", "only the first YAML document is read")
	}
	return tree(body), nil
}

// sections parts a text before each line that begins with a key.
func sections(text string) (list []string) {
	for line := range strings.Lines(text) {
		if n := len(list); n > 0 && strings.ContainsAny(line[:1], " \t\r\n#-]}") {
			list[n-1] += line
		} else {
			list = append(list, line)
		}
	}
	return list
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
