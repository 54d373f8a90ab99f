//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/seed-6d03985f/overtone/e2e/browser"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// axe judges pages as people meet them who do not see or point.
var axe = agent{dir: "axe-4.14.0", packages: []string{"axe-core@4.14.0"}}

var axeSource = sync.OnceValues(func() (string, error) {
	if err := axe.install(axe.folder()); err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(axe.folder(), "node_modules", "axe-core", "axe.min.js"))
	return string(source), err
})

// chromium opens a browser, or says why there is none. CI installs one.
func chromium(t *testing.T) context.Context {
	t.Helper()
	dir, err := os.MkdirTemp("", "overtone-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	b, stop, err := browser.Start(t.Context(), dir)
	t.Cleanup(func() {
		if stop != nil {
			stop()
		}
		// The browser's helpers write into its profile a little longer than it lives.
		for n := 0; os.RemoveAll(dir) != nil && n < 50; n++ {
			time.Sleep(100 * time.Millisecond)
		}
	})
	if errors.Is(err, browser.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tab opens a tab; at the test's end it must have had nothing to complain about.
func tab(t *testing.T, b context.Context) *browser.Tab {
	t.Helper()
	p, stop, err := browser.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return p
}

func do(t *testing.T, p *browser.Tab, what string, actions ...chromedp.Action) {
	t.Helper()
	if err := p.Do(90*time.Second, actions...); err != nil {
		var text string
		_ = p.Do(5*time.Second, chromedp.Evaluate(`document.body.innerText`, &text))
		t.Fatalf("%s: %v\nconsole: %q\npage: %.2000s", what, err, p.Errors(), text)
	}
}

// serveDashboard starts the dashboard of a world and returns its link.
func serveDashboard(w *World, args ...string) string {
	w.t.Helper()
	cmd := w.command("overtone", append([]string{"dashboard", "--json"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("the dashboard's end: %v", err)
		}
	})
	var link struct{ URL string }
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&link); err != nil {
		w.t.Fatal(err)
	}
	return link.URL
}

// judge runs axe on the page as it is.
func judge(t *testing.T, p *browser.Tab, where string) {
	t.Helper()
	source, err := axeSource()
	if err != nil {
		t.Fatal(err)
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	do(t, p, "axe on "+where,
		chromedp.Evaluate(source+";0", nil),
		chromedp.Evaluate(`axe.run().then(r => r.violations)`, &found, awaitPromise))
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			for _, n := range v.Nodes {
				t.Errorf("%s: %s: %s: %.300s\n%s", where, v.ID, v.Help, n.HTML, n.FailureSummary)
			}
		}
	}
}

// A real workflow appears on the page and moves, without the page being loaded
// again: the agent at work, the review that sends it back, the end.
func TestDashboardWorkflow(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	held := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(held) })
	t.Cleanup(letGo)
	p := &Relay{Agents: map[string][]Step{
		"developer":     {Step(pass).until(held)},
		"code-reviewer": {failing("CRITICAL", "")},
	}}
	w := NewWorld(t, Overtone, p.Handle)
	page := tab(t, b)
	do(t, page, "open", browser.Size(1440, 900, "light"), chromedp.Navigate(serveDashboard(w)),
		chromedp.WaitVisible(`.link.live`), chromedp.Evaluate(`window.loadedOnce = true`, nil))

	s := w.Start()
	s.Send("/overtone:quick add a flag")
	do(t, page, "the session appears", chromedp.WaitVisible(`.list li .pulse`), chromedp.Click(`.list li a`))
	do(t, page, "the developer is at work", chromedp.WaitVisible(`.node.active`), chromedp.WaitVisible(`.agents .pulse`))
	var text string
	do(t, page, "read", chromedp.Evaluate(`document.querySelector('.node.active').textContent`, &text))
	if !strings.Contains(text, "DEV") {
		t.Errorf("at work: %q", text)
	}
	judge(t, page, "a running workflow")
	letGo()
	do(t, page, "the end", chromedp.Poll(`document.querySelectorAll('.node.passed').length === 5 && /retry 1/.test(document.querySelector('.graph').textContent)`, nil, chromedp.WithPollingTimeout(80*time.Second)))
	r := s.Result()
	do(t, page, "the timeline", chromedp.Poll(`document.querySelectorAll('.events li').length >= 10`, nil))
	var state struct {
		Same    bool
		Title   string
		Events  int
		Retries string
	}
	do(t, page, "look", chromedp.Evaluate(`({same: window.loadedOnce === true, title: document.querySelector('h2').textContent,
		events: document.querySelectorAll('.events li').length, retries: document.querySelector('.tiles').textContent})`, &state))
	if !state.Same || state.Events < 10 || !strings.Contains(state.Retries, "retries") {
		t.Errorf("session %s: %+v", r.SessionID, state)
	}
	judge(t, page, "a finished workflow")
	if e := page.Errors(); len(e) > 0 {
		t.Errorf("console: %q", e)
	}
}

