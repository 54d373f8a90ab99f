package shellcmd

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// readers are the programs that lines may really run.
const readers = "ls cat tac head tail grep egrep wc nl od cut tr paste join comm cmp diff fold sort uniq rev expand stat du df basename dirname realpath readlink printenv id uname " +
	"seq jq md5sum sha256sum find sed awk gawk mawk xargs env nice timeout stdbuf bash sh dash git tee date file tar gzip gunzip zcat xz unzip sqlite3 nm objdump strings readelf size ar base64 shuf xxd column numfmt expr hostname tree rg ag ack fd yq bc " +
	"zstd bzip2 zipinfo less tmux ss ip lsof openssl curl python3 whoami nproc"

// grammar makes lines: some from rules, some from the corpus, cut and mixed.
type grammar struct {
	*rand.Rand
	corpus []string
}

func (g grammar) n(n int) int { return g.IntN(n) }

func (g grammar) pick(options ...string) string { return options[g.n(len(options))] }

func (g grammar) line() string {
	switch g.n(12) {
	case 11:
		return g.changed()
	case 9, 10:
		return g.pick("echo ", "ls ", "cat ", "awk ", "git log ", "x=", "") + g.knot(3) + g.pick("", "", "\n"+g.stmt(1))
	case 0:
		return g.mutant()
	case 1:
		return g.corpus[g.n(len(g.corpus))] + g.pick("; ", " && ", " | ", "\n", " & ") + g.stmt(1)
	case 2:
		return g.assign() + "; " + g.stmt(2)
	case 3, 4, 5:
		return g.pick("", "", g.assign()+"; ") + g.tabled() + g.pick("", "", " | "+g.tabled())
	}
	return g.stmt(3)
}

// changed makes a command of a value that becomes another one on its way: in a branch, by
// arithmetic, by what zsh does to it, by what xargs puts into it.
func (g grammar) changed() string {
	set := func() string {
		return g.pick("x=f", "x=sub/-opwn", "x=a.-opwn", "x='{}'", "x='}'", "x='k1{}'", "x=opwn", "x=$(grep -c x 'f -opwn' "+g.redirect()+")")
	}
	word := g.pick("", "", "-", "{", "./") + "$x" + g.pick("", "", ":t", ":e", ":h")
	sink := g.pick("sort §", "sort f §", "echo -opwn | xargs -I{} sort §", "echo f | xargs -I{} sort §", "ss ${n}Dpwn", "ss -a \"${n}Dpwn\"")
	return g.pick(set(), "if [ -f f ]; then "+set()+"; else "+set()+"; fi", "for y in 1; do "+set()+"; done") + "; n=0; " +
		g.pick("", "((n-=4)); ", "let n-=6; ", ": $((n = -n)); ") + strings.ReplaceAll(sink, "§", g.pick(word, "\""+word+"\""))
}

// tabled makes a command around a shape of the table: what the shape names in some
// order, and often something that it does not.
func (g grammar) tabled() string {
	lines := tableShapes()
	var names []string
	var tokens []string
	for len(names) == 0 {
		var all string
		all, _, _ = strings.Cut(strings.TrimLeft(lines[g.n(len(lines))], "#=/"), " ")
		for _, line := range lines {
			if n, rest, _ := strings.Cut(strings.TrimLeft(line, "#=/"), " "); n == all && (tokens == nil || g.n(2) == 0) {
				tokens = strings.Fields(rest)
			}
		}
		for name := range strings.SplitSeq(all, "|") {
			if slices.Contains(strings.Fields(readers), name) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			tokens = nil
		}
	}
	words := append([]string{g.pick(names...)}, g.items(tokens, false)...)
	for range g.n(3) {
		i := 1 + g.n(len(words))
		switch g.n(6) {
		case 0:
			words = slices.Insert(words, i, g.option())
		case 1:
			words = slices.Insert(words, i, g.word(1))
		case 2:
			words = slices.Insert(words, i, g.cluster("oODdixwfcXFIJTaelnprstz"))
		case 3:
			words = append(words, words[g.n(len(words))])
		case 4:
			j := g.n(len(words))
			words[j], words[i-1] = words[i-1], words[j]
		case 5:
			words = append(words, g.operand())
		}
	}
	return strings.Join(words, " ")
}

