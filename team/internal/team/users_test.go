package team

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"
)

// Nodes hear of each other's lists in any order, and some of them twice; they all
// come to the same list, and nothing that was said later is undone by what was
// said before.
func TestUsersMerge(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0).UTC() }
	lists := rapid.Custom(func(t *rapid.T) users {
		l := users{Schema: 1, KeyAt: at(rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "key"))}
		l.Recipients = []string{l.KeyAt.String()}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			n := rapid.IntRange(1, 9).Draw(t, "at")
			u := user{Machine: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "machine"), Tenant: "team", At: at(n), Key: string(rune('A' + n)), Gone: n%3 == 0}
			l = l.merge(users{Schema: 1, KeyAt: l.KeyAt, Recipients: l.Recipients, Users: []user{u}})
		}
		return l
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := lists.Draw(t, "a"), lists.Draw(t, "b"), lists.Draw(t, "c")
		want := a.merge(b).merge(c)
		for _, got := range []users{c.merge(a).merge(b), b.merge(c.merge(a)), want.merge(b), want.merge(want)} {
			if got.text() != want.text() {
				t.Fatal(cmp.Diff(want, got))
			}
		}
		for _, u := range slices.Concat(a.Users, b.Users, c.Users) {
			if u.At.Before(want.KeyAt) {
				continue // invited to a team of another key
			}
			i := slices.IndexFunc(want.Users, func(w user) bool { return w.Machine == u.Machine })
			if i < 0 || want.Users[i].At.Before(u.At) {
				t.Fatalf("%+v is not in %+v", u, want)
			}
		}
	})
}

// A machine that is invited on one node is known to the others, and one that was
// shut out is so everywhere; who holds no seed of the nodes can neither read nor
// write their list.
func TestNodesTellEachOther(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	seed, err := os.ReadFile(n.path(adminSeed))
	if err != nil {
		t.Fatal(err)
	}
	second := n
	second.Dir = fastDir(t)
	if err := os.CopyFS(second.Dir, os.DirFS(n.Dir)); err != nil {
		t.Fatal(err)
	}
	laptop := n.machine(t, "laptop")
	set := laptop.set
	set.Machine, set.Seed = adminName, strings.TrimSpace(string(seed))
	admin, err := Dial(set, Dialing{})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if err := admin.ensure(t.Context(), []jetstream.StreamConfig{wantsUsers(1)}); err != nil {
		t.Fatal(err)
	}
	exchange := func() {
		t.Helper()
		for _, node := range []Node{n, second, n} {
			if err := node.exchange(t.Context(), admin); err != nil {
				t.Fatal(err)
			}
		}
	}
	knows := func(n Node) []string {
		list, err := n.users()
		if err != nil {
			t.Fatal(err)
		}
		return list.machines(n.Tenant)
	}
	exchange()
	if _, err := second.Invite("desk"); err != nil {
		t.Fatal(err)
	}
	exchange()
	if diff := cmp.Diff([]string{"desk", "laptop"}, knows(n)); diff != "" || !slices.Equal(knows(n), knows(second)) {
		t.Errorf("(-want +got)\n%s%v", diff, knows(second))
	}

	// The machine can read what lies there, and make nothing of it or in its place.
	h := laptop.dial()
	if m, err := h.last(t.Context(), nodeStream, nodeKey); err != nil || strings.Contains(string(m.Data), "desk") || len(m.Data) == 0 {
		t.Errorf("the list lies open: %v %q", err, m.Data)
	}
	if !h.refuses(t.Context(), nodeKey, []byte("{}")) {
		t.Error("a machine may write the nodes' list")
	}
	if _, err := admin.js.Publish(t.Context(), nodeKey, []byte(`{"schema":1,"users":[]}`)); err != nil {
		t.Fatal(err)
	}
	exchange()
	if got := knows(second); len(got) != 2 {
		t.Errorf("a list of somebody else's was believed: %v", got)
	}

	if err := second.Revoke("laptop"); err != nil {
		t.Fatal(err)
	}
	if err := second.Revoke("nobody"); err == nil {
		t.Error("nobody was shut out")
	}
	exchange()
	if diff := cmp.Diff([]string{"desk"}, knows(n)); diff != "" {
		t.Errorf("after a revocation (-want +got)\n%s", diff)
	}
	until(t, func() error {
		again, err := Dial(laptop.set, Dialing{})
		if err != nil {
			return nil //nolint:nilerr // it is shut out
		}
		again.Close()
		return errors.New("a machine that was shut out comes in")
	})

	// Another key for the team: everybody is to be invited again.
	for _, name := range []string{usersFile, identityFile} {
		if err := os.Remove(second.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	fresh, err := second.Invite("desk")
	if err != nil {
		t.Fatal(err)
	}
	exchange()
	anew, err := n.Invite("laptop")
	if err != nil {
		t.Fatal(err)
	}
	if anew.Identity != fresh.Identity || anew.Identity == laptop.set.Identity || !slices.Equal(anew.Recipients, fresh.Recipients) {
		t.Error("the nodes hold different keys of the team")
	}
}
