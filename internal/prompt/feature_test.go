package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// project makes a project with the given files.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const in = "specs/features/in-progress/"

func TestActiveFeature(t *testing.T) {
	t.Parallel()
	root := project(t, map[string]string{
		in + "beta/tasks.md":   "## Tasks\n- [ ] b1\n- [x] b2\n",
		in + "alpha/tasks.md":  "## Tasks\n- [x] a1\n",
		in + "gamma/":          "",
		in + ".hidden/x":       "",
		in + "0-note.md":       "- [ ] a file is no feature\n",
		in + "Odd Name/none":   "",
		"specs/features/x/y":   "",
		"specs/features/other": "",
	})
	all := []string{"Odd Name", "alpha", "beta", "gamma"}
	for _, tc := range []struct {
		prefer string
		want   Feature
	}{
		{"", Feature{Name: "Odd Name", InProgress: all}},
		{"missing", Feature{Name: "Odd Name", InProgress: all}},
		{"../alpha", Feature{Name: "Odd Name", InProgress: all}},
		{".hidden", Feature{Name: "Odd Name", InProgress: all}},
		{"alpha", Feature{Name: "alpha", Total: 1, Checked: 1, InProgress: all}},
		{"beta", Feature{Name: "beta", Total: 2, Checked: 1, Unchecked: []string{"b1"}, InProgress: all}},
		{"gamma", Feature{Name: "gamma", InProgress: all}},
	} {
		got, ok, err := ActiveFeature(root, tc.prefer)
		if err != nil || !ok {
			t.Fatalf("%q: %v %v", tc.prefer, ok, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q: %s", tc.prefer, diff)
		}
	}
}

func TestNoActiveFeature(t *testing.T) {
	t.Parallel()
	for name, root := range map[string]string{
		"no path":        "",
		"no project":     filepath.Join(t.TempDir(), "none"),
		"no specs":       t.TempDir(),
		"nothing inside": project(t, map[string]string{in: "", in + ".keep": ""}),
	} {
		if f, ok, err := ActiveFeature(root, "x"); ok || err != nil {
			t.Errorf("%s: %v %v %v", name, f, ok, err)
		}
	}
}

func TestUnreadableTasks(t *testing.T) {
	t.Parallel()
	outside := project(t, map[string]string{"tasks.md": "- [ ] secret\n", "dir/tasks.md": "- [ ] secret\n"})
	link := func(t *testing.T, target, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(t *testing.T, root string){
		"link out of the project": func(t *testing.T, root string) {
			link(t, filepath.Join(outside, "tasks.md"), filepath.Join(root, in+"f/tasks.md"))
		},
		"relative link out": func(t *testing.T, root string) {
			link(t, "../../../../../"+filepath.Base(outside)+"/tasks.md", filepath.Join(root, in+"f/tasks.md"))
		},
		"specs is a link out": func(t *testing.T, root string) {
			link(t, outside, filepath.Join(root, "specs"))
		},
		"tasks.md is a folder": func(t *testing.T, root string) {
			os.MkdirAll(filepath.Join(root, in+"f/tasks.md"), 0o755)
		},
		"tasks.md is a pipe": func(t *testing.T, root string) {
			os.MkdirAll(filepath.Join(root, in+"f"), 0o755)
			if err := syscall.Mkfifo(filepath.Join(root, in+"f/tasks.md"), 0o644); err != nil {
				t.Skip(err)
			}
		},
		"too large": func(t *testing.T, root string) {
			os.MkdirAll(filepath.Join(root, in+"f"), 0o755)
			os.WriteFile(filepath.Join(root, in+"f/tasks.md"), []byte(strings.Repeat("- [ ] a\n", maxTasks/8+1)), 0o644)
		},
		"in-progress is a file": func(t *testing.T, root string) {
			os.MkdirAll(filepath.Join(root, "specs/features"), 0o755)
			os.WriteFile(filepath.Join(root, "specs/features/in-progress"), nil, 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			make(t, root)
			f, ok, err := ActiveFeature(root, "")
			if err == nil || ok || f.Total > 0 {
				t.Errorf("%v %v %v", f, ok, err)
			}
			if got := PendingTasks(f, message.PendingTasks, message.ZH); got != "" {
				t.Errorf("001-7.4: %q", got)
			}
			if ticked, err := TickTask(root, "f", "a"); ticked || err == nil {
				t.Errorf("ticked: %v %v", ticked, err)
			}
		})
	}
}

func TestLinkInsideTheProject(t *testing.T) {
	t.Parallel()
	root := project(t, map[string]string{"lists/f.md": "- [ ] DEV\n", in + "f/": ""})
	if err := os.Symlink("../../../../lists/f.md", filepath.Join(root, in+"f/tasks.md")); err != nil {
		t.Fatal(err)
	}
	f, ok, err := ActiveFeature(root, "")
	if err != nil || !ok || f.Total != 1 {
		t.Fatalf("reading through it: %v %v %v", f, ok, err)
	}
	if ticked, err := TickTask(root, "f", "DEV"); ticked || err == nil {
		t.Errorf("written through it: %v %v", ticked, err)
	}
}

func TestTickTask(t *testing.T) {
	t.Parallel()
	root := project(t, map[string]string{in + "f/tasks.md": "## Tasks\r\n- [ ] DEV\r\n"})
	path := filepath.Join(root, in+"f/tasks.md")
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	// What a crash or an attacker left under the temporary name is not followed.
	victim := filepath.Join(root, "victim")
	if err := os.Symlink(victim, path+".tmp"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if ticked, err := TickTask(root, "f", "DEV"); ticked != want || err != nil {
			t.Fatalf("call %d: %v %v", i, ticked, err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "## Tasks\r\n- [x] DEV\r\n" {
		t.Errorf("%q %v", got, err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o664 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("the link was written through")
	}
	for _, name := range []string{"", ".", "..", "../in-progress/f", "a/b", `a\b`, "missing"} {
		if ticked, err := TickTask(root, name, "DEV"); ticked || err == nil {
			t.Errorf("%q: %v %v", name, ticked, err)
		}
	}
}

func TestPendingTasks(t *testing.T) {
	t.Parallel()
	list := func(open, done int) string {
		var b strings.Builder
		b.WriteString("## Tasks\n\n")
		for i := range done {
			b.WriteString("- [x] done" + string(rune('0'+i)) + "\n")
		}
		for i := range open {
			b.WriteString("- [ ] open" + string(rune('0'+i)) + "\n")
		}
		return b.String()
	}
	for _, tc := range []struct {
		name, tasks string
		header      message.Text
		lang        message.Lang
		want        string
	}{
		{
			"001-3.1 001-7.1 some open", list(3, 2), message.PendingTasks, message.ZH,
			"📋 **未完成任務**\nFeature：my-feature（2/5 完成）\n- [ ] open0\n- [ ] open1\n- [ ] open2\n→ 請使用 TaskCreate 重建以上任務的 TaskList，然後繼續執行。",
		},
		{
			"001-3.2 more than five", list(8, 0), message.PendingTasks, message.ZH,
			"📋 **未完成任務**\nFeature：my-feature（0/8 完成）\n- [ ] open0\n- [ ] open1\n- [ ] open2\n- [ ] open3\n- [ ] open4\n... 還有 3 個\n→ 請使用 TaskCreate 重建以上任務的 TaskList，然後繼續執行。",
		},
		{
			"001-8.1 header of SessionStart", list(1, 0), message.PendingTasksResume, message.ZH,
			"📋 **未完成任務（上次 session 中斷）**\nFeature：my-feature（0/1 完成）\n- [ ] open0\n→ 請使用 TaskCreate 重建以上任務的 TaskList，然後繼續執行。",
		},
		{
			"English", list(6, 1), message.PendingTasks, message.EN,
			"📋 **Unfinished tasks**\nFeature: my-feature (1/7 done)\n- [ ] open0\n- [ ] open1\n- [ ] open2\n- [ ] open3\n- [ ] open4\n... and 1 more\n→ Rebuild the TaskList of the tasks above with TaskCreate, then carry on.",
		},
		{"001-3.3 001-7.3 all done", list(0, 3), message.PendingTasks, message.ZH, ""},
		{"no tasks", "# nothing\n", message.PendingTasks, message.ZH, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			root := project(t, map[string]string{in + "my-feature/tasks.md": tc.tasks})
			f, _, err := ActiveFeature(root, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, PendingTasks(f, tc.header, tc.lang)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("001-3.4 001-7.2 no feature", func(t *testing.T) {
		t.Parallel()
		f, ok, err := ActiveFeature(project(t, map[string]string{in: ""}), "")
		if got := PendingTasks(f, message.PendingTasks, message.ZH); ok || err != nil || got != "" {
			t.Error(got, ok, err)
		}
	})
}
