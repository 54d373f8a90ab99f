package shellcmd

import "testing"

// Row 13 of the Codex findings: a pull request that is there already is no
// checkpoint, whether or not the host tells how the command ended.
func TestCodexRow13_ExistingPullRequest(t *testing.T) {
	t.Parallel()
	const out = "a pull request for branch \"x\" into branch \"main\" already exists:\nhttps://example.test/o/r/pull/7\n"
	one := 1
	for _, exit := range []*int{&one, nil} {
		if Checkpointed(Observation{Line: "gh pr create --fill", Output: out, Exit: exit}) {
			t.Errorf("exit %v: counted", exit)
		}
	}
	zero := 0
	if !Checkpointed(Observation{Line: "gh pr create --fill", Output: "https://example.test/o/r/pull/8\n", Exit: &zero}) {
		t.Error("a new one does not count")
	}
}
