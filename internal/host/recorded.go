package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Deed is a tool call as a session's file holds it, whichever host wrote it: no
// two of them give one name to different tools.
type Deed struct {
	Kind DeedKind
	// Command is a shell command line.
	Command string
	// Files are those it reads or changes.
	Files []string
	// Question is what it asks the user.
	Question string
	// Done is what its success tells of the plan.
	Done []Event
}

// DeedKind is what a call does.
type DeedKind uint8

const (
	OtherDeed DeedKind = iota
	RunDeed
	ReadDeed
	EditDeed
	CreateDeed
	SearchDeed
	PlanDeed
	AskDeed
	DelegateDeed
)

// Recorded reads a call from its tool's name and its input.
func Recorded(tool string, input []byte) Deed {
	switch tool {
	case "Bash", "bash", "shell", "shell_command", "exec_command", "local_shell", "container.exec", "run_shell_command":
		d := Deed{Kind: RunDeed, Command: commandOf(input)}
		if d.Files = patchedFiles(d.Command); d.Files != nil {
			d.Kind = EditDeed
		}
		return d
	case "exec": // Codex: a script that calls tools
		return scriptDeed(input)
	case "apply_patch":
		text := gjson.ParseBytes(input)
		if text.Type != gjson.String {
			text = gjson.Parse(cmp.Or(text.Get("input").Raw, text.Get("patchText").Raw))
		}
		return Deed{Kind: EditDeed, Files: patchedFiles(text.String())}
	case "Read", "NotebookRead", "view", "read", "read_file", "read_many_files":
		return Deed{Kind: ReadDeed, Files: fileOf(input)}
	case "Edit", "MultiEdit", "NotebookEdit", "edit", "multiedit", "replace":
		return Deed{Kind: EditDeed, Files: fileOf(input)}
	case "Write", "create", "write", "write_file":
		return Deed{Kind: CreateDeed, Files: fileOf(input)}
	case "Grep", "Glob", "LS", "grep", "glob", "list", "search_file_content", "grep_search", "list_directory":
		return Deed{Kind: SearchDeed}
	case "TodoWrite", "TaskUpdate":
		return Deed{Kind: PlanDeed, Done: claudeChanges(tool, gjson.ParseBytes(input), gjson.Result{})}
	case "write_todos", "todowrite":
		text := map[string]string{"write_todos": "description", "todowrite": "content"}[tool]
		return Deed{Kind: PlanDeed, Done: []Event{PlanWritten{Steps: steps(gjson.GetBytes(input, "todos"), text)}}}
	case "TaskCreate":
		return Deed{Kind: PlanDeed} // its id stands in the result
	case "update_plan":
		return Deed{Kind: PlanDeed, Done: codexDone(Tool{Name: tool, Input: json.RawMessage(input)})}
	case "AskUserQuestion", "request_user_input", "question", "ask_user":
		d := Deed{Kind: AskDeed}
		for _, key := range [...]string{"questions.0.question", "message", "question"} {
			d.Question = cmp.Or(d.Question, gjson.GetBytes(input, key).String())
		}
		return d
	case "Task", "Agent", "spawn_agent", "task", "invoke_agent":
		return Deed{Kind: DelegateDeed}
	}
	return Deed{}
}

// Created is the task that a TaskCreate made, by what it answered.
func Created(input []byte, answer string) Event {
	_, rest, _ := strings.Cut(answer, "#")
	id := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	return TaskCreated{ID: id, Text: gjson.GetBytes(input, "subject").String()}
}

func fileOf(input []byte) []string {
	for _, key := range [...]string{"file_path", "notebook_path", "path", "filePath"} {
		if v := gjson.GetBytes(input, key); v.Type == gjson.String && v.Str != "" {
			return []string{v.Str}
		}
	}
	return nil
}

// commandOf is the command line of a shell tool: a text, or the words of
// bash -lc.
func commandOf(input []byte) string {
	v := gjson.GetBytes(input, "command")
	if !v.Exists() {
		v = gjson.GetBytes(input, "cmd")
	}
	if !v.IsArray() {
		return v.String()
	}
	words := v.Array()
	if len(words) == 3 && strings.HasPrefix(words[1].String(), "-") && strings.HasSuffix(words[1].String(), "c") {
		return words[2].String()
	}
	var line []string
	for _, w := range words {
		line = append(line, w.String())
	}
	return strings.Join(line, " ")
}

// scriptDeed reads a script of Codex's code mode for the first tool it calls.
func scriptDeed(input []byte) Deed {
	script := gjson.ParseBytes(input)
	if script.Type != gjson.String {
		script = script.Get("input")
	}
	text := script.String()
	if files := patchedFiles(text); files != nil {
		return Deed{Kind: EditDeed, Files: files}
	}
	for _, key := range [...]string{"cmd:", `"cmd":`, "command:", `"command":`} {
		_, rest, _ := strings.Cut(text, key)
		if line, ok := literal(strings.TrimLeft(rest, " \n")); ok {
			return Deed{Kind: RunDeed, Command: line}
		}
	}
	return Deed{}
}

// literal reads the string literal that a text begins with.
func literal(text string) (string, bool) {
	if text == "" || strings.IndexByte("\"'`", text[0]) < 0 {
		return "", false
	}
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			if quote == '"' {
				if s, err := strconv.Unquote(text[:i+1]); err == nil {
					return s, true
				}
			}
			return text[1:i], true
		}
	}
	return "", false
}

// patchedFiles are the files that a patch in Codex's format names.
func patchedFiles(text string) []string {
	_, patch, ok := strings.Cut(text, "*** Begin Patch")
	if !ok {
		return nil
	}
	// In a script the patch is a literal with its line ends escaped, and the backslashes of
	// Windows.
	if strings.HasPrefix(patch, `\`) {
		patch = strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(patch)
	}
	return append([]string{}, namedFiles(patch)...)
}

func namedFiles(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if f, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				files = append(files, strings.TrimSpace(f))
			}
		}
	}
	return files
}

// Changes are the files that the tool is going to change: the one that its input
// names, else those of the patch that its input holds.
func (t Tool) Changes() (files []string) {
	if t.File != "" {
		return []string{t.File}
	}
	input := gjson.ParseBytes(t.Input)
	if input.Type == gjson.String {
		return namedFiles(input.Str)
	}
	input.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			files = append(files, namedFiles(v.Str)...)
		}
		return true
	})
	return files
}

// Ended reads how a recorded command ended: its output, and its exit code where
// the file tells it. failed is the host's own mark.
func Ended(result []byte, output string, failed bool) (string, *int) {
	if len(result) > 0 && result[0] == '{' {
		if v := gjson.GetBytes(result, "metadata.exit_code"); v.Exists() {
			return gjson.GetBytes(result, "output").String(), new(int(v.Int()))
		}
	}
	if failed {
		return output, new(exitCode(output))
	}
	for _, mark := range [...]string{"Process exited with code ", "Exit code: ", "exit code: "} {
		head := output[:min(len(output), 400)]
		if _, rest, ok := strings.Cut(head, mark); ok {
			digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
			if n, err := strconv.Atoi(digits); err == nil {
				return output, new(n)
			}
		}
	}
	if bytes.HasPrefix(result, []byte(`"Script failed`)) || strings.HasPrefix(output, "Script failed") {
		return output, new(1)
	}
	return output, new(0)
}