// tooWide is how far the page scrolls sideways. On a telephone innerWidth grows with the page.
const tooWide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`

// What a session says is text on the page, however it is meant: markup, terminal
// escapes, a line of ten megabytes. The page stays usable on a telephone, in both
// languages and themes, and with the keyboard.
func TestDashboardHostile(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	w := NewWorld(t, Overtone, (&Play{}).Handle)
	const id = "bad00000-0000-4000-8000-000000000001"
	evil := `<script>window.owned=1</script><img src=x onerror=window.owned=1>\u001b[2J\u202ereversed`
	minute := time.Now().UTC().Add(-time.Hour).Format("2006-01-02T15:04:0") // the audit looks at the last weeks
	line := func(uuid, kind, text string) string {
		return fmt.Sprintf(`{"type":"%s","uuid":"%s","parentUuid":null,"sessionId":"%s","cwd":"/<b>x</b>","timestamp":"%s%d.000Z","message":{"id":"m%s","role":"%s","model":"claude-sonnet-4-5","content":"%s","usage":{"input_tokens":5,"output_tokens":9000}}}`,
			kind, uuid, id, minute, len(uuid)%9, uuid, kind, text)
	}
	dir := filepath.Join(w.Config, "projects", "-evil")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	data := strings.Join([]string{
		line("u1", "user", evil), line("a1", "assistant", evil), line("u22", "user", strings.Repeat("<i>x", 5<<19)),
		`{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"timestamp":"` + minute + `5.000Z","compactMetadata":{"trigger":"<script>","preTokens":9000}}`,
		line("a"+strings.Repeat("2", 67), "assistant", "after "+evil), "not json", "",
	}, "\n")
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	const single = "bad00000-0000-4000-8000-000000000002"
	one := strings.ReplaceAll(line("a1", "assistant", "one"), id, single) + "\n"
	if err := os.WriteFile(filepath.Join(dir, single+".jsonl"), []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Exec("overtone", "workflow", "start", "standard", "--session", id, "--feature", `<img src=x onerror=window.owned=1>`)
	// Nor does what another machine says of itself.
	team := filepath.Join(w.Home, ".overtone", "team")
	if err := os.MkdirAll(team, 0o700); err != nil {
		t.Fatal(err)
	}
	bad := `<img src=x onerror=window.owned=1>` + strings.Repeat("W", 300)
	for name, data := range map[string]string{
		"team.json":  "{}",
		"fleet.json": fmt.Sprintf(`{"schema":1,"at":"2026-01-01T00:00:00Z","machine":"a","machines":[{"machine":%[1]q,"version":%[1]q,"at":%[1]q,"lost":3},{"machine":"a","version":"1","at":"2026-01-01T00:00:00Z"}],"sessions":[{"machine":%[1]q,"session":%[1]q,"project":%[1]q,"workflow":%[1]q,"stage":%[1]q,"packet":%[1]q,"packetState":%[1]q,"last":%[1]q,"left":50,"ended":true}],"leases":{%[1]q:{"holder":%[1]q,"phase":%[1]q}}}`, bad),
	} {
		if err := os.WriteFile(filepath.Join(team, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := tab(t, b)
	link := serveDashboard(w)
	base := link[:strings.Index(link, "#")]
	do(t, page, "open", browser.Size(1440, 900, "light"), chromedp.Navigate(link), chromedp.WaitVisible(`.list li a`), chromedp.Click(`.list li a[href*="`+id+`"]`),
		chromedp.WaitVisible(`.uplot canvas`), chromedp.Click(`.compactions summary`), chromedp.WaitVisible(`.kept`), chromedp.WaitVisible(`.why small`))
	var text string
	do(t, page, "read", chromedp.Text(`#app`, &text))
	if !strings.Contains(text, "<script>window.owned=1</script>") {
		t.Errorf("the title is not shown as it is: %.500s", text)
	}
	var stands string
	do(t, page, "the situation and what would be handed over", chromedp.Text(`.stands`, &stands), chromedp.Click(`section[aria-labelledby=s-stands] summary`), chromedp.WaitVisible(`section[aria-labelledby=s-stands] .why small`))
	if !strings.Contains(stands, "State") || !strings.Contains(stands, "the agent's words are the last") {
		t.Errorf("the situation is not drawn: %s", stands)
	}
	for _, v := range []struct {
		width int64
		theme string
		lang  string
		hash  string
		ready string
	}{
		{1440, "light", "en", "#/s/" + id, ".uplot canvas"},
		{1440, "dark", "zh-TW", "#/s/" + id, ".uplot canvas"},
		{360, "light", "zh-TW", "#/s/" + id, ".uplot canvas"},
		{360, "dark", "en", "#/s/" + id, ".uplot canvas"},
		{1440, "light", "en", "#/c/" + id, ".conversation .piece.compacted"},
		{360, "dark", "zh-TW", "#/c/" + id, ".conversation .piece.user"},
		{1440, "dark", "en", "#/", ".welcome"},
		{360, "light", "en", "#/", ".list li"},
		{1440, "light", "en", "#/audit", "#a-days"},
		{360, "dark", "zh-TW", "#/audit", "#a-days"},
		{1440, "light", "en", "#/fleet", "#f-sessions"},
		{360, "dark", "zh-TW", "#/fleet", "#f-sessions"},
		{1440, "light", "en", "#/recall", "form.filters"},
		{360, "dark", "zh-TW", "#/recall", "form.filters"},
		{360, "light", "en", "#/recall/reversed", ".hits li"},
	} {
		name := fmt.Sprintf("%s at %d, %s, %s", v.hash, v.width, v.theme, v.lang)
		do(t, page, name, browser.Size(v.width, 900, v.theme), chromedp.Evaluate(`location.hash = '`+v.hash+`'`, nil),
			chromedp.Evaluate(`{ const s = document.querySelector('.choices select'); s.value = '`+v.lang+`'; s.dispatchEvent(new Event('change')) }`, nil),
			chromedp.Poll(`document.documentElement.lang === '`+v.lang+`'`, nil), chromedp.WaitVisible(v.ready))
		var wide float64
		do(t, page, name, chromedp.Evaluate(tooWide, &wide))
		if wide > 0 {
			t.Errorf("%s: %v pixels too wide", name, wide)
		}
		// Nor does a table need to be pushed about on a telephone.
		do(t, page, name, chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => { d.open = true });
			innerWidth > 500 ? 0 : Math.max(0, ...[...document.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth))`, &wide))
		if wide > 0 {
			t.Errorf("%s: a table is %v pixels too wide", name, wide)
		}
		judge(t, page, name)
	}
	// Sizes and times are written as the command line writes them.
	var forms, want []string
	for _, n := range []int64{0, 999, 9_999, 10_000, 230_940, 998_659, 2_500_000, 1_200_000_000} {
		want = append(want, message.Rounded(n))
	}
	for _, n := range []int64{0, 59, 60, 225, 3_599, 3_600, 90_061, 172_800, 900_000} {
		want = append(want, message.Span(time.Duration(n)*time.Second), message.Age(time.Duration(n)*time.Second))
	}
	want = append(want, time.Unix(1_782_949_776, 0).Format("2006-01-02 15:04"))
	do(t, page, "forms", chromedp.Evaluate(`import('./ui.js').then(u => [...[0, 999, 9999, 10000, 230940, 998659, 2500000, 1200000000].map(u.tokens),
		...[0, 59, 60, 225, 3599, 3600, 90061, 172800, 900000].flatMap(n => [u.span(n), u.ago(Date.now() - n * 1000)]), u.when(1782949776000)])`, &forms, awaitPromise))
	if !slices.Equal(forms, want) {
		t.Errorf("the page writes %q, the command line %q", forms, want)
	}
	// One request has one moment, and the axis says each only once.
	var labels []string
	do(t, page, "one request", chromedp.Evaluate(`window.drawn = []; { const p = CanvasRenderingContext2D.prototype, { clearRect, fillText } = p
		p.clearRect = function (...at) { window.drawn = []; return clearRect.apply(this, at) }
		p.fillText = function (...what) { window.drawn.push(what[0]); return fillText.apply(this, what) } }; location.hash = '#/s/`+single+`'`, nil),
		chromedp.Poll(`window.drawn.some(s => /\d:\d/.test(s))`, nil), chromedp.Evaluate(`window.drawn`, &labels))
	moments := map[string]int{}
	for _, l := range labels {
		if strings.ContainsAny(l, ":/") {
			moments[l]++
		}
	}
	if len(moments) < 3 || slices.Max(slices.Collect(maps.Values(moments))) > 1 {
		t.Errorf("moments on the axis: %q", labels)
	}
	// The newest day of the table is the last one of the chart.
	var newest string
	do(t, page, "days", chromedp.Evaluate(`window.drawn = []; location.hash = '#/audit'`, nil), chromedp.Poll(`window.drawn.some(s => s.includes('/'))`, nil),
		chromedp.Evaluate(`window.drawn.filter(s => s.includes('/'))`, &labels), chromedp.Evaluate(`document.querySelector('[aria-labelledby=a-days] tbody th').textContent`, &newest))
	if day, err := time.Parse(time.DateOnly, newest); err != nil || labels[len(labels)-1] != day.Format("1/2") {
		t.Errorf("the chart of days ends at %q, the table at %s", labels, newest)
	}
	// The compaction without a summary that can be read is not among those that were judged,
	// as in the command.
	var judged string
	do(t, page, "judged", chromedp.Evaluate(`document.body.textContent`, &judged))
	if !strings.Contains(judged, "judged: 0 of 1 compactions") && !strings.Contains(judged, "可判斷：1 次壓縮中的 0 次") {
		t.Errorf("the page judges other compactions than the command: %s", judged)
	}
	do(t, page, "back", chromedp.Evaluate(`location.hash = '#/recall'`, nil), chromedp.WaitVisible(`form input[type=search]`))
	// The search finds it, and shows it as it is.
	do(t, page, "recall", browser.Size(1440, 900, "light"), chromedp.SendKeys(`form input[type=search]`, "reversed\r"), chromedp.WaitVisible(`.hits li`))
	judge(t, page, "hits")
	var asked, title string
	do(t, page, "a search is a link", chromedp.Evaluate(`location.hash`, &asked), chromedp.Text(`.hits a`, &title))
	if !strings.Contains(title, "<script>") {
		t.Errorf("a hit is of the session %q", title)
	}
	if asked != "#/recall/reversed" {
		t.Errorf("the address of a search is %q", asked)
	}
	do(t, page, "where it was said", chromedp.Click(`.hits a[href*="/L"]`), chromedp.WaitVisible(`.conversation .piece.here`))
	var owned bool
	do(t, page, "owned", chromedp.Evaluate(`window.owned === 1`, &owned))
	if owned {
		t.Error("a session's text ran as a script")
	}
	if e := page.Errors(); len(e) > 0 {
		t.Errorf("console: %q", e)
	}

	// Nor does it in the file that is exported.
	file := filepath.Join(t.TempDir(), "evil.html")
	w.Exec("overtone", "export", id, "-o", file)
	t.Run("exported", func(t *testing.T) {
		k := tab(t, b)
		var found struct {
			Owned bool
			Text  string
			Wide  float64
		}
		do(t, k, "open", browser.Size(360, 900, "dark"), chromedp.Navigate("file://"+file), chromedp.WaitVisible(`.exported .piece.user`),
			chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => { d.open = true });
				({ owned: window.owned === 1 || document.querySelector('script, img, b b, i') !== null, text: document.body.innerText.slice(0, 5000), wide: `+tooWide+` })`, &found))
		if found.Owned || found.Wide > 0 || !strings.Contains(found.Text, "<script>window.owned=1</script>") {
			t.Errorf("%+v", found)
		}
		judge(t, k, "the exported page")
		if e := k.Errors(); len(e) > 0 {
			t.Errorf("console: %q", e)
		}
	})
	t.Run("keyboard", func(t *testing.T) {
		k := tab(t, b)
		var at string
		do(t, k, "keys", browser.Size(1440, 900, "light"), chromedp.Navigate(link), chromedp.WaitVisible(`.list li a`), chromedp.KeyEvent("/"),
			chromedp.Evaluate(`document.activeElement.type`, &at))
		if at != "search" {
			t.Errorf("after / the focus is on %q", at)
		}
		do(t, k, "to the list, when the session is known already", chromedp.WaitVisible(`.working .quiet`), chromedp.Focus(`.list li a`), chromedp.KeyEvent("\r"), chromedp.Poll(`document.activeElement.id === 'title'`, nil))
	})
	t.Run("wrong token", func(t *testing.T) {
		k := tab(t, b)
		var said string
		do(t, k, "open", chromedp.Navigate(base+"#token=wrong"), chromedp.WaitVisible(`[role=alert]`), chromedp.Text(`[role=alert]`, &said))
		if !strings.Contains(said, "overtone dashboard") {
			t.Errorf("it says %q", said)
		}
	})
	t.Run("asked wrongly", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"api/audit?since=garbage", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+link[strings.Index(link, "=")+1:])
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("since=garbage is answered %s", res.Status)
		}
	})
	t.Run("foreign page", func(t *testing.T) {
		// A page of another origin that has even got hold of the token.
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>other</title>")
		}))
		defer other.Close()
		token := link[strings.Index(link, "=")+1:]
		k := tab(t, b)
		var got string
		do(t, k, "ask from elsewhere", chromedp.Navigate(other.URL), chromedp.Evaluate(fmt.Sprintf(
			`fetch(%q, {headers: {Authorization: 'Bearer %s'}}).then(r => r.text(), e => 'refused')`, base+"api/sessions", token), &got, awaitPromise))
		if got != "refused" {
			t.Errorf("another origin reads %.200s", got)
		}
		var framed bool
		do(t, k, "frame", chromedp.Evaluate(fmt.Sprintf(`new Promise(done => { const f = document.createElement('iframe'); f.onload = () => { try { done(f.contentDocument !== null && f.contentDocument.title === 'Overtone') } catch { done(false) } }; f.src = %q; document.body.append(f) })`, base), &framed, awaitPromise))
		if framed {
			t.Error("another page may frame it")
		}
	})
	t.Run("rebound name", func(t *testing.T) {
		k := tab(t, b)
		var body string
		do(t, k, "by another name", chromedp.Navigate(strings.Replace(base, "127.0.0.1", "rebound.test", 1)), chromedp.Text(`body`, &body))
		if !strings.Contains(body, "not this host") {
			t.Errorf("by another name it says %.200s", body)
		}
	})
}