// items makes words for a shape's items, in sets a few in any order.
func (g grammar) items(tokens []string, set bool) (words []string) {
	for i := 0; i < len(tokens); i++ {
		token := tokens[i]
		if token == "{" {
			end := i + slices.Index(tokens[i:], "}")
			words = append(words, g.items(tokens[i+1:end], true)...)
			i = end
			continue
		}
		if token[0] == '@' {
			words = append(words, g.items(strings.Fields(definition(token)), true)...)
			continue
		}
		if set && g.n(len(tokens)+1) > 1 || token[0] == '?' && g.n(2) == 0 {
			continue
		}
		token = strings.TrimPrefix(token, "?")
		name, _, pair := strings.Cut(token, "::")
		switch {
		case token == "--*":
			words = append(words, g.pick("", "-- "+g.word(1)))
		case token == "-exec;":
			words = append(words, "-exec "+g.pick("cat", "sort", "sh -c 'cat $1' _", "touch")+" "+g.pick("{}", "-o", g.word(1), "+")+" {} "+g.pick(`\;`, "+", "';'", `"$x"`, "$x"))
		case strings.HasPrefix(token, "CMD") || token == "SCRIPT":
			words = append(words, g.pick("cat f", "sort", "touch p", "sort -o p f", "'ls | wc -l'", "sh -c 'touch p'"))
		case pair:
			words = append(words, strings.Trim(name, "/")+" "+g.operand())
		case token[0] == '[':
			words = append(words, g.cluster(strings.NewReplacer(":", "", "~", "").Replace(strings.Trim(token, "[]*"))))
		case strings.HasSuffix(token, "="):
			words = append(words, token+g.operand(), strings.TrimSuffix(token, "=")+" "+g.operand())
		case token[0] == '/' || token[0] >= 'A' && token[0] <= 'Z':
			words = append(words, g.pick(g.operand(), g.operand(), "5", "1p", "-n", "-1", "-tf", "tf", "'select 1'", "HEAD", "http://localhost:1/"))
		default:
			words = append(words, g.pick(strings.Split(strings.TrimRight(token, "*?"), "|")...))
		}
	}
	if set {
		g.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	}
	return words
}

// cluster makes a word of short options, sometimes with something attached.
func (g grammar) cluster(letters string) string {
	out := "-"
	for range 1 + g.n(3) {
		out += string(letters[g.n(len(letters))])
	}
	return out + g.pick("", "", "", "", "5", "pwn", "$x", `"$x"`, "$n", " pwn", " 1 pwn")
}

func (g grammar) operand() string {
	return g.pick("f", "g", "h.go", "sub/k", "sub", ".", "a.tar", "a.tgz", "a.zip", "f.gz", "f.xz", "f.zst", "f.bz2", "pwn", "HEAD", "main", "1", "'*'", "x", g.word(1))
}

// knot makes text in which quotes, expansions, comments and here-documents stand in
// each other: what readers of a shell's language read differently.
func (g grammar) knot(depth int) (text string) {
	for range 1 + g.n(2) {
		if depth == 0 || g.n(4) == 0 {
			text += g.pick("f", "f", " ", "touch p", "$(touch p)", "`touch p`", ">pwn", "; touch p;", "\ntouch p\n", "\\\ntouch p\n", "<(touch p)", ">(touch p)", "1", "$x", "ls", "cat f", "awk ", "echo ", "'", "\"", "`", "\\", "\\`", "}", ")", "{", "(", "#", "$", "E", "EF\n", "E\\\nF\n", "\\\n", "&", "|")
			continue
		}
		k := g.knot(depth - 1)
		text += g.pick("'"+k+"'", "\""+k+"\"", "`"+k+"`", "$("+k+")", "$(ls "+k+")", "`ls "+k+"`", "${x:-"+k+"}", "\"${x:-"+k+"}\"", "\"${x:+"+k+"}\"", "${x#"+k+"}", "\"${x%"+k+"}\"", "${x/"+k+"/f}", "$(("+k+"))", "$["+k+"]", "${x["+k+"]}", "$'"+k+"'", "$\""+k+"\"", "<("+k+")",
			" # "+k+g.pick("\n", "\\\n", " \\\n", "\\\\\n")+g.pick("ls", "touch p"), "#"+k, "<<"+g.pick("E", "'E'", "\"E\"", "-E", "\\E", "E\"F\"", "EF", "$'E'")+"\n"+k+g.pick("\n", "")+g.pick("E", "EF", "\tE", "E\\\nF\ntouch p\nEF")+"\n", "<<<"+k, g.nested(2), "`awk "+g.nested(2)+" f`", "{"+k+",f}", "=("+k+")", "*("+k+")", "[["+k+"]]", "f("+k+")", "\\"+k)
	}
	return text
}

