package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/transcript"
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
		a.packetCmd(&id),
	)
	return cmd
}

// packetCmd shows what a compaction hands over, beside what its summary states.
func (a *app) packetCmd(id *string) *cobra.Command {
	n := 0
	cmd := &cobra.Command{
		Use: "packet", Short: message.HelpPacket.In(a.lang), Long: message.HelpPacketLong.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := a.sessionFile(*id)
			if err != nil {
				return err
			}
			cfg, _ := a.env.config() // `overtone config` tells its problems
			s, err := session.NewSurvey(cmd.Context(), file, n, message.Lang(cfg.Language))
			if err != nil {
				return err
			}
			return a.printSurvey(file, s)
		},
	}
	cmd.Flags().IntVar(&n, "compaction", 0, message.HelpPacketN.In(a.lang))
	return cmd
}

// sessionFile finds the file of a session: by name, by what the host says in the
// environment, or the newest.
func (a *app) sessionFile(id string) (transcript.File, error) {
	if id == "" {
		id = host.SessionFrom(a.env.Getenv)
	}
	if id != "" {
		return a.resolve(id)
	}
	list, err := transcript.List(a.env.hostDir)
	if len(list) == 0 {
		if err != nil {
			return transcript.File{}, err
		}
		return transcript.File{}, usageError{message.WithHint(message.Fail(message.NoSession), message.HintSessions)}
	}
	if !a.json {
		a.note(message.UsingSession, list[0].ID)
	}
	return list[0], nil
}

func (a *app) printSurvey(file transcript.File, s session.Survey) error {
	if a.json {
		return a.printJSON(struct {
			Schema      int      `json:"schema"`
			Session     string   `json:"session"`
			Compaction  int      `json:"compaction"`
			Compactions int      `json:"compactions"`
			Summary     int      `json:"summaryCharacters"`
			Characters  int      `json:"characters"`
			States      []string `json:"summaryStates"`
			Lacks       []string `json:"summaryLacks"`
			Text        string   `json:"text"`
		}{1, file.ID, s.N, s.Total, message.Units(s.Summary), message.Units(s.Text), list(s.States), list(s.Lacks), s.Text})
	}
	switch {
	case s.N == 0:
		a.say(message.PacketIfNow, file.ID, s.Total)
	case s.Summary == "":
		a.say(message.PacketNoSummary, file.ID, s.N, s.Total)
	default:
		a.say(message.PacketOf, file.ID, s.N, s.Total, message.Units(s.Summary), message.Units(s.Text))
		rows := [][]string{{message.ColStates.In(a.lang), message.ColLacks.In(a.lang)}}
		for i := range max(len(s.States), len(s.Lacks)) {
			row := []string{"", ""}
			if i < len(s.States) {
				row[0] = s.States[i]
			}
			if i < len(s.Lacks) {
				row[1] = s.Lacks[i]
			}
			rows = append(rows, row)
		}
		fmt.Fprintln(a.env.Stdout)
		table(a.env.Stdout, rows)
	}
	fmt.Fprintln(a.env.Stdout)
	fmt.Fprintln(a.env.Stdout, s.Text)
	return nil
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
