package monitor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/spatial"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// ErrState is an encoded monitor state that this engine cannot restore: of another
// version, policy or plan, or damaged.
var ErrState = errors.New("monitor: cannot restore state")

// Engine judges traces by the formulas that one bundle has for one aspect. It is immutable
// and safe for concurrent use; its monitors are not.
type Engine struct {
	kind   aspects.Kind
	digest [32]byte
	plan   *mfotl.Plan
	parts  []part // by formula of the plan

	// origin is the world before the first event; nil: no formula reads one. Monitors get
	// forks of it.
	origin    *world.World
	externals []external
	locations []*location
	touches   []*touch
	pathAtoms map[string]*pathAtom // by external relation
}

var _ aspects.Engine = (*Engine)(nil)

// part is what of a formula's outcome is known before any event.
type part struct {
	clause  string
	role    schema.Role
	name    string
	columns []string
	checked *check.Checked // as the bundle has it
	reach   int64          // how far back it reads in the log, ns
	reads   []string       // relations of the world, sorted; nil: it reads none
	effects []world.Rel    // one of which must change for it to hold, see check.Checked
	graph   bool           // a change of the graph does as well
	news    news
	located bool  // it has an AT
	objects []int // columns that are objects of the world
	paths   []pathAtom
	inner   bool // it has atoms that rest on paths and have quantified variables
}

// New compiles the formulas of an aspect, guards and forbid parts, of clauses in shadow
// mode too. It fails if one of them is outside the language of internal/mfotl or
// internal/world/spatial, naming the clause and the place of the formula.
func New(b *policy.Bundle, kind aspects.Kind) (*Engine, error) {
	return compile(b, kind, func(f *policy.Formula) bool { return f.Aspect == kind })
}

// NewWorld returns an engine without formulas that folds the world of a bundle; it fails if
// the bundle declares none.
func NewWorld(b *policy.Bundle) (*Engine, error) {
	if b.World == nil {
		return nil, fmt.Errorf("monitor: bundle %s declares no world; add `world:` to policy.yaml", b.Name)
	}
	e, err := compile(b, aspects.Spatial, func(*policy.Formula) bool { return false })
	if err == nil {
		err = e.fold(b.World)
	}
	return e, err
}

// place is a part with where its formula stands.
type place struct {
	part
	where string
	low   *check.Checked
}

func compile(b *policy.Bundle, kind aspects.Kind, selects func(*policy.Formula) bool) (*Engine, error) {
	e := &Engine{kind: kind, digest: b.Digest}
	places := placesOf(b, selects)
	l := newLowering(b.World)
	reads := false
	for i := range places {
		p := &places[i]
		var err error
		if p.low, p.reads, err = l.formula(p.checked); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", kind, p.where, err)
		}
		p.reach = p.low.Reach()
		if len(p.reads) > 0 {
			reads = true
			p.objects = l.objects(p.checked)
			p.paths, p.inner = l.paths(p.checked)
			p.effects, p.graph = l.effects(p.checked)
			p.news = l.news(p.checked.Core)
			p.located = slices.Contains(p.checked.Relations, check.Graph)
		}
		e.parts = append(e.parts, p.part)
	}
	e.externals, e.locations, e.touches = l.externals, l.locations, l.touches
	e.pathAtoms = pathAtoms(e.externals)
	if reads {
		if err := e.fold(b.World); err != nil {
			return nil, err
		}
	}
	return e, e.plans(places)
}

// fold makes the monitors of the engine fold a world.
func (e *Engine) fold(spec *world.Spec) error {
	origin, err := world.New(spec)
	if err != nil {
		return fmt.Errorf("%s: %w", e.kind, err)
	}
	e.origin = origin
	return nil
}

func placesOf(b *policy.Bundle, selects func(*policy.Formula) bool) []place {
	var places []place
	for _, c := range b.Clauses {
		for i := range c.Formulas {
			f := &c.Formulas[i]
			if !selects(f) {
				continue
			}
			p := part{clause: c.ID, role: f.Role, name: f.Name, checked: f.Checked}
			for _, col := range f.Checked.Free {
				p.columns = append(p.columns, col.Name)
			}
			places = append(places, place{part: p, where: fmt.Sprintf("%s:%d:%d: clause %s", f.File, f.Line, f.Col, c.ID)})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(strings.Compare(a.clause, b.clause), cmp.Compare(a.role, b.role), strings.Compare(a.name, b.name))
	})
	return places
}

// plans compiles the lowered formulas.
func (e *Engine) plans(places []place) error {
	var list []mfotl.External
	for _, x := range e.externals {
		list = append(list, x.External)
	}
	var formulas []*check.Checked
	for _, p := range places {
		formulas = append(formulas, p.low)
	}
	var err error
	if e.plan, err = mfotl.Compile(formulas, mfotl.WithExternals(list...)); err == nil {
		return nil
	}
	for _, p := range places {
		if _, one := mfotl.Compile([]*check.Checked{p.low}, mfotl.WithExternals(list...)); one != nil {
			return fmt.Errorf("%s: %s: %w", e.kind, p.where, one)
		}
	}
	return fmt.Errorf("%s: %w", e.kind, err)
}

// Kind returns the aspect.
func (e *Engine) Kind() aspects.Kind { return e.kind }

// New returns the monitor of a trace without history.
func (e *Engine) New() aspects.Monitor {
	m := e.monitor()
	m.state = e.plan.New()
	if e.origin != nil {
		m.world = e.origin.Fork()
	}
	return m
}

// monitor is a monitor without state.
func (e *Engine) monitor() *Monitor {
	m := &Monitor{engine: e}
	m.source.monitor = m
	if len(e.locations) > 0 {
		m.locations = make([]*spatial.Formula, len(e.locations))
		m.remembered = make([]*spatial.Cache, len(e.locations))
	}
	return m
}
