package shellcmd

import (
	"testing"
)

var benchLine = "cd repo && git add -A && git commit -m \"$(cat <<'EOF'\nfeat: importer\n\nbody\nEOF\n)\" && git push"

func BenchmarkCommitted(b *testing.B) {
	exit := 0
	o := Observation{Line: benchLine, Cwd: "/", Output: "[main abcdef0] feat: importer\n 1 file changed\n", Exit: &exit}
	for b.Loop() {
		Committed(o)
	}
}

func BenchmarkReadOnly(b *testing.B) {
	for b.Loop() {
		ReadOnly(`cd repo && git log --oneline -5 | head -3; grep -rn "x" . 2>/dev/null | sort | uniq -c`)
	}
}
