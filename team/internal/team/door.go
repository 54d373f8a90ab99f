package team

import (
	"encoding/base64"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// door lets machines in by the keys of a configuration. The server itself learns of
// other keys only by a reload, which in 2.15.2 reads what a client says of itself while
// that is being written.
type door struct {
	srv  *server.Server
	mu   sync.Mutex
	keys map[string]*server.User
}

// Check is the server's question for a client that wants in. A machine shows that it has
// its key by signing what the server said first.
func (d *door) Check(c server.ClientAuthentication) bool {
	said := c.GetOpts()
	key, err := nkeys.FromPublicKey(said.Nkey)
	if err != nil {
		return false
	}
	signed, err := base64.RawURLEncoding.DecodeString(said.Sig)
	if err != nil || key.Verify(c.GetNonce(), signed) != nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	user := d.keys[said.Nkey]
	if user != nil {
		c.RegisterUser(user)
	}
	return user != nil
}

// open lets in whose key a configuration has, and shuts out who came with another one.
func (d *door) open(conf *server.Options) error {
	keys := map[string]*server.User{}
	for _, u := range conf.Nkeys {
		account, isNew := d.srv.LookupOrRegisterAccount(u.Account.Name)
		if isNew {
			if err := account.EnableJetStream(nil, nil); err != nil {
				return err
			}
		}
		keys[u.Nkey] = &server.User{Account: account, Permissions: u.Permissions}
	}
	d.mu.Lock()
	d.keys = keys
	d.mu.Unlock()
	// Whoever was let in a moment ago has said its key, and is among these.
	in, err := d.srv.Connz(&server.ConnzOptions{Username: true, Limit: 1 << 20})
	if err != nil {
		return err
	}
	for _, c := range in.Conns {
		if c.AuthorizedUser != "" && keys[c.AuthorizedUser] == nil {
			_ = d.srv.DisconnectClientByID(c.Cid) // gone by itself
		}
	}
	return nil
}
