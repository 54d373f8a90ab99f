package redact

import (
	"math"
	"strings"
)

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

// isPlaceholder is true for words that ask for a secret.
func isPlaceholder(v string) bool {
	v = strings.ToLower(strings.Trim(v, "-_<>[]{}()*"))
	switch v {
	case "", "password", "passwd", "passphrase", "pass", "pwd", "secret", "token", "key", "apikey", "api_key", "api-key", "none", "null", "nil",
		"undefined", "true", "false", "string", "str", "bool", "int", "number", "any", "text", "required", "optional", "empty", "default", "unset",
		"todo", "n/a", "na", "hidden", "masked", "redacted", "removed":
		return true
	}
	for _, w := range [...]string{"your", "example", "placeholder", "changeme", "change-me", "change_me", "replace", "insert", "dummy", "redacted", "sample", "foobar", "fixme", "xxxx"} {
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
	return strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(v, "$(") || strings.HasPrefix(v, "#{") || strings.Contains(v, "****")
}

// isUUID tells the form 8-4-4-4-12 of hexadecimal digits.
func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		switch i {
		case 8, 13, 18, 23:
			if v[i] != '-' {
				return false
			}
		default:
			if !isHexByte(v[i]) {
				return false
			}
		}
	}
	return true
}

// isDate tells 2006-01-02 with or without a time.
func isDate(v string) bool {
	if len(v) < len("2006-01-02") {
		return false
	}
	for i := range len("2006-01-02") {
		if c := v[i]; (i == 4 || i == 7) != (c == '-') || c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isDigest tells hexadecimal text of the length of a hash.
func isDigest(v string) bool {
	switch len(v) {
	case 32, 40, 56, 64, 96, 128:
	default:
		return false
	}
	for i := range len(v) {
		if !isHexByte(v[i]) {
			return false
		}
	}
	return true
}

func isHexByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
