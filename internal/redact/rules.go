package redact

// class is a set of characters.
type class uint16

const (
	digit   class = 1 << iota
	hexLow        // a-f
	lowG          // g-z
	hexUp         // A-F
	upG           // G-Z
	under         // _
	dash          // -
	dot           // .
	plus          // +
	slash         // /
	equal         // =
	tilde         // ~
	percent       // %
	colon         // :
	dollar        // $

	hexDigit = digit | hexLow
	anyHex   = digit | hexLow | hexUp
	lower    = hexLow | lowG
	upper    = hexUp | upG
	letter   = lower | upper
	alnum    = letter | digit
	lowAlnum = lower | digit
	word     = alnum | under
	urlSafe  = word | dash
	base64   = alnum | plus | slash
	token68  = urlSafe | dot | plus | slash | equal | tilde
)

type rule struct {
	kind   string
	prefix string // several: with bars between them
	tail   class  // of what follows the prefix
	min    int    // length of the tail
	max    int    // 0: no limit
	opt    option
}

type option uint16

const (
	anywhere option = 1 << iota // may follow a letter: the prefix alone is telling
	strict                      // may not follow a base64 character: the prefix occurs in encoded data
	random                      // the tail must look random: the prefix occurs in words
	keep                        // the prefix itself stays
	dotted                      // the tail must contain a dot
	basic                       // the tail must be base64 of user:password
	jwt                         // the tail must go on like a JSON web token
	digital                     // the tail must contain digits, more than one
)

