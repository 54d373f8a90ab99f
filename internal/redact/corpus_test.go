package redact_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// The corpus is written as templates. In ‹…› stands a secret, in «…» something
// that only looks like one; both are made at run time, so that the repository
// holds no string that a secret scanner would take for a leak:
//
//	%a36 letters and digits     %l32 lower case and digits   %u16 upper case and digits
//	%h40 hexadecimal            %H40 upper case hexadecimal  %d10 digits
//	%s22 URL-safe base64        %b88 base64                  %t52 base32 in lower case
//	%w   a password as people choose them                    %r  a generated one
//	%x   a generated one with signs                          %p  one of words and a number
//	%P12 that many lines of 64 base64 characters             %U  a UUID
//	%B   base64 of user:password                             %J  a JSON web token
//	%E   base64 of a line NAME=secret                        %S12 that many words of a wallet
//	%D40 what frameworks generate, with signs                %c  one by the rules: Tiger!Lily77

// group is the templates of one class.
type group struct {
	class     string
	templates []string
}

// sample is one text with the secrets in it; a look-alike has none.
type sample struct {
	class, form, text string
	secrets           []string
	half              int
}

// halfOf assigns whole templates, not texts, to a half: the rules are tuned on
// half 0, and half 1 holds forms that they were not tuned on.
func halfOf(class, template string) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "split-3/%s/%s", class, template)
	return int(h.Sum64() >> 17 & 1)
}