// nested makes quotes of different kinds in each other.
func (g grammar) nested(depth int) string {
	q := g.pick("'", "\"", "`")
	if depth == 0 {
		return q + g.pick(">pwn", "touch p", "$(touch p)", "f") + q
	}
	return q + g.pick("", "f ") + g.nested(depth-1) + g.pick("", " f") + q
}

// mutant changes a line of the corpus word by word.
func (g grammar) mutant() string {
	words := strings.Fields(g.corpus[g.n(len(g.corpus))])
	if len(words) == 0 {
		return "ls"
	}
	for range 1 + g.n(3) {
		i := g.n(len(words))
		switch g.n(5) {
		case 0:
			words[i] = g.word(1)
		case 1:
			words = append(words[:i:i], append([]string{g.word(1)}, words[i:]...)...)
		case 2:
			other := strings.Fields(g.corpus[g.n(len(g.corpus))])
			words = append(words[:i:i], other...)
		case 3:
			words[i] += " " + g.redirect()
		case 4:
			words[i] = g.option()
		}
	}
	return strings.Join(words, " ")
}

func (g grammar) stmt(depth int) string {
	if depth <= 0 {
		return g.simple(0)
	}
	s := func() string { return g.stmt(depth - 1) }
	var out string
	switch g.n(24) {
	case 0:
		out = s() + g.pick("; ", " && ", " || ", " | ", " |& ", "\n", " & ") + s()
	case 1:
		out = g.pick("( "+s()+" )", "{ "+s()+"; }", "{ "+g.simple(0)+g.pick(" }", "}", "}}")+" always { "+g.simple(0)+"; }", "! "+s(), "time "+s())
	case 2:
		out = "if " + s() + "; then " + s() + g.pick("; fi", "; else "+s()+"; fi")
	case 3:
		out = g.pick("while", "until") + " " + s() + "; do " + s() + "; break; done"
	case 4:
		out = g.pick("for", "for", "select") + " " + g.name() + " in " + g.word(depth) + " " + g.word(1) + "; do " + s() + "; break; done"
	case 5:
		out = "for ((" + g.arith() + "; 0; " + g.arith() + ")); do " + s() + "; done"
	case 6:
		out = "case " + g.word(depth) + " in " + g.pick("*", g.word(1)) + ") " + s() + ";; esac"
	case 7:
		out = "[[ " + g.test(depth) + " ]]"
	case 8:
		out = "(( " + g.arith() + " ))"
	case 9:
		out = g.pick("let "+g.arithWord(), "let '"+g.arith()+"'", "let x="+g.arithWord())
	case 10:
		out = g.assign()
	case 11:
		out = g.pick("declare", "export", "readonly", "typeset", "declare -i", "declare -x", "declare -n", "declare -a", "declare -A", "readonly -a") + " " + g.pick(g.assign(), g.word(1))
	case 12:
		out = g.pick("f", "ls", "cat", "echo") + "() { " + s() + "; }; " + g.pick("f", "ls", "cat", "echo a")
	case 13:
		out = g.pick("bash -c ", "sh -c ", "bash -ec ", "eval ", "command eval ", "env bash -c ", "dash -c ") + quote(s())
	case 14:
		out = "cat <<" + g.pick("E", "'E'", "-E") + "\n" + g.word(depth) + "\nE"
		if g.n(2) == 0 {
			out = "cat <<" + g.pick("EF", "'EF'", "-EF", "\"EF\"", "E\\F") + "\n" + g.pick("", "f\n", "$x\n", "EF f\n") + g.pick("E\\\nF", "EF\\\n", "\tEF", " EF", "\\\nEF", "f\\\nEF", "EF\\", "'EF'", g.knot(1)) + "\n" + g.pick("touch p", "f") + "\nEF"
		}
	case 15:
		out = g.assign() + "; " + s()
	default:
		out = g.simple(depth)
	}
	if g.n(6) == 0 {
		out += " " + g.redirect()
	}
	return out
}

