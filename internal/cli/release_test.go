package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The same source gives the same archive, wherever it is built and whoever builds it,
// and the archive says what is in it. One program stands for all: `make release-check`
// builds a whole release twice.
func TestReleaseIsReproducible(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"node", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
	root := absolute(t, "../..")
	build := func(umask, zone string) []byte {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-c", `set -eu; umask $2; CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -buildvcs=false -trimpath -ldflags "-s -w" -o "$1/out/overtone-hook" ./cmd/overtone-hook
node release/sbom.mjs 1.2.3 "$1/out/sbom" "$1/out/overtone-hook"; cp LICENSE "$1/out"; chmod -R u=rwX,go=rX "$1/out"; python3 release/pack.py "$1/overtone_1.2.3_linux_arm64" "$1/out" 1700000000; python3 release/pack.py "$1/overtone_1.2.3_windows_arm64" "$1/out" 1700000000`, "sh", dir, umask)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "TZ="+zone)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var all []byte
		for _, name := range []string{"overtone_1.2.3_linux_arm64.tar.gz", "overtone_1.2.3_windows_arm64.zip", "out/sbom/overtone-hook.cdx.json"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
			if !strings.HasSuffix(name, ".json") {
				continue
			}
			var bom struct {
				BomFormat  string
				Components []struct{ Purl string }
			}
			if err := json.Unmarshal(data, &bom); err != nil || bom.BomFormat != "CycloneDX" || !strings.Contains(string(data), "pkg:golang/mvdan.cc/sh/v3@v") || !strings.Contains(string(data), "pkg:golang/stdlib@1.") {
				t.Errorf("%v: %s", err, data)
			}
		}
		return all
	}
	if !bytes.Equal(build("022", "UTC"), build("077", "Asia/Taipei")) {
		t.Error("two builds of one source differ")
	}
}

// What a job runs is named by its content: a tag can be moved to something else.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if _, uses, ok := strings.Cut(line, "uses: "); ok && !pinned.MatchString(strings.TrimSpace(uses)) {
				t.Errorf("%s: %s", filepath.Base(file), uses)
			}
		}
	}
}
