// Package dashboard is the web view of what the command line shows: sessions of
// all hosts, how full their contexts were, what was decided about them and why,
// what compactions kept, where workflows stand, and a search over everything.
//
// It serves one page to one person. The page is static files in the binary; what it
// shows comes as JSON, and changes come over one stream of server-sent events, so
// nothing has to be loaded again. It only reads: no request changes a file, except
// that a search brings the index up to date, as `overtone recall` does.
//
// What is served are other people's texts and the user's own work, on a port that
// every program and every web page on the machine can reach. So:
//
//   - it listens on loopback, and says no to names other than that in Host, which
//     is what a rebound DNS name would show, and to foreign origins;
//   - all data needs a token that is made anew at each start and that the browser
//     gets in the address's fragment, which it sends to nobody; a browser that we
//     start ourselves gets a code for it, as others can read what it is started with;
//   - no header lets other origins read, and the page may run its own scripts only.
//
// The graph of a workflow is laid out here, in Go, where it can be tested.
package dashboard

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

//go:embed static pages
var static embed.FS

// Options are what the page shows, as the command line computes it.
type Options struct {
	Store   *store.Home
	Config  func() config.Config
	Now     func() time.Time
	Lang    message.Lang // until the person chooses another
	Version string
	// Tongue is the language of a hand-over, which the page's is not.
	Tongue catalog.Tongue
	// Sessions lists the hosts' sessions, the newest first.
	Sessions func(context.Context) ([]Row, error)
	// Index is what is asked for texts. It is used by one request at a time.
	Index func() *recall.Index
	// Audit looks over all past sessions; nil where there is none. What it returns
	// is sent as JSON.
	Audit func(ctx context.Context, since string, l message.Lang) (any, error)
	// Shown is a path as people are shown it.
	Shown func(path string) string
}

// Row is a session of a host.
type Row struct {
	transcript.File
	// Info is what `overtone sessions --json` says of it; Title and Project are parts of it.
	Info           any
	Title, Project string
	// Unused is a clone that nobody used since it was made: what happened in it
	// is told by its source.
	Unused bool
}

// Server is the dashboard.
type Server struct {
	Options
	token string
	hosts []string // what a request may call us
	every time.Duration

	list    lister
	packets cache[*packets]
	surveys cache[survey]
	index   sync.Mutex
}

// New makes a server. Nothing is read before the first request.
func New(o Options) *Server {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	s := &Server{Options: o, token: base64.RawURLEncoding.EncodeToString(secret[:]), every: time.Second}
	s.list.server = s
	s.packets.limit, s.surveys.limit = 64, 128
	return s
}

// Token is what every request for data has to show.
func (s *Server) Token() string { return s.token }

// URL is the page's address, with the token where only the page can read it.
func (s *Server) URL(addr net.Addr) string { return "http://" + addr.String() + "/#token=" + s.token }

// Serve answers until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		s.hosts = append(s.hosts, net.JoinHostPort(name, port))
	}
	// Streams would outlast any patience: they end with the context.
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    nil,
	}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if err := server.Shutdown(grace); err != nil {
			done <- server.Close()
			return
		}
		done <- nil
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}

func (s *Server) handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // it is in the binary
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	api := func(path string, answer func(*http.Request) (any, error)) {
		mux.Handle("GET /api/"+path, s.secret(s.json(answer)))
	}
	api("state", s.state)
	api("sessions", s.sessions)
	api("session", s.session)
	api("packet", s.packet)
	api("conversation", s.conversation)
	mux.Handle("GET /api/export", s.secret(http.HandlerFunc(s.export)))
	api("timeline", s.timeline)
	api("recall", s.recall)
	api("original", s.original)
	api("audit", s.audit)
	api("fleet", s.fleet)
	mux.Handle("GET /api/live", s.secret(http.HandlerFunc(s.live)))
	return s.guard(mux)
}

func (s *Server) lang(r *http.Request) message.Lang {
	if l, ok := message.Parse(r.URL.Query().Get("lang")); ok {
		return l
	}
	return s.Lang
}
