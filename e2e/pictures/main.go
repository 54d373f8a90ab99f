//go:build e2e

// Command pictures takes the README's pictures of the real program: commands in a
// terminal and the dashboard in a browser, both light and dark.
//
//	go run -tags e2e ./e2e/pictures docs/pictures
//	go run -tags e2e ./e2e/pictures FOLDER all
//
// The second takes every page of the dashboard, on a wide and on a narrow screen, to look
// at them.
//
// The sessions on them are made up, in a home that is thrown away: conversations in
// the hosts' own format, and a workflow that the engine itself has stepped through.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed-6d03985f/overtone/e2e/browser"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 || len(os.Args) > 3 || len(os.Args) == 3 && os.Args[2] != "all" {
		log.Fatal("usage: pictures FOLDER [all]")
	}
	if err := run(os.Args[1], len(os.Args) == 3); err != nil {
		log.Fatal(err)
	}
}

func run(out string, all bool) error {
	tmp, err := os.MkdirTemp("", "overtone-pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	bin, err := filepath.Abs("bin/overtone")
	if err != nil {
		return err
	}
	s := stage{home: filepath.Join(tmp, "home"), bin: bin, now: time.Now().UTC()}
	if err := s.set(); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	b, stop, err := browser.Start(context.Background(), filepath.Join(tmp, "profile"))
	if err != nil {
		return err
	}
	defer stop()
	link, end, err := s.dashboard()
	if err != nil {
		return err
	}
	defer end()
	var failed []error
	takes := map[string]func(*browser.Tab, string) ([]byte, error){
		"terminal":  s.terminal,
		"dashboard": func(t *browser.Tab, theme string) ([]byte, error) { return page(t, theme, link) },
	}
	if all {
		clear(takes)
		for name, view := range map[string]string{"overview": "", "session": "s/" + mainSession, "conversation": "c/" + earlierSession, "before": "s/" + earlierSession, "audit": "audit", "recall": "recall/retry%20limit"} {
			for _, width := range []int64{390, 1440} {
				takes[fmt.Sprintf("%s-%d", name, width)] = func(t *browser.Tab, theme string) (png []byte, err error) {
					err = t.Do(4*time.Minute, browser.Size(width, 1000, theme), chromedp.Navigate(link), chromedp.WaitVisible(`.list li a`),
						chromedp.Evaluate(`location.hash = '#/`+view+`'`, nil), chromedp.Sleep(3*time.Second), browser.Picture(&png, true))
					return png, err
				}
			}
		}
	}
	for _, theme := range []string{"light", "dark"} {
		for name, take := range takes {
			tab, closeTab, err := browser.Open(b)
			if err != nil {
				return err
			}
			png, err := take(tab, theme)
			if e := tab.Errors(); err == nil && len(e) > 0 {
				err = fmt.Errorf("the page complains: %q", e)
			}
			closeTab()
			if err != nil {
				failed = append(failed, fmt.Errorf("%s, %s: %w %q", name, theme, err, tab.Errors()))
				continue
			}
			file := filepath.Join(out, name+"-"+theme+".png")
			if err := os.WriteFile(file, png, 0o644); err != nil {
				return err
			}
			fmt.Println(file)
		}
	}
	return errors.Join(failed...)
}

// page is the dashboard with the session at work.
func page(t *browser.Tab, theme, link string) (png []byte, err error) {
	err = t.Do(4*time.Minute, browser.Size(1440, 1330, theme), chromedp.Navigate(link), chromedp.WaitVisible(`.list li a`),
		chromedp.Evaluate(`location.hash = '#/s/`+mainSession+`'`, nil), chromedp.WaitVisible(`.uplot canvas`), chromedp.WaitVisible(`.node.active`),
		chromedp.Sleep(1500*time.Millisecond), chromedp.Evaluate(`scrollTo(0, 0); document.activeElement.blur()`, nil), browser.Picture(&png, false))
	return png, err
}

// env is what the program sees of the world.
func (s stage) env() []string {
	return []string{"HOME=" + s.home, "PATH=" + filepath.Dir(s.bin) + ":" + os.Getenv("PATH"), "LANG=en_US.UTF-8", "TERM=xterm-256color", "PAGER=cat", "TMPDIR=" + filepath.Dir(s.home)}
}

func (s stage) dashboard() (link string, end func(), err error) {
	cmd := exec.Command(s.bin, "dashboard", "--json")
	cmd.Env = s.env()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	}
	var v struct{ URL string }
	if err := json.NewDecoder(out).Decode(&v); err != nil {
		end()
		return "", nil, err
	}
	return v.URL, end, nil
}

