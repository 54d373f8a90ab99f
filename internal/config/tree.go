package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Kind is what a [Node] is.
type Kind uint8

const (
	Null Kind = iota
	Scalar
	List
	Map
	Other // an anchor, alias or tag
)

// Node is a value of a YAML text, which knows its place.
type Node struct {
	Kind    Kind
	Text    string // a scalar, as text
	Quoted  bool   // it is text for certain, not a number or a switch
	Line    int
	Items   []Node   // of a list
	Members []Member // of a map, in order
}

// Member is an entry of a map.
type Member struct {
	Key   string
	Line  int
	Value Node
}

// ParseYAML reads the one document of a text. Unlike settings, it is read whole or
// not at all.
func ParseYAML(src []byte, file string) (Node, *Problem) {
	text, bad := sourceText(src)
	var parsed *ast.File
	if bad == nil {
		parsed, bad = parseYAML(text)
	}
	if bad != nil {
		return Node{}, new(bad.msg.at(file, bad.line, ""))
	}
	body, second := documents(parsed)
	if second != nil {
		return Node{}, new(say("第二份 YAML 文件", "a second YAML document").at(file, position(second), ""))
	}
	return tree(body), nil
}

func tree(n ast.Node) Node {
	out := Node{Kind: Other, Line: position(n)}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		out.Kind = Null
	case *ast.MappingNode:
		out.Kind = Map
		for i, kv := range n.Values {
			name, at := "", position(kv.Key)
			switch key := kv.Key.(type) {
			case *ast.StringNode:
				name = key.Value
			case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.NullNode:
				name = key.GetToken().Value
			default:
				name = strings.TrimSpace(key.String())
			}
			if i == 0 {
				out.Line = at
			}
			out.Members = append(out.Members, Member{name, at, tree(kv.Value)})
		}
	case *ast.SequenceNode:
		out.Kind = List
		for _, item := range n.Values {
			out.Items = append(out.Items, tree(item))
		}
	case *ast.StringNode:
		out.Kind, out.Text = Scalar, n.Value
		out.Quoted = n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
	case *ast.LiteralNode:
		out.Kind, out.Text, out.Quoted = Scalar, n.Value.Value, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Scalar, n.GetToken().Value
	}
	return out
}

func position(n ast.Node) (line int) {
	if n == nil {
		return 1
	}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return tk.Position.Line
	}
	return 0
}
