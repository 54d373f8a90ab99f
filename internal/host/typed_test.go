package host

import (
	"strings"
	"testing"
	"time"
)

// A host's element is taken off where it stands whole, on lines of its own, before and
// behind what a person typed; one without its end, or in the middle of a line, was typed.
func TestElementsAreNotTyped(t *testing.T) {
	t.Parallel()
	for _, name := range ownElements {
		whole := "<" + name + ">\nof the host's\n</" + name + ">"
		attributes := "<" + name + ` id="1">of the host's</` + name + ">"
		typed := "make <div> blue\nand push nothing"
		for what, c := range map[string]struct{ text, want string }{
			"whole":                         {whole, ""},
			"with attributes":               {attributes, ""},
			"twice":                         {whole + "\n" + attributes, ""},
			"side by side":                  {whole + attributes, ""},
			"before":                        {whole + "\n\n" + typed, typed},
			"before, with windows' lines":   {whole + "\r\n" + typed, typed},
			"behind":                        {typed + "\n\n" + whole, typed},
			"on both sides":                 {whole + "\n" + attributes + "\n" + typed + "\n" + attributes + "\n" + whole, typed},
			"without an end":                {"<" + name + ">\n" + typed, "<" + name + ">\n" + typed},
			"without a beginning":           {typed + "\n</" + name + ">", typed + "\n</" + name + ">"},
			"in the middle of a line":       {"what is " + attributes, "what is " + attributes},
			"at the beginning of a line":    {attributes + " is what?", attributes + " is what?"},
			"in the middle of the text":     {"see\n" + whole + "\nwhy?", "see\n" + whole + "\nwhy?"},
			"the beginning of another name": {"<" + name + "x>y</" + name + "x>", "<" + name + "x>y</" + name + "x>"},
		} {
			if strings.HasPrefix(name, "command-") && (what == "whole" || what == "twice" || what == "side by side" || what == "with attributes") {
				continue // a slash command is told by its name and its arguments
			}
			if got := Typed(c.text); got != c.want {
				t.Errorf("<%s> %s: %q, want %q", name, what, got, c.want)
			}
		}
	}
}

// What people type is theirs, however it begins.
func TestTypedStaysWhole(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"fix it", "y", "2", "好",
		"<div>this</div> is not centred", "<div>\n  <p>why?</p>\n</div>", "<p>x</p>\nis what I get",
		"@main.py add type hints, and never push", "[Image #1] make the header like this", "[Overtone] is what it says",
		`{"amount": 5, "task_id": "x"} is refused`, `{"task_id":"1","tool":"x"}`, "$PATH is empty", "+1 for the second one", "| a | b |", "> you said so", ") why",
		"API Error: 529 is what I get", "/orchestrator @CLAUDE.md を読んで", "# Context", "# AGENTS.md instructions are wrong, fix them",
		"[Request interrupted by user] stands there, why?", "Why [Request interrupted by user]",
		"Caveat: the port is taken", "Implement the following plan:\n\n# One\n- this", "<channel source=\"phone\">stop</channel>",
		"<image src=\"a.png\"></image> is not shown", "<command-line> is what I mean", "Read the output file to retrieve the result: /tmp/a",
		"## My request for Codex:\nfix it",
		"why is there\n--- Content from referenced files ---\nin it?",
	} {
		if got := Typed(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if InterruptedByUser(text) {
			t.Errorf("%q is no interruption", text)
		}
	}
	if got := Typed(" \n fix it\n "); got != "fix it" {
		t.Errorf("%q", got)
	}
}

