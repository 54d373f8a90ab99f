package handover

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// TestCommandKey: what stays of a command when its arguments change.
func TestCommandKey(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./a -run X":                "go test",
		"CGO_ENABLED=0 go build ./...":      "go build",
		"sudo -E x":                         "-E",
		"timeout 30s go test":               "go test",
		"time nice make lint":               "make lint",
		"env A=1 make":                      "make ",
		"ls -l && cargo test --lib":         "cargo test",
		"cat x || npm run lint":             "npm run lint",
		"npm test":                          "npm test",
		"npm":                               "npm ",
		"npx exec vitest":                   "npx exec vitest",
		"bun x tsc":                         "bun x tsc",
		"python -m pytest -q":               "python -m pytest",
		"python3 tools/x.py --a":            "python3 tools/x.py",
		"python -c 'print(1)'":              "",
		"node -e 1":                         "",
		"bash -":                            "",
		"bash":                              "",
		"/usr/local/bin/golangci-lint run":  "golangci-lint",
		"git status":                        "",
		"cd x":                              "",
		"":                                  "",
		"A=1":                               "",
		"cd x && cat y && ./run.sh now":     "run.sh",
		"grep -r x . ; make":                "",
		"docker compose up -d && echo done": "docker compose",
		"mise run test:ci":                  "mise run test:ci",
		"cat x | grep y":                    "",
		"./gradlew build":                   "gradlew",
	} {
		if got := CommandKey(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{"go test ./... | tail -3": "go test ./...", "ls -l": "", "cat <<E\nx\nE": ""} {
		if got := TidyCommand(line, "/p"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestParts: what each program of a line is for, and on what it was let loose.
func TestParts(t *testing.T) {
	t.Parallel()
	type want struct {
		purpose purpose
		key     string
		variant string
		paths   string
		names   string
	}
	for line, w := range map[string]want{
		"go test ./a/... -run 'TestA|TestB'":       {tests, "go test", "", "a", "TestA TestB"},
		"go test -run=TestA$ -count 1 ./b":         {tests, "go test", "", "b", "TestA"},
		"go test -count=1 -timeout 30s ./b":        {tests, "go test", "", "b", ""},
		"go test":                                  {tests, "go test", "", "", ""},
		"go test ./...":                            {tests, "go test", "", "", ""},
		"pytest tests/a_test.py::TestX::test_y -q": {tests, "pytest", "", "tests/a_test.py", "TestX test_y"},
		"npm run test:unit -- cart":                {tests, "npm run test:unit", "unit", "", "cart"},
		"make test-race":                           {tests, "make test-race", "race", "", ""},
		"make lint-fix":                            {lints, "make lint-fix", "", "", ""},
		"golangci-lint run ./x":                    {lints, "golangci-lint", "", "x", "run"},
		"cargo fmt":                                {formats, "cargo fmt", "", "", ""},
		"go build -o bin/x ./cmd/x":                {builds, "go build", "", "cmd/x", ""},
		"make":                                     {builds, "make ", "", "", ""},
		"node try.js":                              {otherwise, "node try.js", "", "", ""},
		"git rebase --continue":                    {merges, "git rebase", "", "", ""},
		"git cherry-pick x":                        {merges, "git cherry-pick", "", "", ""},
		"git commit -m x":                          {commits, "git commit", "", "", ""},
		"git push origin x":                        {pushes, "git push", "", "", ""},
		"npx jest -t adds src/cart.test.ts":        {tests, "npx jest", "", "src/cart.test.ts", "adds"},
		"go test ./a 2>&1":                         {tests, "go test", "", "a", ""},
		"go test -k x -p 4 y":                      {tests, "go test", "", "", "x y"},
		"mvn verify build":                         {tests, "mvn verify", "", "", ""},
		"A=1 npm exec vitest run src/a.spec":       {tests, "npm exec vitest", "", "src/a.spec", "run"},
	} {
		got := partsOf(line)
		if len(got) != 1 {
			t.Errorf("%s: %d parts", line, len(got))
			continue
		}
		p := got[0]
		if d := cmp.Diff(w, want{p.purpose, p.key, p.variant, strings.Join(p.paths, " "), strings.Join(p.names, " ")}, cmp.AllowUnexported(want{})); d != "" {
			t.Errorf("%s: -want +got\n%s", line, d)
		}
	}
	var keys []string
	for _, p := range partsOf("cd x && git status; go vet ./... || git commit -m y <<E\nmake all\nE") {
		keys = append(keys, p.key)
	}
	if want := []string{"go vet", "git commit"}; !slices.Equal(keys, want) {
		t.Errorf("%q, want %q", keys, want)
	}
}

// TestRepairs: which program, when it passes, leaves it open whether another is still red.
func TestRepairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		passed, failed string
		want           bool
	}{
		{"go test ./a", "go test ./a", true},
		{"go test ./a", "go test ./...", true},
		{"go test ./a", "go test ./b", false},
		{"go test -run TestA ./a", "go test -run TestB ./a", false},
		{"go test -run Test ./a", "go test -run TestB ./a", true},
		{"go vet ./...", "go test ./...", false},
		{"go vet ./...", "go build ./...", true},
		{"go test ./...", "gofmt -l .", true},
		{"go build ./...", "gofmt -l .", false},
		{"go build ./...", "go vet ./...", false},
		{"git commit -m x", "git rebase main", true},
		{"git push", "git commit -m x", true},
		{"git push", "git rebase main", false},
		{"git commit -m x", "git push", false},
		{"node try.js", "node try.js", true},
		{"node try.js", "node other.js", false},
		{"npm run test:unit", "npm test", true},
		{"npm test", "npm run test:unit", false},
		{"npm run test:unit", "npm run test:unit", true},
		{"npm run test:e2e", "npm run test:unit", false},
	} {
		if got := partsOf(c.passed)[0].repairs(&partsOf(c.failed)[0]); got != c.want {
			t.Errorf("%s passed, %s had failed: %v", c.passed, c.failed, got)
		}
	}
}

// TestFilesChanged: the files that a command names as what it changes. What its output is
// sent to is none of them.
func TestFilesChanged(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sed -i s/a/b/ x.go":                        "x.go",
		"sed -i -e 's/a b/c/' x.go y.go":            "x.go y.go",
		"sed -n 1,3p x.go":                          "",
		"sed --in-place 's/a.b/c/' x.go":            "x.go",
		"perl -pi -e 's/a/b/' x.pl":                 "x.pl",
		"perl x.pl":                                 "",
		"mv a.go b.go":                              "a.go b.go",
		"git mv a.go b.go":                          "a.go b.go",
		"git add a.go > log.txt":                    "",
		"tee out.txt":                               "",
		"gofmt -w x.go":                             "x.go",
		"gofmt -l x.go > y.txt":                     "",
		"prettier --write src/a.ts":                 "src/a.ts",
		"echo hi >> notes.md":                       "",
		"sed -i s/a/b/ x.go > y.go":                 "x.go",
		"go test 2>/dev/null > out.log":             "",
		"cat x.go":                                  "",
		"cat > x.go <<E\na > b.go\nmv c.go d.go\nE": "",
		"cat a.go | tee b.go && mv c.go d/e.go":     "c.go d/e.go",
		"sed -i 's/one.go/two.go/' x.go":            "x.go",
		"sed -i \"s/one.go three/two.go/\" x.go":    "x.go",
		"sed -i --expression s/one.go/t.go/ x.go":   "x.go",
		"sed -i.bak -e s/a/b/ x.go y.go":            "x.go y.go",
		"sed -i 's/old name/new/a name/' in/b.go":   "in/b.go",
		"perl -pi -e 's/x y/z w/' in/c.go":          "in/c.go",
		"git mv a.py b.py && ls":                    "a.py b.py",
		"make 2>&1 | tee build.log":                 "",
		"gofmt -w x.go >>notes.txt 2>/dev/null":     "x.go",
	} {
		if got := strings.Join(FilesChanged(line), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestWorks: one command of each kind, the one that passed most often, then the newest;
// those that ran last come first, and what is stated already does not come.
func TestWorks(t *testing.T) {
	t.Parallel()
	s := (&tale{}).user("Please write the importer.")
	s.run("go test ./a", "ok", 0).run("go test ./a", "ok", 0).run("make lint", "ok", 0).run("go vet ./x", "ok", 0).run("go vet ./y", "ok", 0)
	s.run("go test ./b", "ok", 0).run("go build ./...", "a.go:1:1: undefined: x", 1)
	var lines []string
	for _, u := range s.handover(t, "").Record.works(func(line string) bool { return line == "make lint" }) {
		lines = append(lines, u.line)
	}
	if want := []string{"go test ./a", "go vet ./y"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	// Each is quoted as it was typed; what has several lines, or does not fit, is not typed
	// again.
	text := (&tale{}).user("Go.").run("cd sub; make gen && go test ./a", "ok", 0).run("npm run build\nnpm run pack", "ok", 0).run("ls", "", 0).run("mvn test "+strings.Repeat("-D x=1 ", 30), "ok", 0).handover(t, "").Text()
	if section := "## " + message.HandoverCommands.EN + "\n- `cd sub; make gen && go test ./a`\n\n"; !strings.Contains(text, section) {
		t.Error(text)
	}
}
