// Package compress shortens the old part of a session, in graded bands, on a
// clone. The order is always: bands → turns → tasks → worker pool → checks →
// edits of a copy. The source is never written to.
//
// The functions of the contract (EstimateTokens, MapTurns, Select, Timeout,
// Standing; Text and SetText of package transcript) are the parts that a run is
// made of. They change nothing but the spans they replace; a run over a file does
// the same line by line.
//
// Invariants: a result that is empty, longer than its original or that names
// paths, URLs, hashes or numbers the original does not have is refused; a
// refused or failed message stays as it was and counts as unchanged; text that
// was compressed once is never compressed again.
//
// It knows no network: a Provider is handed in. What the host will accept as a
// session is the business of package transcript.
package compress
