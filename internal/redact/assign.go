package redact

import (
	"strings"
	"unicode/utf8"
)

// strength says how much a name alone tells about the value that it is given.
type strength int

const (
	nothing  strength = iota
	someKey           // key, auth, the name of a service: may as well name a cache entry
	token             // token, api_key: the value must not be a word
	secret            // secret, client_secret: anything but a word or a placeholder
	password          // password: anything with a digit or a sign in it
	header            // authorization: whatever follows the scheme
)

// meaning is what a name tells: its strength, or that it contains a telling word.
type meaning struct {
	strength strength
	telling  bool
}

// meaningOf remembers the names of a text: there are few, and they come often.
func (s *scanner) meaningOf(name string) meaning {
	m, ok := s.names[name]
	if ok {
		return m
	}
	m.strength = s.rules.strengthOf(name)
	m.telling = m.strength != nothing || telling(name)
	if s.names == nil {
		s.names = map[string]meaning{}
	}
	if len(s.names) < 4096 {
		s.names[name] = m
	}
	return m
}

// assigned finds name = value, name: value, "name": "value", name := value,
// name => value. i is the position of the sign.
func (s *scanner) assigned(i int) (Span, bool) {
	name, ok := s.nameBefore(i)
	if !ok || !s.meaningOf(name).telling {
		return Span{}, false
	}
	v, ok := s.valueAfter(i + 1)
	if !ok {
		return Span{}, false
	}
	// NAME=value as in a shell or an .env file, and name: value as in YAML, are
	// text even without quotes; elsewhere a bare word is a variable.
	if !v.quoted {
		switch s.text[i] {
		case '=':
			if s.meaningOf(name).strength == header {
				return Span{}, false // code: a header is written with a colon
			}
			v.literal = v.start == i+1
		case ':':
			v.literal = v.start > i+1 && v.ends
		}
	}
	return s.judge(name, v)
}

// argument finds f("name", "value"). i is the position of the comma.
func (s *scanner) argument(i int) (Span, bool) {
	if i == 0 || s.text[i-1] != '"' && s.text[i-1] != '\'' {
		return Span{}, false
	}
	name, ok := s.nameBefore(i)
	if !ok || !s.meaningOf(name).telling {
		return Span{}, false
	}
	v, ok := s.valueAfter(i + 1)
	if !ok || !v.quoted {
		return Span{}, false
	}
	return s.judge(name, v)
}

// element finds <name>value</name>. i is the position of the first ">".
func (s *scanner) element(i int) (Span, bool) {
	start := s.back(i, urlSafe|dot|colon, 64)
	if start == i || start == 0 || s.text[start-1] != '<' {
		return Span{}, false
	}
	inner := s.text[i+1 : min(len(s.text), i+1+longestValue)]
	end := strings.IndexByte(inner, '<')
	if end < 0 || !strings.HasPrefix(inner[end:], "</") {
		return Span{}, false
	}
	inner = inner[:end]
	v := value{start: i + 1 + len(inner) - len(strings.TrimLeft(inner, " \t\r\n")), quoted: true}
	v.end = v.start + len(strings.TrimSpace(inner))
	return s.judge(s.text[start:i], v)
}

// flag finds --name value; --name=value is an assignment.
func (s *scanner) flag(i int) (Span, bool) {
	end := s.runFrom(i+2, urlSafe)
	if end == i+2 || end-i > 64 || end >= len(s.text) || s.text[end] != ' ' || s.is(i-1, urlSafe) {
		return Span{}, false
	}
	name := s.text[i+2 : end]
	if name == "user" || name == "proxy-user" {
		return s.curlUser(end)
	}
	v, ok := s.valueAfter(end + 1)
	if !ok || s.text[v.start] == '-' {
		return Span{}, false
	}
	v.literal = true
	return s.judge(name, v)
}

// curlUser finds the password of curl -u user:password. i is the end of the flag.
func (s *scanner) curlUser(i int) (Span, bool) {
	command := strings.ReplaceAll(s.text[max(0, i-512):i], "\\\n", "")
	command = command[strings.LastIndexByte(command, '\n')+1:]
	if !strings.Contains(command, "curl") {
		return Span{}, false
	}
	v, ok := s.valueAfter(i)
	if !ok {
		return Span{}, false
	}
	user, pass, ok := strings.Cut(s.text[v.start:v.end], ":")
	if !ok || len(pass) < 4 || isTemplate(pass) || isFiller(pass) || isPlaceholder(pass) || isTemplate(user) && user != "" {
		return Span{}, false
	}
	return Span{v.end - len(pass), v.end, "basic-auth"}, true
}

