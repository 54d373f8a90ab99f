// Package handover writes what a model needs after its context was compacted.
//
// A [Record] is what one pass over the slice of a session that was compacted leaves:
// names, files, commands and how they ended, the plan, the user's words. A [Handover]
// is written from it in the knowledge of the host's summary, and says what that does
// not. Where nobody tells the summary in time, the note that was saved before the
// compaction is delivered ([Write], from what hooks have seen of the conversation). A
// workflow adds where it stands ([Recovery]).
//
// Everything here is a value made from values: no file is read, no clock asked. All
// that comes out of a session is data in these texts; it is fenced, bounded, and
// without secrets.
package handover
