// Package plugin is what hosts load: the Claude Code plugin, whose agents and
// commands other hosts get, too, and the one for opencode. It holds no logic;
// everything a plugin does is a call of the overtone program.
package plugin

import "embed"

// FS holds the plugin's files, rooted at the plugin.
//
//go:embed .claude-plugin .mcp.json agents commands hooks
var FS embed.FS

// Opencode is the plugin for opencode, one file. It starts overtone-hook by the name in
// its line COMMAND.
//
//go:embed opencode.js
var Opencode []byte
