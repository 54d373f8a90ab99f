package redact

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// command is a program that takes a secret as an argument.
type command struct {
	names string // with commas between them
	flags string // that the secret follows, after a space; with + also without; none: after arguments
	skip  int    // arguments before the secret, where there is no flag
	split byte   // between a name and the secret
}

var commands = [...]command{
	{"mysql,mysqldump,mysqladmin,mysqlimport,mysqlsh,mariadb,mariadb-dump,mariadb-admin,7z,7za,7zz", "-p+", 0, 0},
	{"sshpass", "-p+ -p", 0, 0},
	{"redis-cli", "-a", 0, 0},
	{"mongosh,mongo,mongodump,mongorestore,mongoexport,mongoimport,cqlsh,twine upload,useradd,usermod,login", "-p", 0, 0},
	{"ldapsearch,ldapadd,ldapmodify,ldapdelete,ldapwhoami,ldappasswd", "-w", 0, 0},
	{"sqlcmd,bcp,zip,unzip,mosquitto_pub,mosquitto_sub", "-P", 0, 0},
	{"openssl", "pass:+ -k", 0, 0},
	{"ssh-keygen", "-N -P", 0, 0},
	{"xfreerdp,xfreerdp3,mstsc", "/p:+", 0, 0},
	{"curl", "-u+ -u --user --proxy-user", 0, ':'},
	{"http,https,xh", "-a --auth", 0, ':'},
	{"etcdctl,influx", "--user", 0, ':'},
	{"smbclient,rpcclient", "-U", 0, '%'},
	{"lftp", "-u", 0, ','},
	{"htpasswd", "", 2, 0},
	{"rabbitmqctl add_user,rabbitmqctl change_password,net user", "", 1, 0},
	{"net use", "", 3, 0},
	{"composer config http-basic", "", 2, 0},
	{"cargo login,wandb login,vault login,npm login", "", 0, 0},
	{"bundle config", "", 1, ':'},
	{"sqlplus,jdbc:oracle:thin:", "", 0, '/'},
	{"chpasswd:", "", 0, ':'},
	{"admin /,root /,with admin,as admin", "", 0, 0},
	{"ConvertTo-SecureString,IDENTIFIED BY,identified by", "", 0, 0},
	{"IDENTIFIED WITH,identified with", "", 2, 0},
	{"Credentials(", "", 3, 0},
	{"PasswordAuthentication(,auth=(,HTTPBasicAuth(,BasicAuth(,basicAuth(,login(,authenticate(,signIn(", "", 1, 0},
}

// spoken finds a secret after its label: password X, the password for Y is X. The
// label is a word, or ends one as in _authToken X.
func (s *scanner) spoken(start, end int, how strength) (Span, bool) {
	if s.is(end, word) {
		return Span{}, false
	}
	name := s.wholeName(s.back(start, urlSafe|dot, 64), end)
	if how != pairOf {
		if how = s.meaningOf(name).strength; how == nothing || how == header {
			return Span{}, false
		}
	}
	at := end
	for at < len(s.text) && strings.IndexByte("\"'`*)]\\", s.text[at]) >= 0 {
		at++
	}
	if how != pairOf && s.is(at, colon|equal) {
		return Span{}, false // an assignment
	}
	// setPassword("…"), find("password").fill("…")
	open := at
	if strings.HasPrefix(s.text[at:], ".") {
		end := s.runOf(at+1, 16, word)
		switch s.text[at+1 : end] {
		case "fill", "type", "send_keys", "sendKeys", "setValue", "set", "val", "input":
			open = end
		}
	}
	if strings.HasPrefix(s.text[open:], "(") {
		if v, ok := s.valueAfter(open + 1); ok && v.quoted {
			return s.weigh(how, name, v, setting)
		}
	}
	// X as the password
	if before := strings.TrimSuffix(s.text[s.from:start], "the "); strings.HasSuffix(before, " as ") {
		v := value{end: s.from + len(before) - len(" as ")}
		for v.start = v.end; v.start > s.from && s.rules.bare[s.text[v.start-1]]; v.start-- {
		}
		if sp, ok := s.weigh(how, name, v, prose); ok {
			return sp, true
		}
	}
	return s.afterLabel(at, how, name)
}

