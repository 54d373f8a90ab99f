package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func (a *app) compactCmd() *cobra.Command {
	var id, path string
	cmd := a.group("compact")
	a.sessionFlag(cmd, &id)
	cmd.PersistentFlags().StringVar(&path, "transcript", "", "")
	view := func(ctx context.Context) (catalog.View, error) {
		sess, file, err := a.finder().Look(id)
		if err != nil {
			return catalog.View{}, err
		}
		cfg, problems := a.config()
		_, more := session.Settings(a.store(), cfg.Compact)
		a.noteProblems(append(problems, more...))
		return catalog.NewView(ctx, a.store(), sess, file, path, cfg, a.Now())
	}
	cmd.AddCommand(
		a.aboutSession("explain", &id, func(cmd *cobra.Command) error {
			v, err := view(cmd.Context())
			if err != nil {
				return err
			}
			return a.printDecision(v)
		}),
		a.aboutSession("check", &id, func(cmd *cobra.Command) error {
			in, err := view(cmd.Context())
			if err != nil {
				return err
			}
			if !in.Workflow && !a.JSON {
				a.Note(message.NoWorkflowHere) // nothing can be pending
			}
			return a.printSuggestion(in.Suggest)
		}),
		a.packetCmd(&id, &path),
	)
	return cmd
}

// priceLine says what the cache means for a compaction now. It never decides:
// between two boundaries it is the cheaper one's argument.
func (a *app) priceLine(m audit.Moment) string {
	if m.Last.IsZero() {
		return message.ExplainCacheUnknown.In(a.Lang)
	}
	text := message.ExplainCacheNone.In(a.Lang)
	if !m.Expires.IsZero() {
		left := m.Expires.Sub(a.Now())
		if left > 0 {
			text = message.ExplainCacheWarm.Format(a.Lang, m.Expires.Local().Format(time.TimeOnly), message.Span(left))
		} else {
			text = message.ExplainCacheCold.Format(a.Lang, message.Span(-left))
		}
	}
	if m.Repaid > 0 {
		return text + message.ExplainRepaid.Format(a.Lang, message.Decimal(m.Repaid))
	}
	return text + message.ExplainNotRepaid.In(a.Lang)
}

// packetCmd shows what a compaction hands over, beside what its summary states.
func (a *app) packetCmd(id, path *string) *cobra.Command {
	n, why := 0, false
	cmd := a.aboutSession("packet", id, func(cmd *cobra.Command) error {
		file, err := a.finder().File(cmp.Or(*path, *id))
		if err != nil {
			return err
		}
		cfg, _ := a.config() // `overtone config` tells its problems
		s, err := catalog.NewSurvey(cmd.Context(), file, n, a.tongue(cfg))
		if err != nil {
			return err
		}
		var reasons []catalog.Reason
		if why {
			if reasons, err = s.Why(cmd.Context()); err != nil {
				return err
			}
		}
		return a.printSurvey(file, s, reasons)
	})
	AddFlags(cmd, map[string]any{"compaction": &n, "why": &why})
	return cmd
}

// tongue is the language of what is handed over: the user's choice, else the session's,
// else the locale's.
func (a *app) tongue(cfg config.Config) catalog.Tongue {
	return func(session message.Lang) message.Lang {
		return message.Told(message.Lang(cfg.Language), cfg.Chosen, session, a.Getenv)
	}
}

// situationSchema is the schema of what holds a [compact.Situation].
const situationSchema = 2

func (a *app) printSurvey(file transcript.File, s catalog.Survey, reasons []catalog.Reason) error {
	if a.JSON {
		claims := slices.DeleteFunc(slices.Clone(reasons), func(r catalog.Reason) bool { return r.Evidence == nil })
		return a.PrintSchema(situationSchema, "session", file.ID, "compaction", s.N, "compactions", s.Total, "summaryCharacters", message.Units(s.Summary),
			"characters", message.Units(s.Text), "summaryStates", terminal.List(s.States), "summaryLacks", terminal.List(s.Lacks), "summaryLacksMore", s.More,
			"handedOver", terminal.List(s.Handed), "handedOverMore", s.MoreHanded, "situation", s.Situation, "text", s.Text, "why", terminal.List(claims))
	}
	switch {
	case s.N == 0:
		a.Tell(message.PacketIfNow, file.ID, s.Total)
	case s.Summary == "":
		a.Tell(message.PacketNoSummary, file.ID, s.N, s.Total)
	default:
		a.Tell(message.PacketOf, file.ID, s.N, s.Total, message.Thousands(message.Units(s.Summary)), message.Thousands(message.Units(s.Text)))
		if len(s.States)+len(s.Lacks) == 0 {
			why := message.PacketNoNames
			if s.Nothing {
				why = message.PacketNothing
			}
			a.Tell(why)
			break
		}
		rows := catalog.NameRows(a.Lang, s.States, s.Lacks, s.Handed)
		if s.More > 0 {
			rows = append(rows, []string{"", message.PacketMore.Format(a.Lang, s.More), message.PacketMoreHanded.Format(a.Lang, s.MoreHanded)})
		}
		fmt.Fprintln(a.Stdout)
		a.Table(a.Stdout, rows)
	}
	fmt.Fprintln(a.Stdout)
	if len(reasons) == 0 {
		fmt.Fprintln(a.Stdout, s.Text)
		return nil
	}
	words := message.DashboardTexts(a.Lang)
	for _, r := range reasons {
		fmt.Fprintln(a.Stdout, r.Line)
		for _, e := range r.Evidence {
			a.Item("    ↳ ", evidenceLine(words["why."+e.Kind], e, a.Lang))
		}
		if r.Evidence != nil && len(r.Evidence) == 0 {
			a.Item("    ↳ ", message.WhyNothing.In(a.Lang))
		}
	}
	return nil
}

