//go:build !linux

package dashboard

import "net/netip"

// ownPeer is true: nothing here tells whose a connection is.
func ownPeer(_, _ netip.AddrPort) bool { return true }
