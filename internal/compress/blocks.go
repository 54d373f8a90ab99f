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
func unitsOf(t string, waits func() bool) []extract.Unit { return extract.Units(t, blocksOf(t), waits) }

// Units takes a text apart by its shape.
func Units(t string) []extract.Unit { return unitsOf(t, waiting) }

// waiting is for whoever reads one text and waits for it.
func waiting() bool { return true }

// blocksOf are the leaves of a text's tree, in their order.
func blocksOf(t string) []extract.Block {
	r := reader{src: []byte(t)}
	r.read(markdown().Parse(text.NewReader(r.src)), extract.Block{})
	return r.out
}

type reader struct {
	src []byte
	out []extract.Block
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

// lineStart is where the line of an offset begins, with its marks.
func (r *reader) lineStart(at int) int { return bytes.LastIndexByte(r.src[:at], '\n') + 1 }
