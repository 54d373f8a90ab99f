package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/cli"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// The scripts run the program as hosts and people do: as processes, with stdin,
// files and an exit code. Beside testscript's own commands they have these:
//
//	hook EVENT [--host NAME] [PATH=TEXT | PATH=@FILE | PATH:=JSON]...
//		run `overtone-hook` with an input of session s1, and fail on anything a
//		host must never see, whatever else the script checks
//	json FILE PATH [VALUE]     the member at PATH is there (and equal to VALUE); of a
//		.jsonl file the last line counts
//	contains FILE PATH TEXT... its text holds these, in this order; PATH "." is the file
//	extract FILE PATH OUT      write its text to a file
//	node FILE PATH STAGE OUT   write the node context of a stage that it carries
//	units N FILE PATH          it is at most N UTF-16 units long
//	tokens N FILE PATH         it is shorter than N tokens, node contexts aside
//	mkfile BYTES FILE          make a file of that size
//	age DURATION FILE...       make files that old
//	digest FILE OUT            write what is typed to trust a file
//
// json, contains: a leading ! means the opposite.
//
// Each script has a home of its own ($HOME). $S is the folder of session s1, $C
// the Claude folder, $HOOK the path of overtone-hook, $PASS and $FAIL are markers. $CLOCK moves the program's
// clock ahead, $TICK makes it run fast, $PANIC makes it panic, $TTY a terminal, $ANCESTORS lets it see who started
// it: they exist only in this test binary.

func TestMain(m *testing.M) {
	// With the race detector each child would sleep for a second at its end.
	os.Setenv("GORACE", quickRace)
	testscript.Main(m, map[string]func(){
		"overtone": func() { os.Exit(cli.Main(os.Args[1:], scriptEnv())) },
		"overtone-hook": func() {
			env := scriptEnv()
			os.Exit(hook.Program(os.Args[1:], hook.Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv, Dir: env.Dir, Now: env.Now}))
		},
	})
}

// quickRace are the options of the race detector in children.
const quickRace = "atexit_sleep_ms=0"

func scriptEnv() cli.Env {
	env := cli.OSEnv()
	if d, err := time.ParseDuration(os.Getenv("CLOCK")); err == nil {
		env.Now = func() time.Time { return time.Now().Add(d) }
	}
	if os.Getenv("TICK") != "" { // each look at the clock takes a second
		begin, ticks := time.Now(), atomic.Int64{}
		env.Now = func() time.Time { return begin.Add(time.Duration(ticks.Add(1)) * time.Second) }
	}
	if os.Getenv("ANCESTORS") == "" { // those of the tests are whoever runs them
		env.Ancestors = func() ([]terminal.Process, error) { return nil, nil }
	}
	if os.Getenv("TTY") != "" {
		env.IsTTY = func(uintptr) bool { return true }
	}
	if os.Getenv("OVERFLOW") != "" {
		debug.SetMaxStack(1 << 20)
		env.Now = func() time.Time { return deep(0) }
	}
	if text := os.Getenv("PANIC"); text != "" {
		env.Now = func() time.Time { panic(text) }
	}
	return env
}

// deep never returns.
func deep(n int) time.Time { return deep(n + 1).Add(time.Duration(n)) } //nolint:staticcheck // that is its use

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"hook": cmdHook, "json": cmdJSON, "contains": cmdContains, "extract": cmdExtract, "node": cmdNode,
			"units": cmdUnits, "tokens": cmdTokens, "mkfile": cmdMkfile, "age": cmdAge, "digest": cmdDigest,
		},
	})
}

func setupScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	for _, kv := range [][2]string{
		{"HOME", home},
		{"TZ", "UTC"},
		{"GORACE", quickRace},
		{"LANG", ""},
		{"S", filepath.Join(home, ".overtone", "sessions", "s1")},
		{"C", filepath.Join(home, ".claude")},
		{"HOOK", filepath.Join(filepath.Dir(overtone()), "overtone-hook")},
		{"PASS", `<!-- PIPELINE_ROUTE: {"verdict":"PASS","route":"NEXT"} -->`},
		{"FAIL", `<!-- PIPELINE_ROUTE: {"verdict":"FAIL","route":"DEV","severity":"HIGH","hint":"guard the nil map"} -->`},
	} {
		env.Setenv(kv[0], kv[1])
	}
	return os.MkdirAll(home, 0o700)
}

