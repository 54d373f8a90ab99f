package cli_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Every user of the machine can read what a browser was started with. What --open
// starts it with holds no token, and leads to the page once.
func TestDashboardOpen(t *testing.T) {
	t.Parallel()
	program := build(t, "../../cmd/overtone", filepath.Join(t.TempDir(), "overtone"))
	home, bin := t.TempDir(), t.TempDir()
	argv := filepath.Join(home, "argv")
	if err := syscall.Mkfifo(argv, 0o600); err != nil {
		t.Fatal(err)
	}
	opener := "#!/bin/sh\ntr '\\0' '\\n' </proc/$$/cmdline >'" + argv + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(opener), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "dashboard", "--open", "--json")
	cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "LANG=C"}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	var told struct{ URL, Token string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&told); err != nil || told.Token == "" {
		t.Fatal(told, err)
	}
	seen, err := os.ReadFile(argv)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(seen), told.Token) || strings.Contains(string(seen), "token") {
		t.Errorf("the browser is started with the token: %s", seen)
	}
	words := strings.Fields(string(seen))
	url := words[len(words)-1]
	for i, want := range []int{http.StatusSeeOther, http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != want {
			t.Errorf("time %d: %s, %v\n%s", i+1, res.Status, err, body)
		}
		if to := res.Header.Get("Location"); i == 0 && !strings.HasSuffix(told.URL, to) {
			t.Errorf("it leads to %s, not to %s", to, told.URL)
		}
	}
}
