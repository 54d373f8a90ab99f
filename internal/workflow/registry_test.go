package workflow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What the registry says of a stage has to hold together.
func TestStageRegistry(t *testing.T) {
	t.Parallel()
	for _, s := range Stages() {
		if s.Agent == "" || s.Emoji == "" || s.Label.ZH == "" || s.Label.EN == "" || s.failure == "" {
			t.Errorf("%+v is incomplete", s)
		}
		if s.group != "" && !s.quality {
			t.Errorf("%s has a barrier and does not judge", s.Key)
		}
		if stageOfAgent(AgentOf(s.Key)) != s.Key {
			t.Errorf("%s is not found by its agent", s.Key)
		}
	}
}

// A new stage touches two files: its row in stage.go, and its agent in the plugin. No other code names stages, but for the
// two that the rules of the graph are about, and the demo, which tells one story.
func TestNewStageTouchesTwoFiles(t *testing.T) {
	t.Parallel()
	for _, s := range Stages() {
		if _, err := os.Stat(filepath.Join("../../plugin/agents", s.Agent+".md")); err != nil {
			t.Errorf("%s: %v", s.Key, err)
		}
	}
	graph := map[string]bool{"DEV": true, "TEST": true}
	look := func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "demo":
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || filepath.ToSlash(path) == "../../internal/workflow/stage.go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil || graph[text] {
				return true
			}
			for _, s := range Stages() {
				if text == s.Key || text == s.Agent {
					t.Errorf("%s names the stage %s", path, lit.Value)
				}
			}
			return true
		})
		return nil
	}
	for _, dir := range []string{"../../internal", "../../team"} {
		if err := filepath.WalkDir(dir, look); err != nil {
			t.Fatal(err)
		}
	}
}
