// Package plugin is the Claude Code plugin: the files that the host reads, as
// they are installed. It holds no logic; everything the plugin does is a call of
// the overtone program.
package plugin

import "embed"

// FS holds the plugin's files, rooted at the plugin.
//
//go:embed .claude-plugin .mcp.json agents commands hooks
var FS embed.FS