// afterLabel walks over the words between a label and its secret.
func (s *scanner) afterLabel(at int, how strength, name string) (Span, bool) {
	const most, longest = 12, 96
	may := theValue
	for n, limit := 0, at+longest; n < most && at < limit; n++ {
		from := s.runSpace(at)
		if from == at && n > 0 {
			break
		}
		for range 2 { // the following password to go on: X, on a line of its own
			if stop, next := s.lineEnd(from, min(len(s.text), from+4)); stop == from && next > stop && n > 2 && may == theValue {
				from = s.afterMargin(next)
			}
		}
		v, ok := s.valueAfter(from)
		rest := s.text[from:min(len(s.text), from+40)]
		switch stop := strings.IndexByte(rest, ')'); {
		case ok:
		case strings.HasPrefix(rest, "→"), strings.HasPrefix(rest, "<-"):
			may, at = theValue, from+len(rest[:2])
			if rest[0] >= utf8.RuneSelf {
				at++
			}
			continue
		case strings.HasPrefix(rest, opening) && strings.Contains(rest, closing):
			may, at = another, from+strings.Index(rest, closing)+1
			continue
		case rest != "" && rest[0] >= utf8.RuneSelf:
			return s.foreign(from, how)
		case strings.HasPrefix(rest, "(") && stop > 0: // (staging):
			at = from + stop + 1
			if strings.HasPrefix(rest[stop+1:], ":") {
				may = theValue
				at++
			}
			continue
		default:
			return Span{}, false
		}
		if may&theValue != 0 && (from > at && (n > 0 || how > someKey || v.quoted) || how == pairOf) {
			if how == pairOf {
				if sp, ok := s.divide(v, ":/"); ok {
					return sp, true
				}
			} else if sp, ok := s.weigh(how, name, v, prose); ok {
				return sp, true
			}
		}
		w := s.text[v.start:v.end]
		next := gapWords()[w]
		switch {
		case v.quoted:
			return Span{}, false
		case strings.HasSuffix(w, ":"):
			next = theValue
		case next == 0 && may&anyWord == 0:
			return Span{}, false
		}
		at, may = v.end, next
	}
	return Span{}, false
}

// gap says what may follow a word between a label and its secret.
type gap int

const (
	theValue gap = 1 << iota // the secret
	anyWord                  // a word that the others do not know
	another                  // one that they know
)

var gapWords = sync.OnceValue(func() map[string]gap {
	words := map[string]gap{"to": theValue | anyWord}
	for may, list := range map[gap]string{
		theValue: "is lautet ist est es jest was are be as from = -> - => | this 0 7 --plaintext",
		anyWord:  "for of on in the user account",
		another:  "has have been set changed should will must generated now reset updated",
	} {
		for w := range strings.FieldsSeq(list) {
			words[w] = may
		}
	}
	return words
})

// foreign finds the first word in ASCII after a label in Chinese, Japanese, Korean
// and the like. end is that of the label.
func (s *scanner) foreign(end int, how strength) (Span, bool) {
	where := prose
	for at := end; at < len(s.text) && at-end < 48; {
		c := s.text[at]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s.text[at:])
			switch r {
			case '。', '！', '？', '；', '，', '、', utf8.RuneError:
				return Span{}, false
			case '：', '＝', '「', '『', '“', '＂':
				where = setting
			}
			at += n
			continue
		}
		switch c {
		case ':', '=':
			where = setting
		case ' ', '\t', '*', '`', '"', '\'', '(', ')', '|', '-', '>', ']', '_', '/':
		default:
			if c == '\\' || !s.rules.bare[c] {
				return Span{}, false
			}
			v := value{start: at, end: s.bareEnd(at)}
			if how != pairOf {
				if sp, ok := s.weigh(how, "", v, where); ok || how != password {
					return sp, ok
				}
			}
			if sp, ok := s.divide(v, ":/"); ok {
				return sp, true
			}
			for v.start = v.end; v.start < len(s.text) && strings.IndexByte(" /:", s.text[v.start]) >= 0; v.start++ {
			}
			if v.end = s.bareEnd(v.start); v.end == v.start {
				return Span{}, false
			}
			return s.weigh(password, "", v, prose)
		}
		at++
	}
	return Span{}, false
}