func (g grammar) name() string {
	return g.pick("x", "x", "y", "n", "n", "i", "FILE", "PATH", "IFS", "PS4", "BASH_ENV", "path", "LD_PRELOAD", "GIT_PAGER", "TAR_OPTIONS", "HOME", "a", "REPLY", "GIT_EXTERNAL_DIFF")
}

func (g grammar) assign() string {
	v := g.pick("1", "42", "f", "sub/k", "-o", "-delete", "--output=pwn", "evil", "./evil", "'a[$(touch p)]'", "'a[$(touch${IFS}p)]'", "'$(touch p)'", "'-v a[$({touch,p})]'", "-v", "'touch p'", "'w pwn'",
		"'f pwn'", "./env", "", "PATH", g.word(1), "$((n+1))", "(1 2)", "($(touch p))", "([$(touch p)]=1)", "(a $(ls))", "'($(touch p))'", "'([$(touch p)]=1)'", "$(cat g)", "$(wc -l < f)", "\"$x\"", "$(git rev-parse HEAD)")
	return g.pick(g.name()+"="+v, g.name()+"="+v, g.name()+"+="+v, "a["+g.arith()+"]="+v, "n="+strconv.Itoa(g.n(9)), "n=-1", "n=$((0-"+strconv.Itoa(g.n(9))+"))", "e=';'", "x=f", "a=(1 2)", "a=(1 2); "+g.pick("x", "help")+"='a[$(touch p)]'", "IFS="+g.pick("a", "-", "1", "/", "''")+"; x="+g.pick("fa-oapwn", "f-o", "f1-o1p"), "export x=-o", "for x in "+g.pick("f", "-o", "sub/*", "*", "$(ls)")+"; do :; done", "x="+g.pick("a-o", "a-delete", "f")+"; IFS="+g.pick("a", "f", ","), "read "+g.name()+" <<< "+v,
		"printf -v "+g.name()+" %s "+v, "mapfile -t "+g.name()+" <<< "+v, "set -- "+v, ": ${"+g.name()+":="+v+"}")
}

func (g grammar) arithWord() string {
	return g.pick("1", "x", "n", "a", "$x", "$n", "${x}", "$((n))", "a[0]", "a[n]", "a[x]", "a[$x]", "a[$(touch p)]", "$(cat g)", "${#x}", "x++", "n=2", "PATH=1", "$1", "$(wc -l < f)", "i")
}

func (g grammar) arith() string {
	return g.arithWord() + g.pick("", " + "+g.arithWord(), " < "+g.arithWord(), " ? 1 : "+g.arithWord())
}

func (g grammar) test(depth int) string {
	return g.pick("-n "+g.word(depth), "-f "+g.word(1), "-v "+g.pick("x", "'a[$(touch p)]'", "$x", "a[x]"), g.word(1)+" == "+g.word(1), g.word(1)+" > "+g.word(1), g.word(1)+" =~ "+g.word(1), g.word(1)+" =~ ("+g.knot(1)+")",
		g.arithWord()+" -eq "+g.arithWord(), g.word(1)+" -lt "+g.word(1), "! -e "+g.word(1), "a && "+g.word(1))
}