func cmdHook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: hook EVENT [--host NAME] [PATH=TEXT]...")
	}
	in := []byte(`{"session_id":"s1"}`)
	var words []string
	for _, arg := range args {
		key, val, ok := strings.Cut(arg, "=")
		if !ok || strings.HasPrefix(arg, "--") {
			words = append(words, arg)
			continue
		}
		switch raw := strings.TrimSuffix(key, ":"); {
		case raw != key:
			in = store.SetJSON(in, raw, json.RawMessage(val))
		case strings.HasPrefix(val, "@"):
			in = store.SetJSON(in, key, strings.TrimSuffix(ts.ReadFile(val[1:]), "\n"))
		default:
			in = store.SetJSON(in, key, val)
		}
	}
	file := ts.MkAbs(".hook.json")
	ts.Check(os.WriteFile(file, in, 0o600))
	line := "overtone-hook " + strings.Join(words, " ") + " <" + file
	if err := ts.Exec("sh", "-c", line); err != nil {
		ts.Fatalf("hook %s: %v", args[0], err)
	}
	if err := hostSafe([]byte(ts.ReadFile("stdout")), []byte(ts.ReadFile("stderr")), slices.Contains(words, "--host")); err != nil {
		ts.Fatalf("hook %s: %v", args[0], err)
	}
}

// hostSafe checks what holds for every output of a hook: one JSON object, or
// nothing at all for a host, stderr in prefixed lines, and no answer to a
// permission question.
func hostSafe(stdout, stderr []byte, host bool) error {
	switch {
	case len(stdout) == 0 && !host:
		return errors.New("nothing printed")
	case len(stdout) > 0 && (!json.Valid(stdout) || stdout[0] != '{'):
		return fmt.Errorf("not a JSON object: %.200s", stdout)
	case host && gjson.GetBytes(stdout, "result").Exists():
		return fmt.Errorf("a result, which no host knows: %.200s", stdout)
	}
	if d := gjson.GetBytes(stdout, "hookSpecificOutput.permissionDecision").String(); d != "" && d != "deny" {
		return fmt.Errorf("permission decision %q", d)
	}
	if bytes.Contains(stdout, []byte(`"allow"`)) {
		return fmt.Errorf("an allow: %.200s", stdout)
	}
	for line := range bytes.Lines(stderr) {
		if !bytes.HasPrefix(line, []byte("[overtone/")) {
			return fmt.Errorf("stderr without a prefix: %.200s", line)
		}
	}
	return nil
}

// member reads a JSON path of a file; "." is the whole file as text.
func member(ts *testscript.TestScript, file, path string) gjson.Result {
	text := ts.ReadFile(file)
	if path == "." {
		return gjson.Result{Type: gjson.String, Str: text, Raw: text}
	}
	if strings.HasSuffix(file, ".jsonl") {
		text = strings.TrimSuffix(text, "\n")
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	if !gjson.Valid(text) {
		ts.Fatalf("%s is not JSON: %.300s", file, text)
	}
	return gjson.Get(text, path)
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: [!] json FILE PATH [VALUE]")
	}
	if neg && ts.ReadFile(args[0]) == "" {
		return
	}
	got := member(ts, args[0], args[1])
	ok := got.Exists()
	if ok && len(args) == 3 {
		ok = got.String() == args[2] || got.Type != gjson.String && compact(got.Raw) == compact(args[2])
	}
	if ok == neg {
		ts.Fatalf("%s: %s is %s", args[0], args[1], got.Raw)
	}
}

func compact(s string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return s
	}
	return b.String()
}

func cmdContains(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: [!] contains FILE PATH TEXT...")
	}
	text := member(ts, args[0], args[1]).String()
	rest := text
	for _, want := range args[2:] {
		i := strings.Index(rest, want)
		switch {
		case neg && strings.Contains(text, want):
			ts.Fatalf("%s: %s holds %q:\n%s", args[0], args[1], want, text)
		case !neg && i < 0:
			ts.Fatalf("%s: %s lacks %q (in this order):\n%s", args[0], args[1], want, text)
		case !neg:
			rest = rest[i+len(want):]
		}
	}
}

func cmdExtract(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: extract FILE PATH OUT")
	}
	text := member(ts, args[0], args[1]).String()
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.TrimSuffix(text, "\n")+"\n"), 0o600))
}

