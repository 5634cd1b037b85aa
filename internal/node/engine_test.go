package node_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// TestAlternativeEngine: a bundle gets the engine that it names, or none.
func TestAlternativeEngine(t *testing.T) {
	errMade := errors.New("made")
	other := node.Alternative{Name: policy.EngineMonPoly, New: func(*policy.Bundle) (aspects.Engine, error) { return nil, errMade }}
	for _, tc := range []struct {
		name policy.EngineName
		has  []node.Alternative
		want string
	}{
		{"", []node.Alternative{other}, ""},
		{policy.EngineAspis, []node.Alternative{other}, ""},
		{policy.EngineMonPoly, []node.Alternative{other}, "made"},
		{policy.EngineMonPoly, nil, "asks for the engine monpoly"},
	} {
		e, err := node.Engine(&policy.Bundle{Engine: tc.name}, aspects.Temporal, tc.has...)
		if tc.want == "" && (e == nil || err != nil) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("engine %q of %d: %v, %v, want %q", tc.name, len(tc.has), e, err, tc.want)
		}
	}
}

// TestEnginesOfAspects: each aspect with formulas gets an engine of its own kind.
func TestEnginesOfAspects(t *testing.T) {
	for _, k := range []aspects.Kind{aspects.Spatial, aspects.Temporal, aspects.Semantic} {
		e, err := node.Engine(&policy.Bundle{}, k)
		if err != nil || e.Kind() != k {
			t.Errorf("%s: %v, %v", k, e, err)
		}
	}
	for _, k := range []aspects.Kind{aspects.Contract, "", "sigma"} {
		if e, err := node.Engine(&policy.Bundle{}, k); err == nil {
			t.Errorf("%s: got an engine, %v", k, e.Kind())
		}
	}
}
