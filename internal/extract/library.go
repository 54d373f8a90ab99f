package extract

import (
	_ "embed"
	"strings"
	"sync"
)

// Library reports a name of a language's own library or of a widespread API. A model
// knows those; it needs to be told the names of the project.
func Library(name string) bool { return library()[name] }

//go:embed library.txt
var libraryNames string

var library = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(libraryNames) {
		out[name] = true
	}
	return out
})
