package future_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/future"
	"github.com/aspis-rv/aspis/internal/monpoly"
	"github.com/aspis-rv/aspis/internal/monpoly/reference"
)

// TestReferenceAnswers compares with the frozen answers of MonPoly to formulas with
// future operators: random ones, and those that probe an edge.
func TestReferenceAnswers(t *testing.T) {
	compared, tails, answers := 0, 0, 0
	var refused []string
	for dir, c := range reference.Cases(t, reference.Answers) {
		flags, known := map[string]bool{`"flags": []`: true, `"flags": ["-nonewlastts"]`: false}, false
		flush := true
		for text, does := range flags {
			if strings.Contains(c["meta.json"], text) {
				flush, known = does, true
			}
		}
		f, _ := syntax.Parse(c["formula.mfotl"], syntax.Options{Mode: syntax.MonPoly})
		if f == nil || !known || !looksAhead(f) {
			continue
		}
		sig, err := monpoly.ParseSignature([]byte(c["sig"]), dir)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		checked, diags := check.Check(f, sig, check.Options{Mode: syntax.MonPoly, BuiltIn: true, Future: true})
		if checked == nil {
			refused = append(refused, fmt.Sprintf("%s: %v", dir, diags))
			continue
		}
		plan, err := future.Compile(checked, future.WithEngine(mfotl.WithBuiltIns(), mfotl.WithMonPolyEmpty()))
		if err != nil {
			refused = append(refused, fmt.Sprintf("%s: %v", dir, err))
			continue
		}
		compared++
		got := answer(t, plan, sig, c["log"], flush)
		want := lines(c["expected.stdout"])
		if strings.Contains(c["meta.json"], `"naive": "prefix"`) && len(got) > len(want) {
			got = got[:len(want)] // MonPoly leaves the undetermined tail out
			tails++
		}
		answers += len(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s\nas core %s\ngot\n%s\nwant\n%s", dir, c["formula.mfotl"], checked.Core,
				strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d compared with %d lines of answers, %d of them up to an undetermined tail; %d refused:\n%s",
		compared, answers, tails, len(refused), strings.Join(refused, "\n"))
	if len(refused) > 0 || compared < 121 || answers < 1800 || tails > 3 {
		t.Errorf("%d refused, only %d cases and %d lines of answers compared, %d up to a tail", len(refused), compared, answers, tails)
	}
}

func looksAhead(f syntax.Formula) bool {
	found := false
	syntax.Walk(f, func(f syntax.Formula) bool {
		switch f.(type) {
		case *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until:
			found = true
		case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
			*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since,
			*syntax.Agg, *syntax.Let, *syntax.New,
			*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		}
		return !found
	})
	return found
}

// answer prints what is satisfied as MonPoly does. The reader overwrites the facts of a
// time point with those of the next.
func answer(t *testing.T, plan *future.Plan, sig check.Signature, log string, flush bool) []string {
	t.Helper()
	var out []byte
	emit := func(v future.Verdict) {
		if v.Fault != nil {
			t.Error(v.Fault)
		}
		out = monpoly.Style{}.Append(out, &monpoly.Verdict{Index: v.Index, TS: v.TS, Rows: v.Rows})
	}
	in, r := monpoly.NewReader(strings.NewReader(log), "log", sig, func(string) bool { return true }), plan.New()
	for {
		var p monpoly.Point
		err := in.Next(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.Step(p.TS, p.Facts, emit)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if flush {
		if err := r.Flush(emit); err != nil {
			t.Fatal(err)
		}
	}
	return lines(string(out))
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
