package shellcmd_test

import (
	"testing"

	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

var benchLine = "cd repo && git add -A && git commit -m \"$(cat <<'EOF'\nfeat: importer\n\nbody\nEOF\n)\" && git push"

func BenchmarkCommitted(b *testing.B) {
	exit := 0
	o := shellcmd.Observation{Line: benchLine, Cwd: "/", Output: "[main abcdef0] feat: importer\n 1 file changed\n", Exit: &exit}
	for b.Loop() {
		shellcmd.Committed(o)
	}
}

func BenchmarkReadOnly(b *testing.B) {
	for b.Loop() {
		shellcmd.ReadOnly(`cd repo && git log --oneline -5 | head -3; grep -rn "x" . 2>/dev/null | sort | uniq -c`)
	}
}