func cmdNode(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 4 && !neg || neg && len(args) < 3 {
		ts.Fatalf("usage: [!] node FILE PATH STAGE OUT")
	}
	found := ""
	for _, part := range strings.Split(member(ts, args[0], args[1]).String(), "<!-- NODE_CONTEXT: ")[1:] {
		raw, _, ok := strings.Cut(part, " -->")
		if !ok || !gjson.Valid(raw) {
			ts.Fatalf("broken node context: %s", part)
		}
		if gjson.Get(raw, "node.stage").String() == args[2] {
			found = raw
		}
	}
	if (found == "") != neg {
		ts.Fatalf("%s: %s: node context of %s: %q", args[0], args[1], args[2], found)
	}
	if !neg {
		ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(found), 0o600))
	}
}

// number is the first argument of a command.
func number(ts *testscript.TestScript, args []string, usage string) int {
	if len(args) == 0 {
		ts.Fatalf("usage: %s", usage)
	}
	n, err := strconv.Atoi(strings.ReplaceAll(args[0], "_", ""))
	ts.Check(err)
	return n
}

func cmdUnits(ts *testscript.TestScript, neg bool, args []string) {
	limit := number(ts, args, "units N FILE PATH")
	n := len(utf16.Encode([]rune(member(ts, args[1], args[2]).String())))
	if (n <= limit) == neg {
		ts.Fatalf("%s: %s has %d units", args[1], args[2], n)
	}
}

func cmdTokens(ts *testscript.TestScript, neg bool, args []string) {
	limit := number(ts, args, "tokens N FILE PATH")
	text := member(ts, args[1], args[2]).String()
	for {
		before, rest, ok := strings.Cut(text, "<!-- NODE_CONTEXT: ")
		if !ok {
			break
		}
		_, after, _ := strings.Cut(rest, " -->")
		text = before + after
	}
	if n := workflow.EstimateTokens(text); (n < limit) == neg {
		ts.Fatalf("%s: %s has %d tokens", args[1], args[2], n)
	}
}

func cmdMkfile(ts *testscript.TestScript, neg bool, args []string) {
	size := number(ts, args, "mkfile BYTES FILE")
	f, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(f.Truncate(int64(size)))
	ts.Check(f.Close())
}

func cmdDigest(ts *testscript.TestScript, _ bool, args []string) {
	sum := sha256.Sum256([]byte(ts.ReadFile(args[0])))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), fmt.Appendf(nil, "%x\n", sum[:4]), 0o600))
}

func cmdAge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: age DURATION FILE...")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	at := time.Now().Add(-d)
	for _, f := range args[1:] {
		ts.Check(os.Chtimes(ts.MkAbs(f), at, at))
	}
}

// runHook is one hook call as a process of its own.
func runHook(env []string, dir string, stdin []byte, args ...string) (stdout, stderr []byte, err error) {
	cmd := exec.Command(overtone(), append([]string{"hook"}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = env, dir, bytes.NewReader(stdin)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.Bytes(), e.Bytes(), err
}

// overtone is the program as testscript installs it.
func overtone() string {
	path, err := exec.LookPath("overtone")
	if err != nil {
		panic(err)
	}
	return path
}

// scenarios of the specifications, by number.
func scenarios() []string {
	var all []string
	for n := 1; n <= 18; n++ {
		all = append(all, fmt.Sprintf("000-%02d", n))
	}
	for feature, count := range []int{3, 6, 5, 2, 3, 3, 4, 3} {
		for n := 1; n <= count; n++ {
			all = append(all, fmt.Sprintf("001-%d.%d", feature+1, n))
		}
	}
	for n := 1; n <= 42; n++ {
		all = append(all, fmt.Sprintf("002-%02d", n))
	}
	return all
}

// A scenario without a script is a promise nobody checks.
func TestEveryScenarioHasATest(t *testing.T) {
	t.Parallel()
	for _, n := range scenarios() {
		files, err := filepath.Glob(filepath.Join("testdata", "script", n+"-*.txtar"))
		if err != nil || len(files) == 0 {
			t.Errorf("scenario %s has no script", n)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil || !strings.Contains(string(data), "overtone hook") && !strings.Contains(string(data), "\nhook ") && !strings.Contains(string(data), "exec overtone") {
				t.Errorf("%s runs nothing", f)
			}
		}
	}
}
