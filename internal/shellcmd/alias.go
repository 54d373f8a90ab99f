package shellcmd

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// UserAliases returns a lookup for the git aliases that hold in dir: the user's,
// and over them the repository's. Hooks and watchers share it, so that a line
// means the same to both. Files are read at the first question, because most
// lines ask none; what cannot be read is left out, included files are not
// followed. getenv may be nil.
func UserAliases(dir, home string, getenv func(string) string) func(name string) (string, bool) {
	read := sync.OnceValue(func() map[string]string {
		files := userConfigs(home, getenv)
		if gitDir, err := findGitDir(dir); err == nil {
			files = append(files, filepath.Join(commonDir(gitDir), "config"), filepath.Join(gitDir, "config.worktree"))
		}
		out := map[string]string{}
		for _, f := range files {
			if data, err := config.ReadFile(f, maxConfig); err == nil {
				parseAliases(string(data), out)
			}
		}
		return out
	})
	return func(name string) (string, bool) {
		v, ok := read()[strings.ToLower(name)]
		return v, ok
	}
}

// userConfigs are the user's git configuration files in git's own order: the
// later one wins, and GIT_CONFIG_GLOBAL stands for both.
func userConfigs(home string, getenv func(string) string) []string {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	if file := getenv("GIT_CONFIG_GLOBAL"); file != "" {
		return []string{file}
	}
	var files []string
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		files = append(files, filepath.Join(dir, "git", "config"))
	} else if home != "" {
		files = append(files, filepath.Join(home, ".config", "git", "config"))
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// parseAliases reads the [alias] sections of a git configuration.
func parseAliases(text string, out map[string]string) {
	in := false
	for len(text) > 0 {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, ok := strings.Cut(line[1:], "]")
			if !ok {
				in = false
				continue
			}
			in = strings.EqualFold(strings.TrimSpace(name), "alias")
			line = strings.TrimSpace(rest)
		}
		if !in || line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		for strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, `\\`) && text != "" {
			var more string
			more, text, _ = strings.Cut(text, "\n")
			line = line[:len(line)-1] + strings.TrimSuffix(more, "\r")
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		out[strings.ToLower(strings.TrimSpace(name))] = configValue(value)
	}
}

// configValue removes quotes, escapes and comments from a configuration value.
func configValue(s string) string {
	var b strings.Builder
	quoted := false
	s = strings.TrimSpace(s)
	keep := 0 // trailing blanks count only inside quotes
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			quoted = !quoted
			keep = b.Len()
			continue
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			default:
				b.WriteByte(s[i])
			}
			keep = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:keep]
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			keep = b.Len()
		}
	}
	return b.String()[:keep]
}
