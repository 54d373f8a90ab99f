package hook

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opened watches a folder and tells which of its files were opened since it was asked
// last; the folder itself is ".".
func opened(t *testing.T, dir string) func() []string {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if _, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN); err != nil {
		t.Skip(err)
	}
	return func() []string {
		names := []string{}
		buf := make([]byte, 64<<10)
		for {
			n, err := syscall.Read(fd, buf)
			if err != nil || n <= 0 {
				return names
			}
			for at := 0; at+syscall.SizeofInotifyEvent <= n; {
				size := int(binary.NativeEndian.Uint32(buf[at+12:]))
				name := strings.TrimRight(string(buf[at+syscall.SizeofInotifyEvent:at+syscall.SizeofInotifyEvent+size]), "\x00")
				if name == "" {
					name = "."
				}
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
				at += syscall.SizeofInotifyEvent + size
			}
		}
	}
}

// Starting opens the file of that name and no other; the run has its graph, labels
// and agents from then on, and no later hook opens a workflow's file, whatever
// becomes of it.
func TestOnlyStartingReadsAWorkflowsFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := p.write("project/.overtone/workflows/mine.yaml", "label: Mine\nstages:\n  - DEV\n  - stage: STYLE\n    label: Looks\n    emoji: 💅\n    agent: stylist\n    judges: true\n  - DOCS\n")
	p.write("project/.overtone/workflows/other.yaml", "stages: [DEV]\n")
	look := opened(t, p.dir+"/project/.overtone/workflows")
	p.call("user-prompt-submit", "claude-code", `"prompt":"[workflow:mine] x"`)
	if diff := cmp.Diff([]string{"mine.yaml"}, look()); diff != "" {
		t.Fatalf("opened (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(path, []byte("stages: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	look()
	const style = `"agent_id":"a2","agent_type":"stylist"`
	for _, s := range []step{
		{event: "pre-tool-use", in: hireDev},
		{event: "subagent-start", in: devBegun},
		{event: "pre-tool-use", in: `"tool_name":"Bash","tool_input":{"command":"rm x"}`},
		{event: "subagent-stop", in: devDone},
		{event: "stop"},
		{event: "user-prompt-submit", in: `"prompt":"go on"`, says: []string{"STYLE", "stylist"}},
		{event: "pre-tool-use", in: `"tool_name":"Agent","tool_use_id":"t2","tool_input":{"subagent_type":"stylist","prompt":"x"}`, says: []string{"NODE_CONTEXT"}},
		{event: "subagent-start", in: style},
		{event: "subagent-stop", in: style + `,"last_assistant_message":"<!-- PIPELINE_ROUTE: {\"verdict\":\"FAIL\",\"route\":\"DEV\",\"severity\":\"HIGH\"} -->"`},
		{event: "post-tool-batch"},
		{event: "pre-compact", in: `"trigger":"manual"`},
		{event: "session-start", in: `"source":"compact"`, says: []string{"⬜💅"}},
		{event: "session-start", in: `"source":"resume"`},
	} {
		out, errs := p.call(s.event, "claude-code", s.in)
		for _, want := range s.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s says %q, not %q (%s)", s.event, out, want, errs)
			}
		}
		if names := look(); len(names) > 0 {
			t.Errorf("%s opened %v", s.event, names)
		}
	}
}
