package dashboard

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// Another user of the machine who reads the code where the browser was started gets
// nowhere with it, and does not spend it.
func TestOpenIsForThisUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	t.Parallel()
	v := serve(t)
	addr := addrOf(v.base)
	status := func(url, network string, uid int) int {
		t.Helper()
		// A socket belongs to whom its thread is when it is made; the thread ends with
		// this goroutine.
		type answer struct {
			status int
			err    error
		}
		done := make(chan answer)
		go func() {
			runtime.LockOSThread()
			if err := syscall.Setfsuid(uid); err != nil {
				done <- answer{err: err}
				return
			}
			status, err := openAs(t.Context(), network, addr.String(), url)
			done <- answer{status, err}
		}()
		a := <-done
		if errors.Is(a.err, syscall.EAFNOSUPPORT) {
			t.Skip("this machine lacks a family of addresses")
		}
		if a.err != nil {
			t.Fatal(a.err)
		}
		return a.status
	}
	for _, network := range []string{"tcp4", "mapped"} {
		url := v.OpenURL(addr)
		if got := status(url, network, 65534); got != http.StatusForbidden {
			t.Errorf("another user is told %d over %s", got, network)
		}
		if got := status(url, network, 0); got != http.StatusSeeOther {
			t.Errorf("this user is told %d over %s", got, network)
		}
	}
}

// openAs asks for a page over a connection of the calling thread's user; "mapped" is
// one of the other family of addresses to the same place.
func openAs(ctx context.Context, network, addr, url string) (int, error) {
	var c net.Conn
	var err error
	if network == "mapped" {
		c, err = dialMapped(addr)
	} else {
		c, err = (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	if err != nil {
		return 0, err
	}
	defer c.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	if err := r.Write(c); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}

func dialMapped(addr string) (net.Conn, error) {
	to, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), addr)
	defer f.Close()
	at := &syscall.SockaddrInet6{Port: to.Port}
	copy(at.Addr[:], to.IP.To16())
	if err := syscall.Connect(fd, at); err != nil {
		return nil, err
	}
	return net.FileConn(f)
}
