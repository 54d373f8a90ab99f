// Package situation measures whether a hand-over tells the situation: what the user
// wants now, what is true, and whether to go on.
//
// Labels were set by hand, before the code that they judge, at real compactions and at
// other places of recorded sessions (testdata/labels.json). A label names texts by
// where they stand in a session's file, because they are not ours to keep:
//
//   - latest: the last thing that the user asked, also what was queued or typed behind
//     /compact. The line that presents the request has to quote it, with at most three
//     quotes. Of several spans one is enough.
//   - referent: what a nudge answers. It has to stand in the section of the request.
//   - state: working asks for a last line that says to go on, finished and stopped for
//     one that says to wait, asked for one that waits and quotes the question.
//   - failing: commands that are red at that place. The hand-over has to name the
//     command and what it said. Those in repaired were red before, and to call them so
//     is false.
//   - standing: rules and overruling words of the user that still hold. What is called
//     a rule or a correction and is neither in standing nor in fair is called so
//     falsely; loose are examples of what only sounds like one.
//   - commits are there at that place, gone were replaced; edited files are not committed
//     as far as the session shows, clean ones are; tree_clean: git itself said so.
//   - open and done are the steps of the plan as the work stands, not as the list does.
//   - lang is the session's language.
package situation

import (
	"errors"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// State is what a hand-over says about going on.
type State string

const (
	Goes  State = "goes on"
	Waits State = "waits"
	Asks  State = "asks" // it waits for the answer to a question
)

// Situation is what a hand-over tells of the situation. The judge knows nothing but
// this: [Read] takes it out of a text.
type Situation struct {
	Lang message.Lang
	// Request are the quotes of the first line of the user's words.
	Request []string
	// Words are all quotes in the section of the user's words.
	Words    []string
	State    State
	Question string
	Failing  []Failure
	Tree     Tree
	Plan     Plan
}

// Failure is a command that is told to have failed.
type Failure struct{ Command, Said string }

// Tree is what is told of commits and of files that are not committed.
type Tree struct{ Commits, Uncommitted []string }

// Plan is what is told of steps.
type Plan struct{ Next, Done []string }

// wording is all that the judge knows of how hand-overs are worded.
var wording = struct {
	words, next, done message.Text // sections
	header            message.Text
	directives        []directive
	lines             []line
}{
	words: message.HandoverWords, next: message.HandoverNext, done: message.HandoverDone,
	header: message.HandoverHeader,
	directives: []directive{
		{message.HandoverGo, Goes},
		{message.HandoverCalled, Goes},
		{message.HandoverNextWord, Waits},
		{message.HandoverAsk, Asks},
	},
	// The first that fits counts.
	lines: []line{
		{message.HandoverBroken, func(s *Situation, a []string) { s.Failing = append(s.Failing, Failure{a[0], a[1]}) }},
		{message.HandoverUnsaved, (*Situation).uncommitted},
		{message.HandoverOwnCommit, (*Situation).commit},
		{message.HandoverCommitBy, (*Situation).commit},
		{message.PacketCommit, (*Situation).commit},
	},
}

type directive struct {
	text  message.Text
	state State
}

// line is a line of a hand-over and what it tells.
type line struct {
	text message.Text
	take func(*Situation, []string)
}

func (s *Situation) commit(a []string) { s.Tree.Commits = append(s.Tree.Commits, a[0]) }

func (s *Situation) uncommitted(a []string) {
	s.Tree.Uncommitted = append(s.Tree.Uncommitted, unfold(a[0])...)
}

// Read takes the situation out of a hand-over's text.
func Read(text string) (Situation, error) {
	body := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), compact.PacketClose))
	s := Situation{Lang: message.ZH}
	if head, _, _ := strings.Cut(wording.header.EN, "%s"); strings.Contains(body, head) {
		s.Lang = message.EN
	}
	section := ""
	for row := range strings.Lines(body) {
		row = strings.TrimSpace(row)
		if title, ok := strings.CutPrefix(row, "## "); ok {
			section = title
			continue
		}
		item, ok := strings.CutPrefix(row, "- ")
		if !ok {
			continue
		}
		taken := false
		for _, l := range wording.lines {
			if a, ok := scan(l.text, s.Lang, item); ok {
				l.take(&s, a)
				taken = true
				break
			}
		}
		switch {
		case section == wording.words.In(s.Lang):
			if s.Words = append(s.Words, quotes(item)...); s.Request == nil {
				s.Request = quotes(item)
			}
		case taken:
		// An old plan claims nothing of what is left: its title says how old it is.
		case section == wording.next.In(s.Lang):
			s.Plan.Next = append(s.Plan.Next, quotes(item)...)
		case section == wording.done.In(s.Lang):
			s.Plan.Done = append(s.Plan.Done, quotes(item)...)
		}
	}
	last := strings.TrimSpace(body[strings.LastIndexByte(body, '\n')+1:])
	for _, d := range wording.directives {
		if a, ok := scan(d.text, s.Lang, last); ok {
			if s.State = d.state; len(a) > 0 {
				s.Question = a[0]
				s.Words = append(s.Words, a[0])
			}
			return s, nil
		}
	}
	if strings.HasPrefix(last, "**") {
		return s, errors.New("the last line is none of the directives that the judge knows")
	}
	return s, nil
}

// scan takes a line apart by the text that it was written with.
func scan(t message.Text, l message.Lang, line string) (args []string, ok bool) {
	format := t.ZH
	if l == message.EN {
		format = t.EN
	}
	pieces := strings.Split(format, "%s")
	if line, ok = strings.CutPrefix(line, pieces[0]); !ok {
		return nil, false
	}
	for i, p := range pieces[1:] {
		end := strings.Index(line, p)
		if p == "" && i == len(pieces)-2 {
			end = len(line)
		}
		if end < 0 {
			return nil, false
		}
		args = append(args, strings.Trim(line[:end], "“”`"))
		line = line[end+len(p):]
	}
	return args, line == ""
}

// quotes are what stands in quotation marks in a line.
func quotes(line string) []string {
	var out []string
	for rest := line; ; {
		_, after, ok := strings.Cut(rest, "“")
		if !ok {
			return out
		}
		var q string
		q, rest, _ = strings.Cut(after, "”")
		out = append(out, q)
	}
}

// unfold is the list of paths behind a/{b.go, c.go}, d/e.go.
func unfold(list string) []string {
	var out []string
	for list != "" {
		var item string
		if open, comma := strings.Index(list, "{"), strings.Index(list, ", "); open >= 0 && (comma < 0 || open < comma) {
			inner, rest, _ := strings.Cut(list[open+1:], "}")
			for name := range strings.SplitSeq(inner, ", ") {
				out = append(out, list[:open]+name)
			}
			list = strings.TrimPrefix(rest, ", ")
			continue
		}
		item, list, _ = strings.Cut(list, ", ")
		out = append(out, item)
	}
	return out
}