func (g grammar) word(depth int) string {
	if depth > 1 && g.n(3) == 0 {
		cmd := g.stmt(depth - 2)
		return g.pick("$("+cmd+")", "\"$("+cmd+")\"", "<("+cmd+")", "${y:-$("+cmd+")}", "`touch p`", "$((1+$("+cmd+")))", "pre$("+cmd+")", "${x[$("+cmd+")]}")
	}
	return g.pick("a", "f", "g", "sub/k", "h.go", "'a b'", "1", "2", ".", "-n", "-l", "$x", "$n", "\"$x\"", "\"$n\"", "${x}", "\"${x:-f}\"", "${x%.go}", "${!x}", "${x@P}", "${x@Q}", "\"${a[@]}\"", "\"$@\"", "$*",
		"${a[x]}", "${x:n}", "${x:"+g.arithWord()+"}", "$(("+g.arith()+"))", "$["+g.arith()+"]", "*", "*.go", "./*", "?", "[a-z]", "{f,g}", "{-o,g}", "-{o,n}", "$'f'", "$'\\x2do'", "~", "~/f", "''", "\"\"", "--", "-",
		"-o", "pwn", "-i", "-delete", "--output=pwn", "\\-o", "-\"o\"", "'a[$(touch p)]'", "$#", "$?", "${#x}", "x=1", "\"-o$x\"", "f$x", "$x-o", "$#a[x]", "\"$#@[x]\"", "${x:=-o}", "+f", "@opts", "evil/ls", "$(touch p)", "{1..3}",
		"$((-1))o", "$((0-1))o pwn", "$[-1]Otouch", "${n}o", "-$n", "${n}Otouch", "\"$x:s/f/-opwn/\"", "$x:s/f/-opwn/", "$=x", "\"$~x\"", "$^x", "$x[n]", "\"$a[x]\"", "$x[$(touch p)]", "\\;", "';'", "\"$e\"", "+", "{}", "''-o", "\"\"$x", "$x$n", "src/$x", "./\"$x\"",
		"$(wc -l < f)", "$(wc -l < f)o", "$(git rev-parse HEAD)", "$(git describe)-o", "\"$(whoami)\"", "$(cat sub/k)", "<(ls)", "~-", "${x:+-o}", "${x#f}-o", "${n/1/-o}", "${?/0/-opwn}", "${?#0}-opwn", "${#/0/-opwn}", "${HOME:0:0}-opwn", "$HOME/f", "\"$PWD\"", "$n-o", "\"$n\"", "p"+g.pick("wn", "")+"\\\n")
}

func (g grammar) option() string {
	return g.pick("-o", "-o pwn", "--output=pwn", "--output pwn", "--out=pwn", "-n", "-i", "-i.bak", "-e", "-f x.sed", "-delete", "-exec touch p ;", "-exec touch {} \\;", "-exec cat {} +", "-exec sh -c 'touch p' \\;",
		"-fprint pwn", "-fls pwn", "-name '*.go'", "-name $x", "-name \"$x\"", "-type f", "-print", "-T", "-k1", "-k", "-t,", "-u", "-c", "-r", "--compress-program=evil/x -S1", "--pre=evil/x", "-w", "-0", "-I{}", "-IX",
		"-n1", "-P1", "--sort=refname", "--sort=", "--list", "-l", "-a", "-v", "--contains HEAD", "--format=%H", "-1", "--stat", "-p", "-O", "-Ox", "--no-list", "--", "-C sub", "-c core.pager=x", "-c color.ui=never", "-m x",
		"-D", "-x", "--ext-diff", "-s", "-E", "-z", "-q", "-d", "-b", "--help", "-A1", "-tf", "-xf", "-czf", "-pc", "-Lo", "-td", "-ld", "-Oo", "--no-get", "--no-list", "-I A -I B", "-I{} -n2", "-I X -I touch", "-d", "-D new", "-T", "-so pwn", "--no-index", "-exec cat {} $x -delete \\;", "-exec cat {} \"$e\" -delete \\;", "--to-command=x", "--checkpoint-action=exec=x")
}

func (g grammar) redirect() string {
	return g.pick("> pwn", ">> f", "2> pwn", "&> pwn", ">| pwn", ">& pwn", "<> pwn", "{x}> pwn", "{PATH}> /dev/null", "> $x", "> \"$x\"", "> /dev/null", "> /dev/null", "2>&1", ">&1-5", ">&2-", "2>/dev/stdout", "2>/dev/null", ">&2", "< f", "< f", "< $x", "<<< "+g.word(1),
		"< <(touch p)", "> >(cat)", "> >(touch p)", "3> pwn", "> ~/f", "> {a,b}", "> '/dev/null'", "> /dev/null/..", "3<&0", "<&-", "> *")
}

