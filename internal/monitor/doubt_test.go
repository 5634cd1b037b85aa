package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestSoundWhateverTheOutcome leaves calls in doubt, lets others fail, and judges an event on three worlds: with
// the doubt, as if the call had succeeded, and as if it had failed. What is said to be sound
// with the doubt is the same in all three.
func TestSoundWhateverTheOutcome(t *testing.T) {
	sound, incomplete, differ := 0, 0, 0
	for seed := *seedFlag; seed < *seedFlag+400; seed++ {
		g := newGenerator(seed)
		texts := []string{g.formula(), g.formula(), g.formula(), g.formula()}
		b, _ := bundle(t, g.spec, texts...)
		engine, err := monitor.New(b, aspects.Spatial)
		if err != nil {
			t.Fatal(err)
		}
		m := engine.New()
		var log, flying []string
		for range 14 {
			in := g.event()
			in.Ended = aspects.Ended{}
			if len(flying) > 0 && g.IntN(4) == 0 {
				in.Ended = aspects.Ended{Call: pick(g, flying), Outcome: pick(g, []aspects.Outcome{aspects.EffectsStay, aspects.EffectsGo})}
				flying = slices.DeleteFunc(flying, func(call string) bool { return call == in.Ended.Call })
			}
			log = append(log, fmt.Sprintf("#%d %v %+v, ended %+v", in.Offset, in.Facts, in.Edits, in.Ended))
			for _, call := range g.calls {
				keeps, fails := settle(t, engine, m, call, aspects.EffectsStay), settle(t, engine, m, call, aspects.EffectsGo)
				doubts, keep, fail := m.Judge(in), keeps.Judge(in), fails.Judge(in)
				for i := range texts {
					id := fmt.Sprintf("%02d", i)
					agree := sameRows(partOf(doubts, id), partOf(keep, id)) && sameRows(partOf(doubts, id), partOf(fail, id))
					switch isSound := partOf(doubts, id).Completeness == verdict.Sound; {
					case isSound && !agree:
						t.Fatalf("seed %d, call %s in doubt: %s\nis sound with %v\nbut if it is kept %v, if it fails %v\nworld %+v\n%s",
							seed, call, texts[i], partOf(doubts, id).Rows, partOf(keep, id).Rows, partOf(fail, id).Rows, *g.spec, strings.Join(log, "\n"))
					case isSound:
						sound++
					default:
						incomplete++
					}
					if !agree {
						differ++
					}
				}
			}
			m.Adopt(in)
			switch {
			case in.Call == "":
			case g.IntN(3) > 0:
				flying = append(flying, in.Call)
			default:
				g.calls = append(g.calls, in.Call)
				log = append(log, "  in doubt")
				m.(aspects.Settler).Settle(aspects.Ended{Call: in.Call, Outcome: aspects.EffectsDoubt})
			}
		}
	}
	t.Logf("%d answers sound, %d incomplete, %d differ by the outcome", sound, incomplete, differ)
	if min(sound, incomplete, differ) < 100 {
		t.Error("the generator does not exercise it")
	}
}

// settle is a copy of a monitor that has heard how a call ended.
func settle(t *testing.T, engine *monitor.Engine, m aspects.Monitor, call string, outcome aspects.Outcome) aspects.Monitor {
	t.Helper()
	other, err := engine.Restore(m.AppendState(nil))
	if err != nil {
		t.Fatal(err)
	}
	other.(aspects.Settler).Settle(aspects.Ended{Call: call, Outcome: outcome})
	return other
}

// partOf is the part of a clause; without one, a sound part without rows.
func partOf(parts []schema.Part, clause string) schema.Part {
	at := slices.IndexFunc(parts, func(p schema.Part) bool { return p.Clause == clause })
	if at < 0 {
		return schema.Part{}
	}
	return parts[at]
}

func sameRows(a, b schema.Part) bool {
	return slices.EqualFunc(a.Rows, b.Rows, func(x, y schema.Row) bool { return x.Mark == y.Mark && slices.Equal(x.Values, y.Values) })
}

// TestNoveltyInDoubt shows events that are not about what a call in doubt changed, and of
// which it is not known all the same what they bring about.
func TestNoveltyInDoubt(t *testing.T) {
	for _, c := range []struct {
		name, formula string
		doubt, effect world.Edit
		want          string
	}{
		{
			"a channel behind a record", `NEW (reaches(r, d)) AND NOT ours(d)`, place("A", "partner"), open("gateway", "partner"), "00 incomplete",
		},
		{
			"a channel elsewhere", `NEW (reaches(r, d)) AND NOT ours(d)`, place("B", "partner"), open("gateway", "partner"), `00(A,PARTNER)F@[1 3] reaches("A", "PARTNER"): home>gateway>partner`,
		},
		{
			"a mark on a record that may be there", `NEW (vertex(l) AND AT l (EXISTS s. (holds(@l, s) AND marked(s, "PHI"))))`,
			world.Edit{Op: world.Remove, A: "A", B: "home"},
			phi("A"), "00 incomplete",
		},
	} {
		s := tell(t, fleet(), c.formula)
		s.happens(place("A", "home"))
		s.happens(c.doubt)
		s.m.(aspects.Settler).Settle(aspects.Ended{Call: fmt.Sprint(s.n), Outcome: aspects.EffectsDoubt})
		if got := strings.TrimSpace(show(s.m.Judge(s.input([]world.Edit{c.effect})))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