var prefixed = [...]rule{
	// Services whose tokens are often met, each by its name.
	{"github-token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_", word, 36, 0, anywhere},
	{"gitlab-token", "glpat-|glrt-|glptt-|gldt-|glcbt-|glft-|glffct-|glimt-|glsoat-|glagent-|gloas-|GR1348941", urlSafe | dot, 20, 0, anywhere},
	{"gitlab-token", "_gitlab_session=", lowAlnum, 32, 0, anywhere | keep},
	{"atlassian-token", "ATATT3|ATCTT3", urlSafe | equal, 80, 0, strict},
	{"atlassian-token", "ATBB|ATTA", alnum, 32, 64, strict | random},
	{"password-hash", "$2a$|$2b$|$2y$", alnum | dot | slash | dollar, 50, 57, 0},
	{"password-hash", "$1$|$5$|$6$|$7$|$y$|$gy$|$apr1$", alnum | dot | slash | dollar | equal, 24, 0, digital},
	{"password-hash", "$scrypt$|$pbkdf2$|$pbkdf2-sha1$|$pbkdf2-sha256$|$pbkdf2-sha512$|pbkdf2_sha1$|pbkdf2_sha256$|pbkdf2_sha512$|{SSHA}|{SSHA256}|{SSHA512}|{PBKDF2}", alnum | dot | slash | dollar | equal | plus | dash | under, 24, 0, 0},
	{"framework-key", "base64:", base64 | equal, 43, 90, random},
	{"turnstile-secret", "0x4AAAA", urlSafe, 27, 33, 0},
	{"npm-token", "npm_", alnum, 36, 0, anywhere},
	{"pypi-token", "pypi-", urlSafe, 50, 0, random},
	{"docker-token", "dckr_pat_|dckr_oat_|SWMTKN-1-", urlSafe, 20, 0, 0},
	{"docker-auth", "eyJhdXRocyI6", base64 | equal, 40, 0, strict},
	{"aws-access-key", "AKIA|ASIA|ABIA|ACCA", digit | upper, 16, 16, strict},
	{"aws-access-key", "A3T", digit | upper, 17, 17, strict | random},
	{"aws-session-token", "IQoJb3JpZ2lu|FwoGZXIvYXdz", base64 | equal | percent, 100, 0, strict},
	{"aws-bedrock-key", "ABSK|bedrock-api-key-", base64 | equal, 60, 0, strict},
	{"google-api-key", "AIza", urlSafe, 35, 35, strict},
	{"google-oauth-secret", "GOCSPX-", urlSafe, 20, 0, 0},
	{"google-oauth-token", "ya29.|1//0", urlSafe | dot, 30, 0, 0},
	{"alibaba-key", "LTAI", alnum, 16, 26, strict | random},
	{"vault-token", "hvs.|hvr.|hvb.", urlSafe, 24, 0, 0},
	{"vault-token", "s.", alnum, 24, 24, random},
	{"anthropic-key", "sk-ant-", urlSafe, 20, 0, anywhere},
	{"openai-key", "sk-proj-|sk-svcacct-|sk-admin-", urlSafe, 20, 0, anywhere},
	{"openrouter-key", "sk-or-", urlSafe, 20, 0, anywhere},
	{"model-key", "sk-", word, 20, 0, random},
	{"model-key", "sk-lf-", anyHex | dash, 36, 36, 0},
	{"huggingface-token", "hf_|api_org_", alnum, 30, 0, random},
	{"slack-token", "xoxe.xoxb-|xoxe.xoxp-|xapp-|xoxa-|xoxb-|xoxc-|xoxd-|xoxe-|xoxo-|xoxp-|xoxr-|xoxs-", urlSafe | percent, 10, 0, anywhere | digital},
	{"webhook", "hooks.slack.com/services/|hooks.slack.com/workflows/|hooks.slack.com/triggers/|discord.com/api/webhooks/|discordapp.com/api/webhooks/|.webhook.office.com/webhookb2/|qyapi.weixin.qq.com/cgi-bin/webhook/send?key=|open.feishu.cn/open-apis/bot/v2/hook/|oapi.dingtalk.com/robot/send?access_token=", urlSafe | slash, 20, 0, anywhere | keep},
	{"stripe-key", "sk_live_|sk_test_|sk_prod_|rk_live_|rk_test_|rk_prod_", alnum, 10, 0, 0},
	{"stripe-webhook-secret", "whsec_", base64 | equal, 20, 0, random},
	{"sendgrid-key", "SG.", urlSafe | dot | equal, 60, 0, dotted},
	{"age-secret-key", "AGE-SECRET-KEY-1|AGE-PLUGIN-", digit | upper | dash, 30, 0, random},
	// Base64 of -----BEGIN … PRIVATE KEY, as in kubeconfig, and of minisign's.
	{"private-key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSB|LS0tLS1CRUdJTiBQUklWQVRFI|LS0tLS1CRUdJTiBFQyBQUklWQVRFI|LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg|LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURS|RWRTY0Iy", base64 | equal, 40, 0, strict},
	{"jwt", "ZXlK", base64 | equal, 60, 0, strict},
	{"jwt", "eyJ", urlSafe | dot | equal, 30, 0, jwt},
	{"bearer-token", "Bearer |bearer ", token68, 16, 0, random | keep},
	{"okta-token", "SSWS |ssws ", urlSafe, 30, 60, random | keep},
	{"basic-auth", "Basic |basic ", base64 | equal, 8, 0, basic | keep},

	// The others share a row where their tokens have one form. Repositories and
	// builds, clouds, models, messages, shops, watching.
	{"service-token", "bkua_|sgp_|squ_|sqp_|sqa_|pnu_|rdme_|pul-|rubygems_|CLOJARS_|CCIPAT_|TFE_TOKEN_|CFPAT-|dp.pt.|dp.ct.|dp.st.|ico-", urlSafe | dot, 30, 0, random},
	{"service-token", "dop_v1_|doo_v1_|dor_v1_|HRKU-|fo1_|nfp_|pscale_tkn_|pscale_oauth_|pscale_pw_|sbp_|sb_secret_|sha256~|tskey-|dnkey-|napi_|kubeconfig-u|v1.0-|y0_", urlSafe | dot | equal | colon, 30, 0, random},
	{"service-token", "gsk_|xai-|pplx-|r8_|fw_|nvapi-|pcsk_|lsv2_pt_|lsv2_sk_|tvly-|tgp_v1_|jina_|rpa_|e2b_|sess-", urlSafe, 22, 0, random | strict},
	{"service-token", "xkeysib-|xsmtpsib-|re_|ntn_|secret_|lin_api_|figd_|tfp_|fio-u-|pat-na1-|pat-eu1-|APA91b", urlSafe | dot | equal, 24, 0, random},
	{"service-token", "sq0atp-|sq0csp-|FLWSECK_TEST-|FLWSECK-|duffel_test_|duffel_live_|access-sandbox-|access-development-|access-production-|shippo_live_|shippo_test_|shpat_|shpca_|shppa_|shpss_|sm_aat_|sm_pat_|sm_sat_|p8e-", urlSafe | equal, 12, 0, random},
	{"service-token", "sntryu_|glsa_|NRAK-|NRII-|NRJS-|PMAK-|hcaik_|hcbik_|phx_|s-s4t2ud-|s-s4t2af-", urlSafe, 19, 0, random},
	{"service-token", "fm1a_|fm1r_|fm2_|sntrys_|glc_|eyJrIjoi|ops_eyJ", base64 | under | equal, 32, 0, random},
	{"service-token", "pat.|sat.|t1.|sl.|dt0c01.|sk.eyJ", urlSafe | dot | equal, 60, 0, dotted | random},
	{"service-token", "st.", anyHex | dot, 80, 100, dotted | random},
	{"service-token", "access_token$production$", alnum | dollar, 20, 0, 0},
	{"service-token", "cio|AKID", alnum, 32, 32, random | strict},
	{"service-token", "oy2", lowAlnum, 43, 43, strict},
	{"service-token", "AKCp|cmVmd", alnum, 59, 75, strict},
	{"service-token", "API-|A3-", digit | upper | dash, 26, 40, random},
	{"service-token", "tk-us-", urlSafe, 48, 48, 0},
	{"service-token", "GOOG1E", digit | upper, 50, 60, strict},
	{"service-token", "AQVN", urlSafe, 35, 38, strict},
	{"service-token", "dapi", hexDigit, 32, 32, 0},
	{"service-token", "4b1d", alnum, 38, 38, strict | random},
	{"service-token", "sk_", hexDigit, 48, 48, 0},
	{"service-token", "key-", anyHex, 32, 32, 0},
	{"service-token", "SK", anyHex, 32, 32, strict},
	{"service-token", "dG9rO", base64 | equal, 40, 0, strict},
	{"service-token", "pat", alnum | dot, 79, 79, dotted | strict},
	{"service-token", "AAAAAAAAAAAAAAAAAAAA", alnum | percent, 60, 110, strict | random},
	{"service-token", "EAAB|EAAC|EAAG|EAAM", alnum, 100, 0, strict},
	{"service-token", "EAAA", urlSafe, 55, 61, strict | random},
	{"service-token", "EZAK|EZTK", alnum, 54, 54, strict},
}

