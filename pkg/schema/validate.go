package schema

// Validate x.
func (e *Event) Validate() error { return nil }
