package teamcli

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/team/internal/team"
)

func (p *program) export() *cobra.Command {
	x := team.Exporter{Version: terminal.Version, Report: p.report}
	var headers []string
	cmd := p.Command("export --otlp URL", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if x.URL == "" {
			return message.Misuse{Err: message.WithHint(message.Fail(message.TeamBadURL, x.URL), message.HintTeamURL)}
		}
		x.Header = http.Header{}
		for _, h := range headers {
			key, value, ok := strings.Cut(h, "=")
			if !ok || key == "" {
				return message.Misuse{Err: message.Fail(message.TeamBadHeader, h)}
			}
			x.Header.Add(key, value)
		}
		h, _, err := p.hub()
		if err != nil {
			return err
		}
		defer h.Close()
		x.Hub, x.Root, x.Now = h, p.Home().Root(), p.Now
		if err := x.Run(cmd.Context()); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	f := cmd.Flags()
	f.StringVar(&x.URL, "otlp", "", "")
	f.StringArrayVar(&headers, "header", nil, "")
	f.BoolVar(&x.Content, "content", false, "")
	f.BoolVar(&x.Once, "once", false, "")
	f.DurationVar(&x.Every, "every", time.Second, "")
	f.DurationVar(&x.MetricsEvery, "metrics-every", time.Minute, "")
	return cmd
}
