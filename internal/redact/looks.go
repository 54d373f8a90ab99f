package redact

import (
	"math"
	"slices"
	"strings"
)

// convincing decides whether v is the value of a secret rather than a word, a
// variable, a path or a reference to where the secret is kept.
func convincing(how strength, name, v string, where place) bool {
	v = v[:min(len(v), 200)]
	digits, pieces, chars := shape(v)
	if len(v) < 6 || where != setting && strings.IndexByte("*-@!^~.", v[0]) >= 0 ||
		digits == 0 && (how <= token && len(v) < 20 || how == password && where == prose && !hasSign(v)) {
		return false
	}
	if isTemplate(v) || isFiller(v) || isPlaceholder(v) || isReference(v) || how != header && strings.ContainsAny(v, " \t") || isDate(v) {
		return false
	}
	if how != password && how != header && strings.ContainsAny(v, "[](){}<>\\|,") {
		return false
	}
	if IsUUID(v) {
		return how == header || how == password || how >= token && how < password && words(name) > 1
	}
	signs := len(v) - chars
	mixed := digits > 0 && digits < len(v)
	wordy := float64(chars)/float64(pieces) >= 3.3
	switch how {
	case header:
		if strings.ContainsAny(v, "=;") || strings.Contains(strings.ToLower(name), "cookie") {
			return slices.ContainsFunc(strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("=; ,/", r) }), looksRandom)
		}
		return len(v) >= 8 && (digits > 0 || hasSign(strings.TrimRight(v, "=")) || looksRandom(v))
	case password:
		pathy := isPath(v) && (strings.Contains(v, "/") || !startsDigit(v[strings.LastIndexByte(v, '.')+1:]))
		if pathy {
			return false
		}
		switch where {
		case code:
			return len(v) >= 8 && mixed && !wordy
		case prose:
			return digits < chars && (digits > 0 || hasSign(v[:len(v)-1]) && chars >= 6 && !strings.Contains(v, "=")) && !isTerm(v)
		}
		if strings.Contains(v, `\x`) || strings.Contains(v, `\u`) {
			return false // control characters around a word
		}
		small, large := v == strings.ToLower(v), v == strings.ToUpper(v)
		return digits > 0 || hasSign(v[1:]) && strings.Trim(v, "-_./:") == v || pieces > 3 && !wordy && !small && !large || isEnv(name) && !large
	case secret:
		if where != setting {
			return (looksRandom(v) || where == prose && digits > 1 && hasSign(v)) && !isPath(v)
		}
		return len(v) >= 8 && mixed && (!wordy || digits*4 >= chars || hasSign(v)) && !isPath(v)
	case token:
		if isPath(v) {
			return false
		}
		tail := v[strings.LastIndexAny(v, "-_:/.")+1:]
		return looksRandom(v) || isDigest(tail) || where == setting && mixed && signs == 0 && len(v) >= 20 && entropy(v) >= 2.5
	default:
		tail := v[strings.LastIndexAny(v, "-_:/.")+1:]
		plain := isPath(v) || isDigest(tail) || strings.Contains(v, "%") || IsUUID(v[max(0, len(v)-36):])
		return len(v) >= 16 && looksRandom(v) && !plain || isBasic(v)
	}
}

// startsDigit reports whether a text begins with a digit, as no name and no ending of a file does.
func startsDigit(v string) bool { return v != "" && v[0] <= '9' && v[0] >= '0' }

// words counts the words of a name: DB_TOKEN and dbToken have two.
func words(name string) int {
	_, pieces, _ := shape(name)
	return pieces
}

// isEnv tells the names of environment variables, whose values are text always.
func isEnv(name string) bool {
	return strings.Contains(name, "_") && name == strings.ToUpper(name)
}

// keepers are the schemes of places where secrets are kept.
const keepers = " vault env file ssm keyring arn secret secrets op sops kms aws gcp " +
	"azure ref pass keychain doppler var data sha256 sha512 type resolve secretsmanager "

