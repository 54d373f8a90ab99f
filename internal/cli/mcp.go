//go:build !demo

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/mcp"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// mcpCmd serves recall, packet and status to a model.
func (a *app) mcpCmd() *cobra.Command {
	return a.command("mcp", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return a.mcpServer().Serve(cmd.Context(), a.Stdin, a.Stdout)
	})
}

func (a *app) mcpServer() mcp.Server {
	// A model reads what hooks print, in their language.
	cfg, _ := a.config()
	b := *a
	b.Lang, b.JSON = message.Spoken(message.Lang(cfg.Language), cfg.Chosen, a.Getenv), true // json: no progress, no notes
	return mcp.Server{
		Name: "overtone", Version: terminal.Version, Instructions: message.MCPInstructions.In(b.Lang), Clean: b.toolText,
		Tools: []mcp.Tool{
			{Name: "recall", Description: message.MCPRecall.In(b.Lang), Call: b.mcpRecall, Schema: schema(
				property{"query", "string", ""}, property{"ref", "string", message.MCPRecallRef.In(b.Lang)},
				property{"session", "string", message.MCPRecallAll.In(b.Lang)}, property{"limit", "integer", ""})},
			{Name: "packet", Description: message.MCPPacket.In(b.Lang), Call: b.mcpPacket, Schema: schema(property{"session", "string", message.MCPSession.In(b.Lang)})},
			{Name: "status", Description: message.MCPStatus.In(b.Lang), Call: b.mcpStatus, Schema: schema(property{"session", "string", message.MCPSession.In(b.Lang)})},
		},
	}
}

// property is an argument of a tool; one whose name says it all has no description. What
// stands here is in every request of every session.
type property struct{ name, typ, description string }

func schema(list ...property) json.RawMessage {
	all := map[string]any{}
	for _, p := range list {
		all[p.name] = map[string]string{"type": p.typ}
		if p.description != "" {
			all[p.name] = map[string]string{"type": p.typ, "description": p.description}
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": all})
	if err != nil {
		panic(err) // maps of strings
	}
	return raw
}

// arguments reads those of a call, and says which one is wrong without Go's words.
func arguments(args json.RawMessage, in any) error {
	err := json.Unmarshal(args, in)
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return message.Fail(message.MCPBadArgument, cmp.Or(strings.ToLower(bad.Field), "arguments"), bad.Value)
	}
	return err
}

// maxToolAnswer bounds what a tool says: an answer must not fill the context that it
// is to help.
const maxToolAnswer = 20_000

func (a *app) mcpRecall(ctx context.Context, args json.RawMessage) (string, error) {
	var in struct {
		Query, Ref, Session string
		Limit               int
	}
	if err := arguments(args, &in); err != nil {
		return "", err
	}
	x, clear := a.index()
	defer clear()
	switch {
	case in.Ref != "":
		o, err := x.Exact(ctx, in.Ref)
		if err != nil {
			return "", err
		}
		return message.MCPData.In(a.Lang) + "\n\n" + o.Text, nil
	case strings.TrimSpace(in.Query) == "":
		return "", message.Fail(message.MCPNeedsQuery)
	}
	q := recall.Query{Text: in.Query, Limit: min(max(in.Limit, 1), 50)}
	if in.Limit == 0 {
		q.Limit = 8
	}
	if in.Session != "" {
		f, err := a.finder().Resolve(in.Session)
		if err != nil {
			return "", err
		}
		q.Session = f.ID
	}
	res, err := x.Search(ctx, q)
	if err != nil {
		return "", err
	}
	if res.Total == 0 {
		return message.MCPNothing.Format(a.Lang, in.Query), nil
	}
	var b strings.Builder
	b.WriteString(message.MCPData.In(a.Lang) + "\n")
	if res.Fewer {
		b.WriteString(message.RecallFewer.In(a.Lang) + "\n")
	}
	for _, h := range res.Hits {
		fmt.Fprintf(&b, "\n%s  %s  %s\n%s\n", h.Ref, h.Role, h.Time, h.Snippet)
	}
	if n := res.Total - len(res.Hits); n > 0 {
		b.WriteString("\n" + message.MCPMore.Format(a.Lang, n) + "\n")
	}
	return b.String(), nil
}

// toolText bounds what a tool says. It leaves the machine with the model's next
// request, so secrets are taken out.
func (a *app) toolText(text string) string {
	text = redact.Clean(text)
	if n := message.Units(text); n > maxToolAnswer {
		return message.Cut(text, maxToolAnswer) + message.MCPCut.Format(a.Lang, n)
	}
	return text
}

// mcpSession is the session that a tool is about. The host may not have written its file
// yet when the model asks in its first answer.
func (a *app) mcpSession(args json.RawMessage) (*store.Session, transcript.File, error) {
	var in struct{ Session string }
	if err := arguments(args, &in); err != nil {
		return nil, transcript.File{}, err
	}
	return a.finder().Look(in.Session)
}

func (a *app) mcpPacket(ctx context.Context, args json.RawMessage) (string, error) {
	s, file, err := a.mcpSession(args)
	if err != nil {
		return "", err
	}
	if handed, ok := session.ReadHanded(s); ok {
		return strings.TrimSpace(handed.Text + "\n\n" + handed.Later), nil
	}
	if file.Path == "" {
		return message.MCPNoFile.Format(a.Lang, s.ID()), nil
	}
	cfg, _ := a.config()
	survey, err := catalog.NewSurvey(ctx, file, 0, a.tongue(cfg))
	return survey.Text, err
}

func (a *app) mcpStatus(ctx context.Context, args json.RawMessage) (string, error) {
	s, file, err := a.mcpSession(args)
	if err != nil {
		return "", err
	}
	lines := []string{"session " + s.ID()}
	state, err := session.Peek(s)
	switch {
	case err != nil:
		return "", err
	case state == nil:
		lines = append(lines, message.MCPNoWorkflow.In(a.Lang))
	default:
		lines = append(lines, message.MCPWorkflow.Format(a.Lang, state.WorkflowType, workflow.Bar(state), state.CurrentStage))
		if next := workflow.NextStep(state, a.Lang); next != "" {
			lines = append(lines, message.StatusNext.Format(a.Lang, next))
		}
	}
	m := session.Read(s)
	if file.Path != "" {
		if at, err := catalog.Stands(ctx, file); err == nil && at.Request != "" {
			lines = append(lines, message.ExplainState.Format(a.Lang, message.Stands(string(at.State), at.Question, string(at.Sign), a.Lang)), message.ExplainRequest.Format(a.Lang, at.Request))
		}
	}
	lines = append(lines, message.MCPCompactions.Format(a.Lang, m.Compactions))
	if k := m.Compaction; k != nil && k.Receipt != nil {
		lines = append(lines, message.MCPLast.Format(a.Lang, k.Receipt.String()))
	}
	return strings.Join(lines, "\n"), nil
}
