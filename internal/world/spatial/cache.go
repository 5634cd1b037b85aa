package spatial

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Cache remembers values of a formula in one graph, the committed one of a trace, and
// through its changes. It belongs to the goroutine of the formula. It changes no answer.
type Cache struct {
	f     *Formula
	at    Graph
	limit int
	// young and old are the values by vertex and by sense and arguments. When the young ones
	// are half of the limit they become the old ones, which are forgotten unless asked for.
	young, old values
	key        []byte
}

// values are remembered values. An entry costs some 100 bytes.
type values struct {
	of map[world.V]map[string]known
	n  int
}

// known is a value, with the steps that its evaluation takes: a purse pays for it whether or
// not it is remembered, so that what it suffices for does not depend on that.
type known struct {
	value verdict.Value
	steps int64
}

// free are the steps of a value that needs no evaluation: that of an unknown location.
const free = -1

// NewCache returns a cache of at most limit values, in the graph at.
func NewCache(f *Formula, at Graph, limit int) *Cache {
	return &Cache{f: f, at: at, limit: max(limit, 2)}
}

// Value is Formula.Value, and tells whether it was found; see Formula.Exhausted. In another
// graph than that of the cache it is computed and not remembered, nor is one that was not found.
func (c *Cache) Value(g Graph, loc string, args []schema.Value, sense world.Sense) (value verdict.Value, found bool) {
	v, met := g.Vertex(loc)
	if g != c.at || !met {
		value = c.f.Value(g, loc, args, sense)
		return value, !c.f.Exhausted()
	}
	c.key = appendKey(c.key[:0], args, sense)
	if k, ok := c.young.of[v][string(c.key)]; ok {
		return c.f.again(k, sense)
	}
	k, ok := c.old.of[v][string(c.key)]
	if !ok {
		k.value = c.f.Value(g, loc, args, sense)
		if c.f.Exhausted() {
			return k.value, false
		}
		k.steps = c.f.run.granted - c.f.run.budget
		if g.Sort(v) == world.Unknown {
			k.steps = free
		}
		c.remember(v, k)
		return k.value, true
	}
	c.remember(v, k)
	return c.f.again(k, sense)
}

// again pays for a value that was found before.
func (f *Formula) again(k known, sense world.Sense) (value verdict.Value, found bool) {
	purse := f.run.purse
	switch {
	case purse == nil || k.steps == free:
	case k.steps >= *purse:
		*purse = 0
		return unknown(sense), false
	default:
		*purse -= k.steps
	}
	return k.value, true
}

// Rename moves the cache on to a graph in which nothing has changed.
func (c *Cache) Rename(same Graph) { c.at = same }

// remember keeps the value of the present key.
func (c *Cache) remember(v world.V, k known) {
	if c.young.n >= c.limit/2 {
		c.old, c.young = c.young, values{}
	}
	if c.young.of == nil {
		c.young.of = map[world.V]map[string]known{}
	}
	if c.young.of[v] == nil {
		c.young.of[v] = map[string]known{}
	}
	c.young.of[v][string(c.key)] = k
	c.young.n++
}

// Update moves the cache on to the graph after, and forgets what Touched says has changed; after
// a change of a relation that is read without @l everything, for what such an evaluation takes
// may have changed where its value has not.
func (c *Cache) Update(after Graph, changes Changes) {
	before := c.at
	c.at = after
	if c.young.n == 0 && c.old.n == 0 {
		return
	}
	if slices.ContainsFunc(c.f.code.preds, func(p *pred) bool { return !p.local && changes.Touches(p.rel) }) {
		c.young, c.old = values{}, values{}
		return
	}
	c.f.Touched(before, after, changes, func(vertex string) bool {
		if v, ok := after.Vertex(vertex); ok {
			c.young.forget(v)
			c.old.forget(v)
		}
		return c.young.n > 0 || c.old.n > 0
	})
}

func (s *values) forget(v world.V) {
	s.n -= len(s.of[v])
	delete(s.of, v)
}

// appendKey appends the sense and the arguments, so that different ones differ.
func appendKey(key []byte, args []schema.Value, sense world.Sense) []byte {
	key = append(key, byte(sense))
	for _, a := range args {
		key = append(key, byte(a.Kind))
		switch a.Kind {
		case schema.KindInt:
			key = binary.LittleEndian.AppendUint64(key, uint64(a.Int)) //nolint:gosec // its bits
		case schema.KindFloat:
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(a.Float))
		case schema.KindString:
			key = binary.AppendUvarint(key, uint64(len(a.Str)))
			key = append(key, a.Str...)
		}
	}
	return key
}
