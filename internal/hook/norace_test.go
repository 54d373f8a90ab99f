//go:build !race

package hook

const slower = 1
