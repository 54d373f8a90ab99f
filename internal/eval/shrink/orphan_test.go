package shrink

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
)

// markdown reads blocks as CommonMark has them; what stands in a line does not matter here.
var markdown = parser.NewParser(parser.WithBlockParsers(
	util.Prioritized(parser.NewThematicBreakParser(), 200), util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400),
	util.Prioritized(parser.NewATXHeadingParser(), 600), util.Prioritized(parser.NewFencedCodeBlockParser(), 700), util.Prioritized(parser.NewBlockquoteParser(), 800),
	util.Prioritized(parser.NewParagraphParser(), 1000)))

// orphans counts the blocks of a result, parsed again, and lists those that nobody can
// place: a heading without a block under it, an item whose lead-in is gone, a paragraph
// that ends in a colon without its next block.
func orphans(original, result string) (blocks int, found []string) {
	if mark.MatchString(result) {
		return 0, nil
	}
	leads := leadsOf([]byte(original))
	kept := squeeze(result)
	src := []byte(result)
	walk(markdown.Parse(text.NewReader(src)), func(n ast.Node) {
		own := strings.TrimSpace(ownText(n, src))
		if n.Kind() == ast.KindList || n.Kind() == ast.KindDocument || n.Kind() == ast.KindThematicBreak || own == "" {
			return
		}
		blocks++
		next := n.NextSibling()
		h, heading := n.(*ast.Heading)
		switch {
		case heading:
			if under, ok := next.(*ast.Heading); next == nil || ok && under.Level <= h.Level {
				found = append(found, own)
			}
		case n.Kind() == ast.KindListItem:
			if lead := leads[squeeze(firstLine(own))]; lead != "" && !strings.Contains(kept, squeeze(lead)) {
				found = append(found, own)
			}
		case endsInColon(own) && n.Parent().Kind() != ast.KindBlockquote:
			if next == nil || next.Kind() == ast.KindHeading {
				found = append(found, own)
			}
		}
	})
	return blocks, found
}

// leadsOf finds what introduces each item: the paragraph right above its list that ends in
// a colon or the heading there, and of an item below another that one's first line.
func leadsOf(src []byte) map[string]string {
	leads := map[string]string{}
	walk(markdown.Parse(text.NewReader(src)), func(n ast.Node) {
		if n.Kind() != ast.KindListItem {
			return
		}
		lead, list := "", n.Parent()
		if above := list.PreviousSibling(); above != nil {
			if own := strings.TrimSpace(ownText(above, src)); above.Kind() == ast.KindHeading || above.Kind() == ast.KindParagraph && endsInColon(own) {
				lead = lastSentence(own)
			}
		}
		if item := list.Parent(); item.Kind() == ast.KindListItem && lead == "" {
			lead = lastSentence(firstLine(strings.TrimSpace(ownText(item, src))))
		}
		if own := strings.TrimSpace(ownText(n, src)); own != "" {
			leads[squeeze(firstLine(own))] = lead
		}
	})
	return leads
}

func walk(n ast.Node, visit func(ast.Node)) {
	if n.Type() == ast.TypeInline {
		return
	}
	visit(n)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		walk(c, visit)
	}
}

// ownText is the text of a block; an item's is that of its first block, a quotation's of all.
func ownText(n ast.Node, src []byte) string {
	if n.Kind() == ast.KindListItem || n.Kind() == ast.KindBlockquote {
		if n = n.FirstChild(); n == nil || n.Type() != ast.TypeBlock {
			return ""
		}
	}
	if n.Lines() == nil {
		return ""
	}
	return string(n.Lines().Value(src))
}

func firstLine(s string) string { first, _, _ := strings.Cut(s, "\n"); return first }

func lastSentence(s string) string {
	list := sentences(s)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func endsInColon(s string) bool {
	s = strings.TrimRight(s, "*_ \n")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	original := "Before.\n\n## Steps\n\nThese are left:\n\n- one thing\n- two things\n  - a part of it\n\n## End\n\nDone."
	for result, want := range map[string][]string{
		original:                                 nil,
		"Before.\n\n## Steps\n\n## End\n\nDone.": {"Steps"},
		"Before.\n\n## End":                      {"End"},
		"These are left:":                        {"These are left:"},
		"These are left:\n\n- two things":        nil,
		"- two things":                           {"two things"},
		"These are left:\n\n- a part of it":      {"a part of it"},
		"…#0123abcd":                             nil,
	} {
		if _, got := orphans(original, result); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", result, got, want)
		}
	}
}

// projects are the recorded sessions of the corpus, those of one project together, and all
// of them.
func projects(t *testing.T) (list []corpus) {
	at := map[string]int{}
	for _, s := range samples.Corpus() {
		if s.Host != "claude" && s.Host != "codex" {
			continue // their files are no lines of events
		}
		name := s.Project[strings.IndexByte(s.Project, '/')+1:]
		n, ok := at[name]
		if !ok {
			n = len(list)
			at[name] = n
			list = append(list, corpus{name: name})
		}
		if data := readAll(t, s.Path); bytes.Count(data, []byte("\n")) > 20 && len(list[n].files) < most {
			list[n].files = append(list[n].files, s.Path)
		}
	}
	list = slices.DeleteFunc(list, func(c corpus) bool { return len(c.files) < 3 })
	all := corpus{name: "projects"}
	for _, c := range list {
		all.files = append(all.files, c.files...)
	}
	if len(all.files) > 0 {
		list = append(list, all)
	}
	return list
}

// most is how many sessions of a project are measured.
const most = 8