// corpus makes the texts: each template as it is and in two of the forms in which
// agents show files.
func corpus(groups []group) []sample {
	var all []sample
	turn := 0
	for _, g := range groups {
		for k, tpl := range g.templates {
			h := fnv.New64a()
			fmt.Fprintf(h, "%s/%d/%s", g.class, k, tpl)
			rng := rand.New(rand.NewPCG(h.Sum64(), 7))
			half := halfOf(g.class, tpl)
			for n := range 3 {
				text, secrets := expand(tpl, rng)
				s := sample{class: g.class, form: "plain", text: text, secrets: secrets, half: half}
				if n > 0 {
					f := forms[turn%len(forms)]
					turn++
					s.form, s.text = f.name, f.show(text)
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// expand fills a template in and returns the secrets in it.
func expand(tpl string, rng *rand.Rand) (string, []string) {
	var out strings.Builder
	var secrets []string
	for tpl != "" {
		i := strings.IndexAny(tpl, "‹«")
		if i < 0 {
			out.WriteString(tpl)
			break
		}
		out.WriteString(tpl[:i])
		closing, width := "›", len("‹")
		if strings.HasPrefix(tpl[i:], "«") {
			closing, width = "»", len("«")
		}
		body, rest, ok := strings.Cut(tpl[i+width:], closing)
		if !ok {
			panic("open template: " + tpl)
		}
		made := fill(body, rng)
		if closing == "›" {
			secrets = append(secrets, made)
		}
		out.WriteString(made)
		tpl = rest
	}
	return out.String(), secrets
}

const (
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	numerals  = "0123456789"
)

var sets = map[byte]string{
	'a': lowerCase + upperCase + numerals, 'l': lowerCase + numerals, 'u': upperCase + numerals,
	'h': numerals + "abcdef", 'H': numerals + "ABCDEF", 'd': numerals, 't': lowerCase + "234567",
	's': lowerCase + upperCase + numerals + "-_", 'b': lowerCase + upperCase + numerals + "+/",
}

func fill(body string, rng *rand.Rand) string {
	var b strings.Builder
	pick := func(set string, n int) string {
		out := make([]byte, n)
		for i := range out {
			out[i] = set[rng.IntN(len(set))]
		}
		// Nothing generated begins or ends with a sign: in the wild such values
		// are quoted or escaped in ways of their own.
		for _, i := range []int{0, n - 1} {
			if n > 0 && strings.IndexByte("-_+/", out[i]) >= 0 {
				out[i] = 'k'
			}
		}
		return string(out)
	}
	one := func(list ...string) string { return list[rng.IntN(len(list))] }
	chosen := func() string {
		return one("hunter", "dragon", "Summer", "Winter", "monkey", "Sunflower", "Tiger", "blueSky", "qwerty", "Taipei", "Sakura", "letme1n", "P@ssw0rd", "adm1n")
	}
	for i := 0; i < len(body); i++ {
		if body[i] != '%' || i+1 == len(body) || body[i+1] <= '9' {
			b.WriteByte(body[i])
			continue
		}
		i++
		kind, n := body[i], 0
		for i+1 < len(body) && body[i+1] >= '0' && body[i+1] <= '9' {
			i++
			n = n*10 + int(body[i]-'0')
		}
		switch kind {
		case 'w':
			b.WriteString(chosen() + one("", "_", "-", "!", "@", ".") + fmt.Sprint(10+rng.IntN(9989)) + one("", "", "!", "#1", "x"))
		case 'c':
			b.WriteString(one("Tiger", "Blue", "Summer", "Moon", "Kyoto") + one("!", "@", "^", "~") + one("Lily", "river", "Stone", "kite") + fmt.Sprint(10+rng.IntN(989)))
		case 'r':
			b.WriteString(pick(sets['a'], 12+rng.IntN(10)))
			b.WriteString(pick(numerals, 1))
		case 'x':
			b.WriteString(pick(sets['a'], 5) + one("!", "@", "^", "*", "+", "~") + pick(sets['a'], 4) + one("!", "%", "=", "#", "?") + pick(sets['l'], 4) + pick(numerals, 1))
		case 'p':
			b.WriteString(one("correct", "purple", "silent", "rusty") + "-" + one("horse", "anchor", "window", "kettle") + "-" + fmt.Sprint(2+rng.IntN(97)) + "-" + one("battery", "meadow", "planet"))
		case 'P':
			for k := range n {
				if k > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(pick(sets['b'], 64))
			}
			b.WriteString("\n" + pick(sets['b'], 22) + "==")
		case 'U':
			h := pick(sets['h'], 32)
			b.WriteString(h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:])
		case 'B':
			b.WriteString(encode("robot:" + pick(sets['a'], 12+rng.IntN(9))))
		case 'E':
			b.WriteString(strings.TrimRight(encode(one("DB_PASSWORD=", "export API_TOKEN=", "SECRET_KEY=", "REDIS_PASSWORD=", "password: ", "AUTH_TOKEN=", "client_secret=")+pick(sets['a'], 16+rng.IntN(9))+"7"), "="))
		case 'S':
			words := strings.Fields("witch collapse practice feed shame open despair creek road again ice least legal winner thank year wave sausage worth useful yellow abandon ability zoo letter advice cage absurd amount doctor acoustic avoid")
			for k := range n {
				if k > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(words[rng.IntN(len(words))])
			}
		case 'D':
			b.WriteString("k" + pick(sets['l']+"!@#$%^&*(-_=+)", n) + "7")
		case 'J':
			b.WriteString(encodeURL(`{"alg":"RS256","typ":"JWT","kid":"`+pick(sets['h'], 8)+`"}`) + "." + encodeURL(`{"sub":"`+pick(numerals, 10)+`","iat":1716789000}`) + "." + pick(sets['s'], 86))
		default:
			set, ok := sets[kind]
			if !ok || n == 0 {
				panic("unknown generator in " + body)
			}
			b.WriteString(pick(set, n))
		}
	}
	return b.String()
}

// form is a way in which files and outputs reach a transcript.
type form struct {
	name string
	show func(string) string
}

var forms = []form{
	{"numbered by the host", lines(func(i int, l string) string { return fmt.Sprintf("%6d→%s", i+9, l) })},
	{"diff, added", func(t string) string {
		return "--- a/app.conf\n+++ b/app.conf\n@@ -1,2 +1,9 @@ section\n" + lines(func(_ int, l string) string { return "+" + l })(t)
	}},
	{"JSON string", func(t string) string {
		return `{"type":"tool_result","tool_use_id":"toolu_01","content":` + quote(t+"\n") + `,"is_error":false}`
	}},
	{"comment #", lines(func(_ int, l string) string { return "# " + l })},
	{"table row", lines(func(i int, l string) string { return fmt.Sprintf("| %d | %s |", i+1, l) })},
	{"heredoc", func(t string) string { return "cat > /tmp/f <<'EOF'\n" + t + "\nEOF\nls -l /tmp/f" }},
	{"comment *", func(t string) string {
		return "/**\n" + lines(func(_ int, l string) string { return " * " + l })(t) + "\n */"
	}},
	{"diff, removed", lines(func(_ int, l string) string { return "-" + l })},
	{"cat -n", lines(func(i int, l string) string { return fmt.Sprintf("%6d\t%s", i+98, l) })},
	{"JSON in JSON", func(t string) string {
		return `{"message":{"content":[{"type":"tool_result","content":` + quote(`{"stdout":`+quote(t)+`,"code":0}`) + `}]}}`
	}},
	{"quoted >", lines(func(_ int, l string) string { return "> " + l })},
	{"grep", lines(func(i int, l string) string { return fmt.Sprintf("deploy/app.conf:%d:%s", i+12, l) })},
	{"fenced", func(t string) string { return "The file reads:\n\n```\n" + t + "\n```\n\nShall I go on?" }},
	{"comment //", lines(func(_ int, l string) string { return "\t// " + l })},
	{"blame", lines(func(i int, l string) string {
		return fmt.Sprintf("^3f2a91c4 (Ann Lee 2024-05-01 10:00:00 +0800 %2d) %s", i+1, l)
	})},
	{"CRLF, indented", func(t string) string {
		return strings.ReplaceAll(lines(func(_ int, l string) string { return "    " + l })(t), "\n", "\r\n")
	}},
}

func lines(f func(int, string) string) func(string) string {
	return func(t string) string {
		parts := strings.Split(t, "\n")
		for i, l := range parts {
			parts[i] = f(i, l)
		}
		return strings.Join(parts, "\n")
	}
}

func quote(t string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
