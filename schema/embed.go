// Package schema holds the JSON Schemas of files that people write, for editors.
package schema

import _ "embed"

// Workflow describes the files in .overtone/workflows.
//
//go:embed workflow.schema.json
var Workflow []byte
