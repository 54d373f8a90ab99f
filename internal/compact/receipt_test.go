package compact

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// An environment for receipts: what really happened to the compaction and what
// the host really has, against which the receipt's promises are checked.
func Test004_InjectedExactlyOncePerCompaction(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := NewReceipt(Packet{ID: "p", Text: "text", Created: noon, Expires: noon.Add(time.Hour)})
		now := noon
		handed, missing := 0, 0
		proven, failed := false, false
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "minutes")) * time.Minute)
			compaction := rapid.SampledFrom([]string{"", "c1", "c1", "c1", "other"}).Draw(t, "compaction")
			ours := func() bool { return !r.foreign(compaction) }
			var e ReceiptEvent
			was := r
			switch rapid.IntRange(0, 8).Draw(t, "event") {
			case 0:
				e = Started{compaction}
			case 1:
				proven = proven || ours()
				e = Finished{compaction}
			case 2:
				failed = failed || ours() && !r.State.Final()
				e = Failed{compaction, "failed"}
			case 3:
				o := Opening{rapid.SampledFrom([]Channel{ViaSessionStart, ViaPrompt, ViaQueue}).Draw(t, "via"), rapid.Bool().Draw(t, "running")}
				proven = proven || o.Via == ViaSessionStart
				e = o
			case 4:
				e = Arrived{rapid.SampledFrom([]string{"p", "p", "q"}).Draw(t, "id")}
			case 5:
				m := Missing{rapid.SampledFrom([]string{"p", "q"}).Draw(t, "id")}
				if m.ID == "p" && r.State.out() {
					missing++
				}
				e = m
			case 6:
				e = Missing{"somebody else's"} // time passes
			case 7:
				e = Printed{}
			case 8:
				e = Doubted{}
			}
			// A crash between any two events: only what is stored goes on.
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var stored Receipt
			if err := json.Unmarshal(data, &stored); err != nil {
				t.Fatal(err)
			}
			next, hand := stored.Step(e, now)
			if plain, h := r.Step(e, now); fmt.Sprint(plain) != fmt.Sprint(next) || h != hand {
				t.Fatalf("stored in between: %v, else %v", next, plain)
			}
			r = next
			if hand {
				handed++
				switch {
				case !proven:
					t.Fatalf("handed out before the compaction was known to have worked: %v", was)
				case failed:
					t.Fatalf("handed out after a failure: %v", was)
				case !now.Before(r.Expires):
					t.Fatalf("handed out after its time")
				case !r.State.out() || r.Text == "":
					t.Fatalf("handed out as %v", r)
				}
				if o := e.(Opening); o.Via == ViaQueue && o.Running {
					t.Fatalf("a user's message into a running turn")
				}
			}
			if handed > missing+1 {
				t.Fatalf("handed out %d times, %d times known to be missing", handed, missing)
			}
			if was.State.Final() && fmt.Sprint(was) != fmt.Sprint(r) {
				t.Fatalf("%v became %v", was, r)
			}
		}
	})
}

func TestReceiptPaths(t *testing.T) {
	t.Parallel()
	type step struct {
		e    ReceiptEvent
		hand bool
	}
	for name, row := range map[string]struct {
		steps []step
		want  ReceiptState
	}{
		"Claude Code":                         {[]step{{Started{}, false}, {Opening{Via: ViaSessionStart, Running: true}, true}, {Arrived{"p"}, false}, {Finished{}, false}, {Opening{Via: ViaPrompt}, false}}, Delivered},
		"Claude Code without a session start": {[]step{{Started{}, false}, {Finished{}, false}, {Opening{Via: ViaPrompt}, true}, {Arrived{"p"}, false}, {Opening{Via: ViaPrompt}, false}}, Delivered},
		"prompt before the compaction":        {[]step{{Started{}, false}, {Opening{Via: ViaPrompt}, false}}, Compacting},
		"nothing heard of it":                 {[]step{{Started{}, false}, {Failed{"", "no confirmation"}, false}, {Opening{Via: ViaSessionStart}, false}}, Dropped},
		"Codex":                               {[]step{{Started{"t1"}, false}, {Finished{"t1"}, false}, {Opening{Via: ViaQueue}, true}, {Arrived{"p"}, false}}, Delivered},
		"Codex, both orders":                  {[]step{{Finished{"t1"}, false}, {Started{"t1"}, false}, {Opening{Via: ViaQueue}, true}}, Delivering},
		"Codex, interrupted":                  {[]step{{Started{"t1"}, false}, {Failed{"t1", "interrupted"}, false}, {Finished{"t1"}, false}, {Opening{Via: ViaQueue}, false}}, Dropped},
		"Codex, another compaction failed":    {[]step{{Started{"t1"}, false}, {Failed{"t0", "failed"}, false}, {Finished{"t1"}, false}, {Opening{Via: ViaQueue}, true}}, Delivering},
		"Codex, turn running":                 {[]step{{Finished{}, false}, {Opening{Via: ViaQueue, Running: true}, false}, {Opening{Via: ViaQueue}, true}}, Delivering},
		"killed after handing out, arrived":   {[]step{{Finished{}, false}, {Opening{Via: ViaQueue}, true}, {Opening{Via: ViaQueue}, false}, {Arrived{"p"}, false}}, Delivered},
		"killed before handing out":           {[]step{{Finished{}, false}, {Opening{Via: ViaQueue}, true}, {Missing{"p"}, false}, {Opening{Via: ViaQueue}, true}, {Arrived{"p"}, false}}, Delivered},
		"failed after handing out, missing":   {[]step{{Finished{}, false}, {Opening{Via: ViaQueue}, true}, {Failed{"", "failed"}, false}, {Missing{"p"}, false}, {Opening{Via: ViaQueue}, false}}, Dropped},
		"failed after handing out, arrived":   {[]step{{Finished{}, false}, {Opening{Via: ViaQueue}, true}, {Failed{"", "failed"}, false}, {Arrived{"p"}, false}}, Delivered},
	} {
		r := NewReceipt(Packet{ID: "p", Text: "x", Created: noon, Expires: noon.Add(time.Hour)})
		for i, s := range row.steps {
			var hand bool
			if r, hand = r.Step(s.e, noon); hand != s.hand {
				t.Errorf("%s, step %d: handed out %v", name, i, hand)
			}
		}
		if r.State != row.want {
			t.Errorf("%s: %v, want %s", name, r, row.want)
		}
	}
	r := NewReceipt(Packet{ID: "p", Text: "x", Created: noon, Expires: noon.Add(time.Hour)})
	r, _ = r.Step(Finished{}, noon)
	if r, hand := r.Step(Opening{Via: ViaPrompt}, noon.Add(time.Hour)); hand || r.State != Expired || r.Text != "" {
		t.Errorf("after its time: %v", r)
	}
}
