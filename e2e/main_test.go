//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
)

func TestMain(m *testing.M) {
	// A background job of a shell ignores these, and what it starts would, too: an agent that
	// is interrupted would never end.
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		to := stopped
		if signal.Ignored(s) {
			to = make(chan os.Signal, 1)
		}
		signal.Notify(to, s)
	}
	go func() { // a run that somebody stops leaves nothing behind, either
		<-stopped
		for _, p := range left(agentFolders()...) {
			syscall.Kill(p.id, syscall.SIGKILL)
		}
		os.Exit(1)
	}()
	for _, h := range host.All() {
		if asked(h.Name) != "" {
			tellVersion(h)
		}
	}
	code := m.Run()
	// Of the whole suite; some of it says nothing about versions.
	if list := notRun(); code == 0 && flag.Lookup("test.run").Value.String() == "" && len(list) > 0 {
		fmt.Println("doctor calls verified what no test has run:", list)
		code = 1
	}
	if list := still(agentFolders()...); len(list) > 0 {
		fmt.Println("processes outlive their tests:", list)
		code = 1
	}
	if dir, err := binDir(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// tellVersion says what the version under test is to those that were verified;
// `make e2e-latest` shows it.
func tellVersion(h *host.Host) {
	list, err := underTest(h.Name)
	if err != nil {
		fmt.Printf("host %s: %v\n", h.Name, err)
		return
	}
	verdict := "not in the list of verified versions"
	if slices.ContainsFunc(h.Verified, func(v host.Version) bool { return v.String() == string(list[0]) }) {
		verdict = "in the list of verified versions"
	}
	fmt.Printf("host %s: %s, %s %v\n", h.Name, list[0], verdict, h.Verified)
}