// awaitPromise waits for what an expression promises.
func awaitPromise(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// emptyCards are the cards that have a heading and nothing below it; cutLabels are the
// labels of which a part cannot be seen: it is wider than the box that it stands in, or
// than the page. Titles, paths and texts of sessions may be as long as they like, and
// tables on a wide page may be pushed.
const emptyCards = `[...document.querySelectorAll('main .card')].filter(c => {
	const rest = c.cloneNode(true)
	rest.querySelectorAll('h2, h3').forEach(h => h.remove())
	return rest.textContent.trim() === '' && !c.querySelector('canvas, svg, form')
}).map(c => c.innerText)`

const cutLabels = `(() => {
	const cut = []
	const shown = e => e.getClientRects().length > 0 && !e.closest('.hidden, .skip, thead') || e.closest('thead') && innerWidth > 820
	for (const e of document.querySelectorAll('h1, h3, h4, h5, dt, dd, th, td, label, legend, summary, button, nav a, .badge, .what, .sizes, .legend li, .pick span, .chips span, .meta span, .quiet, .count, .empty')) {
		if (!shown(e) || !e.textContent.trim() || e.matches('.project, .name') || e.closest('.name, pre, .why')) continue
		const range = document.createRange()
		range.selectNodeContents(e)
		const text = range.getBoundingClientRect(), style = getComputedStyle(e)
		let why = ""
		if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && style.display !== 'inline') why = 'wider than its box by ' + (e.scrollWidth - e.clientWidth)
		for (let p = e; p && !why; p = p.parentElement) {
			if (getComputedStyle(p).overflowX === 'visible' || p.matches('.scroll') && innerWidth > 820) continue
			const r = p.getBoundingClientRect()
			if (text.right > r.right + 1 || text.left < r.left - 1) why = 'outside of ' + p.className
		}
		if (!why && (text.right > document.documentElement.clientWidth + 1 || text.left < -1) && !e.closest('.scroll')) why = 'outside of the page'
		if (why) cut.push(e.tagName + ' ' + e.textContent.trim().slice(0, 60) + ': ' + why)
	}
	for (const n of document.querySelectorAll('.node')) {
		const box = n.querySelector('rect').getBoundingClientRect()
		for (const x of n.querySelectorAll('text')) {
			const r = x.getBoundingClientRect()
			if (r.right > box.right + 1 || r.left < box.left - 1) cut.push('node ' + x.textContent + ': wider than its box')
		}
	}
	// What charts have written last.
	const drawn = (window.drawn || []).filter(d => document.contains(d.canvas))
	for (const d of drawn) if (d.left < -1 || d.right > d.canvas.width + 1) cut.push('chart: ' + d.text)
	drawn.forEach((d, i) => drawn.slice(0, i).forEach(o => {
		if (o.canvas === d.canvas && Math.abs(o.y - d.y) < 10 && o.left < d.right && d.left < o.right) cut.push('chart: ' + d.text + ' over ' + o.text)
	}))
	return cut
})()`

// drawnLabels has charts tell where on their canvas each label stands.
const drawnLabels = `window.drawn = []; { const p = CanvasRenderingContext2D.prototype, { clearRect, fillText } = p
	p.clearRect = function (...at) { window.drawn = window.drawn.filter(d => d.canvas !== this.canvas); return clearRect.apply(this, at) }
	p.fillText = function (text, x, ...rest) {
		const wide = this.measureText(text).width, at = this.getTransform().e + x
		const left = this.textAlign === 'center' ? at - wide / 2 : this.textAlign === 'right' || this.textAlign === 'end' ? at - wide : at
		window.drawn.push({ canvas: this.canvas, text, left, right: left + wide, y: this.getTransform().f + rest[0] })
		return fillText.call(this, text, x, ...rest)
	} }`

// The conversation of a session: turns and folded tools, a compaction as a bar whose columns
// are what `compact packet` says, a search over all of it, places that links lead to, keys,
// and the file that e saves.
func TestDashboardConversation(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	const id = "0ce00000-0000-4000-8000-000000000001"
	w := &World{t: t, Home: t.TempDir(), Project: t.TempDir(), bin: bin}
	w.env = map[string]string{"HOME": w.Home, "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8"}
	path := filepath.Join(w.Home, ".claude", "projects", "-w-shop", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(earlier(id, time.Now().UTC().Add(-50*time.Hour))), 0o600); err != nil {
		t.Fatal(err)
	}
	var packet struct {
		SummaryStates, SummaryLacks, HandedOver []string
		Text                                    string
	}
	if err := json.Unmarshal([]byte(w.Exec("overtone", "compact", "packet", "--session", id, "--compaction", "1", "--json")), &packet); err != nil {
		t.Fatal(err)
	}
	page := tab(t, b)
	var user string
	var shown, folds int
	var columns struct {
		Kept, Handed, Lost []string
		Text               string
	}
	do(t, page, "open", browser.Size(1440, 900, "light"), chromedp.Navigate(serveDashboard(w)), chromedp.WaitVisible(`.link.live`), chromedp.Evaluate(`location.hash = '#/s/`+id+`'`, nil),
		chromedp.WaitVisible(`a[href="#/c/`+id+`"]`), chromedp.WaitVisible(`.cost`), chromedp.Click(`a[href="#/c/`+id+`"]`), chromedp.WaitVisible(`.piece.user`),
		chromedp.Text(`.piece.user .said`, &user), chromedp.Evaluate(`document.querySelectorAll('.piece.tools').length`, &folds),
		chromedp.Evaluate(`document.querySelectorAll('.piece.tools details[open]').length`, &shown),
		chromedp.Click(`.piece.compacted summary`), chromedp.WaitVisible(`.piece.compacted .why`), chromedp.Evaluate(`(() => {
			const names = [...document.querySelectorAll('.piece.compacted .names')].map(e => [...e.querySelectorAll('li')].map(l => l.textContent))
			const why = [...document.querySelectorAll('.piece.compacted .why > li')].map(l => l.firstChild.textContent)
			return { kept: names[0], handed: names[1], lost: names[2], text: why.join('\n') } })()`, &columns))
	if !strings.Contains(user, "Round the totals") || folds == 0 || shown != 0 {
		t.Errorf("user %q, %d folds, %d open", user, folds, shown)
	}
	lacks := slices.Concat(columns.Handed, columns.Lost)
	for _, list := range [][]string{lacks, packet.SummaryLacks} {
		slices.Sort(list)
	}
	if !slices.Equal(columns.Kept, packet.SummaryStates) || !slices.Equal(lacks, packet.SummaryLacks) || !slices.Equal(columns.Handed, packet.HandedOver) || len(lacks) == 0 {
		t.Errorf("the page has %+v, the command %+v", columns, packet)
	}
	for _, line := range strings.Split(packet.Text, "\n") {
		if !strings.HasPrefix(line, "<") && !strings.Contains(columns.Text, strings.TrimSpace(line)) {
			t.Errorf("the hand-over lacks %q", line)
		}
	}
	var focused, at string
	var here int
	do(t, page, "keys, search and places", chromedp.Evaluate(`document.activeElement.blur(); scrollTo(0, 0)`, nil), chromedp.KeyEvent("k"), chromedp.KeyEvent("j"), chromedp.Evaluate(`document.activeElement.className`, &focused),
		chromedp.KeyEvent("t"), chromedp.WaitVisible(`.piece.thought`), chromedp.KeyEvent("o"), chromedp.WaitVisible(`.piece.tools details[open]`), chromedp.KeyEvent("?"), chromedp.WaitVisible(`dialog kbd`),
		chromedp.Click(`dialog button`), chromedp.WaitNotPresent(`dialog`),
		chromedp.KeyEvent("/"), chromedp.SendKeys(`.conversation input[type=search]`, "discount.go"), chromedp.WaitVisible(`.hits mark`), chromedp.Click(`.hits .chips a`),
		chromedp.WaitVisible(`.piece.here`), chromedp.Evaluate(`location.hash`, &at), chromedp.Evaluate(`document.querySelectorAll('.piece.here').length`, &here))
	if !strings.Contains(focused, "piece user") || !strings.HasPrefix(at, "#/c/"+id+"/") || here != 1 {
		t.Errorf("j goes to %q; the hit at %q, %d", focused, at, here)
	}
	var link, said string
	do(t, page, "where", chromedp.Location(&link))
	// Lines that are written now join at the end.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	do(t, page, "to the end", chromedp.Evaluate(`location.hash = '#/c/`+id+`'`, nil), chromedp.WaitNotPresent(`.piece.here`), chromedp.WaitVisible(`.piece.user`))
	// A page that nobody sees lets its stream go, and has what was told meanwhile once it is seen.
	seen := func(hidden string) chromedp.Action {
		return chromedp.Evaluate(`Object.defineProperty(document, 'hidden', { value: `+hidden+`, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`, nil)
	}
	do(t, page, "nobody looks", chromedp.Evaluate(`fetch = (fetch => (address, o) => {
		if (String(address).includes('live')) { window.open = true; o.signal.addEventListener('abort', () => window.gone = true) }
		return fetch(address, o)
	})(fetch)`, nil), seen("true"), seen("false"), chromedp.Poll(`window.open === true`, nil), seen("true"), chromedp.Poll(`window.gone === true`, nil))
	if _, err := fmt.Fprintf(f, `{"type":"user","uuid":"new","sessionId":%q,"timestamp":%q,"message":{"role":"user","content":"and now the receipts"}}`+"\n", id, time.Now().UTC().Format(time.RFC3339)); err != nil {
		t.Fatal(err)
	}
	do(t, page, "live", seen("false"), chromedp.Poll(`[...document.querySelectorAll('.piece.user')].pop().textContent.includes('and now the receipts')`, nil))
	// What e saves is what the command writes, and a browser opens it without the program.
	saved := t.TempDir()
	do(t, page, "save", cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(saved).WithEventsEnabled(true),
		chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("e"))
	file := filepath.Join(saved, id+".html")
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
	}
	byKey, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	byCommand := w.Exec("overtone", "export", id, "-o", "-")
	if s := regexp.MustCompile(`\d\d:\d\d`); s.ReplaceAllString(string(byKey), "") != s.ReplaceAllString(byCommand, "") {
		t.Error("the key and the command save different files")
	}
	// A clone that nobody has opened is told apart, and is not at work as its source is.
	w.Exec("overtone", "continue", id)
	do(t, page, "an unused clone", chromedp.Evaluate(`location.hash = '#/'`, nil), chromedp.Poll(`/^1 of 1; unused clones: 1$/.test(document.querySelector('.count').textContent) &&
		document.querySelector('.welcome .tiles') && /^Sessions; unused clones: 1.*At work now1/.test([...document.querySelectorAll('.welcome .tiles div')].map(e => e.textContent).join(''))`, nil, chromedp.WithPollingTimeout(20*time.Second)))
	// A link works in a new tab, too: the tab that is open tells it the token.
	other := tab(t, b)
	do(t, other, "a new tab", browser.Size(390, 900, "dark"), chromedp.Navigate(link), chromedp.WaitVisible(`.piece.here`), chromedp.Text(`.piece.here`, &said, chromedp.NodeReady))
	if !strings.Contains(said, "discount.go") {
		t.Errorf("the link leads to %q", said)
	}
	do(t, other, "the file", chromedp.Navigate("file://"+file), chromedp.WaitVisible(`.exported .piece.user`))
	do(t, other, "its compaction", chromedp.Evaluate(`document.querySelector('.piece.compacted summary').click(); document.querySelector('.exported').innerText`, &said))
	if !strings.Contains(said, "Round the totals") || !strings.Contains(said, "and now the receipts") || !strings.Contains(said, packet.SummaryLacks[0]) {
		t.Errorf("the file shows %.500s", said)
	}
	for _, p := range []*browser.Tab{page, other} {
		if e := p.Errors(); len(e) > 0 {
			t.Errorf("console: %q", e)
		}
	}
}

