package world_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// restore is what a process does that starts anew.
func restore(spec *world.Spec, state []byte) (*world.World, error) {
	w, err := world.New(spec)
	if err != nil {
		return nil, err
	}
	return w.Reopen(state)
}

// eventful is a world of the medevac spec with something of everything in it.
func eventful(tb testing.TB) *world.World {
	tb.Helper()
	w := newWorld(tb, medevac())
	w, _ = w.Apply([]world.Edit{
		{Op: world.Place, A: "A", B: "med_fwd"},
		{Op: world.AddVertex, A: "ridge", Sort: world.Physical, Names: []string{"masking"}},
		{Op: world.AddEdge, A: "ridge", B: "nowhere", N: 1500},
		{Op: world.Append, Name: "lz", A: "m1", Values: strs("ridge")},
		{Op: world.RemoveVertex, A: "med_rear"},
	}, world.Origin{Offset: 1})
	w, _ = w.Apply([]world.Edit{
		{Op: world.OpenChannel, A: "c2_cop", B: "coalition_cop", N: 4},
		{Op: world.Derive, A: "B", B: "A"},
		{Op: world.Mark, Name: "marked", Values: strs("B", "PHI"), Strength: verdict.Presumptive},
		{Op: world.Destroy, A: "A"},
	}, world.Origin{Offset: 2, Call: "c"})
	return w.Doubt("c")
}

func TestRestoreRefuses(t *testing.T) {
	w := eventful(t)
	state := w.AppendState(nil)
	if _, err := restore(w.Spec(), state); err != nil {
		t.Fatal(err)
	}
	other := medevac()
	other.Labels = []string{"another"}
	if _, err := restore(other, state); err == nil {
		t.Error("restored under another spec")
	}
	for i := range state {
		if _, err := restore(w.Spec(), state[:i]); err == nil {
			t.Errorf("restored the first %d bytes", i)
		}
	}
	if _, err := restore(w.Spec(), append(bytes.Clone(state), 0)); err == nil {
		t.Error("restored with a byte too many")
	}
}

// FuzzRestore: what is restored is written again byte for byte, and can go on; nothing panics.
func FuzzRestore(f *testing.F) {
	w := eventful(f)
	state := w.AppendState(nil)
	head := 33 // version and digest, which a fuzzer does not find
	f.Add(state[head:])
	f.Add(newWorld(f, medevac()).AppendState(nil)[head:])
	initial := newWorld(f, medevac())
	f.Fuzz(func(t *testing.T, tail []byte) {
		state := append(bytes.Clone(state[:head]), tail...)
		again, err := initial.Reopen(state)
		if err != nil {
			return
		}
		if got := again.AppendState(nil); !bytes.Equal(got, state) {
			t.Fatalf("written again as %x, was %x", got, state)
		}
		next, _ := again.Apply([]world.Edit{
			{Op: world.RemoveVertex, A: "c2_cop"},
			{Op: world.Move, A: "A", B: "med_fwd"},
			{Op: world.Set, Name: "lz", A: "m1"},
			{Op: world.AddVertex, A: "MED", Sort: world.Physical},
		}, world.Origin{Offset: 9, Call: "d"})
		next, _ = next.Revert("c", world.Origin{Offset: 10})
		for _, rel := range allRels() {
			scan(next, rel, make([]schema.Value, arity(rel)), 0, world.Unsafe) // reads all of it
		}
	})
}

// TestRandomDamage flips bytes of encodings; what is accepted is written again as it was read.
func TestRandomDamage(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	w := eventful(t)
	accepted := 0
	for range 5_000 {
		state := w.AppendState(nil)
		for range 1 + r.IntN(2) {
			state[33+r.IntN(len(state)-33)] = byte(r.UintN(256))
		}
		again, err := w.Reopen(state)
		if err != nil {
			continue
		}
		accepted++
		if !bytes.Equal(again.AppendState(nil), state) {
			t.Fatalf("seed %d: %x is written as %x", seed, state, again.AppendState(nil))
		}
	}
	if accepted == 0 {
		t.Error("nothing was accepted")
	}
}

// TestOldDoubtsStay: of more calls in doubt than are kept, the first cannot be taken back.
func TestOldDoubtsStay(t *testing.T) {
	w := newWorld(t, medevac())
	const calls = 65
	for i := range calls {
		call := fmt.Sprint("c", i)
		w, _ = w.Apply([]world.Edit{{Op: world.Place, A: fmt.Sprint("o", i), B: "med_fwd"}}, world.Origin{Offset: uint64(i + 1), Call: call})
		w = w.Doubt(call)
	}
	next, d := w.Revert("c0", world.Origin{Offset: 100})
	if next != w || !d.Empty() || !next.Doubtful("o0") {
		t.Error("the oldest call in doubt was taken back")
	}
	next, d = w.Revert("c1", world.Origin{Offset: 100})
	if !d.Touches(world.Rel{Kind: world.Holds}) || next.Doubtful("o1") {
		t.Error("the next one was not")
	}
	if again, err := restore(w.Spec(), w.AppendState(nil)); err != nil || again.Hash() != w.Hash() {
		t.Errorf("restore: %v", err)
	}
	if w = w.Keep("c0"); w.Doubtful("o0") {
		t.Error("a kept call is in doubt")
	}
}