// terminal runs commands in a terminal and draws what it shows.
func (s stage) terminal(t *browser.Tab, theme string) (png []byte, err error) {
	var b strings.Builder
	for _, c := range terminalCommands {
		line := c.line
		cmd := exec.Command("script", "-qec", "stty cols 96 rows 60; "+line, "/dev/null")
		cmd.Env, cmd.Dir = s.env(), s.home
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", line, err, out)
		}
		text := strings.TrimRight(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n") + "\n"
		for _, mark := range []string{"\n\x1b[1m", "\n"} {
			if at := strings.Index(text, mark+c.until); c.until != "" && at >= 0 {
				text = text[:at] + "\n…\n"
				break
			}
		}
		fmt.Fprintf(&b, "<b class=p>$</b> <b>%s</b>\n%s\n", html.EscapeString(line), sgr(text))
	}
	colours := map[string]string{"light": "background:#fff;color:#1b1f2b;--p:#3b4cca;--c1:#b3261e;--c2:#14713d;--c3:#7a4d00;--c4:#1a5fa8;--c5:#7b2fa6;--c6:#0b6d75;--dim:#616980;--edge:#d5d9e6", "dark": "background:#12141d;color:#e6e9f5;--p:#98a5ff;--c1:#ff9a90;--c2:#6fd79b;--c3:#f2c265;--c4:#8cc0ff;--c5:#d4a5ff;--c6:#74d7df;--dim:#98a0b8;--edge:#2b3042"}[theme]
	doc := `<!doctype html><meta charset="utf-8"><style>
body{margin:0;background:transparent}
#t{display:inline-block;margin:0;padding:14px 22px 20px;border:1px solid var(--edge);border-radius:12px;font:14px/1.42 "DejaVu Sans Mono","Noto Sans Mono",monospace;white-space:pre-wrap;max-width:98ch;` + colours + `}
#t::before{content:"● ● ●";display:block;color:var(--edge);letter-spacing:2px;margin-bottom:8px}
.p{color:var(--p)}.b{font-weight:700}.d{color:var(--dim)}.c1,.c9{color:var(--c1)}.c2,.c10{color:var(--c2)}.c3,.c11{color:var(--c3)}.c4,.c12{color:var(--c4)}.c5,.c13{color:var(--c5)}.c6,.c14{color:var(--c6)}.c0,.c8{color:var(--dim)}</style><div id="t">` + b.String() + `</div>`
	file := filepath.Join(filepath.Dir(s.home), "terminal-"+theme+".html")
	if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
		return nil, err
	}
	err = t.Do(time.Minute, browser.Size(1280, 900, theme), chromedp.Navigate("file://"+file), browser.Element("#t", &png))
	return png, err
}

var escape = regexp.MustCompile("\x1b\\[([0-9;]*)([A-Za-z])")

// sgr turns the colours of a terminal into markup; other escapes are left out.
func sgr(text string) string {
	var b strings.Builder
	class := map[string]bool{}
	put := func(part string) {
		if part == "" {
			return
		}
		var names []string
		for n := range class {
			names = append(names, n)
		}
		if len(names) == 0 {
			b.WriteString(html.EscapeString(part))
			return
		}
		fmt.Fprintf(&b, `<span class="%s">%s</span>`, strings.Join(names, " "), html.EscapeString(part))
	}
	at := 0
	for _, m := range escape.FindAllStringSubmatchIndex(text, -1) {
		put(text[at:m[0]])
		at = m[1]
		if text[m[4]:m[5]] != "m" {
			continue
		}
		for _, code := range strings.Split(text[m[2]:m[3]], ";") {
			n := 0
			fmt.Sscan(code, &n)
			colour := func(k int) {
				for i := range 16 {
					delete(class, fmt.Sprintf("c%d", i))
				}
				if k >= 0 {
					class[fmt.Sprintf("c%d", k)] = true
				}
			}
			switch {
			case n == 0:
				clear(class)
			case n == 1:
				class["b"] = true
			case n == 2:
				class["d"] = true
			case n == 22:
				delete(class, "b")
				delete(class, "d")
			case n >= 30 && n <= 37:
				colour(n - 30)
			case n == 39:
				colour(-1)
			case n >= 90 && n <= 97:
				colour(n - 82)
			}
		}
	}
	put(text[at:])
	return b.String()
}

var errStage = errors.New("the stage cannot be set")
