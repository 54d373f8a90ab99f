package teamcli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/team/internal/team"
)

func (p *program) recall() *cobra.Command {
	q := recall.Query{Limit: 10}
	var machine string
	cmd := p.Command("recall QUERY", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		q.Text = strings.TrimSpace(strings.Join(args, " "))
		if q.Text == "" || q.Limit < 1 {
			return message.Misuse{Err: message.WithHint(message.Fail(message.TeamBadQuery), message.HintHelp, cmd.CommandPath())}
		}
		h, _, err := p.hub()
		if err != nil {
			return err
		}
		defer h.Close()
		lib := team.Library{Hub: h, Root: p.Home().Root()}
		sessions, problems, err := lib.Update(cmd.Context())
		if err != nil {
			return err
		}
		for _, problem := range problems {
			fmt.Fprintln(p.Stderr, "overtone-team: "+problem.Error())
		}
		list, total, err := lib.Search(cmd.Context(), q, machine)
		if err != nil {
			return err
		}
		slices.SortStableFunc(list, func(a, b team.Found) int { return cmp.Compare(b.Score, a.Score) })
		if len(list) > q.Limit {
			list = list[:q.Limit]
		}
		if p.JSON {
			if err := p.PrintObject("query", q.Text, "sessions", sessions, "total", total, "hits", terminal.List(list)); err != nil {
				return err
			}
		}
		if total == 0 {
			return message.WithHint(message.Fail(message.RecallNone, q.Text), message.HintTeamRecall, sessions)
		}
		if p.JSON {
			return nil
		}
		for _, f := range list {
			head := []string{f.Machine, f.Ref}
			if t, err := time.Parse(time.RFC3339, f.Time); err == nil {
				head = append(head, t.Local().Format(time.DateTime))
			}
			head = append(head, f.Role)
			if f.Copies > 0 {
				head = append(head, message.RecallCopies.Format(p.Lang, f.Copies))
			}
			fmt.Fprintln(p.Stdout, strings.Join(head, "  "))
			p.Marked("    ", f.Snippet, f.Marks)
		}
		return nil
	})
	cmd.Flags().StringVar(&machine, "machine", "", "")
	cmd.Flags().StringVar(&q.Session, "session", "", "")
	cmd.Flags().IntVarP(&q.Limit, "limit", "n", q.Limit, "")
	return cmd
}
