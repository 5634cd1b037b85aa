package mfotl_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/mfotl"
)

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
}

// restorePlan has a store of every kind, and facts retained for PREVIOUS.
func restorePlan(tb testing.TB) *mfotl.Plan {
	tb.Helper()
	columns := func(c *check.Checked, kinds ...check.Column) *check.Checked {
		c.Free = kinds
		return c
	}
	return compile(tb,
		core(tb, "p(x) AND ONCE[0,5] q(x)", "x"),
		core(tb, "(NOT p(x)) SINCE[2,9] r(x,y)", "x", "y"),
		core(tb, "PREVIOUS (ONCE r(x,y) AND PREVIOUS p(x))", "x", "y"),
		core(tb, "p(x) AND HISTORICALLY[0,5] q(x)", "x"),
		core(tb, "PREVIOUS (p(x) AND NOT (HISTORICALLY[2,9] q(x)))", "x"),
		core(tb, "p(x) AND HISTORICALLY[2,2] q(x)", "x"),
		core(tb, "p(x) AND HISTORICALLY[1,*] r(x,x)", "x"),
		columns(core(tb, "e() AND ONCE[1,*] s(z)"), check.Column{Name: "z", Kind: strKind}),
		columns(core(tb, "ONCE u(z)"), check.Column{Name: "z", Kind: fltKind}),
	)
}

// saved is the state of a random trace.
func saved(plan *mfotl.Plan, seed uint64, length int) []byte {
	g := newGenerator(seed)
	st := plan.New()
	for _, tp := range g.trace(length, 0.3) {
		st.Step(tp.TS, tp.Offset, tp.Facts)
		st.Commit()
	}
	return st.AppendState(nil)
}

// TestRestoreRefusesDamage changes and cuts every byte of a state: what is still
// accepted must be the encoding of a state, that is, encode to itself.
func TestRestoreRefusesDamage(t *testing.T) {
	plan := restorePlan(t)
	refused := 0
	for seed := range uint64(5) {
		good := saved(plan, seed, 20)
		if _, err := plan.Restore(good); err != nil {
			t.Fatal(err)
		}
		for i := range good {
			for _, delta := range []byte{1, 2, 0x80, 0xff} {
				bad := bytes.Clone(good)
				bad[i] += delta
				refused += mustRefuseOrRepeat(t, plan, bad)
			}
			if n := mustRefuseOrRepeat(t, plan, good[:i]); n == 0 {
				t.Errorf("the first %d of %d bytes are accepted", i, len(good))
			}
		}
		if n := mustRefuseOrRepeat(t, plan, append(bytes.Clone(good), 0)); n == 0 {
			t.Error("a byte too many is accepted")
		}
	}
	if refused == 0 {
		t.Error("no damage was refused")
	}
}

func mustRefuseOrRepeat(t *testing.T, plan *mfotl.Plan, state []byte) (refused int) {
	t.Helper()
	st, err := plan.Restore(state)
	if err != nil {
		if !errors.Is(err, mfotl.ErrState) && !errors.Is(err, mfotl.ErrOther) {
			t.Errorf("error %v is none of the package's", err)
		}
		return 1
	}
	if !bytes.Equal(st.AppendState(nil), state) {
		t.Errorf("accepted a state that encodes otherwise: %x", state)
	}
	return 0
}

// TestRestoreContinues stores and restores the state of every workload at 50 random points:
// rows, and the state at the end, are those of the trace that was never stored.
func TestRestoreContinues(t *testing.T) {
	const events, restores = 10_000, 50
	for _, w := range workloads() {
		g := newGenerator(*seedFlag)
		restore := map[int]bool{}
		for len(restore) < restores {
			restore[g.IntN(events)] = true
		}
		plan := w.compile(t)
		st, straight := plan.New(), plan.New()
		log := stream{log: w.log()}
		fired := 0
		for i := range events {
			if restore[i] {
				state := st.AppendState(nil)
				var err error
				if st, err = plan.Restore(state); err != nil {
					t.Fatalf("%s, seed %d, event %d: %v", w.name, *seedFlag, i, err)
				}
			}
			ts, offset, facts := log.next()
			st.Step(ts, offset, facts)
			straight.Step(ts, offset, facts)
			got, want := st.Rows(0), straight.Rows(0)
			if !same(got, want) {
				t.Fatalf("%s, seed %d, event %d: %v, without restoring %v", w.name, *seedFlag, i, got, want)
			}
			fired += len(want)
			st.Commit()
			straight.Commit()
		}
		if !bytes.Equal(st.AppendState(nil), straight.AppendState(nil)) {
			t.Errorf("%s, seed %d: the state restored ends otherwise", w.name, *seedFlag)
		}
		if fired == 0 {
			t.Errorf("%s: nothing fired", w.name)
		}
	}
}

// headerLen is the length of version and fingerprint.
const headerLen = 17

// FuzzRestore feeds arbitrary bytes behind a right header. What is accepted must
// encode to itself and be fit for further steps.
func FuzzRestore(f *testing.F) {
	plan := restorePlan(f)
	for seed := range uint64(4) {
		f.Add(saved(plan, seed, int(seed)*7)[headerLen:])
	}
	header := plan.New().AppendState(nil)[:headerLen]
	f.Fuzz(func(t *testing.T, tail []byte) {
		state := append(bytes.Clone(header), tail...)
		st, err := plan.Restore(state)
		if err != nil {
			if !errors.Is(err, mfotl.ErrState) {
				t.Fatalf("error %v is not ErrState", err)
			}
			return
		}
		if !bytes.Equal(st.AppendState(nil), state) {
			t.Fatal("accepted a state that encodes otherwise")
		}
		for _, tp := range newGenerator(1).trace(5, 0.3) {
			st.Step(tp.TS, tp.Offset, tp.Facts)
			for i := range plan.Formulas() {
				st.Rows(i)
			}
			st.Commit()
		}
		if _, err := plan.Restore(st.AppendState(nil)); err != nil {
			t.Fatalf("a state reached from an accepted one is refused: %v", err)
		}
	})
}
