package handover

// packetMax is the longest packet, in UTF-16 units. Together with a recovery
// text it stays below the 10,000 from which on Claude Code shows the model only
// a preview of a hook's context.
const packetMax = 7900

// recoveryMax is the longest recovery text, in UTF-16 units.
const recoveryMax = 2000

// Shares of the sections of a hand-over, in UTF-16 units. The names have what the others
// leave of its length, and at least a share of their own.
const (
	length       = 5000
	leastNames   = 2500
	mostWords    = 1600
	mostState    = 1400
	mostFailing  = 500
	mostTree     = 700
	mostNext     = 500
	mostDone     = 500
	mostCommands = 400
)
