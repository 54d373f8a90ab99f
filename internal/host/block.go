package host

import (
	"bytes"
	"strings"
)

// Block is text of ours in a file that is no JSON. It stands at the end, between
// two marks, and is taken out byte for byte.
type Block struct {
	Path string // the file
	Text string // whole lines
	// Taken reports that the file has what the block would add already.
	Taken string
}

const (
	blockOpen  = "# >>> overtone >>>\n"
	blockClose = "# <<< overtone <<<\n"
)

// AddBlock puts a block at the end of the file, unless it is there or the user
// has written the same himself.
func (f *File) AddBlock(b Block) {
	if bytes.Contains(f.now(), []byte(blockOpen)) || b.Taken != "" && bytes.Contains(f.now(), []byte(b.Taken)) {
		return
	}
	text := blockOpen + b.Text + blockClose
	if old := f.now(); len(old) > 0 {
		text = "\n" + text
		if old[len(old)-1] != '\n' {
			text = "\n" + text
		}
	}
	f.After, f.Gone = append(bytes.Clone(f.now()), text...), false
	f.Edits = append(f.Edits, Edit{Path: []string{"overtone"}, Value: text, Own: true, Block: true})
}

// DropBlock takes out a block of ours that no run is known for.
func (f *File) DropBlock() {
	before, rest, found := strings.Cut(string(f.After), blockOpen)
	if !found {
		return
	}
	_, after, closed := strings.Cut(rest, blockClose)
	if !closed {
		return
	}
	f.After = []byte(strings.TrimSuffix(before, "\n") + after)
}

// dropBlocks takes out what was added, where it still stands as it was.
func dropBlocks(data []byte, edits []Edit) (after []byte, kept []Edit) {
	for _, e := range edits {
		i := bytes.LastIndex(data, []byte(e.Value))
		if i < 0 {
			kept = append(kept, e)
			continue
		}
		data = append(bytes.Clone(data[:i]), data[i+len(e.Value):]...)
	}
	return data, kept
}
