package team

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// user is a machine that may connect, or one that may no longer.
type user struct {
	Machine string    `json:"machine"`
	Tenant  string    `json:"tenant"`
	Key     string    `json:"key,omitempty"` // public
	At      time.Time `json:"at,omitzero"`
	Gone    bool      `json:"gone,omitempty"`
}

// users is a node's list: public keys, and the team's recipients. Nodes that exchange
// their lists end up with the same one, whoever looks first: see [users.merge].
type users struct {
	Schema     int       `json:"schema"`
	Users      []user    `json:"users"`
	Recipients []string  `json:"recipients"`
	KeyAt      time.Time `json:"keyAt,omitzero"` // when the recipients were chosen
}

const usersFile = "users.json"

// say enters what is said of a machine now: later than all that was said before,
// whatever the clock shows.
func (l *users) say(u user, now time.Time) {
	u.At = now.UTC()
	if u.At.Before(l.KeyAt) {
		u.At = l.KeyAt
	}
	for _, old := range l.Users {
		if old.Machine == u.Machine && old.Tenant == u.Tenant && !u.At.After(old.At) {
			u.At = old.At.Add(1)
		}
	}
	l.put(u)
}

// put enters a machine in the place of its former self.
func (l *users) put(u user) {
	l.Users = slices.DeleteFunc(l.Users, func(old user) bool { return old.Machine == u.Machine && old.Tenant == u.Tenant })
	l.Users = append(l.Users, u)
	slices.SortFunc(l.Users, func(a, b user) int {
		return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Machine, b.Machine))
	})
}

// machines are those of a tenant that may connect.
func (l users) machines(tenant string) (names []string) {
	for _, u := range l.Users {
		if u.Tenant == tenant && !u.Gone {
			names = append(names, u.Machine)
		}
	}
	return names
}

// merge makes one list of two: of each machine what was said of it last. Whoever
// was invited before the team got another key holds the old one, and is out.
func (l users) merge(other users) users {
	out := users{Schema: 1, Recipients: l.Recipients, KeyAt: l.KeyAt}
	if other.KeyAt.After(l.KeyAt) {
		out.Recipients, out.KeyAt = other.Recipients, other.KeyAt
	}
	newest := map[[2]string]user{}
	for _, u := range slices.Concat(l.Users, other.Users) {
		old, ok := newest[[2]string{u.Tenant, u.Machine}]
		if !u.At.Before(out.KeyAt) && (!ok || u.At.After(old.At) || u.At.Equal(old.At) && u.Key > old.Key) {
			newest[[2]string{u.Tenant, u.Machine}] = u
		}
	}
	for _, u := range newest {
		out.put(u)
	}
	return out
}

func (l users) check() error {
	if l.Schema > 1 {
		return fmt.Errorf("written by a newer version (schema %d)", l.Schema)
	}
	for _, u := range l.Users {
		if !ValidMachine(u.Machine) || !ValidMachine(u.Tenant) || !u.Gone && !nkeys.IsValidPublicUserKey(u.Key) {
			return fmt.Errorf("user %q is not valid", u.Machine)
		}
	}
	return nil
}

func (n Node) users() (users, error) {
	var list users
	data, err := os.ReadFile(n.path(usersFile))
	if err != nil {
		return list, err
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return list, fmt.Errorf("read %s: %w", n.path(usersFile), err)
	}
	if err := list.check(); err != nil {
		return list, fmt.Errorf("read %s: %w", n.path(usersFile), err)
	}
	return list, nil
}

// updateUsers changes the list under its lock: `invite` is one process, the node
// that hears of other nodes' machines another. Where there is none, it makes one,
// with a key for the team.
func (n Node) updateUsers(change func(*users) error) (users, error) {
	unlock, err := store.LockFolder(n.Dir)
	if err != nil {
		return users{}, err
	}
	defer unlock()
	list, err := n.users()
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return list, err
	}
	if missing {
		identity, recipient, err := NewIdentity()
		if err != nil {
			return list, err
		}
		if err := store.AtomicWrite(n.path(identityFile), []byte(identity+"\n"), 0o600); err != nil {
			return list, err
		}
		list = users{Recipients: []string{recipient}, KeyAt: n.Now().UTC()}
	}
	before := list.text()
	if err := change(&list); err != nil {
		return list, err
	}
	if !missing && before == list.text() {
		return list, nil
	}
	list.Schema = 1
	return list, store.AtomicWrite(n.path(usersFile), store.JSONFile(list), 0o600)
}

// The nodes of a cluster tell each other who may connect through the hub itself:
// one key of a bucket holds the list, encrypted with what only nodes have, the
// admin's seed. Machines may read the ciphertext, and nobody else can make one.
const (
	nodeBucket = "ovt_nodes"
	nodeStream = "KV_" + nodeBucket
	nodeKey    = "$KV." + nodeBucket + ".users"
)

func wantsUsers(replicas int) jetstream.StreamConfig {
	return onDisk(jetstream.StreamConfig{
		Name: nodeStream, Description: "who may connect, for the nodes", Subjects: []string{"$KV." + nodeBucket + ".>"}, DenyDelete: true, MaxMsgsPerSubject: 1,
	}, replicas)
}

type told struct {
	users
	Identity string `json:"identity"`
}

// exchange takes over what other nodes know of machines, and tells them what they
// do not know.
func (n Node) exchange(ctx context.Context, admin *Hub) error {
	seed, err := n.secret(adminSeed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	m, err := admin.last(ctx, nodeStream, nodeKey)
	if err != nil {
		return err
	}
	var hub told
	if m.Seq > 0 {
		// What cannot be read is by nobody who may say anything, and is replaced.
		if plain, err := openForNodes(seed, m.Data); err == nil && json.Unmarshal(plain, &hub) != nil || hub.check() != nil {
			hub = told{}
		}
	}
	list, err := n.updateUsers(func(l *users) error {
		if hub.KeyAt.After(l.KeyAt) && hub.Identity != "" {
			if err := store.AtomicWrite(n.path(identityFile), []byte(hub.Identity+"\n"), 0o600); err != nil {
				return err
			}
		}
		*l = l.merge(hub.users)
		return nil
	})
	if err != nil || list.text() == hub.users.text() {
		return err
	}
	identity, err := n.secret(identityFile)
	if err != nil {
		return err
	}
	sealed, err := sealForNodes(seed, store.EncodeJSON(told{list, identity}))
	if err != nil {
		return err
	}
	// Of two nodes that write at once one fails, and merges the next time.
	_, err = admin.follow(ctx, nodeStream, &nats.Msg{Subject: nodeKey, Data: sealed}, m.Seq)
	return err
}

// text is a list by which it can be compared with others.
func (l users) text() string {
	return string(store.EncodeJSON(users{1, append([]user{}, l.Users...), append([]string{}, l.Recipients...), l.KeyAt}))
}

// nodeWork is scrypt's factor: the seed is random already, and needs no stretching.
const nodeWork = 4

func sealForNodes(seed string, data []byte) ([]byte, error) {
	r, err := age.NewScryptRecipient(seed)
	if err != nil {
		return nil, err
	}
	r.SetWorkFactor(nodeWork)
	return sealed(data, func(w io.Writer) (io.WriteCloser, error) { return age.Encrypt(w, r) })
}

func openForNodes(seed string, sealed []byte) ([]byte, error) {
	id, err := age.NewScryptIdentity(seed)
	if err != nil {
		return nil, err
	}
	id.SetMaxWorkFactor(nodeWork)
	r, err := age.Decrypt(bytes.NewReader(sealed), id)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, 8<<20))
}