// evidenceLine says who said it and when, where it stands, and its words.
func evidenceLine(who string, e catalog.Evidence, l message.Lang) string {
	if e.Tool != "" {
		who += " " + e.Tool
	}
	if !e.At.IsZero() {
		who += " " + e.At.Local().Format(time.DateTime)
	}
	if e.UUID != "" {
		who += " #" + e.UUID
	}
	return message.WhyLine.Format(l, who, e.Off, e.Said)
}

func (a *app) printDecision(in catalog.View) error {
	d, m := in.Decision, in.Moment
	if a.JSON {
		var packet *string
		if in.Receipt != nil {
			packet = new(in.Receipt.String())
		}
		return a.PrintSchema(situationSchema, "mode", in.Input.Settings.Mode, "tier", d.Tier, "percentRemaining", d.PercentRemaining,
			"used", in.Input.Usage.Used, "window", in.Input.Usage.Window,
			"signals", terminal.List(d.Signals), "allowed", terminal.List(d.Allowed), "met", terminal.List(d.Met),
			"verdict", d.Verdict, "cause", d.Cause, "reason", d.Reason.In(a.Lang), "next", in.Next, "lastPacket", packet, "cache", a.cacheState(m),
			"requests", len(m.Points), "compactions", len(m.Compactions), "situation", in.Situation)
	}
	a.Prose(a.Stdout, compact.Explain(in.Input, d, a.Lang))
	if in.Next != "" {
		a.Prose(a.Stdout, message.ExplainNext.Format(a.Lang, in.Next.In(a.Lang)))
	}
	a.Prose(a.Stdout, a.priceLine(m))
	if s := in.Situation; s != nil {
		a.Prose(a.Stdout, message.ExplainCompacted.Format(a.Lang, len(m.Points), len(m.Compactions)))
		a.Prose(a.Stdout, message.ExplainState.Format(a.Lang, message.Stands(string(s.State), s.Question, string(s.Sign), a.Lang)))
		if s.Request != "" {
			a.Prose(a.Stdout, message.ExplainRequest.Format(a.Lang, s.Request))
		}
	}
	if in.Receipt != nil {
		a.Say(message.LastPacket, in.Receipt.String())
		if in.Receipt.State == compact.Unknown {
			fmt.Fprintln(a.Stdout, in.Receipt.Text)
		}
	}
	if in.Workflow {
		a.Heading(message.SuggestTitle)
		return a.printSuggestion(in.Suggest)
	}
	return nil
}

// cacheState is priceLine for programs; nil where nothing is known.
func (a *app) cacheState(m audit.Moment) any {
	if m.Last.IsZero() {
		return nil
	}
	var out struct {
		Last    time.Time  `json:"lastRequest"`
		Expires *time.Time `json:"expires"`
		Warm    *bool      `json:"warm"`
		Repaid  *float64   `json:"requestsToRepay"`
	}
	out.Last = m.Last.UTC().Truncate(time.Second)
	if !m.Expires.IsZero() {
		out.Expires, out.Warm = new(m.Expires.UTC().Truncate(time.Second)), new(m.Expires.After(a.Now()))
	}
	if m.Repaid > 0 {
		out.Repaid = &m.Repaid
	}
	return out
}

// printSuggestion shows each condition of the stage suggestion with its value.
func (a *app) printSuggestion(s compact.Suggestion) error {
	if a.JSON {
		return a.PrintObject("suggest", s.Suggest, "reason", s.Reason, "transcriptSize", s.Size, "conditions", s.Conditions)
	}
	rows := [][]string{{"", message.ColCondition.In(a.Lang), message.ColValue.In(a.Lang), message.ColWant.In(a.Lang)}}
	for _, c := range s.Conditions {
		mark := "✗"
		if c.OK {
			mark = "✓"
		}
		rows = append(rows, []string{mark, message.Named("condition", c.Name).In(a.Lang), c.Value, c.Want})
	}
	a.Table(a.Stdout, rows)
	text := message.SuggestNo
	if s.Suggest {
		text = message.SuggestYes
	}
	a.Say(text)
	return nil
}
