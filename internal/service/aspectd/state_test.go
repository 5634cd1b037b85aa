package aspectd

import (
	"context"
	"errors"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// idle is an engine that is never asked for a monitor.
type idle struct{ aspects.Engine }

func (idle) Kind() aspects.Kind { return aspects.Temporal }

// TestStateHashEndsWithItsContext asks a service that does not run.
func TestStateHashEndsWithItsContext(t *testing.T) {
	s := New(Config{Bus: membus.New(membus.Config{}), Bundle: &policy.Bundle{}, Engine: idle{}, Rules: protocol.DefaultRules()})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.StateHash(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
