package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// english is two words of English in a row that are no command of ours.
var (
	english  = regexp.MustCompile(`\b[A-Za-z']{2,} [a-z']{2,}\b`)
	commands = regexp.MustCompile(`\bovertone( [a-z-]+)*`)
)

// Whoever reads Chinese is refused in Chinese, with what to do next, also by the
// system and for what is no YAML. What a service says in its own words stays.
func TestRefusalsInChinese(t *testing.T) {
	t.Parallel()
	var s service
	s.reply = func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	refusing := s.start(t)
	empty := service{reply: func(_ int, w http.ResponseWriter) bool {
		_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"{\"text\":\"\"}"},"finish_reason":"stop"}],"usage":{}}`))
		return true
	}}
	answersNothing := empty.start(t)
	all := "compress " + serviceSession + " --bands 0-100:compress"
	for _, row := range []struct {
		file, content string // a file of the home
		env           string
		args          string
		warns         bool // it is done all the same
	}{
		{args: "compress"},
		{args: "compress ffff"},
		{args: "compress ../../x"},
		{args: "compress a b"},
		{args: "compress " + serviceSession + " --bands 0-50"},
		{args: "compress " + serviceSession + " --bands a-50:compress"},
		{args: "compress " + serviceSession + " --bands 0-b:compress"},
		{args: "compress " + serviceSession + " --bands 60-50:compress"},
		{args: "compress " + serviceSession + " --bands 0-120:compress"},
		{args: "compress " + serviceSession + " --bands 0-50:squeeze"},
		{args: "compress " + serviceSession + " --bands 0-50:compress,40-70:compress"},
		{args: "compress " + serviceSession + " --tools 0-50:remove,40-70:remove"},
		{args: "compress " + serviceSession + " --thinking some"},
		{args: "compress " + serviceSession + " --preset soft"},
		{args: "compress " + serviceSession + " --bands="},
		{args: "compress " + serviceSession + " --squeeze"},
		{args: "compress " + serviceSession + " --min-tokens many"},
		{args: all + " --users maybe"},
		{args: all + " --provider nobody"},
		{args: all + " --provider openai"},
		{args: all + " --provider anthropic"},
		{args: all + " --provider openai --base-url " + refusing},
		{args: all + " --provider openai --base-url " + answersNothing},
		{args: all + " --provider openai --base-url http://127.0.0.1:1/v1"},
		{file: "plain.jsonl", content: "hello\n", args: "compress HOME/plain.jsonl"},
		{file: ".copilot/session-state/c0c0c0c0-aaaa-4bbb-8ccc-000000000001/events.jsonl", args: "compress c0c0", content: `{"type":"session.start","data":{"sessionId":"c0c0c0c0-aaaa-4bbb-8ccc-000000000001","copilotVersion":"1.0.102","context":{"cwd":"/w"}},"id":"1","timestamp":"2026-11-15T13:00:00.000Z","parentId":null}` + "\n"},

		{file: ".overtone/config.yaml", content: "workflow:\n  strict: true\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "compact:\n  mode: sometimes\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "compact: 5\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "compact:\n  mode: [off]\n  threshold_bytes: -3\n  trigger: {early_percent_remaining_lt: many}\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "strict: maybe\nstrict: true\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "compress:\n  base_url: ftp://x\n  min_tokens: 1.5\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "workflow:\n  barrier_timeout: soon\n  max_retries: 500\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "language: &x en\nprices: {mine: {input: 3}}\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "- a\n- b\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "strict: \xff\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "strict: " + strings.Repeat("[", 40) + "\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: strings.Repeat("#\n", 5000), args: all, warns: true},
		{file: ".overtone/config.yaml", content: "compact:\n\tmode: off\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "compact: {mode: off\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "language: 'en\n", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "language: en: zh\n", args: all, warns: true},
		{file: ".overtone/config.yaml/is/a/folder", args: all, warns: true},
		{env: "OVERTONE_STRICT=maybe", args: all, warns: true},
		{env: "OVERTONE_COMPACT_MODE=sometimes", args: all, warns: true},
		{env: "OVERTONE_COMPACT_THRESHOLD_MB=0", args: all, warns: true},
		{env: "CLAUDE_PIPELINE_MAX_RETRIES=500", args: all, warns: true},
		{file: ".overtone/config.yaml", content: "workflow:\n  strict: true\n", args: "config", warns: true},
		{file: ".overtone/config.yaml", content: "workflow:\n  strict: true\n", args: "workflow start quick --session " + serviceSession, warns: true},
		{file: ".overtone/config.yaml", content: "compact: {mode: off}\n", args: "init --yes --host claude-code --mode suggest"},
		{file: ".overtone/auto-compact.md", content: "---\ncompact:\n", args: "config", warns: true},
		{file: ".overtone/auto-compact.md/is/a/folder", args: "config", warns: true},
		{file: "policy.yaml", content: "compact:\n  trigger: {early_percent_remaining_lt: 900}\n", args: "audit --policy HOME/policy.yaml"},
		{file: "policy.yaml/is/a/folder", args: "audit --policy HOME/policy.yaml"},

		{args: "nothing"},
		{args: "workflow nothing"},
		{args: "audit --since yesterday"},
		{args: "audit --policy HOME/none.yaml"},
		{args: "audit --host cursor"},
		{args: "continue ffff"},
		{args: "continue " + serviceSession + " --in cursor"},
		{args: "continue " + serviceSession + " --run --json"},
		{args: "compact explain --session ../../x"},
		{args: "compact packet --session " + serviceSession + " --compaction -1"},
		{args: "sessions rm ffff"},
		{args: "sessions rm " + serviceSession + " --yes"},
		{args: "sessions -n 0"},
		{args: "recall zyzzyva"},
		{args: "recall 14045ce5"},
		{args: "recall !"},
		{args: "timeline --session " + serviceSession + " --type nothing"},
		{args: "dashboard --port 99999"},
		{args: "init --host cursor"},
		{args: "init --mode sometimes"},
		{args: "completion tcsh"},
		{args: "watch claude --bin no-such-claude hello"},
		{args: "workflow start nothing --session " + serviceSession},
		{args: "workflow start none --session " + serviceSession},
		{args: "workflow skip DEV --session " + serviceSession},
		{args: "workflow run DEV --session " + serviceSession},
		{args: "workflow new x"},
		{args: "workflow trust nothing"},
		{file: ".overtone/workflows/mine.yaml", content: "stages: [DEV, NOTHING]\nextra: 1\n", args: "workflow check mine"},
		{file: ".overtone/workflows/mine.yaml", content: "stages: [DEV\n", args: "workflow check mine"},
	} {
		vars := map[string]string{"OVERTONE_LANG": "zh-TW", "OPENAI_API_KEY": ""}
		if strings.Contains(row.args, "127.0.0.1") {
			vars["OPENAI_API_KEY"] = "k"
		}
		if key, value, ok := strings.Cut(row.env, "="); ok {
			vars[key] = value
		}
		env, out, errs := compressWorld(t, vars)
		if row.file != "" {
			path := filepath.Join(env.Dir, row.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(row.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code := cli.Main(strings.Fields(strings.ReplaceAll(row.args, "HOME", env.Dir)), env)
		said := errs.String()
		if !row.warns && strings.Contains(row.args, "check") {
			said += out.String()
		}
		plain := strings.NewReplacer(env.Dir, "", "dial tcp", "",
			"provider openai", "", "provider anthropic", "", "provider builtin", "", "openai gpt", "", "front matter", "").Replace(said)
		if (code == 0) != row.warns || !regexp.MustCompile(`\p{Han}`).MatchString(said) || english.MatchString(commands.ReplaceAllString(plain, "")) || strings.Contains(said, "%!") {
			t.Errorf("overtone %s with %s%.60q: exit %d\n%s", row.args, row.env, row.content, code, said)
		}
	}
}