func (g grammar) simple(depth int) string {
	w := func() string { return g.word(depth) }
	o := g.option
	cmd := g.pick(
		"echo "+w()+" "+w(), "cat "+w(), "ls "+o(), "ls "+w(), "grep "+o()+" one f", "head "+w()+" f", "wc -l "+w(),
		"sort "+o()+" f", "sort "+w(), "sort f "+o(), "sort -k "+w()+" -T "+w()+" "+w(), "uniq f "+w(), "uniq -- f "+w(), "find . -exec "+g.pick("cat", "sort", "sed -n p", "sh -c 'cat $1' _")+" "+o()+" "+g.pick("+", "{}")+" "+o()+" {} "+g.pick("+", "\\;"), "git ls-remote "+o()+" .", "date "+w()+" "+w(), "uniq "+w(), "uniq "+o()+" "+w(), "tee "+w(), "tee /dev/null",
		"find . "+o(), "find "+w()+" "+o(), "find . "+o()+" "+o(), "find . -name "+w()+" "+w(),
		"sed -n "+g.sed()+" f", "sed "+o()+" p f", "sed "+g.sed()+" "+w(), "sed -e p -e "+g.sed()+" f", "sed "+w()+" f", "sed p "+o()+" f",
		"awk "+g.awk()+" f", "awk "+o()+" "+g.awk()+" f", "awk -v n="+w()+" "+g.awk()+" f",
		"git log "+o(), "git diff "+o(), "git branch "+o()+" pwn", "git branch "+w(), "git branch "+o(), "git tag "+o()+" pwn", "git tag "+o(), "git show "+w(), "git "+w(), "git "+o()+" log", "git config "+g.pick("user.name", "user.name "+w(), "--get "+w(), o()+" a.b c"),
		"git grep "+o()+" x", "git stash "+g.pick("list", "show", "", "list "+o()), "git remote "+g.pick("-v", "add x y", "-v add x y", w()), "git reflog "+g.pick("", "show "+o(), "expire --all", w(), "delete HEAD@{0}"), "git rev-list "+o()+" HEAD", "git rev-parse "+w(),
		"git symbolic-ref HEAD "+w(), "git worktree "+g.pick("list", "add pwn"), "git notes "+g.pick("list", "add -m x"), "git ls-files "+o(), "git shortlog "+o()+" HEAD", "git blame "+o()+" f", "git cat-file -p "+w(), "git status "+o(),
		"xargs "+o()+" § < f", "find . | xargs §", "echo "+w()+" | xargs "+o()+" cat", "env "+g.pick(g.assign(), w(), "LC_ALL=C")+" §", "nice "+o()+" ls", "timeout "+g.pick("1", w(), "-k 1 1")+" §",
		"command §", "builtin §", "exec §", g.assign()+" §", "IFS=, read x < f", g.pick("COLUMNS", "TERM", "LANG", "TZ")+"=x ls", g.pick("exit", "return", "shift", "ulimit")+" --help", "stdbuf -oL §",
		"printf "+w()+" "+w(), "printf '%s\\n' "+w(), "printf 'a%n' "+w(), "printf -v "+w()+" x", "read "+g.pick("-r ", "-a ", "")+w()+" < g", "mapfile "+g.pick("-t ", "-C 'touch p' -c 1 ", "")+g.name()+" < f",
		"[ "+w()+" ]", "[ "+w()+" = "+w()+" ]", "[ "+w()+" -eq "+w()+" ]", "[ "+w()+" "+w()+" ]", "test -n "+w(), "test -v "+w(), "[ -f "+w()+" -a "+w()+" ]",
		"unset "+w(), "set "+g.pick("-x", "-e", "-a", "-k", "-- "+w(), "-o pipefail", "-o allexport"), "shopt -s "+g.pick("nullglob", "expand_aliases", "extglob"), "trap "+w()+" EXIT", "alias ls='touch p'", "hash -p ./evil/ls ls", "jobs -x touch p",
		"cd "+w(), "wait "+g.pick("", "-p x", "-n"), "getopts a "+g.name()+" -a", "compgen -C 'touch p' x", "type "+w(), ". ./env", "source env", "touch p", "rm f", w()+" f", "./evil/ls", "evil/cat f", "x", "exit "+w(), "shift "+w(), "return "+w(),
		"tar "+g.pick("tf", "cf", "xf", "-tzf", "-tf")+" "+w()+" "+o(), "gzip "+o()+" f", "unzip "+o()+" f", "date "+g.pick("+%s", "-d "+w(), "+%F "+w(), o()), "file "+o()+" f", "jq . "+w(), "nm "+w(), "strings "+w(), "base64 "+o()+" f", "shuf "+o()+" f", "xxd "+w()+" "+w(),
		"sqlite3 -readonly pwn "+g.pick("'select 1'", ".tables", "'.shell touch p'", w()), "diff "+w()+" f", "seq "+w(), "basename "+w(), "jobs "+w(), "overtone "+g.pick("init", "workflow "+w(), w()), "tail -1 "+w(), "cut -c1 "+w(), "expr "+w()+" + 1")
	if strings.Contains(cmd, "§") {
		inner := g.pick("ls", "cat f", "touch p", "sort "+o()+" f", "rm", "sh -c 'touch p'", "git log "+o(), "evil/ls", "sed "+g.sed()+" f")
		if depth > 0 {
			inner = g.simple(depth - 1)
		}
		cmd = strings.Replace(cmd, "§", inner, 1)
	}
	if g.n(12) == 0 {
		cmd += " " + g.redirect()
	}
	return cmd
}

