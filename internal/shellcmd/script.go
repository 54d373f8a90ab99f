package shellcmd

import "strings"

// sedReadOnly accepts sed without -i and without scripts that write files or
// run commands.
func sedReadOnly(args []arg) bool {
	var scripts []arg
	explicit := false
	var rest []arg
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.maybeOption():
			return false
		case a.Text == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case strings.HasPrefix(a.Text, "--"):
			name, value, has := strings.Cut(a.Text, "=")
			switch name {
			case "--expression":
				if !has {
					if i++; i >= len(args) {
						return false
					}
					scripts = append(scripts, args[i])
				} else {
					scripts = append(scripts, arg{Text: value, Dynamic: a.Dynamic})
				}
				explicit = true
			case "--quiet", "--silent", "--regexp-extended", "--null-data", "--separate", "--posix", "--unbuffered", "--debug", "--sandbox", "--line-length":
			default:
				return false
			}
		case len(a.Text) > 1 && a.Text[0] == '-':
			for j := 1; j < len(a.Text); j++ {
				switch a.Text[j] {
				case 'n', 'r', 'E', 'z', 's', 'u':
				case 'e':
					explicit = true
					if j+1 < len(a.Text) {
						scripts = append(scripts, arg{Text: a.Text[j+1:], Dynamic: a.Dynamic})
					} else {
						if i++; i >= len(args) {
							return false
						}
						scripts = append(scripts, args[i])
					}
					j = len(a.Text)
				default: // -i, -f, -l
					return false
				}
			}
		default:
			rest = append(rest, a)
		}
	}
	if !explicit {
		if len(rest) == 0 {
			return false
		}
		scripts = rest[:1]
	}
	for _, s := range scripts {
		if s.Dynamic || !sedScriptReads(s.Text) {
			return false
		}
	}
	return true
}

// sedScriptReads parses a sed script and reports whether it only edits the
// stream. What it does not understand it refuses.
func sedScriptReads(s string) bool {
	i := 0
	skip := func(set string) {
		for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
			i++
		}
	}
	delimited := func(d byte) bool {
		class := false
		for ; i < len(s); i++ {
			switch {
			case s[i] == '\\':
				i++
			case s[i] == '[' && !class && d != '[':
				class = true
				// A closing bracket that comes first is an ordinary one.
				if strings.HasPrefix(s[i+1:], "^") {
					i++
				}
				if strings.HasPrefix(s[i+1:], "]") {
					i++
				}
			case s[i] == ']':
				class = false
			case s[i] == d && !class:
				i++
				return true
			}
		}
		return false
	}
	address := func() bool {
		switch {
		case i < len(s) && s[i] == '/':
			i++
			if !delimited('/') {
				return false
			}
			skip("IM")
		case i+1 < len(s) && s[i] == '\\':
			i += 2
			if !delimited(s[i-1]) {
				return false
			}
			skip("IM")
		default:
			skip("0123456789$~+")
		}
		return true
	}
	for {
		skip(" \t\n;{}")
		if i >= len(s) {
			return true
		}
		if !address() {
			return false
		}
		skip(" \t")
		if i < len(s) && s[i] == ',' {
			i++
			skip(" \t")
			if !address() {
				return false
			}
		}
		skip(" \t!")
		if i >= len(s) {
			return false
		}
		c := s[i]
		i++
		switch c {
		case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F', 'l', 'q', 'Q':
			skip(" \t0123456789")
			if i < len(s) && strings.IndexByte(";}\n", s[i]) < 0 && c != '{' && c != '}' {
				return false
			}
		case 's', 'y':
			if i >= len(s) {
				return false
			}
			d := s[i]
			i++
			for range 2 {
				if !delimited(d) {
					return false
				}
			}
			skip("gpiIM0123456789 \t")
			if i < len(s) && strings.IndexByte(";}\n#", s[i]) < 0 {
				return false
			}
		case 'a', 'i', 'c', 'r', '#':
			for i < len(s) && s[i] != '\n' {
				if s[i] == '\\' {
					i++
				}
				i++
			}
		case ':', 'b', 't', 'T':
			for i < len(s) && s[i] != '\n' && s[i] != ';' && s[i] != '}' {
				i++
			}
		default: // w, W, e, and what we do not know
			return false
		}
	}
}

// awkReadOnly accepts awk programs that neither redirect, pipe nor call system.
func awkReadOnly(args []arg) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.maybeOption():
			return false
		case a.Text == "-F" || a.Text == "-v":
			i++
		case a.Text == "--":
			i++
			return i < len(args) && !args[i].Dynamic && awkReads(args[i].Text)
		case strings.HasPrefix(a.Text, "-F") || strings.HasPrefix(a.Text, "-v"):
		case strings.HasPrefix(a.Text, "-"):
			return false
		default:
			return !a.Dynamic && awkReads(a.Text)
		}
	}
	return false
}

// awkReads reports whether a program cannot write or run anything. A regular
// expression may hold any character, so no attempt is made to tell > and | in one
// from the operators: output needs a print before them, input from a command a
// getline.
func awkReads(prog string) bool {
	if strings.Contains(prog, "system") || strings.Contains(prog, "@") {
		return false
	}
	pipes := strings.ReplaceAll(prog, "||", "")
	if strings.Contains(pipes, "|") && strings.Contains(prog, "getline") {
		return false
	}
	after := func(text string) bool {
		i := strings.Index(text, "print")
		return i >= 0 && strings.ContainsAny(text[i:], ">|")
	}
	return !after(pipes)
}