// isReference is true for what says where a secret is kept: vault:path#field,
// op://vault/item, env:NAME, NAME_OF_VARIABLE, a parameter of a query.
func isReference(v string) bool {
	for begin := range strings.FieldsSeq("pk. pk_ pk- age1 ssh- AAAAB3Nza AAAAC3Nza sb_publishable_ @@ @Microsoft. : ENC[ ENC( projects/") {
		if strings.HasPrefix(v, begin) {
			return true
		}
	}
	if strings.Contains(v, "://") {
		return true
	}
	if strings.HasPrefix(v, "0x") && len(v) <= len("0x")+16 || strings.Contains(v, ".") && strings.Trim(v, "0123456789.^~<>=vx*") == "" {
		return true // a number, a version
	}
	scheme, rest, ok := strings.Cut(v, ":")
	if ok && rest != "" && strings.Contains(keepers, " "+strings.ToLower(scheme)+" ") {
		return true
	}
	if len(v) > 2 && v[0] == '%' && v[len(v)-1] == '%' {
		return true
	}
	// DB_PASSWORD_1: the name of a variable.
	return isEnv(v) && strings.Trim(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == "" && !looksRandom(v)
}

const terms = " uint int float sha md base utf argon argon2id argon2i argon2d pbkdf bcrypt scrypt scram ipv oauth http x ed " +
	"rs hs es aes rsa ecdsa v rfc iso type step line version tls sql min max page "

// isTerm tells names of algorithms, versions and the like, and names that tell of
// a secret, from passwords: they have digits, too.
func isTerm(v string) bool {
	low := strings.ToLower(v)
	for _, w := range [...]string{"pass", "pwd", "token", "secret", "user", "input", "config", "param"} {
		if strings.Contains(low, w) && strings.Trim(low, "abcdefghijklmnopqrstuvwxyz0123456789_.") == "" {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(low, "_", "-"), "-")
	if strings.Contains(terms, " "+strings.TrimRight(first, "0123456789")+" ") {
		return true
	}
	// app-2, step2: one digit at the end.
	word := strings.TrimRight(low, "0123456789")
	return len(low)-len(word) == 1 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-_.") == "" && (len(v) < 7 || strings.ContainsAny(v, "-_."))
}

// hasSign tells characters that occur in passwords, not in names.
func hasSign(v string) bool { return strings.ContainsAny(v, "!@#$%^&*+=?~") }

// isPath is true for dotted names and file names, which have digits at times:
// process.env.KEY2, ./keys/v2/id.pem.
func isPath(v string) bool {
	if strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/") {
		return true
	}
	if !strings.ContainsAny(v, "./") || hasSign(strings.TrimRight(v, "=")) {
		return false
	}
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '.' || r == '/' }) {
		digits, pieces, chars := shape(part)
		odd := digits > 2 && unspeakable(part) && !strings.Contains(part, "_") || float64(chars)/float64(pieces) < 2.6
		if digits > 12 || len(part) > 8 && odd {
			return false
		}
	}
	return true
}

// looksRandom tells generated text from words, identifiers and file names: it has
// digits, its characters are spread, and it changes between lower case, upper
// case and digits far more often than words do. Generated base62 has pieces of
// 1.8 characters on average, base36 of 2.5, identifiers of 4 to 7. Lower case
// that goes on for longer is told by its lack of vowels.
func looksRandom(v string) bool {
	v = v[:min(len(v), 160)]
	if len(v) < 12 || isFiller(v) || isSlug(v) || entropy(v) < 3 {
		return false
	}
	digits, pieces, chars := shape(v)
	piece := float64(chars) / float64(pieces)
	switch {
	case chars < 10 || digits == chars:
		return false
	case digits == 0:
		return chars >= 20 && piece < 3.2 && entropy(v) >= 4
	}
	return piece < 3.3 || digits >= 2 && unspeakable(v)
}

// isSlug is true for lower case words, numbers and versions with separators
// between them: aws-ec2-t3-micro, cl100k_base_v2.
func isSlug(v string) bool {
	const separators = "-_./:"
	if !strings.ContainsAny(v, separators) || v != strings.ToLower(v) {
		return false
	}
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if _, pieces, _ := shape(part); pieces > 3 || pieces == 3 && len(part) > 6 || len(part) > 16 {
			return false
		}
	}
	return true
}

