package redact

import "strings"

// urlPassword finds the password of scheme://user:password@host, and a token that
// stands in for the user. i is the position of "://".
func (s *scanner) urlPassword(i int) (Span, bool) {
	const longest = 512
	start := i + len("://")
	end := start
	at := -1
	for end < len(s.text) && end-start < longest && !endsAuthority(s.text[end]) {
		if s.text[end] == '@' {
			at = end
		}
		end++
	}
	if at < 0 {
		return Span{}, false
	}
	user, password, ok := strings.Cut(s.text[start:at], ":")
	if !ok {
		if len(user) >= 20 && looksRandom(user) && s.runFrom(start, urlSafe|percent) == at {
			return Span{start, at, "url-token"}, true
		}
		return Span{}, false
	}
	// A sign that should have been escaped; host:port?q=a@b is no password.
	if cut := strings.IndexAny(password, "?#"); cut >= 0 && strings.Trim(password[:cut], "0123456789") == "" {
		return Span{}, false
	}
	if isTemplate(password) || isFiller(password) || isPlaceholder(password) {
		return Span{}, false
	}
	kind := "url-password"
	if isDatabase(s.text[s.back(i, alnum|plus|dot|dash, 24):i]) {
		kind = "connection-string"
	}
	return Span{at - len(password), at, kind}, true
}

func endsAuthority(c byte) bool {
	return c <= ' ' || c >= 0x7f || strings.IndexByte("/\"'`<>\\()|,;", c) >= 0
}

const databases = " postgres postgresql mysql mariadb mongodb redis rediss amqp amqps mssql sqlserver oracle cockroachdb clickhouse cassandra neo4j bolt couchdb influxdb nats kafka ldap ldaps "

func isDatabase(scheme string) bool {
	scheme, _, _ = strings.Cut(scheme, "+")
	return strings.Contains(databases, " "+strings.ToLower(scheme)+" ")
}
