package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Settings that a page shows are settings that the program takes: each sample is
// read as the user's file would be, and so is each value that a comment behind a key,
// or a key in the running text, offers.
func TestSamples(t *testing.T) {
	t.Parallel()
	pages := pagesOf(t)
	files, lines := 0, 0
	for _, page := range append(pages, "../../README.md", "../../SECURITY.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks, prose := fenced(string(data))
		for _, block := range blocks {
			for _, sample := range settingsIn(block) {
				files++
				for _, text := range append(offered(sample), sample) {
					refused(t, page, text, nil)
				}
			}
		}
		for _, text := range spoken(filepath.Base(page), prose) {
			lines++
			refused(t, page, text, nil)
		}
		for _, m := range regexp.MustCompile(`\b([A-Z_]+)=([^\s`+"`"+`]+)`).FindAllStringSubmatch(string(data), -1) {
			refused(t, page, "", func(name string) string {
				if name == m[1] {
					return m[2]
				}
				return ""
			})
		}
	}
	if files < 2 || lines < 5 {
		t.Errorf("only %d files and %d lines of settings were found", files, lines)
	}
}

// The test above finds what it is made for.
func TestSamplesAreRead(t *testing.T) {
	t.Parallel()
	page := "Set `workflow.strict: true` or `compact.mode: tag`, see `workflow.json` and `cleanup.after_days`.\n" +
		"```sh\ncat > ~/.overtone/config.yaml <<'YAML'\ncompact:\n  mode: tag  # how: off, tag or never\nlanguage: en # mine\nYAML\necho\n```\n" +
		"```yaml\n# .overtone/workflows/x.yaml\nstages: []\n```\n```json\n{\"strict\": true}\n```\n"
	blocks, prose := fenced(page)
	var got []string
	for _, b := range blocks {
		for _, s := range settingsIn(b) {
			got = append(append(got, s), offered(s)...)
		}
	}
	got = append(got, spoken("x.md", prose)...)
	sample := "compact:\n  mode: %s  # how: off, tag or never\nlanguage: en # mine\n"
	want := []string{
		fmt.Sprintf(sample, "tag"), fmt.Sprintf(sample, "off"), fmt.Sprintf(sample, "tag"), fmt.Sprintf(sample, "never"), "{\"strict\": true}\n",
		"workflow:\n  strict: true\n", "compact:\n  mode: tag\n", "cleanup:\n  after_days: null\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func refused(t *testing.T, page, text string, getenv func(string) string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, problems := Load(path, getenv)
	for _, p := range problems {
		p.File = filepath.Base(page)
		t.Errorf("%v\n%s", p, text)
	}
}

type fence struct{ kind, text string }

// fenced takes a page apart into its blocks and what stands around them.
func fenced(page string) (blocks []fence, prose string) {
	var open *fence
	for line := range strings.Lines(page) {
		kind, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && open == nil:
			open = &fence{kind: kind}
		case isFence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line
		default:
			prose += line
		}
	}
	return blocks, prose
}

// settingsIn are the settings that a block shows: the block itself, or what a script
// writes into a YAML file. A block that names another file in its first line is not
// ours.
func settingsIn(b fence) (samples []string) {
	if b.kind == "yaml" || b.kind == "json" {
		if strings.HasPrefix(b.text, "# .overtone/workflows/") {
			return nil // TestWorkflowGuide runs it
		}
		return []string{b.text}
	}
	end, text := "", ""
	for line := range strings.Lines(b.text) {
		switch m := regexp.MustCompile(`\.yaml <<'?(\w+)'?$`).FindStringSubmatch(strings.TrimSpace(line)); {
		case end == "" && m != nil:
			end, text = m[1], ""
		case end != "" && strings.TrimSpace(line) == end:
			samples, end = append(samples, text), ""
		default:
			text += line
		}
	}
	return samples
}

// offered is a sample with each of the values that a comment lists: a comment whose
// last part is a list of words, one of which is the value.
func offered(sample string) (samples []string) {
	for line := range strings.Lines(sample) {
		m := regexp.MustCompile(`^(\s*\w+: )(\S+)(\s+# )(.*)\n`).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		list := regexp.MustCompile(`, | or `).Split(m[4][strings.LastIndex(m[4], ": ")+1:], -1)
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		if !slices.Contains(list, m[2]) {
			continue
		}
		for _, word := range list {
			samples = append(samples, strings.Replace(sample, line, m[1]+word+m[3]+m[4]+"\n", 1))
		}
	}
	return samples
}

// spoken are the keys of settings that the running text names, with their value
// where it stands there. The reference has names of other things, too, and its keys
// come from the program.
func spoken(page, prose string) (samples []string) {
	if page == "reference.md" {
		return nil
	}
	var sections []string
	for _, k := range Keys() {
		sections = append(sections, strings.Split(k.Key, ".")[0])
	}
	for _, m := range regexp.MustCompile("`([a-z_]+)((?:\\.[a-z_]+)*)(: [^`]+)?`").FindAllStringSubmatch(prose, -1) {
		isFile := m[3] == "" && slices.Contains([]string{".json", ".jsonl", ".yaml"}, m[2])
		if !slices.Contains(sections, m[1]) || m[2]+m[3] == "" || isFile {
			continue
		}
		text, depth := m[1], 0
		for part := range strings.SplitSeq(strings.TrimPrefix(m[2], "."), ".") {
			if part != "" {
				depth++
				text += ":\n" + strings.Repeat("  ", depth) + part
			}
		}
		value := m[3]
		if value == "" {
			value = ": null"
		}
		samples = append(samples, text+value+"\n")
	}
	return samples
}

// pagesOf are the pages of the documentation, also those for who looks inside.
func pagesOf(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"../../docs/*.md", "../../docs/internals/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, found...)
	}
	return pages
}
