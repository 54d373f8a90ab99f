//go:build demo

package cli

import "github.com/spf13/cobra"

// These do nothing in the program that `make demo` shows first: what they are built on takes
// a tenth of a first build.
func (a *app) mcpCmd() *cobra.Command   { return &cobra.Command{Use: "mcp", Hidden: true} }
func (a *app) watchCmd() *cobra.Command { return &cobra.Command{Use: "watch", Hidden: true} }
