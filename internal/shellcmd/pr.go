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
	words := plainWords(args, valueFlags{"R", []string{"--repo", "--hostname"}}, 2)
	if len(words) < 2 || words[0] != "pr" {
		return ""
	}
	verb := words[1]
	if verb == "new" {
		verb = "create"
	}
	switch verb {
	case "create", "merge", "close", "reopen", "review":
	default:
		return ""
	}
	for _, f := range optionNames(args, ghValues(verb)) {
		switch {
		case f == "--help" || f == "-h" || f == "--dry-run" || f == "--disable-auto":
			return ""
		case (f == "--web" || f == "-w") && verb == "create":
			return ""
		}
	}
	return "gh pr " + verb
}

type valueFlags struct {
	short string
	long  []string
}

// ghValues are the options of gh pr's subcommands that take a value, so that a
// title such as "--dry-run" is not taken for the option.
func ghValues(verb string) valueFlags {
	switch verb {
	case "create":
		return valueFlags{"aBbFHlmprtTR", []string{"--assignee", "--base", "--body", "--body-file", "--head", "--label", "--milestone", "--project", "--reviewer", "--title", "--template", "--recover", "--repo"}}
	case "merge":
		return valueFlags{"AbFtR", []string{"--author-email", "--body", "--body-file", "--subject", "--match-head-commit", "--repo"}}
	case "review":
		return valueFlags{"bFR", []string{"--body", "--body-file", "--repo"}}
	}
	return valueFlags{"cR", []string{"--comment", "--repo"}}
}

func gtCommand(args []arg) string {
	values := valueFlags{"m", []string{"--message", "--cwd", "--branch", "--reviewers", "--team-reviewers", "--comment", "--target-trunk"}}
	words := plainWords(args, values, 2)
	if len(words) == 0 {
		return ""
	}
	verb := words[0]
	switch verb {
	case "stack", "branch", "upstack", "downstack":
		if len(words) < 2 || words[1] != "submit" && (words[1] != "create" || verb != "branch") {
			return ""
		}
		verb += " " + words[1]
	case "submit", "ss", "create", "review", "land":
	default:
		return ""
	}
	for _, f := range optionNames(args, values) {
		if f == "--help" || f == "-h" || f == "--dry-run" {
			return ""
		}
	}
	return "gt " + verb
}

// plainWords collects the first words that are not options or their values.
func plainWords(args []arg, v valueFlags, most int) []string {
	var words []string
	for i := 0; i < len(args) && len(words) < most; i++ {
		a := args[i].Text
		if strings.HasPrefix(a, "-") {
			i += v.next(a)
			continue
		}
		words = append(words, a)
	}
	return words
}

// next is 1 when the option's value is the next word.
func (v valueFlags) next(opt string) int {
	if strings.HasPrefix(opt, "--") {
		if slices.Contains(v.long, opt) {
			return 1
		}
		return 0
	}
	for i := 1; i < len(opt); i++ {
		if strings.IndexByte(v.short, opt[i]) >= 0 {
			if i == len(opt)-1 {
				return 1
			}
			return 0
		}
	}
	return 0
}

// optionNames lists the options that are set, clusters taken apart.
func optionNames(args []arg, v valueFlags) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case a == "--":
			return out
		case len(a) < 2 || a[0] != '-':
			continue
		case a[1] == '-':
			if name, value, _ := strings.Cut(a, "="); value != "false" {
				out = append(out, name)
			}
		default:
			for j := 1; j < len(a); j++ {
				out = append(out, "-"+a[j:j+1])
				if strings.IndexByte(v.short, a[j]) >= 0 {
					break
				}
			}
		}
		i += v.next(a)
	}
	return out
}
