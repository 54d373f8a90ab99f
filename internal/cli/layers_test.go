package cli_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-6d03985f/overtone/"

// layers, from the top. A package imports only what stands on a lower line.
var layers = [][]string{
	{"teamcli"},
	{"cli"},
	{"demo"},
	{"hook", "watch", "setup", "mcp", "dashboard", "team"},
	{"catalog"},
	{"session", "audit", "carry"},
	{"handover", "blueprint"},
	{"compact", "compress", "workflow"},
	{"recall", "mirror"},
	{"transcript"},
	{"host"},
	{"extract", "llm", "prompt", "shellcmd", "store", "terminal"},
	{"config", "message", "redact"},
}

// owners are the packages that may import a library; the others ask them.
var owners = map[string][]string{
	"github.com/goccy/go-yaml":                   {"config"},
	"mvdan.cc/sh":                                {"shellcmd"},
	"github.com/coder/websocket":                 {"watch"},
	"github.com/spf13/cobra":                     {"cli", "teamcli"},
	"github.com/modelcontextprotocol":            {"mcp"},
	"github.com/nats-io":                         {"team"},
	"filippo.io/age":                             {"team"},
	"github.com/rogpeppe/go-internal/lockedfile": {"store"},
	"github.com/pelletier/go-toml":               {"setup"},
	"github.com/kljensen/snowball":               {"recall"},
	"github.com/yuin/goldmark":                   {"compress"},
	"modernc.org/sqlite":                         {"mirror"},
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	// The team's module knows both.
	out, err := exec.Command("go", "list", "-C", "../../team", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"internal/...", "./internal/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := func(path string) (string, bool) {
		return strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(path, module), "team/"), "internal/")
	}
	level := func(pkg string) int {
		return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, pkg) })
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		pkg, _ := ours(f[0])
		if pkg == "conformance" || pkg == "crash" || strings.HasPrefix(pkg, "eval") {
			continue
		}
		at := level(pkg)
		if at < 0 {
			t.Errorf("package %s has no layer", pkg)
			continue
		}
		for _, imp := range f[1:] {
			if other, ok := ours(imp); ok && level(other) <= at {
				t.Errorf("%s imports %s, which is not below it", pkg, other)
			}
			for lib, may := range owners {
				if strings.HasPrefix(imp, lib) && !slices.Contains(may, pkg) {
					t.Errorf("%s imports %s, which belongs to %v", pkg, imp, may)
				}
			}
		}
	}
}

// TestHooksCarryNoNetwork: every call of a hook pays for what its program links, so
// it links what knows one session, and nothing that asks a network or a database.
// What takes long to build stays out of what `make demo` builds first.
func TestHooksCarryNoNetwork(t *testing.T) {
	t.Parallel()
	const ours = module + "internal/"
	hook := []string{"net", "crypto/tls", "crypto/x509", "database", "modernc.org", "html/template", "text/template", "github.com/spf13", "github.com/coder"}
	for _, pkg := range slices.Concat(layers[:slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, "session") })]...) {
		if pkg != "hook" {
			hook = append(hook, ours+pkg)
		}
	}
	for _, pkg := range []string{"audit", "compress", "recall", "llm"} {
		hook = append(hook, ours+pkg)
	}
	demo := []string{"modernc.org", "github.com/modelcontextprotocol"}
	for program, deny := range map[string][]string{"overtone-hook": hook, "overtone demo": demo} {
		name, tags, _ := strings.Cut(program, " ")
		out, err := exec.Command("go", "list", "-tags", tags, "-deps", "../../cmd/"+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		for pkg := range strings.Lines(string(out)) {
			for _, lib := range deny {
				if pkg = strings.TrimSpace(pkg); pkg == lib || strings.HasPrefix(pkg, lib+"/") {
					t.Errorf("%s links %s", program, pkg)
				}
			}
		}
	}
}

// What only the team's program is built on stands in its module, so that overtone can
// neither link it nor has to fetch it.
func TestTeamIsAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-C", "../..", "-m", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, lib := range []string{"github.com/nats-io/", "filippo.io/"} {
		if strings.Contains(string(out), "\n"+lib) {
			t.Errorf("the module of overtone needs %s", lib)
		}
	}
}
