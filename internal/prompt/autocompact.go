package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// frontMatter are the settings that the prompt file may hold.
type frontMatter struct {
	Version int            `yaml:"version" min:"0" max:"1"`
	Trigger config.Trigger `yaml:"trigger"`
	Markers config.Markers `yaml:"markers"`
	Packet  struct {
		Author string `yaml:"author" oneof:"watcher agent"`
		config.Packet
	} `yaml:"packet"`
}

// maxPrompt bounds a prompt file; more than that is no prompt.
const maxPrompt = 1 << 20

// LoadAutoCompact completes the settings from the prompt file at path: what the
// settings file does not set holds as that file, else the built-in one, says. A
// missing file is no problem; whatever is wrong with it is told in one problem,
// so that a caller that reads it at every turn has one line to say.
func LoadAutoCompact(path string, c config.Compact) (config.Compact, []config.Problem) {
	file, problems := readAutoCompact(path)
	if n := len(problems) - 1; n > 0 {
		problems = problems[:1]
		problems[0].Msg += fmt.Sprintf(" (and %d more)", n)
		problems[0].ZH += fmt.Sprintf("（另有 %d 項）", n)
	}
	c = c.Over(file)
	c.Prompt = file.Prompt
	if len(problems) == 0 {
		problems = c.Disorder(path)
	}
	return c, problems
}

func readAutoCompact(path string) (config.Compact, []config.Problem) {
	if path == "" {
		return builtin(), nil
	}
	src, err := config.ReadFile(path, maxPrompt)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return builtin(), nil
	case err != nil:
		return builtin(), []config.Problem{config.Unread(path, err)}
	}
	return ParseAutoCompact(src, path)
}

// builtin are the settings of the built-in prompt file, which is not parsed: that
// would cost every hook that asks half a millisecond.
func builtin() config.Compact {
	c := config.Defaults().Compact
	_, _, c.Prompt, _ = splitFront([]byte(config.AutoCompact))
	return c
}

// ParseAutoCompact reads a prompt file over the built-in one and lists every
// problem: keys that cannot be used keep the built-in value, and so does an empty
// body.
func ParseAutoCompact(src []byte, file string) (config.Compact, []config.Problem) {
	c := builtin()
	if string(src) == config.AutoCompact {
		return c, nil // the usual case: a copy that nobody edited
	}
	front, line, body, ok := splitFront(src)
	if strings.TrimSpace(strings.TrimPrefix(body, "\ufeff")) != "" {
		c.Prompt = body
	}
	switch {
	case ok:
		return parse(c, front, line, file)
	case line > 0:
		return c, []config.Problem{{File: file, Line: line, Msg: "front matter is not closed by a line \"---\"", ZH: "front matter 沒有以 \"---\" 結束"}}
	}
	return c, nil
}

func parse(c config.Compact, front []byte, line int, file string) (config.Compact, []config.Problem) {
	f := frontMatter{Version: 1, Trigger: c.Trigger, Markers: c.Markers}
	f.Packet.Author, f.Packet.Packet = c.PacketAuthor, c.Packet
	problems := config.DecodeYAML(front, file, line, &f)
	c.PacketAuthor, c.Trigger, c.Packet, c.Markers = f.Packet.Author, f.Trigger, f.Packet.Packet, f.Markers
	return c, problems
}
