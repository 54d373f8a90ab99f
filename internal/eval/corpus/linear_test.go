package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/eval/cost"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// rounds are n of a story's.
func rounds(n int, each func(i int, d *deed)) (story []deed) {
	for i := range n {
		d := deed{
			at: time.Date(2026, 3, 1, 9, 0, i, 0, time.UTC), prompt: fmt.Sprintf("Please check the file part%d.go, and say `loadCart%d`.", i, i), file: fmt.Sprintf("/work/shop/part%d.go", i%500),
			output: fmt.Sprintf("func loadCart%d() {}\n", i%700), answer: fmt.Sprintf("It was applyCoupon%d.", i%300), tokens: tokens{Input: 10, Output: 5, CacheRead: int64(1000 + i)},
		}
		if each != nil {
			each(i, &d)
		}
		story = append(story, d)
	}
	return story
}

// plans is a session of n plans of ten steps, or, where one is set, of one of n steps.
func plans(n int, one bool) session {
	l := &lines{id: "10000000-0000-4000-8000-000000000001"}
	claudeLines(l, rounds(1, nil))
	times, steps := n, 10
	if one {
		times, steps = 1, n
	}
	for i := range times {
		var todos list
		for k := range steps {
			todos = append(todos, member{"content": fmt.Sprintf("step %d of plan %d", k, i), "activeForm": "x", "status": "pending"})
		}
		call := fmt.Sprint("toolu_plan", i)
		l.add(member{
			"type": "assistant", "uuid": fmt.Sprint("p", i), "parentUuid": nil, "sessionId": l.id, "timestamp": iso(time.Unix(1772355600+int64(i), 0).UTC(), i),
			"message": member{"role": "assistant", "content": list{member{"type": "tool_use", "id": call, "name": "TodoWrite", "input": member{"todos": todos}}}},
		})
		l.add(member{
			"type": "user", "uuid": fmt.Sprint("q", i), "parentUuid": fmt.Sprint("p", i), "sessionId": l.id, "timestamp": iso(time.Unix(1772355600+int64(i), 0).UTC(), i),
			"message": member{"role": "user", "content": list{member{"type": "tool_result", "tool_use_id": call, "content": "ok"}}},
		})
	}
	return session{name: "plans", host: host.ClaudeCode, id: l.id, cwd: "/work/shop", data: l.out.Bytes()}
}

// written has a way to grow for each host, whose writers are those of the made-up ones.
func written(i int, story func(n int) []deed) func(n int) []session {
	return func(n int) []session {
		l := &lines{id: fmt.Sprintf("%d0000000-0000-4000-8000-000000000001", i+1)}
		[]func(*lines, []deed){claudeLines, codexLines, copilotLines, opencodeRows, geminiLines}[i](l, story(n))
		return []session{{name: "grown", host: host.All()[i].Name, id: l.id, cwd: "/work/shop", data: l.out.Bytes()}}
	}
}

// grown are sessions that grow in one way.
func grown() map[string]func(n int) []session {
	ways := map[string]func(n int) []session{
		"plans":     func(n int) []session { return []session{plans(n, false)} },
		"plan size": func(n int) []session { return []session{plans(n, true)} },
		"sessions": func(n int) (all []session) {
			for i := range n / 10 {
				l := &lines{id: fmt.Sprintf("10000000-0000-4000-8000-%012d", i)}
				claudeLines(l, rounds(3, nil))
				all = append(all, session{name: l.id, host: host.ClaudeCode, id: l.id, cwd: "/work/shop", data: l.out.Bytes()})
			}
			return all
		},
	}
	for i, h := range host.All() {
		few := func(change func(n int, d *deed)) func(n int) []session {
			return written(i, func(n int) []deed { return rounds(4, func(_ int, d *deed) { change(n, d) }) })
		}
		ways["prompts of "+string(h.Name)] = written(i, func(n int) []deed { return rounds(n, nil) })
		ways["compactions of "+string(h.Name)] = written(i, func(n int) []deed {
			return rounds(n, func(i int, d *deed) { d.compacted = i%10 == 9 })
		})
		ways["output of "+string(h.Name)] = few(func(n int, d *deed) { d.output = strings.Repeat(d.output, 1+n) })
		ways["prompt of "+string(h.Name)] = few(func(n int, d *deed) { d.prompt = strings.Repeat(d.prompt+" ", 1+n/4) })
		ways["run of letters of "+string(h.Name)] = few(func(n int, d *deed) {
			d.prompt = strings.Repeat("deadbeef", n*10)
			d.output, d.answer = d.prompt, d.prompt
		})
	}
	return ways
}

// costs are the bytes that a command allocates, and the processor's time.
func (h *home) costs(args ...string) (uint64, time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cost.CPU()
	h.run(args...)
	took := cost.CPU() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

// Sixteen times the session is about sixteen times the work, for every command in whatever
// a session can have many or much of.
func TestLinearCommands(t *testing.T) {
	const n = 75
	commands := [][]string{
		{"sessions", "--json"},
		{"audit", "--json"},
		{"recall", "loadCart1", "file", "--json"},
		{"compact", "explain", "ID", "--json"},
		{"compact", "packet", "ID", "--json", "--why"},
		{"compress", "ID", "--dry-run", "--json"},
		{"timeline", "ID", "--json"},
		{"export", "ID", "-o", "-"},
		{"audit", "--tune", "--json"},
		{"audit", "--lost", "--json"},
		{"continue", "ID", "--in", "codex", "--dry-run", "--json"},
		{"continue", "ID", "--in", "claude-code", "--dry-run", "--json"},
	}
	for name, make := range grown() {
		type spent struct {
			bytes uint64
			took  time.Duration
		}
		rows := map[int][]spent{}
		for _, size := range []int{n, 16 * n} {
			h, err := newHome(time.Now())
			if err != nil {
				t.Fatal(err)
			}
			all := make(size)
			for _, s := range all {
				if err := h.place(s); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.ready(); err != nil {
				t.Fatal(err)
			}
			h.run("config") // what is built on first use
			for _, args := range commands {
				args = slices.Clone(args)
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "ID", all[0].id)
				}
				bytes, took := h.costs(args...)
				rows[size] = append(rows[size], spent{bytes, took})
			}
			if err := h.remove(); err != nil {
				t.Fatal(err)
			}
		}
		for i, args := range commands {
			part, whole := rows[n][i], rows[16*n][i]
			if whole.bytes > 24*part.bytes { // buffers grow in steps
				t.Errorf("%s, %v: %d bytes, %d for a sixteenth of it", name, args, whole.bytes, part.bytes)
			}
			if whole.took > 48*part.took+100*time.Millisecond {
				t.Errorf("%s, %v: %v, %v for a sixteenth of it", name, args, whole.took, part.took)
			}
		}
	}
}

// Ten thousand prompts are carried over in about ten times the work of a thousand.
func TestLinearContinue(t *testing.T) {
	took := map[int]time.Duration{}
	bytes := map[int]uint64{}
	for _, n := range []int{1000, 10_000} {
		h, err := newHome(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		s := grown()["prompts of claude-code"](n)[0]
		if err := h.place(s); err != nil {
			t.Fatal(err)
		}
		h.run("config")
		bytes[n], took[n] = h.costs("continue", s.id, "--in", "codex", "--dry-run", "--json")
		if err := h.remove(); err != nil {
			t.Fatal(err)
		}
	}
	if bytes[10_000] > 12*bytes[1000] || took[10_000] > 25*took[1000]+200*time.Millisecond {
		t.Errorf("%v, %v", bytes, took)
	}
}