func TestTypedOfTheHosts(t *testing.T) {
	t.Parallel()
	const notice = "<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n</task-notification>"
	for text, want := range map[string]string{
		"": "", " \n": "",
		"[Request interrupted by user]": "", "\n[Request interrupted by user for tool use]\n": "",
		ownLines[2]: "",
		"# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\n# Rules\n</INSTRUCTIONS>":    "",
		"Operation stopped by hook: another session is active.":                          "",
		`{"task_id":"b1","description":"Push","task_type":"local_bash"}`:                 "",
		`{"task_id":"b1","tool_use_id":"t","description":"x","task_type":"local_agent"}`: "",
		"<image name=[Image #1]>": "", "</image>": "",
		"@a.py add hints\n\n--- Content from referenced files ---\n\nContent from @a.py:\n\nx = 1\n\n--- End of content ---": "@a.py add hints",
		notice + "\nRead the output file to retrieve the result: /tmp/b1.output":                                             "",
		notice + "\nFull transcript available at: /tmp/b1.output":                                                            "",
		notice + "\nRead the output file to retrieve the result: /tmp/b1.output\n" + notice:                                  "",
		notice + "\nRead the output file to retrieve the result: /tmp/b1.output\nnow push":                                   "now push",
		notice + "\nnow push": "now push",
		// A slash command: one that is put to the model begins with its message.
		"<command-message>review</command-message>\n<command-name>/review</command-name>":                                                      "/review",
		"<command-message>review</command-message>\n<command-name>/review</command-name>\n<skill-format>true</skill-format>":                   "/review",
		"<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the <b>port</b>\nonly</command-args>":  "/review the <b>port</b>\nonly",
		"<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n            <command-args></command-args>": "",
		"<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>":                     "/model opus",
		"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>\nand go on":              "and go on",
		"<command-message>cut": "<command-message>cut",
		// Codex in an editor.
		"# Context from my IDE setup:\n\n## Active file: a.go\n\n## My request for Codex:\nfix it\n## now":            "fix it\n## now",
		"# Files mentioned by the user:\n\n## a: /tmp/a.txt\n\n## My request for Codex:\nfix it":                      "fix it",
		"# Context from my IDE setup:\n\nis what I read":                                                              "# Context from my IDE setup:\n\nis what I read",
		"<environment_context>x</environment_context>\n# Context from my IDE setup:\n## My request for Codex: fix it": "fix it",
	} {
		if got := Typed(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestInterruptedByUser(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"[Request interrupted by user]":                             true,
		" [Request interrupted by user for tool use]\n":             true,
		"<turn_aborted>\nThe user interrupted it.\n</turn_aborted>": true,
		"<turn_aborted>\nThe user interrupted it.":                  false,
		"[Request interrupted by user for tool use] and more":       false,
		"[Request interrupted by user for a reason]":                false,
		"Operation stopped by hook: x":                              false,
		"":                                                          false,
	} {
		if got := InterruptedByUser(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A text of elements, however long, is read in one pass: it comes from outside, and a hook
// reads it while its host waits.
func TestTypedIsLinear(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	repeat := func(s string) string { return strings.Repeat(s, most/len(s)) }
	for name, c := range map[string]struct{ text, want string }{
		"before":                 {repeat("<system-reminder>x</system-reminder>\n") + "go", "go"},
		"behind":                 {"go\n" + repeat("<system-reminder>x</system-reminder>\n"), "go"},
		"behind one without end": {"<skill>\n" + repeat("<system-reminder>x</system-reminder>\n"), "<skill>"},
		"none ends":              {repeat("<system-reminder>"), repeat("<system-reminder>")},
		"none begins":            {repeat("</system-reminder>"), repeat("</system-reminder>")},
		"another name":           {repeat("<system-reminders>\n") + "</system-reminder>", repeat("<system-reminders>\n") + "</system-reminder>"},
		"brackets":               {repeat("<"), repeat("<")},
		"lines behind notices":   {repeat("<task-notification>x</task-notification>\nFull transcript available at: /tmp/a\n"), ""},
		"commands":               {repeat("<command-name>x</command-name>\n"), ""},
	} {
		begun := time.Now()
		got := Typed(c.text)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if got != c.want {
			t.Errorf("%s: %.40q, want %.40q", name, got, c.want)
		}
	}
}
