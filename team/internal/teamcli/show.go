package teamcli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
	"github.com/seed-6d03985f/overtone/team/internal/team"
)

func (p *program) show() *cobra.Command {
	var machine string
	cmd := p.Command("show SESSION", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		for _, name := range []string{args[0], machine} {
			if name != "" && !team.ValidToken(name) || args[0] == "" {
				return message.Misuse{Err: message.Fail(message.TeamBadMachine, name)}
			}
		}
		h, _, err := p.hub()
		if err != nil {
			return err
		}
		defer h.Close()
		w, err := h.Work(cmd.Context(), args[0], machine)
		if err != nil {
			return err
		}
		if p.JSON {
			reports := map[string]string{}
			for name, data := range w.Reports {
				reports[name] = string(data)
			}
			members := []any{"machine", w.Machine, "session", w.Session, "host", w.Host, "folder", w.Folder, "at", w.At, "packet", w.Packet}
			if w.Workflow != nil {
				members = append(members, "workflow", json.RawMessage(w.Workflow))
			}
			return p.PrintObject(append(members, "reports", reports)...)
		}
		p.Say(message.TeamShown, w.Machine, w.Session, filepath.Base(w.Folder), w.At.Local().Format(time.DateTime))
		if w.Workflow != nil {
			if st, err := workflow.Load(w.Workflow); err == nil {
				done, total := st.Progress()
				p.Say(message.TeamShownStage, st.WorkflowType, st.CurrentStage, done, total)
			}
		}
		if w.Packet != "" {
			fmt.Fprintln(p.Stdout, "\n"+strings.TrimSpace(w.Packet))
		}
		return nil
	})
	cmd.Flags().StringVar(&machine, "machine", "", "")
	return cmd
}
