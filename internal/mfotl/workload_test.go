package mfotl_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// workload is a formula and an endless stream of events of one fact each. The formulas,
// rates and numbers of values are those of the design's table of speeds, so that the
// tests and benchmarks over them need no other data.
type workload struct {
	name    string
	formula string
	columns []check.Column
	perUnit int // events per time unit
	fact    func(i int) schema.Fact
}

// cycle is the number of different events of a workload; after them it repeats at later
// times.
const cycle = 1 << 16

func workloads() []workload {
	ints := func(names ...string) (cols []check.Column) {
		for _, n := range names {
			cols = append(cols, check.Column{Name: n, Kind: intKind})
		}
		return cols
	}
	const exports = "export(o) AND NOT (ONCE[0,24] consent(o))"
	return []workload{
		{"once24", exports, ints("o"), 10, func(i int) schema.Fact { return exportOf(i, int64(hash(i)%10_000)) }},
		{"once24-rate1000", exports, ints("o"), 1000, func(i int) schema.Fact { return exportOf(i, int64(hash(i)%10_000)) }},
		{"once24-str", exports, []check.Column{{Name: "o", Kind: strKind}}, 10, func(i int) schema.Fact {
			return text(exportOf(i, 0).Name, fmt.Sprint("obj-", hash(i)%10_000))
		}},
		{"since", "use(u,r) AND NOT ((NOT revoke(u,r)) SINCE grant(u,r))", ints("u", "r"), 10, grantOf},
		{"since500", "use(u,r) AND NOT ((NOT revoke(u,r)) SINCE[0,500] grant(u,r))", ints("u", "r"), 10, grantOf},
		{"since20-500", "use(u,r) AND NOT ((NOT revoke(u,r)) SINCE[20,500] grant(u,r))", ints("u", "r"), 10, grantOf},
		{"join", "use(u,r) AND ((NOT logout(u)) SINCE[0,500] login(u,s)) AND ONCE[0,500] own(u,r)", ints("u", "r", "s"), 10, loginOf},
		{"count6", "(n <- CNT i; d ONCE[0,6] cmd(d,i)) AND n > 40", ints("n", "d"), 100, commandOf},
	}
}

// exportOf is an export or a consent, one as likely as the other.
func exportOf(i int, object int64) schema.Fact {
	return fact([]string{"export", "consent"}[hash(i+1)%2], object)
}

// grantOf is about 200 users by 200 resources: half uses, some grants, fewer revocations.
func grantOf(i int) schema.Fact {
	name := []string{"use", "use", "use", "use", "use", "grant", "grant", "grant", "grant", "revoke"}[hash(i+2)%10]
	return fact(name, int64(hash(i)%200), int64(hash(i+1)%200))
}

// loginOf is about 500 users with seven sessions and 500 resources.
func loginOf(i int) schema.Fact {
	user, resource := int64(hash(i)%500), int64(hash(i+1)%500)
	switch hash(i+2) % 10 {
	case 0, 1:
		return fact("login", user, resource%7)
	case 2:
		return fact("logout", user)
	case 3, 4:
		return fact("own", user, resource)
	}
	return fact("use", user, resource)
}

// commandOf is one of the commands of 300 users, of which some give most.
func commandOf(i int) schema.Fact {
	user := int64(bits.TrailingZeros64(hash(i+1) | 1<<20))
	if hash(i)%4 == 0 {
		user = int64(hash(i+2) % 300)
	}
	return fact("cmd", user, int64(i))
}

func (w *workload) compile(tb testing.TB, opts ...mfotl.Option) *mfotl.Plan {
	tb.Helper()
	f, diags := syntax.Parse(w.formula, syntax.Options{Mode: syntax.MonPoly})
	if f == nil {
		tb.Fatalf("%s: %v", w.formula, diags)
	}
	p, err := mfotl.Compile([]*check.Checked{{Core: f, Free: w.columns}}, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// log makes one cycle of the workload.
func (w *workload) log() []point {
	facts := make([]schema.Fact, cycle)
	points := make([]point, cycle)
	for i := range points {
		facts[i] = w.fact(i)
		points[i] = point{int64(i / w.perUnit), facts[i : i+1 : i+1]}
	}
	return points
}

// stream gives the events of a log over and over, with time stamps that go on.
type stream struct {
	log []point
	i   int
	add int64 // to the time stamps
}

func (s *stream) next() (ts int64, offset uint64, facts []schema.Fact) {
	at := s.i % len(s.log)
	if at == 0 && s.i > 0 {
		s.add += s.log[len(s.log)-1].ts + 1
	}
	p := &s.log[at]
	s.i++
	return p.ts + s.add, uint64(s.i), p.facts
}