// unspeakable is true for letters with fewer vowels than language has: English
// has 38 %, generated text 19 %.
func unspeakable(v string) bool {
	letters, vowels := 0, 0
	for i := range len(v) {
		switch c := v[i] | 0x20; {
		case strings.IndexByte("aeiou", c) >= 0:
			vowels++
			letters++
		case 'a' <= c && c <= 'z':
			letters++
		}
	}
	return letters >= 8 && vowels*100 < letters*28
}

// shape counts digits, letters and digits, and the pieces that they form: words
// (with or without a capital), runs of capitals, runs of digits.
func shape(v string) (digits, pieces, chars int) {
	const (
		none = iota
		low
		up
		num
	)
	last, run := none, 0
	for i := range len(v) {
		c := v[i]
		kind := none
		switch {
		case 'a' <= c && c <= 'z':
			kind = low
		case 'A' <= c && c <= 'Z':
			kind = up
		case '0' <= c && c <= '9':
			kind = num
			digits++
		}
		if kind != none {
			chars++
		}
		switch {
		case kind == none:
			run = 0
		case kind == last && run > 0:
			run++
		case last == up && kind == low && run == 1:
			run++ // the capital begins the word
		default:
			pieces++
			run = 1
		}
		last = kind
	}
	return digits, max(pieces, 1), chars
}

// entropy is Shannon's, in bits per byte.
func entropy(v string) float64 {
	var count [256]int
	for i := range len(v) {
		count[v[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(v))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// isFiller is true for what stands in documentation instead of a secret: one
// character over and over, or one after the other.
func isFiller(v string) bool {
	if strings.Contains(v, "...") || strings.Contains(v, "…") || strings.HasPrefix(v, opening) {
		return true
	}
	same, next := 1, 1
	longestSame, longestNext := 1, 1
	for i := 1; i < len(v); i++ {
		same, next = same+1, next+1
		if v[i] != v[i-1] {
			same = 1
		}
		if v[i] != v[i-1]+1 {
			next = 1
		}
		longestSame, longestNext = max(longestSame, same), max(longestNext, next)
	}
	return longestSame*2 > len(v) && len(v) > 3 || longestSame >= 12 || longestNext >= 16
}

const askers = " password passwd passphrase pass pwd secret token key apikey api_key api-key none null nil undefined true false string str " +
	"bool int number any text required optional empty default unset todo n/a na hidden masked redacted removed "

// isPlaceholder is true for words that ask for a secret.
func isPlaceholder(v string) bool {
	v = strings.ToLower(strings.Trim(v, "-_<>[]{}()*"))
	if v == "" || strings.Contains(askers, " "+v+" ") {
		return true
	}
	for w := range strings.FieldsSeq("your example placeholder changeme change-me change_me replace insert dummy redacted sample foobar fixme xxxx") {
		if strings.Contains(v, w) {
			return true
		}
	}
	return false
}

// isTemplate is true for references to a value that is elsewhere.
func isTemplate(v string) bool {
	if v == "" || strings.HasPrefix(v, opening) {
		return true
	}
	switch v[0] {
	case '$', '<', '{', '(', '[', '&':
		return true
	case '%':
		return len(v) > 1 && strings.IndexByte("sdvq({%", v[1]) >= 0
	}
	return strings.HasPrefix(v, "#{") || slices.ContainsFunc([]string{"${", "{{", "$(", "****"}, func(w string) bool { return strings.Contains(v, w) })
}

// matches compares v with a form: h is a hexadecimal digit, d a digit.
func matches(v, form string) bool {
	if len(v) != len(form) {
		return false
	}
	for i := range len(v) {
		c, low := v[i], v[i]|0x20
		digit := '0' <= c && c <= '9'
		switch form[i] {
		case 'd':
			if !digit {
				return false
			}
		case 'h':
			if !digit && (low < 'a' || low > 'f') {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}

// IsUUID tells ids such as 6f1c9c2e-4d1b-4a57-9d0e-2f3a4b5c6d7e.
func IsUUID(v string) bool { return matches(v, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") }

func isDate(v string) bool { return len(v) >= 10 && matches(v[:10], "dddd-dd-dd") }

// isDigest tells hexadecimal text of the length of a hash.
func isDigest(v string) bool {
	switch len(v) {
	case 32, 40, 56, 64, 96, 128:
		return strings.Trim(v, "0123456789abcdefABCDEF") == ""
	}
	return false
}
