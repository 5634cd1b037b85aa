package schema

import (
	_ "embed" // for the document below
)

//go:embed event.schema.json
var eventSchema string

// JSONSchema returns the JSON Schema (draft 2020-12) of the full JSON form of an
// event, as MarshalJSON writes it. The caller owns the bytes.
func JSONSchema() []byte { return []byte(eventSchema) }
