package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/eval/cost"
)

// Secrets in this file are made at run time or split, so that no scanner takes
// the file for a leak.

const (
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
	base62   = lowers + uppers + digits
	hexChars = digits + "abcdef"
)

// made returns n characters of a set, the same ones in every run.
func made(set string, n int) string {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(set))))
	b := make([]byte, n)
	for i := range b {
		b[i] = set[rng.IntN(len(set))]
	}
	return string(b)
}

// table is the rules, each with one prefix.
func table() []rule {
	var all []rule
	for _, r := range prefixed {
		for prefix := range strings.SplitSeq(r.prefix, "|") {
			r.prefix = prefix
			all = append(all, r)
		}
	}
	return all
}

// sample returns a token that a rule of the table is meant for.
func sample(r *rule) string {
	n := r.min
	if r.max == 0 {
		n += 6
	}
	set := ""
	for b, c := range tables.classes {
		if c&r.tail != 0 && c&alnum != 0 {
			set += string(rune(b))
		}
	}
	tail := []byte(made(set, n))
	switch {
	case r.opt&dotted != 0:
		tail[n/3] = '.'
	case r.opt&jwt != 0:
		return r.prefix + made(base62, 20) + ".ey" + "J" + made(base62, 40) + "." + made(base62, 43)
	case r.opt&basic != 0:
		return r.prefix + "dXNlcjpodW50ZXIy"
	}
	return r.prefix + string(tail)
}

// Every rule of the table finds its own tokens wherever people put them.
func TestEveryPrefixRule(t *testing.T) {
	t.Parallel()
	for _, rule := range table() {
		r := &rule
		token := sample(r)
		secret := strings.TrimPrefix(token, r.prefix)
		for _, form := range []string{"%s", "see %s, ok", "KEY=%s\n", `{"k": "%s"}`, `\n%s\n`, "`%s`", "\x1b[32m%s\x1b[0m", "(%s)", "用%s。"} {
			text := fmt.Sprintf(form, token)
			out, found := Text(text)
			if strings.Contains(out, secret) || len(found) == 0 {
				t.Errorf("%s %s: %q stays in %q", r.kind, r.prefix, secret, out)
				break
			}
			if found[0].Kind != r.kind {
				t.Errorf("%s %s: found as %s in %q", r.kind, r.prefix, found[0].Kind, text)
				break
			}
		}
	}
}