// nameBefore returns the identifier on the left of the sign at i, without quotes,
// brackets and a type.
func (s *scanner) nameBefore(i int) (string, bool) {
	const ident = urlSafe | dot | dollar
	if i > 1 && s.text[i-1] == '.' && s.text[i-2] == ' ' {
		i-- // $name .= "…"
	}
	end := s.skipBack(i)
	start := s.back(end, ident, 80)
	if start == end {
		return "", false
	}
	name := s.text[start:end]
	switch name {
	case "string", "String", "str", "SecretStr", "Secret", "text", "any":
		// password: string = "…", var password string = "…"
		if sign := s.skipBack(start); sign > 0 && sign < start {
			if from := s.back(sign, ident, 80); from < sign {
				return s.text[from:sign], true
			}
		}
	}
	return name, true
}

// skipBack steps over what may stand between a name and its sign.
func (s *scanner) skipBack(i int) int {
	end := i
	for end > 0 && i-end < 12 && s.rules.between[s.text[end-1]] {
		end--
	}
	return end
}

type value struct {
	start, end int
	quoted     bool
	literal    bool // text although it has no quotes
	ends       bool // nothing follows it on its line
}

const longestValue = 4096

// valueAfter returns the value that begins at or soon after i.
func (s *scanner) valueAfter(i int) (value, bool) {
	t := s.text
	limit := min(len(t), i+12)
	for i < limit && strings.IndexByte(" \t=>:", t[i]) >= 0 {
		i++
	}
	// Prefixes of literals: b"…", r'…', @"…".
	if i+1 < len(t) && strings.IndexByte("brfu@", t[i]) >= 0 && strings.IndexByte("\"'", t[i+1]) >= 0 {
		i++
	}
	escaped := i+1 < len(t) && t[i] == '\\' && strings.IndexByte("\"'", t[i+1]) >= 0
	if escaped {
		i++
	}
	if i >= len(t) {
		return value{}, false
	}
	v := value{start: i}
	if q := t[i]; q == '"' || q == '\'' || q == '`' {
		v.start, v.quoted = i+1, true
		for j := i + 1; j < len(t) && j-i < longestValue; j++ {
			switch {
			case t[j] == '\n' || t[j] == '\r', escaped && t[j] == '\\', t[j] == q:
				v.end = j
			case t[j] == '\\':
				j++
				continue
			default:
				continue
			}
			break
		}
		if v.end <= v.start || t[v.end] == '\n' || t[v.end] == '\r' {
			return value{}, false
		}
	} else {
		const longest = 512
		v.end = i
		for v.end < len(t) && v.end-i < longest && s.rules.bare[t[v.end]] {
			v.end++
		}
		if v.end == v.start || v.end-i == longest {
			return value{}, false
		}
		rest := strings.TrimLeft(t[v.end:min(len(t), v.end+4)], " \t")
		v.ends = v.end == len(t) || rest != "" && strings.IndexByte("\r\n\\\"'", rest[0]) >= 0
	}
	return v, true
}

// judge decides whether v is a secret, given the name that it is assigned to.
func (s *scanner) judge(name string, v value) (Span, bool) {
	m := s.meaningOf(name)
	if !m.telling {
		return Span{}, false
	}
	how := max(m.strength, someKey)
	// A token that is known by its form is named by it.
	if v.start+1 < len(s.text) {
		if sp, ok := s.prefixed(v.start); ok {
			return sp, sp.Start >= s.from
		}
	}
	if how == header {
		v = s.credentials(v.start)
	}
	text := s.text[v.start:v.end]
	if !convincing(how, name, text, v.quoted || v.literal) || !utf8.ValidString(text) {
		return Span{}, false
	}
	kind := "secret"
	switch how {
	case password:
		kind = "password"
	case header:
		kind = "authorization"
	}
	return Span{v.start, v.end, kind}, true
}

