//go:build !unix

package store

// openFlags is empty where making a link takes privileges and open has no flag
// to refuse one.
const openFlags = 0
