package compact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Packet is a continuation packet.
type Packet struct {
	ID      string
	Text    string
	Created time.Time
	Expires time.Time
	// Basis is what it was written from; "" is what was known before the
	// compaction. Wait says that it opens no turn: the next word is the user's.
	Basis Basis
	Wait  bool
}

// PacketID names the packet of a session's nth compaction. The same compaction
// always gives the same name, so a second writer cannot add a second packet.
func PacketID(session string, ordinal int) string {
	sum := sha256.Sum256([]byte(session))
	return fmt.Sprintf("ovt-%s-%d", hex.EncodeToString(sum[:4]), ordinal)
}

// PacketOpen and PacketClose mark a text as a note by a machine.
const (
	PacketOpen  = "<overtone-packet"
	PacketClose = "</overtone-packet>"
)

// dropPackets removes packets that an agent repeats.
func dropPackets(text string) string {
	for {
		i := strings.Index(text, PacketOpen)
		if i < 0 {
			return text
		}
		end := strings.Index(text[i:], PacketClose)
		if end < 0 {
			return text[:i]
		}
		text = text[:i] + "\n" + text[i+end+len(PacketClose):]
	}
}
