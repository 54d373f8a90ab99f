package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestIsStatusLine(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"overtone statusline":                           true,
		"/usr/local/bin/overtone-hook statusline":       true,
		"'/my programs/overtone-hook' statusline":       true,
		`"C:/My Programs/overtone-hook.exe" statusline`: true,
		"overtone-hook statusline":                      true,
		"mine; overtone statusline":                     false,
		"mine | /usr/bin/overtone-hook statusline":      false,
		"overtone statusline | cut -c1-20":              false,
		"/usr/bin/overtone-hook-of-mine statusline":     false,
		"mine.sh": false,
		"":        false,
		`sh -c "mine; /usr/bin/overtone-hook statusline"`: false,
	} {
		if got := isStatusLine(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

// What a shell is given finds the program wherever it lies, and is known again by
// its mark; the program that is gone is named.
func TestHookLine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("asks a POSIX shell")
	}
	for _, name := range []string{"bin", "my programs", "it's", `a"b`, "$HOME;x"} {
		p := Place{Hook: filepath.Join(t.TempDir(), name, HookProgram)}
		if err := os.MkdirAll(filepath.Dir(p.Hook), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p.Hook, []byte("#!/bin/sh\necho \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		line, mark := p.hookLine(Codex, "stop")
		if !strings.HasSuffix(line, mark) {
			t.Errorf("%s lacks %q", line, mark)
		}
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil || string(out) != "stop --host codex\n" {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		settings, _, err := Apply(nil, p.codexEdits())
		if err != nil {
			t.Fatal(err)
		}
		moved := Place{Hook: filepath.Join(t.TempDir(), HookProgram)}
		for _, e := range moved.codexEdits() {
			if there, exact := holds(settings, e); !there || exact {
				t.Errorf("%s: there %v, exact %v", e.Key(), there, exact)
			}
		}
		if gone := MissingProgram(settings); gone != "" {
			t.Errorf("missing: %s", gone)
		}
		if err := os.Remove(p.Hook); err != nil {
			t.Fatal(err)
		}
		if gone := MissingProgram(settings); gone != p.Hook {
			t.Errorf("missing: %q, want %q", gone, p.Hook)
		}
	}
}

// The hashes are those that Codex 0.166.0 tells of these hooks. What was approved
// while a hook called overtone itself has to be approved again.
func TestCodexHash(t *testing.T) {
	t.Parallel()
	earlier, _, err := Apply(nil, Place{}.codexEdits())
	if err != nil {
		t.Fatal(err)
	}
	var state strings.Builder
	for event, want := range map[string]string{
		"session-start": "sha256:e34513e8a9ec15fdb4ef797f38f71db893ba584e89bb1c55f4a128cf474e13ac",
		"pre-tool-use":  "sha256:0e3ca21850ad8a6f21eb156f2844166308e3a63b98fc7424ed06d7c8c0138039",
		"stop":          "sha256:2e9ba083311a6ef81125338457c384c118a21296a3907cf61c394e4db2b82f85",
	} {
		for _, h := range codexHooks {
			if h.command == event {
				group := gjson.GetBytes(earlier, "hooks."+h.event+".0")
				if got := codexHash(event, group, group.Get("hooks.0"), "overtone hook "+event+" --host codex"); got != want {
					t.Errorf("%s: %s", event, got)
				}
			}
		}
		state.WriteString("[hooks.state.\"/c/hooks.json:" + strings.ReplaceAll(event, "-", "_") + ":0:0\"]\ntrusted_hash = \"" + want + "\"\n")
	}
	if a, _ := codexApproved("/c/hooks.json", earlier, []byte(state.String())); a != 3 {
		t.Errorf("of the earlier hooks %d are approved", a)
	}
	now, _, err := Apply(earlier, Place{Hook: "/usr/bin/overtone-hook"}.codexEdits())
	if err != nil {
		t.Fatal(err)
	}
	if a, total := codexApproved("/c/hooks.json", now, []byte(state.String())); a != 0 || total != len(codexHooks) {
		t.Errorf("of the changed hooks %d of %d are approved", a, total)
	}
}