func (g grammar) sed() string {
	return g.pick("p", "1p", "'1,2p'", "'/one/p'", "'s/a/b/'", "'s/a/b/g;2d'", "'w pwn'", "'s/o/x/w pwn'", "'s/one/touch p/e'", "'1e touch p'", "'s/[/]/p;s/w pwn/x/'", "'$='", "'s|a|b|p'", "\"$x\"", "'1!d'", "'r f'", "'p;w pwn'",
		"'s/a\\/b/c/;p'", "'/x/,/y/p'", "'a\\\nx'", "'{p;p}'", "'y/a/b/'", "'s/\\(o\\)/\\1/p'", "'s/[[:space:]]//g'", "'s,a,b,w pwn'", "$'p\\nw pwn'")
}

func (g grammar) awk() string {
	return g.pick("1", "'{print $1}'", "'$1 > 2'", "'{print > \"pwn\"}'", "'{print | \"touch p\"}'", "'BEGIN{system(\"touch p\")}'", "'\"touch p\" | getline'", "'/a|b/{n++} END{print n}'", "'NR==1||NR==2'", "'{printf \"%s\", $1 >> \"pwn\"}'",
		"'{x=$1; print x}'", "\"$x\"", "'BEGIN{getline x < \"f\"; print x}'", "'{print $1, ($2 > 1)}'", "'@load \"x\"'", "'BEGIN{print length(\"a\")}'", "'{print}' x=1")
}

// Wherever a command stands in a line that passes, the guard has come to it.
func TestGuardSeesEveryCommand(t *testing.T) {
	t.Parallel()
	reading, _ := corpus(t, "reading.txt")
	daily, _ := corpus(t, "daily.txt")
	g := grammar{rand.New(rand.NewPCG(1, 2)), append(reading, daily...)}
	lines := slices.Clone(g.corpus)
	for range 3000 {
		lines = append(lines, g.line())
	}
	passed := 0
	for _, line := range lines {
		if matches(`c \$?'|-c|sh (-\S+ )*-[elux]*c\b`, line) { // a script has a tree of its own
			continue
		}
		guard, seen, want := newGuard(maxSteps), 0, 0
		guard.exec = func(args []arg, _ *scope) {
			seen += count(len(args) > 0, 1)
			guard.run(args)
		}
		if guard.script(line, syntax.LangBash); guard.err != nil {
			continue
		}
		passed++
		f, err := parseScript(line, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		syntax.Walk(f, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				want += count(len(n.Args) > 0, 1)
			case *syntax.DeclClause:
				want++
			}
			return true
		})
		if seen != want {
			t.Errorf("%d of %d commands seen: %s", seen, want, line)
		}
	}
	t.Logf("%d lines passed", passed)
}