func TestPositives(t *testing.T) {
	t.Parallel()
	pem := func(kind, sep string) string {
		return "-----BEGIN " + kind + "PRIVATE KEY-----" + sep + made(base62, 64) + sep + made(base62, 64) + sep + "-----END " + kind + "PRIVATE KEY-----"
	}
	random := made(base62, 32)
	hex32, hex40, hex64 := made(hexChars, 32), made(hexChars, 40), made(hexChars, 64)
	uuid := hex32[:8] + "-" + hex32[8:12] + "-" + hex32[12:16] + "-" + hex32[16:20] + "-" + hex32[20:]
	pw := "hunt" + "er2" + "hunter"
	for _, tc := range []struct{ kind, text, secret string }{
		// Beside what only looks like them.
		{"basic-auth", "login: ann:12" + pw, pw},
		{"password", "**Password " + pw + "** is for staging", pw},
		{"password", "   12→|password|" + pw + "|", pw},
		{"password", "password | " + pw + " | staging", pw},
		{"service-token", "my-key-re_" + random, random},
		// Values of flags.
		{"password", "tool --password " + pw + "9 run", pw + "9"},
		{"password", "net up --psk " + pw + "9", pw + "9"},
		{"secret", "vault write -secret-id " + uuid, uuid},
		{"secret", "sync --pat " + random, random},
		// Shapes.
		{"private-key", "key:\n" + pem("RSA ", "\n") + "\nend", made(base62, 64)},
		{"private-key", pem("OPENSSH ", "\n"), made(base62, 64)},
		{"private-key", pem("", "\r\n"), made(base62, 64)},
		{"private-key", `{"private_key": "` + pem("", `\n`) + `"}`, made(base62, 64)},
		{"private-key", "-----BEGIN EC PRIVATE KEY-----\n" + made(base62, 64) + "\n", made(base62, 64)},
		{"private-key", "-----BEGIN PGP PRIVATE KEY " + "BLOCK-----\nVersion: GnuPG v1\n\n" + made(base62, 64) + "\n-----END PGP PRIVATE KEY BLOCK-----", made(base62, 64)},
		{"discord-token", "M" + made(base62, 23) + "." + made(base62, 6) + "." + made(base62, 27), made(base62, 27)},
		{"terraform-token", made(base62, 14) + ".atlas" + "v1." + made(base62, 64), made(base62, 64)},
		{"azure-client-secret", "x: " + "aB3" + "8Q" + "~" + made(base62, 34), made(base62, 34)},
		{"telegram-token", "https://api.telegram.org/bot" + "123456789" + ":A" + made(base62, 34) + "/getMe", made(base62, 34)},
		{"facebook-token", made(digits, 15) + "|" + made(base62, 27), made(base62, 27)},
		{"mailchimp-key", "mc = " + hex32 + "-us" + "12", hex32},
		{"aws-secret-key", "AKI" + "A" + made(uppers+digits, 16) + "," + made(base62+"+/", 40), made(base62+"+/", 40)},
		{"jwt", "eyJ" + made(base62, 30) + ".eyJ" + made(base62, 30) + ".", made(base62, 30)},

		// URLs and connection strings.
		{"url-password", "git clone https://me:" + pw + "@example.com/x.git", pw},
		{"url-password", "ftp://u:p%40" + pw + "@host:21/", pw},
		{"url-token", "https://" + random + "@github.com/x/y", random},
		{"connection-string", "DATABASE_URL=postgres://app:" + pw + "@db:5432/app?sslmode=require", pw},
		{"connection-string", "mongodb+srv://app:" + pw + "@cluster0.mongodb.net/test", pw},
		{"connection-string", "redis://:" + pw + "@localhost:6379/0", pw},
		{"connection-string", "amqps://u:" + pw + "@mq/vhost", pw},
		{"connection-string", `"mysql://root:` + pw + `@127.0.0.1/db"`, pw},
		{"password", "Server=db;User Id=sa;Password=" + pw + ";Encrypt=true", pw},
		{"password", "jdbc:mysql://h/db?user=u&password=" + pw + "&x=1", pw},
		{"secret", "DefaultEndpointsProtocol=https;AccountName=a;Account" + "Key=" + made(base62+"+/", 86) + "==;EndpointSuffix=x", made(base62+"+/", 86)},
		{"secret", "Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccess" + "Key=" + made(base62, 43) + "=", made(base62, 43)},
		{"secret", "https://a.blob.core.windows.net/c?sv=2022-11-02&sig=" + made(base62, 43) + "%3D", made(base62, 43)},

		// Headers and commands.
		{"bearer-token", "curl -H 'Authorization: Bearer " + random + "' https://x", random},
		{"authorization", `"Authorization": "Token ` + hex40 + `"`, hex40},
		{"authorization", "authorization: Api-Key " + uuid + "\r\n", uuid},
		{"basic-auth", "Authorization: Basic dXNlcjpodW50" + "ZXIy", "dXNlcjpodW50" + "ZXIy"},
		{"secret", "X-Api-Key: " + random, random},
		{"secret", `-H "PRIVATE-TOKEN: ` + made(base62, 20) + `"`, made(base62, 20)},
		{"basic-auth", "curl -u admin:" + pw + " https://x", pw},
		{"basic-auth", "curl -s \\\n  --user 'admin:" + pw + "' https://x", pw},
		{"password", "mysqldump --password=" + pw + " db", pw},
		{"password", "login --password " + pw + " --host x", pw},
		{"secret", "deploy --api-key " + random, random},

		// Assignments in many languages.
		{"password", `password = "` + pw + `"`, pw},
		{"password", "password: " + pw + "\n", pw},
		{"password", "DB_PASSWORD=" + pw, pw},
		{"password", "export PGPASSWORD='" + pw + "'", pw},
		{"password", `{"user":"a","password":"` + pw + `"}`, pw},
		{"password", `{\"password\": \"` + pw + `\"}`, pw},
		{"password", "<password>" + pw + "</password>", pw},
		{"password", "<dbPassword>\n  " + pw + "\n</dbPassword>", pw},
		{"password", `const password: string = "` + pw + `";`, pw},
		{"password", `var dbPassword string = "` + pw + `"`, pw},
		{"password", `System.setProperty("db.password", "` + pw + `")`, pw},
		{"password", `'passphrase' => '` + pw + `',`, pw},
		{"password", "redis_pass: " + pw + "\n", pw},
		{"password", `"password": "密碼1234"`, "密碼1234"},
		{"secret", "client_secret=" + random, random},
		{"secret", `CLIENT_SECRET: "` + hex64 + `"`, hex64},
		{"secret", `SECRET_KEY_BASE=` + hex64 + hex64, hex64},
		{"secret", `aws_secret_access_` + `key = ` + made(base62+"+/", 40), made(base62+"+/", 40)},
		{"secret", `apiKey: '` + hex32 + `',`, hex32},
		{"secret", `api_key := "` + made(lowers+digits, 32) + `"`, made(lowers+digits, 32)},
		{"secret", `os.environ["API_TOKEN"] = "` + random + `"`, random},
		{"secret", `token = b'` + random + `'`, random},
		{"secret", `//registry.example.com/:_authToken=` + random, random},
		{"secret", `encryption_key: ` + made(base62, 44), made(base62, 44)},
		{"secret", `heroku_api_key = "` + uuid + `"`, uuid},
		{"secret", `DATADOG_APP: ` + made(base62, 40), made(base62, 40)},
		{"secret", `https://x/cb?access_token=` + random + `&state=1`, random},
	} {
		out, found := Text(tc.text)
		if strings.Contains(out, tc.secret) {
			t.Errorf("%q stays: %q", tc.secret, out)
			continue
		}
		kinds := make([]string, len(found))
		for i, f := range found {
			kinds[i] = f.Kind
		}
		if !strings.Contains(strings.Join(kinds, " "), tc.kind) {
			t.Errorf("%q: found %v, want %s", tc.text, found, tc.kind)
		}
	}
}

