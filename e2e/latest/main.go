//go:build e2e

// Command latest runs the end-to-end tests on the versions that the registry calls
// the latest, and says what changed against the list of verified ones: which
// versions are new, which tests fail there, and which of those fail on the verified
// versions, too, and so are not the host's doing.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// hosts are the variables that choose a host's version.
var hosts = []string{"OVERTONE_E2E_CLAUDE", "OVERTONE_E2E_CODEX", "OVERTONE_E2E_COPILOT", "OVERTONE_E2E_OPENCODE", "OVERTONE_E2E_GEMINI"}

// logFile has everything that the tests printed.
const logFile = ".e2e-latest.log"

func main() {
	// Arguments go to go test: -run, for one.
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "e2e-latest:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	log, err := os.Create(logFile)
	if err != nil {
		return err
	}
	defer log.Close()
	var env []string
	for _, name := range hosts {
		env = append(env, name+"=latest")
	}
	passed, failed, anew, err := tests(log, env, args)
	if err != nil {
		return err
	}
	fmt.Printf("%d tests pass, %d fail\n", len(passed), len(failed))
	if len(failed) == 0 {
		return nil
	}
	fmt.Println("those that fail, on the verified versions:")
	before, _, _, err := tests(log, nil, []string{"-run", "^(" + strings.Join(failed, "|") + ")$"})
	if err != nil {
		return err
	}
	for _, name := range failed {
		switch there := slices.Contains(before, name); {
		case there && anew:
			fmt.Printf("CHANGED  %s passes there: the host has changed\n", name)
		case there:
			fmt.Printf("UNSTEADY %s passes there, and no version is new: run it again\n", name)
		default:
			fmt.Printf("BROKEN   %s fails there, too\n", name)
		}
	}
	return fmt.Errorf("%d tests fail; details: %s", len(failed), logFile)
}

// tests runs the end-to-end tests and returns the names of those that passed and
// failed, and whether a version among them is anew.
func tests(log *os.File, env, args []string) (passed, failed []string, anew bool, err error) {
	cmd := exec.Command("go", append([]string{"test", "-tags", "e2e", "-count=1", "-timeout", "40m", "-json", "./e2e/"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, false, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, false, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		switch {
		case e.Output != "":
			fmt.Fprint(log, e.Output)
			if e.Test == "" && strings.HasPrefix(e.Output, "host ") {
				fmt.Print(e.Output)
				anew = anew || strings.Contains(e.Output, "not in the list")
			}
		case strings.Contains(e.Test, "/"):
		case e.Test != "" && e.Action == "pass":
			passed = append(passed, e.Test)
		case e.Test != "" && e.Action == "fail":
			failed = append(failed, e.Test)
			fmt.Println("FAIL    ", e.Test)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, false, err
	}
	if err := cmd.Wait(); err != nil && len(failed) == 0 {
		return nil, nil, false, fmt.Errorf("the tests did not run: %w; details: %s", err, logFile)
	}
	return passed, failed, anew, nil
}
