package dashboard

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// The code that a browser is started with gives the token once, soon, and to nobody
// who does not have it.
func TestOpen(t *testing.T) {
	t.Parallel()
	v := serve(t)
	now := time.Now()
	v.Now = func() time.Time { return now }
	addr := addrOf(v.base)
	ask := func(method, url string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	refused := func(what, url string) {
		t.Helper()
		res := ask(http.MethodGet, url)
		body := new(strings.Builder)
		if err := res.Write(body); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusForbidden || !strings.Contains(body.String(), message.DashboardSpent.EN) || strings.Contains(body.String(), v.Token()) {
			t.Errorf("%s: %s", what, body)
		}
	}
	admitted := func(what, url string) {
		t.Helper()
		res := ask(http.MethodGet, url)
		if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/#token="+v.Token() || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s %v", what, res.Status, res.Header)
		}
	}
	refused("nobody was invited", v.base+"/open?code=")
	refused("nobody was invited", v.base+"/open")

	url := v.OpenURL(addr)
	if strings.Contains(url, v.Token()) {
		t.Errorf("%s holds the token", url)
	}
	refused("another code", url[:len(url)-1]+"!")
	refused("no code", v.base+"/open")
	if res := ask(http.MethodHead, url); res.Header.Get("Location") != "" {
		t.Error("a HEAD is told the token")
	}
	now = now.Add(openFor - time.Second)
	admitted("the right code", url)
	refused("a used code", url)

	url = v.OpenURL(addr)
	now = now.Add(openFor)
	refused("a late code", url)
	old := v.OpenURL(addr)
	url = v.OpenURL(addr)
	refused("an older code", old)
	admitted("the newest code", url)

	if _, body, _ := v.ask("/open?lang=zh-TW", nil); !strings.Contains(string(body), message.DashboardSpent.ZH) {
		t.Errorf("not in the reader's language: %s", body)
	}
}

// addrOf is a base address as a listener tells it.
type addrOf string

func (a addrOf) Network() string { return "tcp" }
func (a addrOf) String() string  { return strings.TrimPrefix(string(a), "http://") }