// infix describes tokens that are told by what they have in the middle: how many
// characters of which class are before and after it.
type infix struct {
	kind, word    string
	before, after class
	least, most   [2]int
	opt           option
}

var infixes = [...]infix{
	{"telegram-token", ":A", digit, urlSafe, [2]int{7, 34}, [2]int{16, 34}, anywhere | random},
	{"azure-client-secret", "Q~", word | dot | tilde | dash, word | dot | tilde | dash, [2]int{4, 31}, [2]int{4, 34}, strict},
	{"azure-devops-token", "AZDO", alnum, alnum, [2]int{76, 4}, [2]int{76, 4}, strict},
	{"terraform-token", ".atlasv1.", alnum, urlSafe | equal, [2]int{14, 40}, [2]int{14, 128}, 0},
	{"mailchimp-key", "-us", hexDigit, digit, [2]int{32, 1}, [2]int{32, 2}, 0},
	// The token of Twilio stands next to the account.
	{"twilio-token", "AC", 0, hexDigit, [2]int{0, 32}, [2]int{0, 32}, keep},
}

var (
	appToken = infix{"facebook-token", "|", digit, urlSafe, [2]int{15, 27}, [2]int{16, 40}, random}
	botToken = infix{"discord-token", ".", urlSafe, urlSafe | dot, [2]int{23, 32}, [2]int{28, 80}, strict | random | dotted}
)

// detector is who looks at a word: a label, the name of a program.
type detector uint8

const (
	label     detector = iota + 1 // of a strength
	farLabel                      // of a strength, in text without spaces
	program                       // one of commands
	middle                        // one of infixes
	statement                     // ENV and the like
	abroad                        // a label in another language
	codes                         // the label of a list of codes
	seed                          // the label of a wallet's words
	encoded                       // the base64 of a name
	escaped                       // a letter of a name
	quotedKey                     // what a key begins with that ends with its quotes
	putty
	echo
)

// found asks a word's detector for what is around it.
func (s *scanner) found(w *listed, start, end int) (Span, bool) {
	switch w.asks {
	case label:
		return s.spoken(start, end, strength(w.of))
	case farLabel:
		return s.foreign(end, strength(w.of))
	case program:
		return s.command(start, end, &commands[w.of])
	case middle:
		return s.infixed(start, end, &infixes[w.of])
	case statement:
		return s.statement(end)
	case abroad:
		return s.abroad(start, end)
	case codes:
		return s.codes(end)
	case seed:
		return s.seedPhrase(end)
	case encoded:
		return s.encodedLine(start, end)
	case escaped:
		return s.escapedName(start, end)
	case quotedKey:
		return s.untilQuote(start, end)
	case putty:
		return s.puttyKey(start, end)
	case echo:
		return s.piped(end)
	}
	return Span{}, false
}

// listed is a word of the tables: one that a detector asks for; the beginning of the
// tokens of a rule, by its number in prefixed; or what a name has, and of tells its
// strength.
type listed struct {
	word string
	asks detector
	of   uint8
	next uint16 // in its list, 0: none
}

// entry is what may begin with one pair of bytes.
type entry struct {
	third            [4]uint64 // bytes that may come next, a bit each
	tokens, triggers uint16    // lists
}

func (e *entry) goesOn(c byte) bool { return e.third[c>>6]>>(c&63)&1 != 0 }

// rules is the tables in the form that the scanner uses. They are a part of the program
// (tables.go): most processes look for secrets in a few lines of text, and to make the
// tables took them longer than to use them.
type rules struct {
	classes  [256]class
	special  [256]bool       // bytes that other detectors look at
	bare     [256]bool       // bytes of a value without quotes
	between  [256]bool       // bytes that may stand between a name and its sign
	endings  [256]uint16     // lists, by the last byte
	telltale [256]uint16     // lists, by the first byte
	groups   [1 << 16]uint16 // entries, by the first two bytes of a word; 0: none
	entries  []entry
	words    []listed // in lists, longer ones first
}

// find is the entry of a pair of bytes, one without words where none begins so.
func (r *rules) find(a, b byte) *entry { return &r.entries[r.groups[int(a)<<8|int(b)]] }
