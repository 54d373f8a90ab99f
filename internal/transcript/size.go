package transcript

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// FirstUsage is what the first request after the last compaction reported, and the
// entry before which all that it sent stands. With the last one it tells how the
// host's counting and ours compare.
func (s *Session) FirstUsage(src io.ReaderAt) (entry int32, u Usage, ok bool) {
	since := int32(-1)
	if n := len(s.Compactions); n > 0 {
		since = int32(s.Compactions[n-1].Entry)
	}
	reports := s.counts
	if chained(s.Host) {
		reports = slices.Sorted(slices.Values(s.Live()))
	}
	for _, i := range reports {
		if i <= since || chained(s.Host) && s.Entries[i].Kind != Assistant {
			continue
		}
		raw, err := s.Raw(src, int(i))
		if err != nil {
			return 0, u, false
		}
		var r record
		if !r.parse(raw, s.Host) {
			continue
		}
		if u, ok = r.size(); !ok {
			continue
		}
		if chained(s.Host) {
			u.Output = 0 // the answer stands in this entry and behind it
		}
		return i, u, true
	}
	return 0, u, false
}

// rewinds is how many turns a user may go back in a clone and still find its own size.
const rewinds = 20

// sizesBeyond lists the entries by which the host goes when it resumes: those of the
// newest message that stays and tells how large its request was, and, as a user may go
// back to an earlier prompt, those of the last one of earlier turns where it tells of
// more than the clone has. A message's parts are lines of their own, which all tell it.
func (s *Session) sizesBeyond(src io.ReaderAt, tokens int64, removed []int32) (sizes []int32, err error) {
	turns, tells, found := 0, false, int32(-1) // found is of the last message of this turn that tells its size
	for _, i := range slices.Backward(s.Live()) {
		e := &s.Entries[i]
		if e.Has(TurnStart) {
			if turns, found = turns+1, -1; turns > rewinds {
				break
			}
		}
		if _, gone := slices.BinarySearch(removed, i); gone || e.Kind != Assistant || e.Has(Synthetic) || e.Has(APIError) {
			continue
		}
		if found >= 0 && (e.msg == 0 || e.msg != s.Entries[found].msg) {
			continue
		}
		raw, err := s.Raw(src, int(i))
		if err != nil {
			return nil, err
		}
		usage := field(field(raw, "message"), "usage")
		if !someTokens(usage) {
			continue
		}
		if found < 0 {
			u, _ := claudeUsage(usage)
			tells = len(sizes) == 0 || u.Tokens() > tokens
		}
		if found = i; tells {
			sizes = append(sizes, i)
		}
	}
	slices.Sort(sizes)
	return sizes, nil
}

// setSize makes a message say that its request had that many tokens. A program that adds
// up costs may count both this message and its source. So all of the tokens are put down
// as read from the cache, which costs the least.
func setSize(entry []byte, tokens int64) []byte {
	usage := fmt.Appendf(nil, `{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":0}`, tokens)
	return store.SetJSON(entry, "message.usage", json.RawMessage(usage))
}