// credentials returns what follows the scheme of an Authorization header.
func (s *scanner) credentials(i int) value {
	end := i
	for end < len(s.text) && end-i < 2048 && s.text[end] >= ' ' && s.text[end] < 0x7f && strings.IndexByte("\"'`\\<>", s.text[end]) < 0 {
		end++
	}
	v := value{start: i, end: end, quoted: true}
	if scheme, rest, ok := strings.Cut(s.text[i:end], " "); ok && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" {
		v.start = end - len(rest)
	}
	v.end = v.start + len(s.text[v.start:end]) - len(strings.TrimLeft(s.text[v.start:end], "!#$%&*+-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ^_abcdefghijklmnopqrstuvwxyz|~"))
	return v
}

func convincing(how strength, name, v string, literal bool) bool {
	if len(v) < 6 || isTemplate(v) || isFiller(v) || isPlaceholder(v) || strings.ContainsAny(v, " \t") || strings.Contains(v, "://") {
		return false
	}
	if how != password && how != header && strings.ContainsAny(v, "[](){}<>\\^|,") || isDate(v) {
		return false
	}
	if isUUID(v) {
		return how == header || ownsUUIDs(name)
	}
	digits, pieces, chars := shape(v)
	signs := len(v) - chars
	mixed := digits > 0 && digits < len(v)
	wordy := float64(chars)/float64(pieces) >= 3.3
	switch how {
	case header:
		return len(v) >= 8 && (digits > 0 || hasSign(v) || looksRandom(v))
	case password:
		if !literal {
			return len(v) >= 8 && mixed && !wordy && !isPath(v)
		}
		if strings.Contains(v, `\x`) || strings.Contains(v, `\u`) {
			return false // control characters around a word
		}
		return digits == len(v) || len(v) >= 6 && (digits > 0 || signs > 0 && strings.Trim(v, "-_./:") == v && hasSign(v)) && !isPath(v)
	case secret:
		if !literal {
			return looksRandom(v) && !isPath(v)
		}
		return len(v) >= 8 && mixed && (!wordy || digits*4 >= chars || hasSign(v)) && !isPath(v)
	case token:
		if isPath(v) {
			return false
		}
		return looksRandom(v) || literal && digits > 0 && signs == 0 && len(v) >= 24 && entropy(v) >= 2.5
	default:
		return len(v) >= 16 && looksRandom(v) && !isPath(v) && !isDigest(v) && !strings.Contains(v, "%") && !isUUID(v[max(0, len(v)-36):])
	}
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
		if _, pieces, chars := shape(part); len(part) > 8 && float64(chars)/float64(pieces) < 2.6 {
			return false
		}
	}
	return true
}

// strengthOf reads the end of a name, whatever its style: dbPassword,
// DB_PASSWORD, db-password.
func (r *rules) strengthOf(name string) strength {
	var buf [80]byte
	n := normal(buf[:0], name)
	for _, suffix := range [...]string{"base", "prod", "production", "dev", "staging", "live", "test", "value", "string", "text", "plain"} {
		if len(n) > len(suffix)+4 && hasSuffix(n, suffix) {
			n = n[:len(n)-len(suffix)]
			break
		}
	}
	for len(n) > 0 && n[len(n)-1] <= '9' {
		n = n[:len(n)-1]
	}
	if len(n) == 0 {
		return nothing
	}
	for _, e := range r.endings[n[len(n)-1]] {
		if hasSuffix(n, e.name) {
			if e.strength == password && e.name == "pass" && len(n) > len(e.name) && !endsWord(name, "pass") {
				continue
			}
			return e.strength
		}
	}
	return nothing
}

// endsWord says whether a name ends with word as a word of its own: DB_PASS and
// dbPass, not bypass.
func endsWord(name, word string) bool {
	if len(name) <= len(word) {
		return false
	}
	end := name[len(name)-len(word)-1:]
	return hasWord(end, strings.ToLower(end), word)
}

// telling says whether a name contains the name of a service that issues keys
// without a form of their own, or a word for secrets.
func telling(name string) bool {
	low := strings.ToLower(name)
	for _, w := range vendors {
		if hasWord(name, low, w) {
			return true
		}
	}
	for _, w := range [...]string{"secret", "token", "apikey", "api_key", "credential"} {
		// Not the tokenizer.
		if _, after, _ := strings.Cut(low, w); hasWord(name, low, w) && (after == "" || after[0] < 'a' || name[len(name)-len(after)] < 'a') {
			return true
		}
	}
	return false
}