// A session of fifty megabytes opens within a second and scrolls by pages; what is far away
// is not kept.
func TestDashboardOpensLargeSessions(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	const id = "0ce00000-0000-4000-8000-000000000003"
	w := &World{t: t, Home: t.TempDir(), Project: t.TempDir(), bin: bin}
	w.env = map[string]string{"HOME": w.Home, "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8"}
	var text strings.Builder
	for n := 0; text.Len() < 50<<20; n++ {
		fmt.Fprintf(&text, `{"type":"user","uuid":"u%[1]d","sessionId":%[2]q,"cwd":"/w","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"question %[1]d"}}
{"type":"assistant","uuid":"a%[1]d","sessionId":%[2]q,"cwd":"/w","timestamp":"2026-03-01T10:00:01.000Z","message":{"id":"m%[1]d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%[3]q}],"usage":{"input_tokens":5,"output_tokens":9}}}
`, n, id, strings.Repeat("words of an answer ", 100))
	}
	path := filepath.Join(w.Home, ".claude", "projects", "-w", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	page := tab(t, b)
	var ms float64
	var first, last string
	var most int
	do(t, page, "open", browser.Size(1440, 900, "light"), chromedp.Navigate(serveDashboard(w)), chromedp.WaitVisible(`.list li a`), chromedp.WaitVisible(`.link.live`),
		chromedp.Evaluate(`new Promise(done => { const begin = performance.now(); location.hash = '#/c/`+id+`'
			const look = () => document.querySelector('.piece.user') ? done(performance.now() - begin) : requestAnimationFrame(look); look() })`, &ms, awaitPromise),
		chromedp.Evaluate(`[...document.querySelectorAll('.piece.user')].pop().textContent`, &last))
	// Upwards, until pages at the end have gone.
	do(t, page, "scroll", chromedp.Evaluate(`new Promise(done => { let most = 0; const up = () => {
			most = Math.max(most, document.querySelectorAll('.piece').length)
			if ([...document.querySelectorAll('.piece.user')].pop().textContent !== last) return done(most)
			scrollTo(0, 0); requestAnimationFrame(up) }; const last = [...document.querySelectorAll('.piece.user')].pop().textContent; up() })`, &most, awaitPromise),
		chromedp.Evaluate(`document.querySelector('.piece.user').textContent`, &first))
	t.Logf("opened in %.0f ms; at most %d pieces are kept", ms, most)
	if ms > 2000 { // other tests run beside this one
		t.Errorf("opened in %.0f ms", ms)
	}
	if first >= last || most < 300 || most > 600 {
		t.Errorf("from %q to %q; %d pieces", first, last, most)
	}
	if e := page.Errors(); len(e) > 0 {
		t.Errorf("console: %q", e)
	}
}

// No card of the page is empty and no label is cut, whoever comes: with sessions from
// before the installation, with none at all, with Codex alone; on a telephone and on a
// desk, in both themes and languages.
func TestDashboardOfNewcomers(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	bin, err := buildOvertone()
	if err != nil {
		t.Fatal(err)
	}
	const claude, codex = "0ce00000-0000-4000-8000-000000000001", "0199f0aa-0000-7000-8000-000000000001"
	at := time.Now().UTC().Add(-50 * time.Hour)
	for name, home := range map[string]struct {
		file, text, session string
	}{
		"before the installation": {".claude/projects/-w-shop/" + claude + ".jsonl", earlier(claude, at), claude},
		"fresh":                   {},
		"Codex alone":             {".codex/sessions/" + at.Format("2006/01/02") + "/rollout-" + at.Format("2006-01-02T15-04-05") + "-" + codex + ".jsonl", earlierCodex(codex, at), codex},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &World{t: t, Home: t.TempDir(), Project: t.TempDir(), bin: bin}
			w.env = map[string]string{"HOME": w.Home, "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8"}
			views := map[string]string{"#/": ".welcome", "#/audit": ".page .tiles", "#/recall": "form.filters"}
			if home.file != "" {
				path := filepath.Join(w.Home, filepath.FromSlash(home.file))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(home.text), 0o600); err != nil {
					t.Fatal(err)
				}
				views["#/s/"+home.session], views["#/c/"+home.session] = "#s-stands", ".conversation .piece"
			}
			page := tab(t, b)
			do(t, page, "open", browser.Size(1440, 900, "light"), chromedp.Navigate(serveDashboard(w)), chromedp.WaitVisible(`.link.live`), chromedp.Evaluate(drawnLabels, nil))
			for _, v := range []struct {
				width       int64
				theme, lang string
			}{{1440, "light", "en"}, {390, "dark", "en"}, {1440, "dark", "zh-TW"}, {390, "light", "zh-TW"}} {
				for hash, ready := range views {
					where := fmt.Sprintf("%s at %d, %s, %s", hash, v.width, v.theme, v.lang)
					var empty, cut []string
					do(t, page, where, browser.Size(v.width, 900, v.theme), chromedp.Evaluate(`location.hash = '`+hash+`'`, nil),
						chromedp.Evaluate(`{ const s = document.querySelector('.choices select'); s.value = '`+v.lang+`'; s.dispatchEvent(new Event('change')) }`, nil),
						chromedp.Poll(`document.documentElement.lang === '`+v.lang+`' && document.querySelector('`+ready+`') !== null && document.querySelector('main [role=status]') === null`, nil),
						chromedp.Evaluate(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`, nil, awaitPromise),
						chromedp.Evaluate(`document.querySelectorAll('main details').forEach(d => { d.open = true })`, nil),
						chromedp.Poll(`document.querySelector('main [role=status]') === null`, nil),
						chromedp.Evaluate(emptyCards, &empty), chromedp.Evaluate(cutLabels, &cut))
					if len(empty) > 0 {
						t.Errorf("%s: empty cards: %q", where, empty)
					}
					if len(cut) > 0 {
						t.Errorf("%s: cut labels:\n%s", where, strings.Join(cut, "\n"))
					}
				}
			}
			if e := page.Errors(); len(e) > 0 {
				t.Errorf("console: %q", e)
			}
		})
	}
}

// earlier is a session of Claude Code that no hook has seen, with work and a compaction.
func earlier(id string, at time.Time) string {
	var lines strings.Builder
	n := 0
	line := func(kind, more string) {
		n++
		at = at.Add(40 * time.Second)
		fmt.Fprintf(&lines, `{"type":%q,"uuid":"u%d","parentUuid":"u%d","sessionId":%q,"cwd":"/w/shop","version":"2.1.325","timestamp":%q,%s}`+"\n", kind, n, n-1, id, at.Format("2006-01-02T15:04:05.000Z"), more)
	}
	step := func(used int, tool, input, result string) {
		line("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"The sum comes first.","signature":"x"},{"type":"text","text":"The totals are rounded too early."},{"type":"tool_use","id":"t%d","name":%q,"input":%s}],"usage":{"input_tokens":4,"cache_creation_input_tokens":900,"cache_read_input_tokens":%d,"output_tokens":300}}`, n, n, tool, input, used))
		line("user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}`, n-1, result))
	}
	line("user", `"message":{"role":"user","content":"Round the totals of an invoice at the end, and keep the discount rules as they are."}`)
	for i := range 12 {
		step(20_000+9_000*i, "Edit", `{"file_path":"/w/shop/billing/totals.go","old_string":"a","new_string":"b"}`, "edited")
		step(24_000+9_000*i, "Bash", `{"command":"go test ./billing -run TestTotals"}`, "ok shop/billing 0.2s")
	}
	line("system", `"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":131000,"durationMs":41000}`)
	line("user", `"isCompactSummary":true,"message":{"role":"user","content":"This session is being continued. Totals are rounded at the end."}`)
	step(38_000, "Edit", `{"file_path":"/w/shop/billing/discount.go","old_string":"a","new_string":"b"}`, "edited")
	step(41_000, "Bash", `{"command":"git commit -am totals"}`, "[main abc1234] totals\n 2 files changed")
	return lines.String()
}

// earlierCodex is one of Codex.
func earlierCodex(id string, at time.Time) string {
	var lines strings.Builder
	line := func(kind, payload string) {
		at = at.Add(40 * time.Second)
		fmt.Fprintf(&lines, `{"timestamp":%q,"type":%q,"payload":%s}`+"\n", at.Format("2006-01-02T15:04:05.000Z"), kind, payload)
	}
	line("session_meta", fmt.Sprintf(`{"id":%q,"timestamp":%q,"cwd":"/w/edge","originator":"codex_cli_rs","cli_version":"0.166.0"}`, id, at.Format(time.RFC3339)))
	line("turn_context", `{"cwd":"/w/edge","model":"gpt-5-codex"}`)
	line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"Port the limiter to the edge worker"}]}`)
	line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The retry budget is 3 there, too; I keep it."}]}`)
	line("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":61000,"cached_input_tokens":52000,"output_tokens":900,"total_tokens":61900},"last_token_usage":{"input_tokens":61000,"cached_input_tokens":52000,"output_tokens":900,"total_tokens":61900},"model_context_window":258400}}`)
	return lines.String()
}
