package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
)

func (a *app) compactCmd() *cobra.Command {
	var id, path string
	cmd := &cobra.Command{Use: "compact", Short: message.HelpCompact.In(a.lang), Args: usageArgs(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	a.sessionFlag(cmd, &id)
	cmd.PersistentFlags().StringVar(&path, "transcript", "", message.HelpTranscript.In(a.lang))
	insight := func() (session.Insight, error) {
		sess, err := a.session(id, true)
		if err != nil {
			return session.Insight{}, err
		}
		cfg, _ := a.env.config() // `overtone config` tells its problems
		return session.Explain(a.env.store(), sess, cfg.Compact, a.env.Now(), path)
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "explain", Short: message.HelpCompactExplain.In(a.lang), Args: usageArgs(cobra.NoArgs),
			Example: "  overtone compact explain --session ID\n  overtone compact explain --session ID --json",
			RunE: func(*cobra.Command, []string) error {
				in, err := insight()
				if err != nil {
					return err
				}
				return a.printDecision(in)
			},
		},
		&cobra.Command{
			Use: "check", Short: message.HelpCompactCheck.In(a.lang), Args: usageArgs(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error {
				in, err := insight()
				if err != nil {
					return err
				}
				if !in.Workflow {
					return message.WithHint(message.Fail(message.NoWorkflowHere), message.HintStart)
				}
				return a.printSuggestion(in.Suggest)
			},
		},
	)
	return cmd
}

func (a *app) printDecision(in session.Insight) error {
	d := in.Decision
	if a.json {
		out := struct {
			Schema           int                `json:"schema"`
			Mode             compact.Mode       `json:"mode"`
			Tier             compact.Tier       `json:"tier"`
			PercentRemaining int                `json:"percentRemaining"`
			Used             int64              `json:"used"`
			Window           int64              `json:"window"`
			Signals          []compact.Boundary `json:"signals"`
			Allowed          []compact.Boundary `json:"allowed"`
			Met              []compact.Boundary `json:"met"`
			Verdict          compact.Verdict    `json:"verdict"`
			Cause            compact.Cause      `json:"cause"`
			Reason           string             `json:"reason"`
			Packet           *string            `json:"lastPacket"`
		}{
			1, in.Input.Settings.Mode, d.Tier, d.PercentRemaining, in.Input.Usage.Used, in.Input.Usage.Window,
			list(d.Signals), list(d.Allowed), list(d.Met), d.Verdict, d.Cause, d.Reason.In(a.lang), nil,
		}
		if in.Receipt != nil {
			text := in.Receipt.String()
			out.Packet = &text
		}
		return a.printJSON(out)
	}
	fmt.Fprintln(a.env.Stdout, compact.Explain(in.Input, d, a.lang))
	if in.Receipt != nil {
		a.say(message.LastPacket, in.Receipt.String())
		if in.Receipt.State == compact.Unknown {
			fmt.Fprintln(a.env.Stdout, in.Receipt.Text)
		}
	}
	if in.Workflow {
		fmt.Fprintln(a.env.Stdout)
		return a.printSuggestion(in.Suggest)
	}
	return nil
}

// printSuggestion shows each condition of the stage suggestion with its value.
func (a *app) printSuggestion(s compact.Suggestion) error {
	if a.json {
		return a.printJSON(struct {
			Schema     int                 `json:"schema"`
			Suggest    bool                `json:"suggest"`
			Reason     string              `json:"reason"`
			Size       int64               `json:"transcriptSize"`
			Conditions []compact.Condition `json:"conditions"`
		}{1, s.Suggest, s.Reason, s.Size, s.Conditions})
	}
	rows := [][]string{{"", message.ColCondition.In(a.lang), message.ColValue.In(a.lang), message.ColWant.In(a.lang)}}
	for _, c := range s.Conditions {
		mark := "✗"
		if c.OK {
			mark = "✓"
		}
		rows = append(rows, []string{mark, c.Name, c.Value, c.Want})
	}
	table(a.env.Stdout, rows)
	text := message.SuggestNo
	if s.Suggest {
		text = message.SuggestYes
	}
	a.say(text)
	return nil
}
