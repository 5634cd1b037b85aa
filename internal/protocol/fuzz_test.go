package protocol

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// FuzzRestore: any bytes are refused or give a partition that keeps its invariants,
// writes itself, and can be stepped.
func FuzzRestore(f *testing.F) {
	for seed := range uint64(4) {
		p := New(7, smallRules())
		g := newGenerator(rand.New(rand.NewPCG(seed, 2)), p) //nolint:gosec // a test's chance is a seed
		for i := range uint64(40) {
			p.Step(i+1, g.next())
		}
		b, err := p.AppendState(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{})
	f.Add([]byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Restore(b, smallRules())
		if err != nil {
			return
		}
		first, err := p.AppendState(nil)
		if err != nil {
			t.Fatalf("restored, but it cannot be written: %v", err)
		}
		q, err := Restore(first, smallRules())
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if second, _ := q.AppendState(nil); !bytes.Equal(first, second) {
			t.Fatalf("written twice, the state differs")
		}
		g := newGenerator(rand.New(rand.NewPCG(uint64(len(b)), 3)), p) //nolint:gosec // a test's chance is a seed
		for i := range uint64(30) {
			p.Step(p.next+i, g.next())
		}
	})
}

// FuzzStep plays records chosen by the input; see TestRandomSequences.
func FuzzStep(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 4)) //nolint:gosec // a test's chance is a seed
	for _, n := range []int{0, 60, 400} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tape := &tape{b: b}
		if err := playRandom(tape, min(len(b)/4, 200), map[EffectKind]int{}); err != nil {
			t.Fatal(err)
		}
	})
}

// tape is a chooser that reads bytes, and zeros after the end.
type tape struct{ b []byte }

func (t *tape) IntN(n int) int {
	if len(t.b) == 0 {
		return 0
	}
	x := int(t.b[0])
	t.b = t.b[1:]
	return x % n
}

// TestStepIgnoresOldOffsets: a record at or before an offset already folded is none.
func TestStepIgnoresOldOffsets(t *testing.T) {
	p := New(7, DefaultRules())
	tick := &schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 1, Time: second}}
	if n := len(p.Step(5, tick)); n != 1 {
		t.Fatalf("the first record has %d effects", n)
	}
	for _, offset := range []uint64{0, 4, 5} {
		if e := p.Step(offset, &schema.Event{Kind: schema.KindTick, Tick: &schema.Tick{N: 2, Time: 2 * second}}); len(e) != 0 {
			t.Errorf("the record at %d has the effect %s", offset, effectText(&e[0]))
		}
	}
	if p.Next() != 6 || p.LastTick().N != 1 {
		t.Errorf("the partition is at %d, tick %d", p.Next(), p.LastTick().N)
	}
}
