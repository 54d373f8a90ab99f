package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

const referenceFile = "../../docs/internals/reference.md"

// documented reads the keys that the reference lists per command.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string][]string{}
	var commands []string
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(page)) {
		switch {
		case strings.HasPrefix(line, "### overtone "):
			commands = nil
			group := ""
			for i, name := range strings.Split(strings.TrimSpace(strings.TrimPrefix(line, "### ")), ", ") {
				name = strings.TrimPrefix(name, "overtone ")
				if i == 0 {
					group, _, _ = strings.Cut(name, " ")
				} else if !strings.Contains(name, " ") && group == "workflow" {
					name = group + " " + name
				}
				commands = append(commands, name)
				keys[name] = []string{"schema"}
			}
		case strings.HasPrefix(line, "#"):
			commands = nil
		case strings.HasPrefix(line, "| `"):
			first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			for _, m := range quoted.FindAllStringSubmatch(first, -1) {
				for _, c := range commands {
					keys[c] = append(keys[c], m[1])
				}
			}
		}
	}
	return keys
}

// leaves lists the paths of all values that are no containers.
func leaves(v gjson.Result, path string, add func(string)) {
	switch {
	case v.IsObject():
		v.ForEach(func(k, x gjson.Result) bool {
			leaves(x, strings.TrimPrefix(path+"."+k.String(), "."), add)
			return true
		})
	case v.IsArray() && strings.HasPrefix(v.Get("0").Raw, "{"):
		for _, x := range v.Array() {
			leaves(x, path+"[]", add)
		}
	default:
		add(path)
	}
}

// Every key that a command prints with --json stands in the reference. The home
// that the demo leaves has something to show in each of them.
func TestReferenceNamesEveryKey(t *testing.T) {
	t.Parallel()
	keys := documented(t)
	tmp := t.TempDir()
	home := tmp
	run := func(stdin string, args ...string) gjson.Result {
		env := cli.OSEnv()
		env.Dir = tmp
		var stdout, stderr bytes.Buffer
		vars := map[string]string{"HOME": home, "TMPDIR": tmp, "LANG": "C"}
		env.Getenv = func(k string) string { return vars[k] }
		env.Environ = func() []string { return nil }
		env.Stdin, env.Stdout, env.Stderr = strings.NewReader(stdin), &stdout, &stderr
		cli.Main(append(args, "--json"), env)
		if !gjson.ValidBytes(stdout.Bytes()) || stdout.Len() == 0 {
			t.Fatalf("overtone %s: %s%s", strings.Join(args, " "), stdout.String(), stderr.String())
		}
		return gjson.ParseBytes(stdout.Bytes())
	}
	check := func(command string, out gjson.Result) {
		list, ok := keys[command]
		if !ok {
			t.Errorf("%s does not mention overtone %s", referenceFile, command)
			return
		}
		want := int64(1)
		if command == "audit" || command == "compact explain" || command == "compact packet" {
			want = 2
		}
		if got := out.Get("schema").Int(); got != want {
			t.Errorf("overtone %s: schema %d, want %d", command, got, want)
		}
		leaves(out, "", func(path string) {
			known := slices.ContainsFunc(list, func(k string) bool {
				if prefix, any := strings.CutSuffix(k, "*"); any {
					return strings.HasPrefix(path, prefix) || path == strings.TrimSuffix(prefix, ".")
				}
				// A container that is null or empty has no leaves of its own.
				return path == k || strings.HasPrefix(k, path+".") || strings.HasPrefix(k, path+"[]")
			})
			if !known {
				t.Errorf("%s does not list %s of overtone %s", referenceFile, path, command)
			}
		})
	}

	demo := run("", "demo", "--keep")
	check("demo", demo)
	home = demo.Get("home").String()
	sessions, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", "0de*2.jsonl"))
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	clone := run("", "compress", sessions[0], "--preset", "heavy")
	check("compress", clone)
	check("compress", run("", "compress", sessions[0], "--preset", "routine", "--dry-run"))
	check("recall", run("", "recall", clone.Get("result.messages.0.ref").String()))
	check("recall", run("", "recall", "importer"))
	check("sessions", run("", "sessions"))
	check("sessions rm", run("", "sessions", "rm", clone.Get("result.id").String(), "--yes"))
	check("audit", run("", "audit"))
	check("config", run("", "config"))
	check("version", run("", "version"))
	check("workflow list", run("", "workflow", "list"))
	check("workflow show", run("", "workflow", "show", "full"))
	check("workflow status", run("", "workflow", "status"))
	check("workflow schema", run("", "workflow", "schema"))
	check("workflow new", run("", "workflow", "new", "mine", "--stages", "CHECK,DOCS", "--run", "CHECK=true"))
	check("workflow check", run("", "workflow", "check", "mine"))
	check("workflow trust", run("", "workflow", "trust", "quick"))
	check("workflow list", run("", "workflow", "list"))
	check("workflow show", run("", "workflow", "show", "mine"))
	check("workflow start", run("", "workflow", "start", "quick", "--session", "s2"))
	check("status", run("", "status"))
	check("workflow skip", run("", "workflow", "skip", "DOCS", "--session", "s2"))
	check("workflow restart", run("", "workflow", "restart", "DEV", "--session", "s2"))
	check("workflow resume", run("", "workflow", "resume", "--session", "s2"))
	check("workflow cancel", run("", "workflow", "cancel", "--session", "s2"))
	check("route check", run(`<!-- PIPELINE_ROUTE: {"verdict":"FAIL","route":"NOWHERE","hint":"x"} -->`, "route", "check", "--stage", "REVIEW"))
	check("compact explain", run("", "compact", "explain", "--session", "demo"))
	check("compact explain", run("", "compact", "explain", "--session", sessions[0]))
	check("compact packet", run("", "compact", "packet", "--session", sessions[0]))
	check("compact packet", run("", "compact", "packet", "--session", sessions[0], "--why"))
	check("compact check", run("", "compact", "check", "--session", "demo"))
	check("cleanup", run("", "cleanup"))
	check("doctor", run("", "doctor"))
	check("init", run("", "init", "--host", "claude-code", "--yes"))
	check("uninstall", run("", "uninstall", "--yes"))
}
