package shellcmd

import (
	"path/filepath"
	"strings"
)

// Aliases are git aliases by lower-case name.
type Aliases map[string]string

// Lookup finds an alias; it fits [Observation].
func (a Aliases) Lookup(name string) (string, bool) {
	v, ok := a[strings.ToLower(name)]
	return v, ok
}

// ReadAliases reads the git aliases that hold in dir: those of the given
// configuration files, the user's for example, and over them the repository's.
// What cannot be read is left out, included files are not followed.
func ReadAliases(dir string, files ...string) Aliases {
	out := Aliases{}
	if gitDir, err := findGitDir(dir); err == nil {
		common := commonDir(gitDir)
		files = append(files[:len(files):len(files)], filepath.Join(common, "config"), filepath.Join(gitDir, "config.worktree"))
	}
	for _, f := range files {
		data, err := readSmall(f, maxConfig)
		if err != nil {
			continue
		}
		parseAliases(string(data), out)
	}
	return out
}

// parseAliases reads the [alias] sections of a git configuration.
func parseAliases(text string, out Aliases) {
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
