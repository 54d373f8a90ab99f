package dashboard

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ownPeer reports whether the other end of a connection within this machine belongs
// to this user. Root's does, too: that is who carries a connection into a virtual
// machine. Where the system does not tell, it is taken as ours.
func ownPeer(local, remote netip.AddrPort) bool {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(name)
		if err != nil {
			return true
		}
		for line := range strings.Lines(string(table)) {
			f := strings.Fields(line)
			if len(f) > 7 && endpoint(f[1]) == remote && endpoint(f[2]) == local {
				return f[7] == "0" || f[7] == strconv.Itoa(os.Getuid())
			}
		}
	}
	return false
}

// endpoint reads an address as these tables write it: words of four bytes in the
// machine's order, in hexadecimal digits, and the port.
func endpoint(s string) netip.AddrPort {
	ip, port, _ := strings.Cut(s, ":")
	raw, _ := hex.DecodeString(ip)
	if len(raw)%4 != 0 {
		return netip.AddrPort{} // the table's head
	}
	for word := range slices.Chunk(raw, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	addr, _ := netip.AddrFromSlice(raw)
	n, _ := strconv.ParseUint(port, 16, 16)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n))
}
