//go:build !demo

package mirror

import _ "modernc.org/sqlite" // takes a third of a first build, and the demo needs none