// hasWord says whether a name contains word as a word: OKTA_ID and myOktaId, not
// rookTable. low is the name in lower case.
func hasWord(name, low, word string) bool {
	for at := 0; ; at++ {
		i := strings.Index(low[at:], word)
		if i < 0 {
			return false
		}
		at += i
		if at == 0 || low[at-1] < 'a' || low[at-1] > 'z' || name[at] != low[at] && name[at-1] == low[at-1] {
			return true
		}
	}
}

// ending is what the end of a name tells. Of two that fit, the first counts.
type ending struct {
	name     string
	strength strength
}

var endings = [...]ending{
	// These end like names of secrets.
	{"publickey", nothing},
	{"primarykey", nothing},
	{"foreignkey", nothing},
	{"cachekey", nothing},
	{"sortkey", nothing},
	{"partitionkey", nothing},
	{"hashkey", nothing},
	{"rangekey", nothing},
	{"hotkey", nothing},
	{"objectkey", nothing},
	{"mapkey", nothing},
	{"rowkey", nothing},
	{"monkey", nothing},
	{"idempotencykey", nothing},
	{"routingkey", nothing},
	{"translationkey", nothing},
	{"publishablekey", nothing},
	{"cursorkey", nothing},
	{"pagetoken", nothing},
	{"nexttoken", nothing},
	{"continuationtoken", nothing},
	{"synctoken", nothing},
	{"canceltoken", nothing},
	{"cancellationtoken", nothing},
	{"csrftoken", nothing},
	{"resumetoken", nothing},
	{"publictoken", nothing},

	{"password", password},
	{"passwd", password},
	{"passphrase", password},
	{"passwort", password},
	{"pwd", password},
	{"pass", password},
	{"authorization", header},
	{"secretkey", secret},
	{"secretaccesskey", secret},
	{"secret", secret},
	{"privatekey", token},
	{"accesskey", token},
	{"apikey", token},
	{"authkey", token},
	{"accountkey", token},
	{"encryptionkey", token},
	{"signingkey", token},
	{"masterkey", token},
	{"servicekey", token},
	{"sharedkey", token},
	{"storagekey", token},
	{"licensekey", token},
	{"appkey", token},
	{"deploykey", token},
	{"token", token},
	{"bearer", token},
	{"credential", token},
	{"credentials", token},
	{"creds", token},
	{"sig", token},
	{"xamzsignature", token},
	{"key", someKey},
	{"auth", someKey},
	{"api", someKey},
	{"access", someKey},
}

// vendors issue keys without a form of their own.
var vendors = [...]string{
	"adafruit", "adobe", "airtable", "algolia", "alibaba", "asana", "atlassian", "beamer", "bitbucket", "bittrex", "cloudflare", "codecov", "cohere",
	"coinbase", "confluence", "confluent", "contentful", "datadog", "discord", "droneci", "dropbox", "etsy", "facebook", "fastly", "finicity", "finnhub",
	"flickr", "freshbooks", "gitter", "gocardless", "heroku", "hubspot", "intercom", "jfrog", "artifactory", "bintray", "jira", "kraken", "kucoin",
	"launchdarkly", "linkedin", "linked_in", "linked-in", "looker", "mailchimp", "mailgun", "mapbox", "mattermost", "meraki", "messagebird", "message_bird", "netlify", "newrelic", "new_relic", "new-relic", "nytimes",
	"okta", "plaid", "privateai", "rapidapi", "sendbird", "sentry", "snyk", "sonar", "squarespace", "sumo", "telegr", "travis", "twitch", "twitter",
	"yandex", "zendesk",
}

// ownsUUIDs names the services whose keys have the form of a UUID.
func ownsUUIDs(name string) bool {
	low := strings.ToLower(name)
	for _, v := range [...]string{"heroku", "hubspot", "kucoin", "messagebird", "message_bird", "sendbird", "snyk", "squarespace"} {
		if hasWord(name, low, v) {
			return true
		}
	}
	return false
}

// normal appends a name in lower case and without separators to buf.
func normal(buf []byte, name string) []byte {
	for i := range len(name) {
		switch c := name[i]; {
		case 'A' <= c && c <= 'Z':
			buf = append(buf, c+'a'-'A')
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			buf = append(buf, c)
		}
	}
	return buf
}

func hasSuffix(b []byte, suffix string) bool {
	return len(b) >= len(suffix) && string(b[len(b)-len(suffix):]) == suffix
}
