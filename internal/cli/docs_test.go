package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDocs runs every command line of README.md and docs/*.md, page by page, in a
// home of its own: the one that `overtone demo --keep` leaves, with a session that
// went through a workflow (demo) and one to compress (0de30000…), in a git
// repository.
//
//   - A block marked ```sh is a script, run by sh -e.
//   - A block marked ```console shows what a person sees: lines that begin with "$ "
//     are run, and each line below must stand in what they print, in that order; "…"
//     stands for anything. A command that must fail is followed by a line with its
//     message.
//   - A word after sh or console changes that: "stop" ends what would go on for ever
//     once it has printed something; "fails" expects an exit code other than 0.
//   - <!-- test: COMMAND --> prepares something that a reader has already.
//   - SESSION stands for the session to compress, ID for the one with the workflow.
//   - A block without a language is not run; a line in it that looks like a command of
//     ours is an error, so that none is forgotten.
//
// Programs that would reach for the network are stood in for: npm, npx, brew, claude,
// codex. They check what can be checked: that the package is called so.
func TestDocs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the pages are written for a POSIX shell")
	}
	t.Parallel()
	pages := pagesOf(t)
	bin := filepath.Dir(buildOvertone(t))
	stand(t, bin)
	run := 0
	for _, page := range append(pages, "../../README.md") {
		if filepath.Base(page) == "team.md" {
			continue // another program, on several machines: its own tests run it
		}
		if filepath.Base(page) == "workflows.md" {
			continue // needs a person at a terminal: TestWorkflowGuide runs it
		}
		blocks := docBlocks(t, page)
		if len(blocks) == 0 {
			continue
		}
		run += len(blocks)
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			p := newDocPage(t, bin)
			for _, b := range blocks {
				if !p.block(t, b) {
					return // what follows builds on it
				}
			}
		})
	}
	if run == 0 {
		t.Error("no page has a command: the test reads the wrong place")
	}
}

// A page opens with what it is for, then a command with what it prints. Words have none,
// and the team's program is another one.
func TestPagesOpenWithACommand(t *testing.T) {
	t.Parallel()
	opens := regexp.MustCompile("^# .*\\n\\n[A-Z`](?s:.*)\\n```console.*\\n\\$ overtone .*\\n[^$`]")
	for _, page := range pagesOf(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := bytes.Cut(text, []byte("\n## "))
		switch filepath.Base(page) {
		case "words.md", "team.md":
		default:
			if filepath.Base(filepath.Dir(page)) == "docs" && !opens.Match(head) {
				t.Errorf("%s does not open with what it is for, a command and its output", page)
			}
		}
	}
}

// docBlock is a block of commands on a page.
type docBlock struct {
	at    string // page:line
	kind  string // sh, console, test
	word  string
	lines []string
}

func docBlocks(t *testing.T, page string) []docBlock {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var list []docBlock
	var open *docBlock
	ours := regexp.MustCompile(`^\s*(\$ )?overtone [a-z]`)
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		at := fmt.Sprintf("%s:%d", filepath.Base(page), n)
		if info, ok := strings.CutPrefix(line, "```"); ok {
			if open != nil {
				if open.kind == "sh" || open.kind == "console" {
					list = append(list, *open)
				}
				open = nil
				continue
			}
			kind, word, _ := strings.Cut(strings.TrimSpace(info), " ")
			open = &docBlock{at: at, kind: kind, word: word}
			continue
		}
		if open != nil {
			if open.kind == "" && ours.MatchString(line) {
				t.Errorf("%s: a command in a block that is not run: %s", at, line)
			}
			open.lines = append(open.lines, line)
			continue
		}
		if rest, ok := strings.CutPrefix(line, "<!-- test: "); ok {
			list = append(list, docBlock{at: at, kind: "test", lines: []string{strings.TrimSuffix(rest, " -->")}})
		}
	}
	return list
}

// docPage is where the commands of a page run.
type docPage struct {
	home, dir, path string
}

func newDocPage(t *testing.T, bin string) docPage {
	t.Helper()
	tmp := t.TempDir()
	p := docPage{dir: filepath.Join(tmp, "project"), path: bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	cmd := exec.Command(filepath.Join(bin, "overtone"), "demo", "--keep", "--json")
	cmd.Env = []string{"HOME=" + tmp, "TMPDIR=" + tmp, "LANG=C"}
	out, err := cmd.Output()
	var demo struct{ Home string }
	if err != nil || json.Unmarshal(out, &demo) != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	p.home = demo.Home
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, status := p.run("git init -q -b main && git -c user.name=n -c user.email=e commit -q --allow-empty -m start", ""); status != 0 {
		t.Fatalf("git: %s", out)
	}
	return p
}

// docPlaceholder are words that stand for something of the reader's.
var docPlaceholder = strings.NewReplacer("SESSION", "0de30000-0000-4000-8000-000000000002", " ID", " demo")

// run runs a script and returns what it prints, and its exit code.
func (p docPage) run(script, word string) (string, int) {
	cmd := exec.Command("sh", "-ec", docPlaceholder.Replace(script))
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + p.path, "LANG=C", "TMPDIR=" + filepath.Dir(p.dir), "NO_COLOR=1"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		return err.Error(), -1
	}
	limit := time.Minute
	if word == "stop" {
		limit = 2 * time.Second
	}
	timer := time.AfterFunc(limit, func() { _ = endGroup(cmd.Process.Pid, syscall.SIGTERM) })
	defer timer.Stop()
	_ = cmd.Wait() // the exit code tells
	return out.String(), cmd.ProcessState.ExitCode()
}

func (p docPage) block(t *testing.T, b docBlock) bool {
	t.Helper()
	check := func(script string, want []string) bool {
		t.Helper()
		out, status := p.run(script, b.word)
		switch {
		case b.word == "stop" && out == "":
			t.Errorf("%s: %s: prints nothing", b.at, script)
		case b.word == "stop":
		case b.word == "fails" && status == 0:
			t.Errorf("%s: %s: does not fail\n%s", b.at, script, out)
		case b.word != "fails" && status != 0:
			t.Errorf("%s: %s: exit %d\n%s", b.at, script, status, out)
		}
		rest := out
		for _, line := range want {
			re := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*?")
			// Columns move with the longest value.
			re = regexp.MustCompile(`\s+`).ReplaceAllString(re, `\s+`)
			at := regexp.MustCompile(`(?m)^\s*` + re).FindStringIndex(rest)
			if at == nil {
				t.Errorf("%s: %s: does not print %q\n%s", b.at, script, line, out)
				break
			}
			rest = rest[at[1]:]
		}
		return !t.Failed()
	}
	if b.kind != "console" {
		return check(strings.Join(b.lines, "\n"), nil)
	}
	for i := 0; i < len(b.lines); {
		script, ok := strings.CutPrefix(b.lines[i], "$ ")
		if !ok {
			t.Errorf("%s: a console begins with a command: %s", b.at, b.lines[i])
			return false
		}
		for i++; strings.HasSuffix(script, `\`) && i < len(b.lines); i++ {
			script += "\n" + b.lines[i]
		}
		var want []string
		for ; i < len(b.lines) && !strings.HasPrefix(b.lines[i], "$ "); i++ {
			if line := strings.TrimSpace(b.lines[i]); line != "" && line != "…" {
				want = append(want, line)
			}
		}
		if !check(script, want) {
			return false
		}
	}
	return true
}

// stand puts stand-ins for programs that need a network into a folder.
func stand(t *testing.T, dir string) {
	t.Helper()
	for name, script := range map[string]string{
		"npm":    `case "$*" in *overtone-cli*) ;; *) echo "npm: unknown package: $*" >&2; exit 1;; esac`,
		"npx":    `case "$1" in overtone-cli|overtone-cli@*) shift; exec overtone "$@";; *) echo "npx: unknown package: $1" >&2; exit 1;; esac`,
		"brew":   `case "$*" in "install seed-6d03985f/tap/overtone") ;; *) echo "brew: unknown: $*" >&2; exit 1;; esac`,
		"claude": `case "$1" in --version) echo "2.1.325 (Claude Code)";; esac`,
		"codex":  `case "$1" in --version) echo "codex-cli 0.166.0";; esac`,
		"make":   `grep -q "^$1:" "` + absolute(t, "../../Makefile") + `" && mkdir -p bin && ln -sf "$(command -v overtone)" bin/overtone`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// A page promises nothing that a newcomer cannot have: what a registry has to hold
// stands below a heading that says from when on, and the first commands of the README
// are those that work in a checkout.
func TestFrontDoor(t *testing.T) {
	t.Parallel()
	pages := pagesOf(t)
	published := regexp.MustCompile(`\b(npx overtone|npm (i|install) .*overtone|brew install)\b`)
	for _, page := range append(pages, "../../README.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		heading := ""
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "## ") {
				heading = line
			}
			if published.MatchString(line) && !strings.Contains(heading, "from the first release on") {
				t.Errorf("%s: under %q: %s", filepath.Base(page), heading, line)
			}
		}
	}
	var first []string
	for _, line := range docBlocks(t, "../../README.md")[0].lines {
		command, _, _ := strings.Cut(line, "#")
		first = append(first, strings.TrimSpace(command))
	}
	if got := strings.Join(first, ", "); got != "make demo, make test" {
		t.Errorf("the README begins with %s", got)
	}
}

// Twelve words explain the rest: a page that uses one of them says where it is explained.
func TestTwelveWords(t *testing.T) {
	t.Parallel()
	words, err := os.ReadFile("../../docs/words.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| <a id="([a-z-]+)"></a>\*\*([a-z-]+)\*\* \| \S`).FindAllSubmatch(words, -1) {
		explained[string(m[1])] = string(m[1]) == string(m[2])
	}
	if len(explained) != 12 || strings.Count(string(words), "\n| ") != 13 {
		t.Errorf("the page has these words: %v", explained)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	notProse := regexp.MustCompile("(?ms)^```.*?^```|^#.*?$|`[^`\n]*`|\\*\\*[^*\n]*\\*\\*|<[^>]*>")
	linked := regexp.MustCompile(`\]\((?:docs/)?words\.md#([a-z-]+)\)`)
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, m := range linked.FindAllSubmatch(text, -1) {
			if known[string(m[1])] = true; !explained[string(m[1])] {
				t.Errorf("%s: %s is not explained", filepath.Base(page), m[1])
			}
		}
		if filepath.Base(page) == "words.md" {
			continue
		}
		prose := notProse.ReplaceAll(text, nil)
		prose = regexp.MustCompile(`\[[^\]]*\]\([^)]*\)`).ReplaceAll(prose, nil)
		for word, used := range map[string]string{
			"compaction": "compactions?", "boundary": "boundar(y|ies)", "tier": "tiers?", "hand-over": "hand-overs?|packets?", "stage": "stages?",
			"verdict": "verdicts?", "barrier": "barriers?", "band": "bands?", "clone": "clones?",
		} {
			if !known[word] && regexp.MustCompile(`(^|[\s(])(`+used+`)\b`).Match(prose) {
				t.Errorf("%s uses %q and does not say where it is explained", filepath.Base(page), word)
			}
		}
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// TestRelease: what the pages call the packages is what a release makes, and the
// script that builds a release here makes what CI does.
func TestRelease(t *testing.T) {
	t.Parallel()
	for file, parts := range map[string][]string{
		"../../release/npm.mjs":               {"const name = 'overtone-cli'", "const programs = ['overtone', 'overtone-hook']"},
		"../../release/overtone.js":           {"overtone-cli-${process.platform}-${process.arch}"},
		"../../release/snapshot.sh":           {"overtone_${version}_${os}_$arch", "internal/terminal.Version=", "-trimpath", "SHA256SUMS", "LICENSE README.md CHANGELOG.md", "for program in overtone overtone-hook overtone-team", "release/sbom.mjs", `bin.install "overtone", "overtone-hook", "overtone-team"`},
		"../../.goreleaser.yaml":              {"overtone_{{ .Version }}_{{ .Os }}_{{ .Arch }}", "internal/terminal.Version=", "-trimpath", "SHA256SUMS", "goos: [linux, darwin, windows]", "goarch: [amd64, arm64]", "owner: seed-6d03985f", "main: ./cmd/overtone-hook", "dir: team\n    main: ./cmd/overtone-team", `bin.install "overtone", "overtone-hook", "overtone-team"`, "name: homebrew-tap", "src: CHANGELOG.md", "release/sbom.mjs", "sign-blob"},
		"../../.github/workflows/test.yml":    {"ubuntu-latest, macos-latest, windows-latest", "make e2e"},
		"../../.github/workflows/release.yml": {"goreleaser-action", "make release-npm", "cosign-installer", "attest-build-provenance"},
		"../../CHANGELOG.md":                  {"## Unreleased"},
		"../../internal/terminal/version.go":  {"\nvar Version = \""},
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(data), part) {
				t.Errorf("%s does not say %q", file, part)
			}
		}
	}
}

// pagesOf are the pages of the documentation, also those for who looks inside.
func pagesOf(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"../../docs/*.md", "../../docs/internals/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, found...)
	}
	return pages
}
