package shellcmd

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Publishes reports whether the line has to do with a pull request at all.
func Publishes(line string) bool {
	cmds, err := parse(line)
	if err != nil {
		return false
	}
	_, _, ok := prCommand(cmds)
	return ok
}

// Checkpointed reports whether the line opened, published, merged, closed,
// reopened or reviewed a pull request with gh or Graphite's gt, and it worked.
// Asking for help, a dry run and opening a browser do not count, nor does git
// push. Where the exit status is another command's, or not known, the output
// decides: the address of a new pull request, the program's own word that it
// failed, or nothing at all from a command that always says something.
func Checkpointed(o Observation) bool {
	cmds, err := parse(o.Line)
	if err != nil {
		return false
	}
	name, c, ok := prCommand(cmds)
	if !ok {
		return false
	}
	// gh refuses to open a second pull request for a branch, and prints the
	// address of the first.
	existing := strings.Contains(o.Output, "already exists:\n")
	published := !existing && pullURL().MatchString(o.Output)
	switch {
	case o.Exit != nil && *o.Exit != 0:
		return published && !c.Hidden
	case o.Exit != nil && c.Decides:
		return true
	case existing || prFailure().MatchString(o.Output):
		return false
	case c.Hidden || o.Exit == nil && o.Output == "":
		return true
	case name == "gh pr create":
		return published
	}
	return o.Output != ""
}

var pullURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^https?://\S+/pull/\d+\s*$`)
})

var prFailure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?mi)\b(gh|gt): (command )?not found|^(error|aborted|failed|fatal|ERROR):|^GraphQL: |pull request (create|merge) failed|^no pull requests found|^must (first push|provide)|(?-i:^X )|could not `)
})

func prCommand(cmds []command) (string, command, bool) {
	for _, c := range cmds {
		var name string
		switch c.name() {
		case "gh":
			name = ghCommand(c.Args[1:])
		case "gt":
			name = gtCommand(c.Args[1:])
		}
		if name != "" {
			return name, c, true
		}
	}
	return "", command{}, false
}

func ghCommand(args []arg) string {
	verb, ok := strings.CutPrefix(firstWords(options(args, valueFlags{short: "R", long: named("--repo", "--hostname")})), "pr ")
	if verb == "new" {
		verb = "create"
	}
	if !ok || !slices.Contains([]string{"create", "merge", "close", "reopen", "review"}, verb) {
		return ""
	}
	list := options(args, ghValues(verb))
	if asks(list, "--help", "-h", "--dry-run", "--disable-auto") || verb == "create" && asks(list, "--web", "-w") {
		return ""
	}
	return "gh pr " + verb
}

// ghValues are the options of gh pr's subcommands that take a value, so that a
// title such as "--dry-run" is not taken for the option.
func ghValues(verb string) valueFlags {
	switch verb {
	case "create":
		return valueFlags{short: "aBbFHlmprtTR", long: named("--assignee", "--base", "--body", "--body-file", "--head", "--label", "--milestone", "--project", "--reviewer", "--title", "--template", "--recover", "--repo")}
	case "merge":
		return valueFlags{short: "AbFtR", long: named("--author-email", "--body", "--body-file", "--subject", "--match-head-commit", "--repo")}
	case "review":
		return valueFlags{short: "bFR", long: named("--body", "--body-file", "--repo")}
	}
	return valueFlags{short: "cR", long: named("--comment", "--repo")}
}

func gtCommand(args []arg) string {
	list := options(args, valueFlags{short: "m", long: named("--message", "--cwd", "--branch", "--reviewers", "--team-reviewers", "--comment", "--target-trunk")})
	verb, second, _ := strings.Cut(firstWords(list), " ")
	switch verb {
	case "stack", "branch", "upstack", "downstack":
		if second != "submit" && (second != "create" || verb != "branch") {
			return ""
		}
		verb += " " + second
	case "submit", "ss", "create", "review", "land":
	default:
		return ""
	}
	if asks(list, "--help", "-h", "--dry-run") {
		return ""
	}
	return "gt " + verb
}

// valueFlags are a program's options that take a value: short ones, short ones that
// may have one attached, and long ones.
type valueFlags struct {
	short, perhaps string
	long           func(name string) bool
}

func named(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// option is one option with its value; a word that is none has no name.
type option struct {
	name  string
	value arg
}

// options takes arguments apart, clusters too.
func options(args []arg, v valueFlags) (list []option) {
	for i := 0; i < len(args) && args[i].Text != "--"; i++ {
		a := args[i].Text
		value := func(attached string, takes bool) arg {
			if attached == "" && takes && i+1 < len(args) {
				i++
				return args[i]
			}
			return arg{Text: attached, Dynamic: args[i].Dynamic}
		}
		switch {
		case len(a) < 2 || a[0] != '-':
			list = append(list, option{value: args[i]})
		case a[1] == '-':
			name, attached, has := strings.Cut(a, "=")
			list = append(list, option{name, value(attached, !has && v.long(name))})
		default:
			for j := 1; j < len(a); j++ {
				takes := strings.IndexByte(v.short, a[j]) >= 0
				o := option{name: "-" + a[j:j+1]}
				if takes || strings.IndexByte(v.perhaps, a[j]) >= 0 {
					o.value, j = value(a[j+1:], takes), len(a)
				}
				list = append(list, o)
			}
		}
	}
	return list
}

// firstWords are the first two words that are not options or their values.
func firstWords(list []option) string {
	var words []string
	for _, o := range list {
		if o.name == "" && len(words) < 2 {
			words = append(words, o.value.Text)
		}
	}
	return strings.Join(words, " ")
}

// asks reports whether one of these options is set.
func asks(list []option, names ...string) bool {
	return slices.ContainsFunc(list, func(o option) bool { return slices.Contains(names, o.name) && o.value.Text != "false" })
}
