package teamcli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/team"
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
	return &cobra.Command{
		Use: "doctor", Short: p.In(message.HelpTeamDoctor), Args: p.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
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
						fmt.Fprintln(p.Stdout, "  hint: "+f.Hint)
					}
				}
			}
			if bad > 0 {
				return message.WithHint(message.Fail(message.TeamDoctorFailed, bad), message.HintTeamDoctorFailed)
			}
			return nil
		},
	}
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
	add := func(name string, ok bool, hint message.Text, t message.Text, args ...any) {
		f := finding{OK: ok, Name: name, Text: t.Format(p.Lang, args...)}
		if !ok {
			f.Hint = p.In(hint)
		}
		list = append(list, f)
	}
	add("reachable", true, message.Text{}, message.TeamCheckReach, v.Server, v.RTT.Round(10*time.Microsecond))
	if v.Skew > maxSkew {
		add("clock", false, message.HintTeamClock, message.TeamCheckSkewBad, v.Skew.Round(time.Second))
	} else {
		add("clock", true, message.Text{}, message.TeamCheckSkew, v.Skew.Round(time.Millisecond))
	}
	add("stream", true, message.Text{}, message.TeamCheckStream, v.Stream.Messages, message.Bytes(int64(v.Stream.Bytes)), v.Stream.Replicas, message.Span(v.Stream.Keep))
	if v.Full != "" {
		add("full", false, message.HintTeamHubFull, message.TeamHubFull, v.Full)
	}
	if !v.Stream.OnDisk {
		add("disk", false, message.HintTeamStreams, message.TeamCheckMemory)
	}
	if !v.LeaseOK {
		add("leases", false, message.HintTeamOld, message.TeamCheckTTL)
	}
	if v.Rollup {
		add("rollup", false, message.HintTeamRollup, message.TeamCheckRollup)
	}
	if p.Home().Leased(team.ShipLease) {
		add("shipper", true, message.Text{}, message.TeamCheckShipper)
	} else {
		add("shipper", false, message.HintTeamShip, message.TeamCheckNoShip)
	}
	add("lag", v.Waiting < 1000, message.HintTeamShip, message.TeamCheckLag, v.Waiting)
	if v.Missing > 0 {
		add("events", false, message.HintTeamMissing, message.TeamCheckLost, v.Events, v.Missing, v.Repeated)
	} else {
		add("events", true, message.Text{}, message.TeamCheckWhole, v.Events, v.Repeated)
	}
	if v.Foreign > 0 {
		add("foreign", false, message.HintTeamOpen, message.TeamCheckForeign, v.Foreign)
	}
	if v.Twin {
		add("twin", false, message.HintTeamTwin, message.TeamCheckTwin)
	}
	if v.OwnNameOnly {
		add("permissions", true, message.Text{}, message.TeamCheckOwn)
	} else {
		add("permissions", false, message.HintTeamOpen, message.TeamCheckOpen)
	}
	if v.CanRead {
		add("key", true, message.Text{}, message.TeamCheckKey)
	} else {
		add("key", false, message.HintTeamNone, message.TeamCheckNoKey)
	}
	return list
}
