package redact

import (
	"strings"
	"sync"
)

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

// rule describes the tokens of a service that are told by how they begin.
type rule struct {
	kind   string
	prefix string
	tail   class // of what follows the prefix
	min    int   // length of the tail
	max    int   // 0: no limit
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

// prefixed is ordered so that of two rules with a common beginning the longer
// prefix comes first.
var prefixed = [...]rule{
	// Source hosting, packages, builds.
	{"github-token", "github_pat_", word, 36, 0, anywhere},
	{"github-token", "ghp_", alnum, 36, 0, anywhere},
	{"github-token", "gho_", alnum, 36, 0, anywhere},
	{"github-token", "ghu_", alnum, 36, 0, anywhere},
	{"github-token", "ghs_", alnum, 36, 0, anywhere},
	{"github-token", "ghr_", alnum, 36, 0, anywhere},
	{"gitlab-token", "glpat-", urlSafe | dot, 20, 0, anywhere},
	{"gitlab-token", "glptt-", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "gldt-", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "glrt-", urlSafe | dot, 20, 0, anywhere},
	{"gitlab-token", "glcbt-", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "glft-", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "glffct-", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "glimt-", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "glagent-", urlSafe, 40, 0, anywhere},
	{"gitlab-token", "gloas-", urlSafe, 40, 0, anywhere},
	{"gitlab-token", "glsoat-", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "GR1348941", urlSafe, 20, 0, anywhere},
	{"gitlab-token", "_gitlab_session=", lowAlnum, 32, 0, anywhere | keep},
	{"bitbucket-token", "ATBB", alnum, 32, 0, strict | random},
	{"atlassian-token", "ATATT3", urlSafe | equal, 80, 0, strict},
	{"atlassian-token", "ATCTT3", urlSafe | equal, 80, 0, strict},
	{"npm-token", "npm_", alnum, 36, 0, anywhere},
	{"pypi-token", "pypi-AgE", urlSafe, 50, 0, anywhere},
	{"pypi-token", "pypi-", urlSafe, 80, 0, random},
	{"rubygems-token", "rubygems_", anyHex, 48, 0, 0},
	{"crates-token", "cio", alnum, 32, 32, random | strict},
	{"nuget-token", "oy2", lowAlnum, 43, 43, strict},
	{"clojars-token", "CLOJARS_", alnum, 60, 0, 0},
	{"docker-token", "dckr_pat_", urlSafe, 20, 0, 0},
	{"docker-token", "dckr_oat_", urlSafe, 20, 0, 0},
	{"artifactory-token", "AKCp", alnum, 60, 0, strict},
	{"artifactory-token", "cmVmd", alnum, 59, 59, strict},
	{"circleci-token", "CCIPAT_", word, 30, 0, 0},
	{"buildkite-token", "bkua_", hexDigit, 40, 0, 0},
	{"terraform-token", "TFE_TOKEN_", word, 20, 0, random},
	{"pulumi-token", "pul-", hexDigit, 40, 40, 0},
	{"sourcegraph-token", "sgp_", word, 40, 0, 0},
	{"sonar-token", "squ_", alnum, 40, 40, 0},
	{"sonar-token", "sqp_", alnum, 40, 40, 0},
	{"sonar-token", "sqa_", alnum, 40, 40, 0},
	{"doppler-token", "dp.pt.", alnum, 40, 0, 0},
	{"doppler-token", "dp.st.", alnum | dot | under, 40, 0, 0},
	{"doppler-token", "dp.ct.", alnum, 40, 0, 0},
	{"infracost-token", "ico-", alnum, 32, 32, random},
	{"octopus-token", "API-", digit | upper, 26, 26, random},
	{"prefect-token", "pnu_", alnum, 36, 36, 0},
	{"readme-token", "rdme_", lowAlnum, 70, 0, 0},
	{"scalingo-token", "tk-us-", urlSafe, 48, 48, 0},
	{"harness-token", "pat.", urlSafe | dot, 60, 0, dotted | random},
	{"harness-token", "sat.", urlSafe | dot, 60, 0, dotted | random},

	// Clouds.
	{"aws-access-key", "AKIA", digit | upper, 16, 16, strict},
	{"aws-access-key", "ASIA", digit | upper, 16, 16, strict},
	{"aws-access-key", "ABIA", digit | upper, 16, 16, strict},
	{"aws-access-key", "ACCA", digit | upper, 16, 16, strict},
	{"aws-access-key", "A3T", digit | upper, 17, 17, strict | random},
	{"aws-bedrock-key", "ABSK", base64 | equal, 100, 0, strict},
	{"aws-bedrock-key", "bedrock-api-key-", base64 | equal, 28, 0, 0},
	{"google-api-key", "AIza", urlSafe, 35, 35, strict},
	{"google-oauth-secret", "GOCSPX-", urlSafe, 20, 0, 0},
	{"google-oauth-token", "ya29.", urlSafe | dot, 30, 0, 0},
	{"google-oauth-token", "1//0", urlSafe, 40, 0, 0},
	{"digitalocean-token", "dop_v1_", anyHex, 64, 64, 0},
	{"digitalocean-token", "doo_v1_", anyHex, 64, 64, 0},
	{"digitalocean-token", "dor_v1_", anyHex, 64, 64, 0},
	{"alibaba-key", "LTAI", alnum, 16, 26, strict | random},
	{"yandex-token", "AQVN", urlSafe, 35, 38, strict},
	{"yandex-token", "y0_", urlSafe, 50, 0, random},
	{"yandex-token", "t1.", urlSafe | dot | equal, 80, 0, dotted | random},
	{"cloudflare-key", "v1.0-", hexDigit | dash, 100, 0, 0},
	{"heroku-key", "HRKU-", urlSafe, 30, 0, 0},
	{"fly-token", "fo1_", urlSafe, 40, 0, 0},
	{"fly-token", "fm1a_", base64 | equal, 80, 0, 0},
	{"fly-token", "fm1r_", base64 | equal, 80, 0, 0},
	{"fly-token", "fm2_", base64 | equal, 80, 0, 0},
	{"netlify-token", "nfp_", alnum, 36, 0, 0},
	{"planetscale-token", "pscale_tkn_", urlSafe | dot | equal, 30, 0, 0},
	{"planetscale-token", "pscale_oauth_", urlSafe | dot | equal, 30, 0, 0},
	{"planetscale-token", "pscale_pw_", urlSafe | dot | equal, 30, 0, 0},
	{"supabase-token", "sbp_", hexDigit, 40, 40, 0},
	{"supabase-token", "sb_secret_", urlSafe, 20, 0, 0},
	{"databricks-token", "dapi", hexDigit, 32, 32, 0},
	{"vault-token", "hvs.", urlSafe, 24, 0, 0},
	{"vault-token", "hvb.", urlSafe, 100, 0, 0},
	{"vault-token", "hvr.", urlSafe, 24, 0, 0},
	{"vault-token", "s.", alnum, 24, 24, random},
	{"openshift-token", "sha256~", urlSafe, 43, 43, 0},
	{"clickhouse-key", "4b1d", alnum, 38, 38, strict | random},
	{"tailscale-key", "tskey-", urlSafe, 20, 0, 0},
	{"defined-networking-key", "dnkey-", urlSafe | equal, 60, 0, 0},

	// Models.
	{"anthropic-key", "sk-ant-", urlSafe, 20, 0, anywhere},
	{"openrouter-key", "sk-or-", urlSafe, 20, 0, anywhere},
	{"openai-key", "sk-proj-", urlSafe, 20, 0, anywhere},
	{"openai-key", "sk-svcacct-", urlSafe, 20, 0, anywhere},
	{"openai-key", "sk-admin-", urlSafe, 20, 0, anywhere},
	{"openai-key", "sk-", word, 20, 0, random},
	{"openai-key", "sess-", alnum, 40, 40, random},
	{"huggingface-token", "hf_", alnum, 30, 0, random},
	{"huggingface-token", "api_org_", alnum, 30, 0, random},
	{"groq-key", "gsk_", alnum, 40, 0, 0},
	{"xai-key", "xai-", alnum, 60, 0, 0},
	{"perplexity-key", "pplx-", alnum, 40, 0, 0},
	{"replicate-token", "r8_", alnum, 37, 37, 0},
	{"fireworks-key", "fw_", alnum, 22, 0, random},
	{"langsmith-key", "lsv2_pt_", word, 40, 0, 0},
	{"langsmith-key", "lsv2_sk_", word, 40, 0, 0},
	{"tavily-key", "tvly-", urlSafe, 28, 0, random},
	{"nvidia-key", "nvapi-", urlSafe, 40, 0, 0},

	// Messages and people.
	{"slack-token", "xoxe.xoxb-", urlSafe, 20, 0, anywhere | digital},
	{"slack-token", "xoxe.xoxp-", urlSafe, 20, 0, anywhere | digital},
	{"slack-token", "xoxa-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xoxb-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xoxc-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xoxd-", urlSafe | percent, 10, 0, anywhere | digital},
	{"slack-token", "xoxe-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xoxo-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xoxp-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xoxr-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xoxs-", urlSafe, 10, 0, anywhere | digital},
	{"slack-token", "xapp-", urlSafe, 20, 0, anywhere | digital},
	{"slack-webhook", "hooks.slack.com/services/", base64, 20, 0, anywhere | keep},
	{"slack-webhook", "hooks.slack.com/workflows/", base64, 20, 0, anywhere | keep},
	{"slack-webhook", "hooks.slack.com/triggers/", base64, 20, 0, anywhere | keep},
	{"discord-webhook", "discord.com/api/webhooks/", urlSafe | slash, 40, 0, anywhere | keep},
	{"discord-webhook", "discordapp.com/api/webhooks/", urlSafe | slash, 40, 0, anywhere | keep},
	{"teams-webhook", ".webhook.office.com/webhookb2/", urlSafe | slash, 36, 0, anywhere | keep},
	{"sendgrid-key", "SG.", urlSafe | dot | equal, 60, 0, dotted},
	{"sendinblue-key", "xkeysib-", urlSafe, 60, 0, 0},
	{"sendinblue-key", "xsmtpsib-", urlSafe, 60, 0, 0},
	{"mailgun-key", "key-", anyHex, 32, 32, 0},
	{"twilio-key", "SK", anyHex, 32, 32, strict},
	{"intercom-token", "dG9rO", base64 | equal, 40, 0, strict},
	{"notion-token", "ntn_", alnum, 40, 0, 0},
	{"notion-token", "secret_", alnum, 43, 43, random},
	{"linear-key", "lin_api_", alnum, 30, 0, 0},
	{"figma-token", "figd_", urlSafe, 30, 0, 0},
	{"airtable-token", "pat", alnum | dot, 79, 79, dotted | strict},
	{"hubspot-token", "pat-na1-", anyHex | dash, 36, 36, 0},
	{"hubspot-token", "pat-eu1-", anyHex | dash, 36, 36, 0},
	{"typeform-token", "tfp_", urlSafe | dot | equal, 40, 0, 0},
	{"twitter-token", "AAAAAAAAAAAAAAAAAAAAAA", alnum | percent, 60, 110, strict | random},
	{"facebook-token", "EAAC", alnum, 100, 0, strict},
	{"facebook-token", "EAAM", alnum, 100, 0, strict},
	{"frameio-token", "fio-u-", urlSafe | equal, 60, 0, 0},
	{"dropbox-token", "sl.", urlSafe | equal | dot, 120, 0, random},

	// Money and shops.
	{"stripe-key", "sk_live_", alnum, 10, 0, 0},
	{"stripe-key", "sk_test_", alnum, 10, 0, 0},
	{"stripe-key", "sk_prod_", alnum, 10, 0, 0},
	{"stripe-key", "rk_live_", alnum, 10, 0, 0},
	{"stripe-key", "rk_test_", alnum, 10, 0, 0},
	{"stripe-key", "rk_prod_", alnum, 10, 0, 0},
	{"stripe-webhook-secret", "whsec_", base64 | equal, 20, 0, random},
	{"shopify-token", "shpat_", anyHex, 32, 32, 0},
	{"shopify-token", "shpca_", anyHex, 32, 32, 0},
	{"shopify-token", "shppa_", anyHex, 32, 32, 0},
	{"shopify-token", "shpss_", anyHex, 32, 32, 0},
	{"square-token", "sq0atp-", urlSafe, 20, 0, 0},
	{"square-token", "sq0csp-", urlSafe, 30, 0, 0},
	{"square-token", "EAAAE", urlSafe, 55, 60, strict | random},
	{"square-token", "EAAA", urlSafe, 55, 60, strict | random},
	{"flutterwave-key", "FLWSECK_TEST-", urlSafe, 12, 0, 0},
	{"flutterwave-key", "FLWSECK-", urlSafe, 12, 0, 0},
	{"paypal-token", "access_token$production$", alnum | dollar, 20, 0, 0},
	{"plaid-token", "access-sandbox-", anyHex | dash, 36, 36, 0},
	{"plaid-token", "access-development-", anyHex | dash, 36, 36, 0},
	{"plaid-token", "access-production-", anyHex | dash, 36, 36, 0},
	{"duffel-token", "duffel_test_", urlSafe | equal, 40, 0, 0},
	{"duffel-token", "duffel_live_", urlSafe | equal, 40, 0, 0},
	{"easypost-key", "EZAK", alnum, 54, 54, strict},
	{"easypost-key", "EZTK", alnum, 54, 54, strict},
	{"shippo-token", "shippo_live_", anyHex, 40, 40, 0},
	{"shippo-token", "shippo_test_", anyHex, 40, 40, 0},
	{"adobe-secret", "p8e-", alnum, 32, 32, random},
	{"settlemint-token", "sm_aat_", alnum, 16, 0, 0},
	{"settlemint-token", "sm_pat_", alnum, 16, 0, 0},
	{"settlemint-token", "sm_sat_", alnum, 16, 0, 0},

	// Watching.
	{"sentry-token", "sntrys_", base64 | under | equal, 40, 0, 0},
	{"sentry-token", "sntryu_", hexDigit, 64, 64, 0},
	{"grafana-token", "glsa_", word, 41, 0, 0},
	{"grafana-token", "glc_", base64 | equal, 32, 0, 0},
	{"grafana-token", "eyJrIjoi", base64 | equal, 60, 0, 0},
	{"newrelic-key", "NRAK-", alnum, 27, 27, 0},
	{"newrelic-key", "NRII-", urlSafe, 32, 32, 0},
	{"newrelic-key", "NRJS-", hexDigit, 19, 19, 0},
	{"dynatrace-token", "dt0c01.", alnum | dot, 80, 0, dotted},
	{"postman-key", "PMAK-", anyHex | dash, 50, 0, 0},
	{"intra42-secret", "s-s4t2ud-", hexDigit, 64, 64, 0},
	{"intra42-secret", "s-s4t2af-", hexDigit, 64, 64, 0},

	// Keys of people.
	{"age-secret-key", "AGE-SECRET-KEY-1", digit | upper, 58, 0, anywhere},
	{"age-secret-key", "AGE-PLUGIN-", digit | upper | dash, 30, 0, random},
	{"1password-token", "ops_eyJ", base64 | equal, 100, 0, 0},
	{"1password-key", "A3-", digit | upper | dash, 30, 0, random},

	// Headers.
	{"jwt", "ZXlK", base64 | equal, 60, 0, strict},
	{"jwt", "eyJ", urlSafe | dot | equal, 30, 0, jwt},
	{"bearer-token", "Bearer ", token68, 16, 0, random | keep},
	{"bearer-token", "bearer ", token68, 16, 0, random | keep},
	{"basic-auth", "Basic ", base64 | equal, 8, 0, basic | keep},
	{"basic-auth", "basic ", base64 | equal, 8, 0, basic | keep},
}

// rules is the table in the form that the scanner uses.
type rules struct {
	classes [256]class
	groups  [1 << 14]uint8 // by the first two bytes of a prefix, 0: none
	byGroup [][]rule
	special [256]bool     // bytes that other detectors look at
	bare    [256]bool     // bytes of a value without quotes
	between [256]bool     // bytes that may stand between a name and its sign
	endings [256][]ending // by their last byte
}

var compiled = sync.OnceValue(func() *rules {
	r := &rules{byGroup: make([][]rule, 1)}
	span := func(from, to byte, c class) {
		for b := from; b <= to; b++ {
			r.classes[b] = c
		}
	}
	span('0', '9', digit)
	span('a', 'f', hexLow)
	span('g', 'z', lowG)
	span('A', 'F', hexUp)
	span('G', 'Z', upG)
	for b, c := range map[byte]class{'_': under, '-': dash, '.': dot, '+': plus, '/': slash, '=': equal, '~': tilde, '%': percent, ':': colon, '$': dollar} {
		r.classes[b] = c
	}
	for _, p := range prefixed {
		g := &r.groups[pair(p.prefix[0], p.prefix[1])]
		if *g == 0 {
			*g = uint8(len(r.byGroup))
			r.byGroup = append(r.byGroup, nil)
		}
		r.byGroup[*g] = append(r.byGroup[*g], p)
	}
	for b := byte('!'); b < 0x7f; b++ {
		r.bare[b] = strings.IndexByte("\"'`,;()[]{}<>&|\\", b) < 0
	}
	for _, b := range []byte(" \t\"'`\\]):=?|+&*") {
		r.between[b] = true
	}
	for _, e := range endings {
		last := e.name[len(e.name)-1]
		r.endings[last] = append(r.endings[last], e)
	}
	for _, b := range []byte(":=-.~|>,") {
		r.special[b] = true
	}
	return r
})

// pair numbers two bytes; those that are not ASCII share the number of a pair
// that begins no prefix.
func pair(a, b byte) int {
	if a|b >= 0x80 {
		return 0
	}
	return int(a)<<7 | int(b)
}
