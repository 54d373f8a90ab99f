package redact

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write tables.go anew")

// The words of which tables.go is made, beside those of prefixed, infixes and commands:
//
//	go test ./internal/redact -run TestTables -update

// meant is words for a secret, in a sentence, before a value or in a name.
type meant struct {
	words    string // with spaces between them
	strength strength
}

// labels are found in lower case, in capitals, and with one.
var labels = [...]meant{
	{"password passwd passphrase passwort passcode requirepass masterauth storepass keypass bindpw rootpw", password},
	{"pwd pw", password},
	{"secret", secret},
	{"token authtoken secret_access_key preshared-key", token},
	{"key", someKey},
	{"creds credentials login username/password user/password login/password", pairOf},
}

// foreign labels stand in text without spaces between the words.
var foreign = [...]meant{
	{"密碼 密码 口令 パスワード 暗証番号 비밀번호 пароль Пароль contraseña Contraseña", password},
	{"帳密 账密 帐密", pairOf},
	{"金鑰 密鑰 密钥 私鑰 私钥 秘密鍵 權杖 令牌 トークン シークレット キー 토큰", token},
}

// statements are followed by a name and its value.
var statements = [...]string{"ENV ", "setenv ", "set -x ", "set -gx ", "config set ", "configure set "}

// endings are what the end of a name tells: of two that fit, the longer counts. Some end
// like names of secrets and are none.
var endings = [...]meant{
	{"publickey primarykey foreignkey cachekey sortkey partitionkey hotkey objectkey mapkey rowkey monkey idempotencykey routingkey translationkey publishablekey cursorkey pagetoken nexttoken continuationtoken synctoken canceltoken cancellationtoken csrftoken resumetoken publictoken sitekey applicationserverkey bypass compass encompass surpass trespass overpass underpass multipass minipass oldpwd", nothing},
	{"password passwd passphrase passwort passcode pwd passe senha psk masterauth authtok bindpw rootpw pw pincode community", password},
	{"recoverycode", secret},
	{"pass", password},
	{"authorization cookie", header},
	{"secretkey secretaccesskey secret", secret},
	{"privatekey accesskey apikey authkey accountkey encryptionkey signingkey masterkey servicekey sharedkey storagekey licensekey adminkey hmackey subscriptionkey serverkey presharedkey keydata dockerconfigjson accesskeyid secretid sonarlogin pat appkey deploykey token bearer credential credentials creds sig xamzsignature", token},
	{"key auth api access", someKey},
}

// vendors issue keys without a form of their own.
const vendors = "adafruit adobe airtable algolia alibaba asana atlassian beamer bitbucket bittrex cloudflare codecov cohere coinbase confluence confluent contentful " +
	"datadog discord droneci dropbox etsy facebook fastly finicity finnhub flickr freshbooks gitter gocardless heroku hubspot intercom jfrog artifactory " +
	"bintray jira kraken kucoin launchdarkly linkedin linked_in linked-in looker mailchimp mailgun mapbox mattermost meraki messagebird message_bird " +
	"netlify newrelic new_relic new-relic nytimes okta plaid privateai rapidapi sendbird sentry snyk sonar squarespace sumo telegr travis twitch twitter " +
	"yandex zendesk"

// Words for secrets that names of settings do not have, with bars between them.
const (
	labelsAbroad = "ennwort|achtwoord|enha|asło|eslo|ösenord|ösenordet|ot de passe|arola|dgangskode|alasana|elszó"
	codesOf      = "ecovery code|ackup code|ECOVERY CODE|ACKUP CODE|iederherstellungscode|復原碼|恢復碼|備用碼|备用码|恢复码|恢复代码|リカバリーコード|バックアップコード"
	phrasesOf    = "eed phrase|eed words|ecovery phrase|nemonic|助記詞|助记词|シードフレーズ"
	// How lines of password, secret, token and key begin in base64, in each of the
	// three places where they can begin.
	encodedNames = "UEFTU1dPUk|BBU1NXT1JE|QQVNTV09SR|cGFzc3dvcm|Bhc3N3b3Jk|wYXNzd29yZ|U0VDUkVU|NFQ1JFV|TRUNSRV|c2VjcmV0|NlY3Jld|zZWNyZX|VE9LRU4|RPS0VO|UT0tFT|dG9rZW|Rva2Vu|0b2tlb|S0VZP|tFWT|LRVk9"
)

// builder makes the tables.
type builder struct{ rules }

// list puts a word into a list, behind those that are as long or longer.
func (b *builder) list(at *uint16, w listed) {
	for *at != 0 && len(b.words[*at].word) >= len(w.word) {
		at = &b.words[*at].next
	}
	w.next, *at = *at, uint16(len(b.words))
	b.words = append(b.words, w)
}

// entry is the one that a word belongs to; it is made where there is none.
func (b *builder) entry(word string) *entry {
	g := &b.groups[int(word[0])<<8|int(word[1])]
	if *g == 0 {
		*g = uint16(len(b.entries))
		b.entries = append(b.entries, entry{})
	}
	e := &b.entries[*g]
	if len(word) > 2 {
		e.third[word[2]>>6] |= 1 << (word[2] & 63)
		return e
	}
	for i := range e.third {
		e.third[i] = ^uint64(0)
	}
	return e
}

