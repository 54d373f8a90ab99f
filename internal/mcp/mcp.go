// Package mcp serves tools to a model over stdio, in the Model Context Protocol.
//
// The official SDK speaks the protocol; this package alone knows it, and no name
// of the SDK appears in what it exports. What the SDK's own transport takes for
// the end of a connection is here one line that is answered with an error
// (lines.go).
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is something that a model may call.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON schema of its arguments.
	Schema json.RawMessage
	// Call does it. What it returns is text for the model, an error included. Several
	// calls may run at the same time.
	Call func(ctx context.Context, args json.RawMessage) (string, error)
}

// Server offers tools.
type Server struct {
	Name, Version string
	// Instructions tell a model what the tools are for.
	Instructions string
	Tools        []Tool
	// Clean goes over all that a tool says, if it is set: answers and errors.
	Clean func(string) string
}

// Serve answers until its input ends and all that was asked is answered, or until
// ctx ends, which is no error.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	server := mcp.NewServer(&mcp.Implementation{Name: s.Name, Version: s.Version}, &mcp.ServerOptions{
		Instructions: s.Instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range s.Tools {
		hints := &mcp.ToolAnnotations{ReadOnlyHint: true}
		info := &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema, Annotations: hints}
		server.AddTool(info, func(request context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			// The SDK waits for calls that run when ctx ends, and does not tell them.
			request, stop := context.WithCancel(request)
			defer stop()
			defer context.AfterFunc(ctx, stop)()
			return s.call(request, t, r.Params.Arguments), nil
		})
	}
	err := server.Run(ctx, newLines(in, out))
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func (s Server) call(ctx context.Context, t Tool, args json.RawMessage) *mcp.CallToolResult {
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	text, err := safely(ctx, t, args)
	if err != nil {
		// The model is to read what went wrong, not its host.
		text = err.Error()
	}
	if s.Clean != nil {
		text = s.Clean(text)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: err != nil}
}

// safely keeps one tool's panic from ending the others.
func safely(ctx context.Context, t Tool, args json.RawMessage) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("%s: panic: %v", t.Name, p)
		}
	}()
	return t.Call(ctx, args)
}
