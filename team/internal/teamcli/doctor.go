package teamcli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/team/internal/team"
)

// finding is one line of doctor.
type finding struct {
	OK   bool   `json:"ok"`
	Name string `json:"name"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// maxSkew is by how much clocks may differ: half of what leases allow for.
const maxSkew = 30 * time.Second

func (p *program) doctor() *cobra.Command {
	return p.Command("doctor", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		s, err := team.Load(p.Home().Root())
		if err != nil {
			return err
		}
		list, err := p.examine(cmd.Context(), s)
		if err != nil {
			return err
		}
		bad := 0
		for _, f := range list {
			if !f.OK {
				bad++
			}
		}
		if p.JSON {
			if err := p.PrintObject("ok", bad == 0, "checks", list); err != nil {
				return err
			}
		} else {
			for _, f := range list {
				mark := "✓"
				if !f.OK {
					mark = "✗"
				}
				fmt.Fprintln(p.Stdout, mark+" "+f.Text)
				if f.Hint != "" {
					fmt.Fprintln(p.Stdout, "  "+p.In(message.HintLabel)+f.Hint)
				}
			}
		}
		if bad > 0 {
			return message.WithHint(message.Fail(message.TeamDoctorFailed, bad), message.HintTeamDoctorFailed)
		}
		return nil
	})
}

// examine asks the hub. One that cannot be reached is a finding like the others.
func (p *program) examine(ctx context.Context, s team.Settings) ([]finding, error) {
	away := func(err error) []finding {
		return []finding{{Name: "reachable", Text: err.Error(), Hint: message.HintOf(err, p.Lang)}}
	}
	h, err := team.Dial(s, team.Dialing{})
	if err != nil {
		return away(err), nil
	}
	defer h.Close()
	v, err := h.Doctor(ctx, p.Home().Root(), p.Now)
	if err != nil {
		return away(h.Why(ctx, err)), ctx.Err()
	}
	if v.Waiting, err = (&team.Shipper{Home: p.Home()}).Waiting(); err != nil {
		return nil, err
	}
	return p.findings(v), nil
}

func (p *program) findings(v team.Health) (list []finding) {
	add := func(ok bool, name string, says message.Reason, hint message.Text) {
		f := finding{OK: ok, Name: name, Text: says.In(p.Lang)}
		if !ok {
			f.Hint = p.In(hint)
		}
		list = append(list, f)
	}
	// either says one of two things, trouble something or nothing.
	either := func(ok bool, name string, good, bad message.Reason, hint message.Text) {
		if !ok {
			good = bad
		}
		add(ok, name, good, hint)
	}
	trouble := func(there bool, name string, says message.Reason, hint message.Text) {
		if there {
			add(false, name, says, hint)
		}
	}
	add(true, "reachable", message.Because(message.TeamCheckReach, v.Server, v.RTT.Round(10*time.Microsecond)), message.Text{})
	either(v.Skew <= maxSkew, "clock", message.Because(message.TeamCheckSkew, v.Skew.Round(time.Millisecond)), message.Because(message.TeamCheckSkewBad, v.Skew.Round(time.Second)), message.HintTeamClock)
	add(true, "stream", message.Because(message.TeamCheckStream, v.Stream.Messages, message.Bytes(int64(v.Stream.Bytes)), v.Stream.Replicas, message.Span(v.Stream.Keep)), message.Text{})
	trouble(v.Full != "", "full", message.Because(message.TeamHubFull, v.Full), message.HintTeamHubFull)
	trouble(!v.Stream.OnDisk, "disk", message.Because(message.TeamCheckMemory), message.HintTeamStreams)
	trouble(!v.LeaseOK, "leases", message.Because(message.TeamCheckTTL), message.HintTeamOld)
	trouble(v.Rollup, "rollup", message.Because(message.TeamCheckRollup), message.HintTeamRollup)
	either(p.Home().Leased(team.ShipLease), "shipper", message.Because(message.TeamCheckShipper), message.Because(message.TeamCheckNoShip), message.HintTeamShip)
	add(v.Waiting < 1000, "lag", message.Because(message.TeamCheckLag, v.Waiting), message.HintTeamShip)
	either(v.Missing == 0, "events", message.Because(message.TeamCheckWhole, v.Events, v.Repeated), message.Because(message.TeamCheckLost, v.Events, v.Missing, v.Repeated), message.HintTeamMissing)
	trouble(v.Foreign > 0, "foreign", message.Because(message.TeamCheckForeign, v.Foreign), message.HintTeamOpen)
	trouble(v.Twin, "twin", message.Because(message.TeamCheckTwin), message.HintTeamTwin)
	either(v.OwnNameOnly, "permissions", message.Because(message.TeamCheckOwn), message.Because(message.TeamCheckOpen), message.HintTeamOpen)
	either(v.CanRead, "key", message.Because(message.TeamCheckKey), message.Because(message.TeamCheckNoKey), message.HintTeamNone)
	return list
}
