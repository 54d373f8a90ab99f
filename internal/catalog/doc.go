// Package catalog is all sessions of this machine: which one a command means, a list
// of them with what an index knows of each, the clones that were made here, what a
// recorded session would hand over, and the commands of a session's stages.
//
// It reads whole files and asks the index, so hooks do not link it; the state of one
// session under its lock is package session's.
package catalog
