// Package crash holds tests that kill hooks: at every system call of every hook of
// a story, with a tracer of its own (Linux). What is left on disk is then met by
// the rest of the story, which has to end as if the call had happened, or as if it
// had not.
package crash
