package terminal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// An ending has its own exit code: 2 for a wrong call, 130 for Ctrl-C, in words that are
// the reader's.
func TestExit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err  error
		code int
		want string
	}{
		{nil, 0, ""},
		{message.Fail(message.NoneTemplate), 1, "overtone: the template none starts no workflow\n"},
		{message.Misuse{Err: message.Fail(message.NoneTemplate)}, 2, "overtone: the template none starts no workflow\n"},
		{&os.PathError{Op: "read", Path: "x", Err: os.ErrPermission}, 1, "overtone: read x: permission denied\nhint: look at its owner and mode, and whether the disk is mounted read-only\n"},
		{fmt.Errorf("read: %w", context.Canceled), 130, "overtone: interrupted\n"},
	} {
		var out strings.Builder
		a := &Terminal{Lang: message.EN, Program: "overtone", Env: Env{Stderr: &out, Getenv: func(string) string { return "" }, IsTTY: func(uintptr) bool { return false }}}
		if code := a.Exit(row.err); code != row.code || out.String() != row.want {
			t.Errorf("%v: %d %q", row.err, code, out.String())
		}
	}
}

// What a command goes on without is named at once. Its exit code is 3, with the first
// advice, unless it fails.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := &Terminal{Lang: message.EN, Program: "overtone", Env: Env{Stderr: &out, Getenv: func(string) string { return "" }, IsTTY: func(uintptr) bool { return false }}}
	a.LeaveOut(message.Fail(message.AuditUnread, "a"))
	a.LeaveOut(message.WithHint(message.Fail(message.AuditUnread, "b"), message.HintFault))
	a.LeaveOut(message.Fail(message.AuditUnread, "c"))
	const named = "could not be read: a\ncould not be read: b\ncould not be read: c\n"
	if code := a.Exit(nil); code != 3 || out.String() != named+"hint: "+message.HintFault.EN+"\n" {
		t.Errorf("%d %q", code, out.String())
	}
	if code := a.Exit(message.Fail(message.NoneTemplate)); code != 1 {
		t.Errorf("a failure: %d", code)
	}
}

// Ink is for verdicts and differences, on a terminal only, and whatever a text holds
// stays harmless.
func TestInk(t *testing.T) {
	t.Parallel()
	for _, tty := range []bool{true, false} {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		a := &Terminal{Lang: message.EN, Env: Env{Stdout: NewScreen(f), Getenv: func(string) string { return "" }, IsTTY: func(uintptr) bool { return tty }}}
		a.Table(a.Stdout, [][]string{{"STAGE", "RESULT", "NOTE"}, {"DEV", "pass", ""}, {"TEST", "fail", "PASSED"}})
		a.Item("⚠ ", "worth a look")
		a.Diff("--- a\n+++ b\n@@ -1 +1 @@\n-old\x1b[2J\n+new\n same")
		f.Close()
		data, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		want := "\x1b[1mSTAGE\x1b[0m  \x1b[1mRESULT\x1b[0m  \x1b[1mNOTE\x1b[0m\nDEV    \x1b[32mpass\x1b[0m\nTEST   \x1b[31mfail\x1b[0m    PASSED\n\x1b[33m⚠ \x1b[0mworth a look\n" +
			"\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-old\\u001b[2J\x1b[0m\n\x1b[32m+new\x1b[0m\n same"
		if !tty {
			want = "STAGE  RESULT  NOTE\nDEV    pass\nTEST   fail    PASSED\n⚠ worth a look\n--- a\n+++ b\n@@ -1 +1 @@\n-old\\u001b[2J\n+new\n same"
		}
		if string(data) != want {
			t.Errorf("terminal %v:\n%q, want\n%q", tty, data, want)
		}
	}
}