func (b *builder) trigger(word string, asks detector, of int) {
	b.list(&b.entry(word).triggers, listed{word: word, asks: asks, of: uint8(of)})
}

func build() *rules {
	b := &builder{rules{entries: make([]entry, 1), words: make([]listed, 1)}}
	span := func(from, to byte, c class) {
		for at := from; at <= to; at++ {
			b.classes[at] = c
		}
	}
	span('0', '9', digit)
	span('a', 'f', hexLow)
	span('g', 'z', lowG)
	span('A', 'F', hexUp)
	span('G', 'Z', upG)
	for i, c := range [...]class{under, dash, dot, plus, slash, equal, tilde, percent, colon, dollar} {
		b.classes["_-.+/=~%:$"[i]] = c
	}
	for c := byte('!'); c < 0x7f; c++ {
		b.bare[c] = strings.IndexByte("\"'`,;()[]{}<>&|\\", c) < 0
	}
	for _, c := range []byte(" \t\"'`\\]):=?|+&*") {
		b.between[c] = true
	}
	for _, c := range []byte(":=-.|>,@?/") {
		b.special[c] = true
	}
	for k, p := range prefixed {
		for w := range strings.SplitSeq(p.prefix, "|") {
			b.list(&b.entry(w).tokens, listed{word: w, of: uint8(k)})
		}
	}
	for _, l := range labels {
		for w := range strings.FieldsSeq(l.words) {
			b.trigger(w, label, int(l.strength))
			b.trigger(strings.ToUpper(w[:1])+w[1:], label, int(l.strength))
			b.trigger(strings.ToUpper(w), label, int(l.strength))
		}
	}
	for _, l := range foreign {
		for w := range strings.FieldsSeq(l.words) {
			b.trigger(w, farLabel, int(l.strength))
		}
	}
	for k, c := range commands {
		for w := range strings.SplitSeq(c.names, ",") {
			b.trigger(w, program, k)
		}
	}
	for k, r := range infixes {
		b.trigger(r.word, middle, k)
	}
	for _, w := range statements {
		b.trigger(w, statement, 0)
	}
	for _, t := range [...]struct {
		words string
		asks  detector
	}{
		{"Private-Lines:", putty},
		{"echo ", echo},
		{labelsAbroad, abroad},
		{codesOf, codes},
		{phrasesOf, seed},
		{encodedNames, encoded},
		{`\u00`, escaped},
		{"django-insecure-|$argon2i$|$argon2d$|$argon2id$", quotedKey},
	} {
		for w := range strings.SplitSeq(t.words, "|") {
			b.trigger(w, t.asks, 0)
		}
	}
	for _, l := range endings {
		for w := range strings.FieldsSeq(l.words) {
			b.list(&b.endings[w[len(w)-1]], listed{word: w, of: uint8(l.strength)})
		}
	}
	for w := range strings.FieldsSeq(vendors) {
		b.list(&b.telltale[w[0]], listed{word: w, of: uint8(someKey)})
	}
	for w := range strings.FieldsSeq("secret token apikey api_key credential") {
		b.list(&b.telltale[w[0]], listed{word: w, of: uint8(token)})
	}
	return &b.rules
}

// write is the source of the tables, ten values to a line. Zeros are left out of arrays.
func write(r *rules) string {
	var b strings.Builder
	b.WriteString("// Code generated by TestTables -update; DO NOT EDIT.\n\npackage redact\n\nvar tables = rules{\n")
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		f, n := v.Field(i), 0
		fmt.Fprintf(&b, "\t%s: %s{", v.Type().Field(i).Name, strings.ReplaceAll(f.Type().String(), "redact.", ""))
		item := func(format string, args ...any) {
			if b.WriteByte(' '); n%10 == 0 {
				b.WriteString("\n\t\t")
			}
			n++
			fmt.Fprintf(&b, format+",", args...)
		}
		for k := range f.Len() {
			switch e := f.Index(k); {
			case e.Type() == reflect.TypeFor[listed]():
				w := r.words[k]
				item("{%q, %d, %d, %d}", w.word, w.asks, w.of, w.next)
			case e.Type() == reflect.TypeFor[entry]():
				w := r.entries[k]
				item("{[4]uint64{%#x, %#x, %#x, %#x}, %d, %d}", w.third[0], w.third[1], w.third[2], w.third[3], w.tokens, w.triggers)
			case !e.IsZero():
				item("%d: %v", k, e)
			}
		}
		b.WriteString("\n\t},\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// The tables are those of the words.
func TestTables(t *testing.T) {
	want := build()
	if *update {
		text, err := format.Source([]byte(write(want)))
		if err == nil {
			err = os.WriteFile("tables.go", text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if !reflect.DeepEqual(&tables, want) {
		t.Error("tables.go is not made of these words: go test ./internal/redact -run TestTables -update")
	}
}
