package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
	schemas "github.com/seed-6d03985f/overtone/schema"
)

func (a *app) workflowCheck() *cobra.Command {
	return a.command("check [FILE|NAME]", cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error {
		lib := a.library()
		if len(args) == 0 {
			return lib.Check(&a.Terminal, lib.Own(), a.agentFolders())
		}
		entries, err := lib.Meant(args[0])
		if err != nil {
			return err
		}
		return lib.Check(&a.Terminal, entries, a.agentFolders())
	})
}

// agentFolders is where people keep agents of their own.
func (a *app) agentFolders() []string {
	root := a.library().Project()
	var list []string
	for _, h := range host.All() {
		list = append(list, filepath.Join(root, "."+h.Program, "agents"), filepath.Join(a.hostDir(h), "agents"))
	}
	return list
}

func (a *app) workflowSchema() *cobra.Command {
	return a.command("schema", cobra.NoArgs, func(*cobra.Command, []string) error {
		if !a.JSON {
			_, err := a.Stdout.Write(schemas.Workflow)
			return err
		}
		return a.PrintObject("workflow", json.RawMessage(schemas.Workflow))
	})
}

func (a *app) workflowNew() *cobra.Command {
	var stages, label string
	var runs []string
	var home bool
	cmd := a.command("new NAME", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if stages == "" {
			answer, err := a.Ask(cmd.Context(), message.AskStages.Format(a.Lang, strings.Join(workflow.StageNames(), " ")), message.NewNoStages)
			if err != nil {
				return err
			}
			stages = answer
		}
		return a.library().Create(&a.Terminal, args[0], stages, label, runs, home)
	})
	AddFlags(cmd, map[string]any{"stages": &stages, "label": &label, "home": &home})
	cmd.Flags().StringArrayVar(&runs, "run", nil, "")
	return cmd
}

func (a *app) workflowTrust() *cobra.Command {
	var revoke bool
	cmd := a.command("trust NAME", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		f, err := a.named(args[0], "")
		if err != nil {
			return err
		}
		root := a.store().Root()
		if revoke {
			return f.Revoke(&a.Terminal, root)
		}
		return f.AskTrust(cmd.Context(), &a.Terminal, root)
	})
	cmd.ValidArgsFunction = a.templateArg
	cmd.Flags().BoolVar(&revoke, "revoke", false, "")
	return cmd
}
