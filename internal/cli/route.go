package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

const maxAnswer = 64 << 20

func (a *app) routeCmd() *cobra.Command {
	cmd := a.group("route")
	stage, template := "", "standard"
	check := a.command("check [FILE]", cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error {
		text, err := a.readText(args)
		if err != nil {
			return err
		}
		f, err := a.named(template, "")
		if err != nil {
			return err
		}
		rules, _ := a.rules()
		s := a.fresh(f)
		if stage == "" {
			stage = "DEV"
			if !s.DAG.Has(stage) && s.DAG.Len() > 0 {
				stage = s.DAG.Keys()[0]
			}
		}
		if _, ok := s.DAG.Info(stage); !ok {
			return message.Misuse{Err: message.WithHint(message.Fail(message.BadStage, stage), message.HintThereAre, s.DAG.Keys())}
		}
		return a.checkRoute(text, stage, rules, s)
	})
	AddFlags(check, map[string]any{"stage": &stage, "template": &template})
	_ = check.RegisterFlagCompletionFunc("template", a.templateArg)
	cmd.AddCommand(check)
	return cmd
}

func (a *app) readText(args []string) (string, error) {
	in := a.Stdin
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxAnswer))
	return string(data), err
}

func (a *app) checkRoute(text, stage string, rules workflow.Rules, s *workflow.State) error {
	texts, err := transcript.AssistantTexts(strings.NewReader(text), int64(len(text)), workflow.RouteLines)
	if err != nil {
		return err
	}
	r, ok := workflow.LastRoute(texts)
	if !ok {
		r, ok = workflow.ParseRoute(text)
	}
	if !ok {
		meaning := message.RouteNoneImpl.In(a.Lang)
		if s.Quality(stage) {
			meaning = message.RouteNoneQual.Format(a.Lang, stage)
		}
		if a.JSON {
			return a.PrintObject("stage", stage, "found", false, "parsed", nil, "validated", nil, "policy", nil, "warnings", []string{}, "meaning", meaning)
		}
		a.Say(message.RouteNone)
		fmt.Fprintln(a.Stdout, meaning)
		return nil
	}
	v := workflow.ValidateRoute(r)
	p := rules.EnforcePolicy(v, s, stage)
	warnings := []string{}
	if p.Warning != "" {
		warnings = strings.Split(p.Warning, "; ")
	}
	meaning := a.meaning(p, s, stage)
	if a.JSON {
		return a.PrintObject("stage", stage, "found", true, "parsed", r, "validated", v, "policy", p, "warnings", warnings, "meaning", meaning)
	}
	show := func(t message.Text, r workflow.Route) {
		parts := []string{r.Verdict, r.Route}
		for _, f := range []string{r.Severity, r.BarrierGroup} {
			if f != "" {
				parts = append(parts, f)
			}
		}
		a.Say(t, strings.Join(parts, " "))
	}
	show(message.RouteParsed, r)
	show(message.RouteValidated, v)
	show(message.RoutePolicy, p)
	for _, w := range warnings {
		a.Say(message.RouteFix, w)
	}
	a.Say(message.RouteMeaning, meaning)
	return nil
}

func (a *app) meaning(r workflow.Route, s *workflow.State, stage string) string {
	switch {
	case r.Route == workflow.Abort:
		return message.MeansAbort.In(a.Lang)
	case r.Route == workflow.Barrier && r.BarrierGroup != "":
		return message.MeansVote.Format(a.Lang, r.BarrierGroup, r.Verdict)
	case r.Route == workflow.Dev:
		return message.MeansBack.Format(a.Lang, s.DAG.Rework(stage))
	case r.Verdict == workflow.Fail:
		return message.MeansForced.In(a.Lang)
	case len(s.DAG.NextOf(stage)) == 0:
		return message.MeansEnd.In(a.Lang)
	}
	return message.MeansNext.In(a.Lang)
}