// command finds the secret among the arguments of a program.
func (s *scanner) command(start, end int, c *command) (Span, bool) {
	if s.is(start-1, word|dot) && !s.escape(start) || s.is(end, urlSafe) && s.text[end-1] != ':' || end >= len(s.text) {
		return Span{}, false
	}
	const most, longest = 24, 320
	call := s.text[end-1] == '('
	skip, at := c.skip, end
	for range most {
		v, ok := s.nextArgument(at, end+longest)
		if !ok {
			return Span{}, false
		}
		arg := s.text[v.start:v.end]
		for at = v.end; v.quoted && at < len(s.text) && s.text[at] == '\\'; at++ {
		}
		if v.quoted {
			at++
		}
		if c.flags == "" {
			if skip == 0 {
				if call && !v.quoted {
					return Span{}, false
				}
				return s.secretArgument(v, c.split)
			}
			if !strings.HasPrefix(arg, "-") || len(arg) == 1 {
				skip--
			}
			continue
		}
		for flag := range strings.FieldsSeq(c.flags) {
			if glued, ok := strings.CutSuffix(flag, "+"); ok {
				if strings.HasPrefix(arg, glued) && !v.quoted {
					w := value{start: v.start + len(glued), end: v.end}
					if w.start == w.end { // -p'…'
						if w, ok = s.valueAfter(w.start); !ok || !w.quoted || w.start != v.end+1 && s.text[v.end] != '\\' {
							continue
						}
					}
					if sp, ok := s.secretArgument(w, c.split); ok {
						return sp, true
					}
				}
			} else if arg == flag {
				if w, ok := s.nextArgument(at, end+longest); ok {
					if sp, ok := s.secretArgument(w, c.split); ok {
						return sp, true
					}
				}
			}
		}
	}
	return Span{}, false
}

// nextArgument returns the next word of a command line, and false at its end.
func (s *scanner) nextArgument(at, limit int) (value, bool) {
	t := s.text
	for at < len(t) && at < limit {
		switch c := t[at]; {
		case strings.IndexByte(" \t(),", c) >= 0:
			at++
		case c == '\\' && at+1 < len(t) && t[at+1] == '\n':
			at += 2
		case strings.IndexByte("\n\r;|&<>", c) >= 0:
			return value{}, false
		default:
			v, ok := s.valueAfter(at)
			return v, ok && v.start-at < 8
		}
	}
	return value{}, false
}

// secretArgument judges an argument, or the part of it after the split.
func (s *scanner) secretArgument(v value, split byte) (Span, bool) {
	switch {
	case split == ',' && strings.HasPrefix(s.text[v.end:], ","):
		v = value{start: v.end + 1, end: s.bareEnd(v.end + 1)}
	case split != 0:
		return s.divide(v, string(split))
	}
	if strings.HasPrefix(s.text[v.start:], "-") {
		return Span{}, false
	}
	return s.weigh(password, "", v, prose)
}

// divide finds the password of user:password, and of user/password@host.
func (s *scanner) divide(v value, splits string) (Span, bool) {
	const longest = 512 // of what is looked at: a run may hold many labels
	text := s.text[v.start:min(v.end, v.start+longest)]
	k := strings.IndexAny(text, splits)
	if k < 0 || strings.Contains(text[:k], "{") {
		return Span{}, false
	}
	// file.go:12:text, as grep prints it
	line := s.runOf(v.start+k+1, 9, digit)
	if line > v.start+k+1 && line < v.end && s.text[line] == ':' && strings.Contains(text[:k], ".") || isReference(text) {
		return Span{}, false
	}
	if at := strings.LastIndexByte(text, '@'); at > k && splits == "/" {
		v.end = v.start + at
	}
	v.start += k + 1
	sp, ok := s.weigh(password, "", v, prose)
	if sp.Kind == "password" {
		sp.Kind = "basic-auth"
	}
	return sp, ok
}

// slashed finds the password of "name / password". Where no word before the name tells
// of a login, the password has to look like one that people choose by the rules for
// passwords: small letters, capitals, digits, and a sign between them. i is the slash.
func (s *scanner) slashed(i int) (Span, bool) {
	if i < 3 || i+8 > len(s.text) || s.text[i-1] != ' ' || s.text[i+1] != ' ' || !s.is(i-2, word) {
		return Span{}, false
	}
	at := i - 1
	for at > s.from && i-at < 48 && (s.is(at-1, urlSafe|dot) || s.text[at-1] == '@') {
		at--
	}
	v := value{start: i + 2, end: s.bareEnd(i + 2)}
	text := strings.TrimRight(s.text[v.start:min(v.end, v.start+64)], ".:?")
	if i-at < 3 || !s.is(at, letter) || !s.is(v.start, alnum) {
		return Span{}, false
	}
	digits, _, _ := shape(text)
	if k := strings.IndexAny(text, "!@^~"); !s.offersLogin(at) {
		if k < 0 || k+1 >= len(text) || len(text) < 8 || digits < 2 || strings.ToLower(text) == text || strings.ToUpper(text) == text || strings.ContainsAny(text[k:], "=./:") {
			return Span{}, false
		}
	} else if digits < 2 && !hasSign(text) {
		return Span{}, false
	}
	return s.weigh(password, "", v, prose)
}

