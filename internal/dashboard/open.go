package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// invitation lets one browser in without the token. The address that a program is
// started with is read by every user of the machine, so the code in it is good for
// one request, for a minute, and where the system tells whose a connection is, for
// this user only.
type invitation struct {
	mu    sync.Mutex
	code  string // "" when there is none, or it was used
	until time.Time
}

const openFor = time.Minute

// OpenURL is an address to start a browser with: it leads to the page once.
func (s *Server) OpenURL(addr net.Addr) string {
	s.invited.mu.Lock()
	defer s.invited.mu.Unlock()
	s.invited.code, s.invited.until = rand.Text(), s.Now().Add(openFor)
	return "http://" + addr.String() + "/open?code=" + s.invited.code
}

// open hands the token to whoever was invited.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	if s.admits(r) {
		http.Redirect(w, r, "/#token="+s.token, http.StatusSeeOther)
		return
	}
	l := s.lang(r)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, `<!doctype html><html lang="%s"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">`+
		`<title>Overtone</title><link rel="stylesheet" href="style.css"><main class="lonely"><h1>Overtone</h1><p>%s</p></main></html>`,
		l, message.DashboardSpent.In(l))
}

func (s *Server) admits(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	// A HEAD is a program that looks what there is before the browser comes.
	if r.Method != http.MethodGet || local == nil || err != nil || !ownPeer(local.AddrPort(), remote) {
		return false
	}
	s.invited.mu.Lock()
	defer s.invited.mu.Unlock()
	good := s.invited.code != "" && subtle.ConstantTimeCompare([]byte(r.FormValue("code")), []byte(s.invited.code)) == 1
	if good {
		s.invited.code = ""
	}
	return good && s.Now().Before(s.invited.until)
}