// TestLimits: what goes beyond is not made, and the world says so for ever after.
func TestLimits(t *testing.T) {
	w := newWorld(t, medevac())
	long := string(make([]byte, 1<<13))
	next, d := w.Apply([]world.Edit{{Op: world.Place, A: long, B: "med_fwd"}}, world.Origin{Offset: 1})
	if !next.Overflowed() || !d.Empty() || w.Overflowed() {
		t.Error("a name without end was taken")
	}
	next, _ = next.Apply([]world.Edit{{Op: world.Place, A: "A", B: "med_fwd"}}, world.Origin{Offset: 2})
	if !next.Overflowed() {
		t.Error("the overflow is forgotten")
	}
	if again, err := restore(w.Spec(), next.AppendState(nil)); err != nil || !again.Overflowed() {
		t.Errorf("restore: %v", err)
	}
	var edits []world.Edit
	for i := range 1<<10 + 1 {
		edits = append(edits, world.Edit{Op: world.AddVertex, A: fmt.Sprint("x", i), Sort: world.Informational, B: fmt.Sprint("d", i)})
	}
	if next, _ = w.Apply(edits, world.Origin{Offset: 1}); !next.Overflowed() {
		t.Error("domains without end were taken")
	}
}

// TestForkBelongsToAnotherGoroutine runs two histories on one world at once.
func TestForkBelongsToAnotherGoroutine(t *testing.T) {
	w := newWorld(t, medevac())
	hashes := make(chan [32]byte)
	for range 4 {
		fork := w.Fork()
		go func() {
			for i := range 200 {
				fork, _ = fork.Apply([]world.Edit{
					{Op: world.Place, A: fmt.Sprint("o", i), B: "med_fwd"},
					{Op: world.OpenChannel, A: "c2_cop", B: "coalition_cop"},
					{Op: world.CloseChannel, A: "med_fwd", B: "c2_cop"},
				}, world.Origin{Offset: uint64(i + 1)})
			}
			hashes <- fork.Hash()
		}()
	}
	first := <-hashes
	for range 3 {
		if <-hashes != first {
			t.Error("equal histories, different worlds")
		}
	}
}

// TestRestoredIsAsFull: whether a world overflows does not depend on when it was restored, and
// names that nothing has any more take no room.
func TestRestoredIsAsFull(t *testing.T) {
	live := newWorld(t, medevac())
	restored := live
	for i := range uint64(1100) {
		name := fmt.Sprint("N", i)
		edits := []world.Edit{
			{Op: world.SetDomain, A: "med_rear", B: name},
			{Op: world.AddLabel, A: "med_rear", B: name},
			{Op: world.RemoveLabel, A: "med_rear", B: name},
		}
		live, _ = live.Apply(edits, world.Origin{Offset: i})
		restored, _ = restored.Apply(edits, world.Origin{Offset: i})
		if i == 600 {
			var err error
			if restored, err = restore(restored.Spec(), restored.AppendState(nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if live.Overflowed() || live.Hash() != restored.Hash() {
		t.Errorf("overflowed: %v, and %v after it was restored; with equal states: %v",
			live.Overflowed(), restored.Overflowed(), live.Hash() == restored.Hash())
	}
	for i := range uint64(1100) { // and if they are all in use, there is an end
		edits := []world.Edit{{Op: world.AddVertex, A: fmt.Sprint("v", i), Sort: world.Informational, B: fmt.Sprint("M", i)}}
		live, _ = live.Apply(edits, world.Origin{Offset: i})
		restored, _ = restored.Apply(edits, world.Origin{Offset: i})
		if live.Hash() != restored.Hash() {
			t.Fatalf("domain %d: the states differ", i)
		}
	}
	if !live.Overflowed() {
		t.Error("more than 1,024 domains are in use")
	}
}

// TestGraphDoubtIsOfTheState: whether the graph is in doubt is the same in a world and in the
// restored one, also when a later event has written what the call in doubt wrote.
func TestGraphDoubtIsOfTheState(t *testing.T) {
	w := newWorld(t, medevac())
	w, _ = w.Apply([]world.Edit{{Op: world.OpenChannel, A: "c2_cop", B: "coalition_cop", N: 3}}, world.Origin{Offset: 1, Call: "c"})
	w = w.Doubt("c")
	later, _ := w.Apply([]world.Edit{{Op: world.CloseChannel, A: "c2_cop", B: "coalition_cop"}}, world.Origin{Offset: 2})
	for _, x := range []struct {
		w    *world.World
		want bool
	}{{w, true}, {later, false}} {
		again, err := restore(x.w.Spec(), x.w.AppendState(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{x.w.GraphDoubtful(), again.GraphDoubtful()}; got != [2]bool{x.want, x.want} {
			t.Errorf("in doubt before and after: %v, want %v", got, x.want)
		}
	}
}
