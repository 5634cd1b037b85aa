package world

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// pair is a record and a domain that it newly reaches.
type pair struct{ record, domain string }

// own is the domain that is not foreign.
const own = 0

// placement is the event that a record comes to one more vertex, and what the plain graph
// has to do for it.
func (s *session) placement(r *rand.Rand) (world.Edit, func()) {
	record, v := r.IntN(s.graph.size.Records), r.IntN(s.graph.size.Vertices)
	return world.Edit{Op: world.Place, A: recordName(record), B: vertexName(v)}, func() {
		if !slices.Contains(s.graph.at[record], v) {
			s.graph.at[record] = append(s.graph.at[record], v)
		}
	}
}

func (s *session) opening(r *rand.Rand) (world.Edit, func()) { return s.turning(r, world.OpenChannel) }

func (s *session) closing(r *rand.Rand) (world.Edit, func()) { return s.turning(r, world.CloseChannel) }

// turning opens or closes a channel.
func (s *session) turning(r *rand.Rand, op world.Op) (world.Edit, func()) {
	c := s.graph.channel(r, op == world.CloseChannel)
	end := s.graph.ends[c]
	return world.Edit{Op: op, A: vertexName(end[0]), B: vertexName(end[1]), N: world.WeightByDomain}, func() {
		s.graph.open[c] = op == world.OpenChannel
	}
}

// placed is what a placement makes reachable.
func (s *session) placed(e world.Edit) map[pair]bool {
	g := s.graph
	record, v := number(e.A), number(e.B)
	want := map[pair]bool{}
	if !g.marked[record] {
		return want
	}
	before := g.reached(g.at[record]...)
	for d, is := range g.reached(v) {
		if is && !before[d] && d != own {
			want[pair{e.A, domainName(d)}] = true
		}
	}
	return want
}

// opened is what the opening of a channel makes reachable: for each record that comes to
// its near end, the domains beyond the far one that the record did not reach.
func (s *session) opened(e world.Edit) map[pair]bool {
	g := s.graph
	from, to := number(e.A), number(e.B)
	want := map[pair]bool{}
	beyond, near, sources := g.reached(to), g.reached(from), g.sources(from)
	if !slices.ContainsFunc(allDomains(g), func(d int) bool { return beyond[d] && !near[d] }) {
		return want // what comes to the near end came to these domains anyway
	}
	for record, at := range g.at {
		if !g.marked[record] || !slices.ContainsFunc(at, func(v int) bool { return sources[v] }) {
			continue
		}
		before := g.reached(at...)
		for d, is := range beyond {
			if is && !before[d] && d != own {
				want[pair{recordName(record), domainName(d)}] = true
			}
		}
	}
	return want
}

// nothing is what the closing of a channel makes reachable.
func nothing(world.Edit) map[pair]bool { return map[pair]bool{} }

func allDomains(g *graph) []int {
	out := make([]int, g.size.Domains)
	for i := range out {
		out[i] = i
	}
	return out
}

// number is the inverse of vertexName and recordName.
func number(name string) int {
	n := 0
	for _, c := range name[1:] {
		n = 10*n + int(c-'0')
	}
	return n
}

// compare looks at the answers of both aspects.
func compare(parts map[aspects.Kind][]schema.Part, want map[pair]bool) error {
	for kind, clause := range map[aspects.Kind]string{aspects.Spatial: "S", aspects.Temporal: "T"} {
		got := map[pair]bool{}
		for _, p := range parts[kind] {
			if p.Clause != clause {
				continue
			}
			for _, row := range p.Rows {
				got[pair{row.Values[0].Str, row.Values[1].Str}] = true
			}
		}
		for p := range want {
			if !got[p] {
				return fmt.Errorf("%w: %s does not see that %s reaches %s", ErrWrong, kind, p.record, p.domain)
			}
		}
		if len(got) != len(want) {
			return fmt.Errorf("%w: %s sees %d pairs, there are %d", ErrWrong, kind, len(got), len(want))
		}
	}
	return nil
}
