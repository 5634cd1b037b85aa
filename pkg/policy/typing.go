package policy

import "github.com/aspis-rv/aspis/pkg/schema"

type typing struct{}

// Type computes the facts of an event at its time point. It is a pure function of
// the bundle and the event. With observe set, facts that need an authority count
// whoever caused them if the bundle accepts self-authority.
func (b *Bundle) Type(ev *schema.Event, observe bool) Typing { return Typing{} }