// offersLogin reports whether the words before i, on its line, end by naming a login.
func (s *scanner) offersLogin(i int) bool {
	before := strings.ToLower(s.text[max(s.from, i-32):i])
	before = before[strings.LastIndexByte(before, '\n')+1:]
	for range 2 {
		before = strings.TrimRight(before, " \t:=->→(\"'`*,")
		for _, w := range [...]string{" with", " as", " is", " are", " for", " user"} {
			before = strings.TrimSuffix(before, w)
		}
	}
	before = strings.ReplaceAll(before, " in", "in") // log in, logged in, sign in
	for w := range strings.FieldsSeq("login loggedin signin credentials creds account user 帳號 账号 アカウント") {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return false
}

// statement finds NAME value after a word such as ENV.
func (s *scanner) statement(end int) (Span, bool) {
	stop := s.runOf(end, 96, urlSafe|dot|colon|slash)
	if stop == end || stop >= len(s.text) || s.text[stop] != ' ' {
		return Span{}, false
	}
	v, ok := s.valueAfter(stop + 1)
	if !ok || s.text[v.start] == '=' {
		return Span{}, false
	}
	return s.judge(s.text[end:stop], v, setting)
}

// piped finds echo X | sudo -S, and echo user:X | chpasswd.
func (s *scanner) piped(end int) (Span, bool) {
	v, ok := s.valueAfter(end)
	if !ok {
		return Span{}, false
	}
	rest, _, _ := strings.Cut(s.text[v.end:min(len(s.text), v.end+80)], "\n")
	rest = strings.TrimLeft(rest, " \\\"'")
	switch {
	case !strings.HasPrefix(rest, "|"):
	case strings.Contains(rest, "chpasswd"):
		return s.divide(v, ":")
	case strings.Contains(rest, "sudo -S"), strings.Contains(rest, "--password-stdin"), strings.Contains(rest, "passwd --stdin"), strings.Contains(rest, "--with-token"):
		return s.weigh(password, "", v, setting)
	}
	return Span{}, false
}

// pgpass finds host:port:database:user:password. i is the first colon.
func (s *scanner) pgpass(i int) (Span, bool) {
	port := s.runOf(i+1, 6, digit)
	if port == i+1 && port < len(s.text) && s.text[port] == '*' {
		port++
	}
	if n := port - i - 1; n != 1 && n != 4 && n != 5 || n == 1 && s.text[i+1] != '*' || port >= len(s.text) || s.text[port] != ':' || i == 0 || !s.is(i-1, alnum) && s.text[i-1] != '*' {
		return Span{}, false
	}
	end := s.bareEnd(port + 1)
	fields := strings.Split(s.text[port+1:min(end, port+300)], ":")
	if len(fields) != 3 || fields[0] == "" || fields[1] == "" || s.is(port+1, digit) || matches(fields[0], "hhhh") && matches(fields[1], "hhhh") {
		return Span{}, false // the last: an address
	}
	return s.weigh(password, "", value{start: port + 1 + len(fields[0]) + len(fields[1]) + 2, end: end}, prose)
}

// dsn finds user:password@tcp(host). i is the position of the at sign.
func (s *scanner) dsn(i int) (Span, bool) {
	if rest := s.text[i:]; !strings.HasPrefix(rest, "@tcp(") && !strings.HasPrefix(rest, "@unix(") {
		return Span{}, false
	}
	start := i
	for start > s.from && i-start < 128 && s.rules.bare[s.text[start-1]] {
		start--
	}
	user, pass, ok := strings.Cut(s.text[start:i], ":")
	if !ok || user == "" || len(pass) < 4 || isTemplate(pass) || isFiller(pass) || isPlaceholder(pass) {
		return Span{}, false
	}
	return Span{i - len(pass), i, "connection-string"}, true
}