func TestNegatives(t *testing.T) {
	t.Parallel()
	hex7, hex40, hex64 := made(hexChars, 7), made(hexChars, 40), made(hexChars, 64)
	uuid := hex40[:8] + "-" + hex40[8:12] + "-" + hex40[12:16] + "-" + hex40[16:20] + "-" + hex40[20:32]
	for _, text := range []string{
		// Found in recorded sessions: lines of grep, bold words, patterns, lists of paths,
		// tokens' beginnings in the middle of encoded data.
		"src/auth/dto/login.dto.ts:6:export class LoginDto {",
		"origin/main:registry/azure-kubelogin.toml:1:backends = [\"aqua:Azure/kubelogin\"]",
		"/home/ann/src/devin-credentials-manager.ts:34:export class Manager {",
		"- **Social factor** (if enrolled)\n- **Password factor** (if enrolled)",
		"grep -E '(OTP|one-time.*password|email.*auth|passwordless)'",
		`left: ["/var/folders/6m/23f_80p95q79kmhpm8_w50340000gn/T/.tmp1/apps/api", "/var/folders/6m/23f_80p95q79kmhpm8_w50340000gn/T/.tmp1/apps/web"]`,
		"gAAAAAB" + made(base62, 80) + "-re_" + made(base62, 80),
		"gAAAAAB" + made(base62, 80) + "_fo1_" + made(base62, 80),
		// Hashes and ids.
		"commit " + hex40,
		"[main " + hex7 + "] message",
		"index " + hex7 + ".." + made(hexChars, 8) + " 100644",
		"sha256:" + hex64,
		"checksum = \"" + hex64 + "\"",
		`"integrity": "sha512-` + made(base62+"+/", 86) + `=="`,
		"golang.org/x/sync v0.1.0 h1:" + made(base62+"+/", 43) + "=",
		"session " + uuid,
		`"uuid":"` + uuid + `","parentUuid":"` + uuid + `"`,
		"token: " + uuid,
		"cache_key: " + hex64,
		"key = \"" + hex40 + "\"",
		`"requestId":"req_` + made(base62, 24) + `"`,
		`"id":"toolu_` + made(base62, 24) + `"`,
		"etag: W/\"" + hex40 + "\"",
		"https://github.com/x/y/commit/" + hex40,
		"docker pull x@sha256:" + hex64,
		"data:image/png;base64,iVBORw0KGgo" + made(base62+"+/", 300),

		// Code that handles secrets without holding one.
		`password := os.Getenv("DB_PASSWORD2")`,
		"const token = process.env.GITHUB_TOKEN2;",
		"token = getToken(user1, 2)",
		"password = user.password",
		"this.apiKey = options.apiKey1;",
		"func login(password string, token2 string) error {",
		"if token == nil || secret != other123 {",
		"token: cancellationToken,",
		"secret: secrets.GITHUB_TOKEN",
		"password: ${{ secrets.DB_PASSWORD_1 }}",
		"DB_PASSWORD=${DB_PASSWORD:-x1}",
		"DB_PASSWORD=$(cat /run/secrets/db1)",
		"password: {{ .Values.db.password1 }}",
		`api_key="<your-api-key-1>"`,
		`API_KEY=your_api_key_here_123`,
		"password=changeme123",
		"token=xxxxxxxxxxxxxxxxxxxxxxxx1",
		"secret: ****************1234",
		"sk-...",
		"ghp_" + strings.Repeat("x", 12),
		"Authorization: Bearer <token>",
		"Authorization: Bearer $TOKEN",
		"the bearer authentication scheme of RFC6750",
		"Basic understanding of the topic",
		"https://user:$PASS@host/",
		"https://user:<password>@host/",
		"postgres://user:password@localhost/db",
		"postgres://localhost:5432/db?user=me@example.com",
		"https://example.com:8080/a@b:c",
		"git@github.com:owner/repository2.git",

		// Words and identifiers.
		`"password": "Passwort"`,
		"Password: required",
		"max_tokens: 4096",
		"input_tokens=123456, output_tokens=789012345678",
		"tokenizer = 'cl100k_base_v2_large'",
		"primary_key: customer_order_line_id_2",
		"key: aws-ec2-instance-type-t3-micro",
		"sort_key = created_at_2024_01_02",
		"secret-name: my-app-database-credentials-v2",
		"sk-learn-contrib-and-other-things-2",
		"sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
		"hf_requiredCharacteristicTypesForDisplayMetadata",
		"xoxo-indieweb-1.jpg",
		"pull request npm_config_registry and npm_lifecycle_event_name_of_script",
		"AKIAMSWERT and ASIATIC and AIzawa",
		"eyJust.a.word and eyJ.x.y",
		"-----BEGIN CERTIFICATE-----\n" + made(base62, 64) + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\n" + made(base62, 64) + "\n-----END PUBLIC KEY-----",
		`strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----")`,
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + made(base62, 48) + " me@host",
		"key = 2024-05-27T07:32:00Z",
		"apiVersion: 2022-11-28",
		"認證 token 請向管理員索取，密碼：不公開",
		"使用者輸入密碼後按 Enter 1 次",
		"",
	} {
		if out, found := Text(text); len(found) > 0 {
			t.Errorf("%q: %v in %q", text, found, out)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	a, b := "ghp"+"_"+made(base62, 36), "sk-ant"+"-api03-"+made(base62, 40)
	got, found := Text("x " + a + " y\nkey=" + b + "\n" + a + "!")
	want := "x [REDACTED:github-token] y\nkey=[REDACTED:anthropic-key]\n[REDACTED:github-token]!"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Found{{"anthropic-key", 1}, {"github-token", 2}}, found); diff != "" {
		t.Error(diff)
	}
	if got, found := Text("nothing here"); got != "nothing here" || found != nil {
		t.Error(got, found)
	}
}

// Words that have to be looked into are, but not for every place where they occur.
func TestFormsAreLinear(t *testing.T) {
	for _, unit := range []string{"tFWT", "c2VjcmV0", "cGFzc3dvcm", "recovery code ", "mnemonic ", "seed phrase abandon ", "\\u0070", "\"\\u0070\":", "django-insecure-", "$argon2id$ ", "Kennwort ", "mot de passe est ", "password|x", "-re_a1B2", "login.ts:1:", "/api\", \""} {
		text := strings.Repeat(unit, 1<<19/len(unit))
		begin := cost.CPU()
		Spans(text)
		if took := cost.CPU() - begin; took > 5*time.Second {
			t.Errorf("half a megabyte of %q takes %v", unit, took)
		}
	}
}
