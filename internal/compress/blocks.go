package compress

import (
	"bytes"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// deepest is how far items and quotations are read into each other; what is nested
// deeper is plain lines. Each line asks all blocks that are open around it.
const deepest = 50

// markdown reads the blocks of CommonMark. The parsers of what stands in a line are left
// out, since their time is not linear, and so are those of indented code and HTML: nobody
// writes them in a message, but many paste what looks so.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(
		util.Prioritized(parser.NewThematicBreakParser(), 200), util.Prioritized(shallow{parser.NewListParser()}, 300), util.Prioritized(shallow{parser.NewListItemParser()}, 400),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 500), util.Prioritized(parser.NewATXHeadingParser(), 600), util.Prioritized(shallow{parser.NewBlockquoteParser()}, 700),
		util.Prioritized(parser.NewParagraphParser(), 800)))
})

// shallow opens no block deeper than deepest.
type shallow struct{ parser.BlockParser }

func (s shallow) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > 2*deepest { // a list and its item
			return nil, parser.NoChildren
		}
	}
	return s.BlockParser.Open(parent, r, pc)
}

// unitsOf is Units while somebody waits.
func unitsOf(t string, waits func() bool) []extract.Unit {
	return extract.Units(t, readBlocks([]byte(t), false), waits)
}

// Units takes a text apart by its shape.
func Units(t string) []extract.Unit { return unitsOf(t, waiting) }

// waiting is for whoever reads one text and waits for it.
func waiting() bool { return true }

func readBlocks(src []byte, inner bool) []extract.Block {
	r := reader{src: src, inner: inner}
	r.read(markdown().Parse(text.NewReader(r.src)), extract.Block{})
	list := false // the block before is an item of such a list
	for i := range r.out {
		b := &r.out[i]
		again := i+1 < len(r.out) && r.labelled(&r.out[i+1])
		if is := r.labelled(b); is && (list || again) {
			b.Item, b.List, b.Depth = true, !list, 1
			list = true
		} else {
			list = false
		}
	}
	return r.out
}

type reader struct {
	src   []byte
	out   []extract.Block
	inner bool // a fence
}

// labelled reports a paragraph that begins with a few words in bold. Where others stand
// around it that do, too, they are a list: "**A)** …", "**Why:** …".
func (r *reader) labelled(b *extract.Block) bool {
	t := bytes.TrimSpace(r.src[b.Start:b.End])
	end := bytes.Index(t[min(len(t), 2):], []byte("**"))
	return b.Kind == extract.ParagraphBlock && b.Depth == 0 && !b.Quoted && bytes.HasPrefix(t, []byte("**")) && end > 0 && end < 80 && end+4 < len(t) && bytes.IndexByte(t, '\n') < 0
}

// read adds the leaves below a node; at is where they stand.
func (r *reader) read(n ast.Node, at extract.Block) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() != ast.TypeBlock {
			return
		}
		b := at
		switch c := c.(type) {
		case *ast.Heading:
			b.Kind, b.Level = extract.HeadingBlock, c.Level
		case *ast.FencedCodeBlock:
			if lang := string(c.Language(r.src)); !r.inner && (lang == "markdown" || lang == "md") {
				r.fence(c)
				continue
			}
			b.Kind = extract.FenceBlock
		case *ast.ListItem:
			b.Depth, b.Item, b.List = b.Depth+1, true, c.PreviousSibling() == nil
			r.read(c, b)
			continue
		case *ast.Blockquote:
			b.Quoted = true
			r.read(c, b)
			at.Item, at.List = false, false
			continue
		case *ast.List:
			r.read(c, extract.Block{Depth: b.Depth, Quoted: b.Quoted})
			continue
		}
		lines := c.Lines()
		if lines.Len() == 0 {
			continue
		}
		b.Start, b.End = r.lineStart(lines.At(0).Start), lines.At(lines.Len()-1).Stop
		if b.Kind == extract.FenceBlock {
			b.Code, b.Start = b.Start, r.lineStart(max(0, b.Start-1))
			b.Lines = lines.Len()
		}
		r.out = append(r.out, b)
		at.Item, at.List = false, false // what follows in the item does not begin it
	}
}

// fence adds the leaves of a fence that holds Markdown.
func (r *reader) fence(c *ast.FencedCodeBlock) {
	lines := c.Lines()
	if lines.Len() == 0 {
		return
	}
	from := lines.At(0).Start
	for _, b := range readBlocks(r.src[from:lines.At(lines.Len()-1).Stop], true) {
		b.Start, b.End, b.Code = b.Start+from, b.End+from, b.Code+from
		r.out = append(r.out, b)
	}
}

// lineStart is where the line of an offset begins, with its marks.
func (r *reader) lineStart(at int) int { return bytes.LastIndexByte(r.src[:at], '\n') + 1 }
