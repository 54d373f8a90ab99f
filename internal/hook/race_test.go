//go:build race

package hook

// slower is by how much the race detector makes everything so.
const slower = 20
