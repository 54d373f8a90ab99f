// Package extract says what a text is worth: the facts it states (paths, URLs,
// hashes, numbers, names, error lines, code), what its writer says himself, and
// which of it is a decision. Compression, hand-over and audit read texts through
// it, so that each list of words stands once.
//
// It is pure and deterministic, its time grows linearly with the text, and it
// reads Latin and Chinese alike. Facts are found inside words only: whole words
// copied from a text state no fact that the text does not state.
//
// It knows neither files nor hosts.
package extract
