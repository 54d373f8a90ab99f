package redact

import "strings"

// strength says how much a name alone tells about the value that it is given.
type strength int

const (
	nothing  strength = iota
	someKey           // key, auth, the name of a service: may as well name a cache entry
	token             // token, api_key: the value must not be a word
	secret            // secret, client_secret: anything but a word or a placeholder
	password          // password: anything with a digit or a sign in it
	header            // authorization: whatever follows the scheme
	pairOf            // credentials: a name and a password
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
	known := false
	m.strength, known = s.rules.strengthOf(name)
	m.telling = m.strength != nothing || !known && s.rules.telling(name)
	if s.names == nil {
		s.names = map[string]meaning{}
	}
	if len(s.names) < 4096 {
		s.names[name] = m
	}
	return m
}

// strengthOf reads the end of a name, whatever its style: dbPassword,
// DB_PASSWORD, db-password.
func (r *rules) strengthOf(name string) (how strength, known bool) {
	n := strings.ToLower(r.joined.Replace(name))
	for _, suffix := range [...]string{"base", "prod", "production", "dev", "staging", "live", "test", "value", "string", "text", "plain"} {
		if short, ok := strings.CutSuffix(n, suffix); ok && len(short) > 4 {
			n = short
			break
		}
	}
	if n = strings.TrimRight(n, "0123456789"); n == "" {
		return nothing, false
	}
	for _, e := range r.endings[n[len(n)-1]] {
		if strings.HasSuffix(n, e.name) {
			if len(e.name) <= 3 && e.name != "pwd" && e.strength >= token && !hasWord(name, strings.ToLower(name), e.name) {
				continue
			}
			return e.strength, true
		}
	}
	return nothing, false
}

// telling says whether a name contains the name of a service that issues keys
// without a form of their own, or a word for secrets.
func (r *rules) telling(name string) bool {
	low := strings.ToLower(name)
	if len(low) != len(name) {
		name = low // letters outside ASCII change their size, and have no parts
	}
	for i := range len(low) {
		if words := r.telltale[low[i]]; words != nil && wordStart(name, low, i) {
			for _, w := range words {
				if strings.HasPrefix(low[i:], w.name) && (w.vendor || !goesOn(name, low, w.name)) {
					return true
				}
			}
		}
	}
	return false
}

// goesOn says that the word for a secret is only the beginning of a longer one,
// as in tokenizer.
func goesOn(name, low, word string) bool {
	_, after, _ := strings.Cut(low, word)
	return after != "" && after[0] >= 'a' && name[len(name)-len(after)] >= 'a'
}

// telltale is a word that a name may contain.
type telltale struct {
	name   string
	vendor bool
}

func telltales() (t [256][]telltale) {
	for _, w := range vendors {
		t[w[0]] = append(t[w[0]], telltale{w, true})
	}
	for _, w := range [...]string{"secret", "token", "apikey", "api_key", "credential"} {
		t[w[0]] = append(t[w[0]], telltale{w, false})
	}
	return t
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
		if wordStart(name, low, at) {
			return true
		}
	}
}

// wordStart says whether a word of a name begins at this place.
func wordStart(name, low string, at int) bool {
	return at == 0 || low[at-1] < 'a' || low[at-1] > 'z' || name[at] != low[at] && name[at-1] == low[at-1]
}

// ending is what the end of a name tells.
type ending struct {
	name     string
	strength strength
}

// endings are ordered: of two that fit, the first counts. Some end like names of
// secrets and are none.
var endings = [...]label{
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
var vendors = [...]string{
	"adafruit", "adobe", "airtable", "algolia", "alibaba", "asana", "atlassian", "beamer", "bitbucket", "bittrex", "cloudflare", "codecov", "cohere",
	"coinbase", "confluence", "confluent", "contentful", "datadog", "discord", "droneci", "dropbox", "etsy", "facebook", "fastly", "finicity", "finnhub",
	"flickr", "freshbooks", "gitter", "gocardless", "heroku", "hubspot", "intercom", "jfrog", "artifactory", "bintray", "jira", "kraken", "kucoin",
	"launchdarkly", "linkedin", "linked_in", "linked-in", "looker", "mailchimp", "mailgun", "mapbox", "mattermost", "meraki", "messagebird", "message_bird", "netlify", "newrelic", "new_relic", "new-relic", "nytimes",
	"okta", "plaid", "privateai", "rapidapi", "sendbird", "sentry", "snyk", "sonar", "squarespace", "sumo", "telegr", "travis", "twitch", "twitter",
	"yandex", "zendesk",
}
