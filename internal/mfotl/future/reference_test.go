package future_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/future"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestReferenceAnswers compares with the frozen answers of MonPoly to formulas with
// future operators: random ones, and those that probe an edge.
func TestReferenceAnswers(t *testing.T) {
	compared, tails, lines := 0, 0, 0
	var refused []string
	for dir, c := range referenceCases(t) {
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
		sig := readSignature(t, c["sig"])
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
		got := answer(t, plan, readLog(t, sig, c["log"]), flush)
		want := strings.FieldsFunc(c["expected.stdout"], func(r rune) bool { return r == '\n' })
		if strings.Contains(c["meta.json"], `"naive": "prefix"`) && len(got) > len(want) {
			got = got[:len(want)] // MonPoly leaves the undetermined tail out
			tails++
		}
		lines += len(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s\nas core %s\ngot\n%s\nwant\n%s", dir, c["formula.mfotl"], checked.Core,
				strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d compared with %d lines of answers, %d of them up to an undetermined tail; %d refused:\n%s",
		compared, lines, tails, len(refused), strings.Join(refused, "\n"))
	if len(refused) > 0 || compared < 121 || lines < 1800 || tails > 3 {
		t.Errorf("%d refused, only %d cases and %d lines of answers compared, %d up to a tail", len(refused), compared, lines, tails)
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
			*syntax.Agg, *syntax.Let, *syntax.New:
		}
		return !found
	})
	return found
}

// answer prints what is satisfied as MonPoly does.
func answer(t *testing.T, plan *future.Plan, log []point, flush bool) []string {
	t.Helper()
	var out []string
	emit := func(v future.Verdict) {
		if v.Fault != nil {
			t.Error(v.Fault)
		}
		if len(v.Rows) == 0 {
			return
		}
		line := fmt.Sprintf("@%d (time point %d):", v.TS, v.Index)
		for _, r := range v.Rows {
			if len(r.Values) == 0 {
				line += " true"
				continue
			}
			var vs []string
			for _, v := range r.Values {
				text := v.String()
				if v.Kind == schema.KindFloat {
					text = strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v.Float, 'g', 6, 64)), "+")
				}
				vs = append(vs, text)
			}
			line += " (" + strings.Join(vs, ",") + ")"
		}
		out = append(out, line)
	}
	r := plan.New()
	for _, tp := range log {
		if err := r.Step(tp.ts, tp.facts, emit); err != nil {
			t.Fatal(err)
		}
	}
	if flush {
		if err := r.Flush(emit); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// referenceCases reads the archive: by name of the case, the contents of its files.
func referenceCases(t *testing.T) map[string]map[string]string {
	t.Helper()
	shared := os.Getenv("ASPIS_SHARED")
	if shared == "" {
		t.Skip("ASPIS_SHARED is not set: the reference cases are not at hand")
	}
	file, err := os.Open(filepath.Join(shared, "data", "mfotl", "cases.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]map[string]string{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return cases
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatalf("%s: %v", header.Name, err)
		}
		dir := path.Base(path.Dir(header.Name))
		if cases[dir] == nil {
			cases[dir] = map[string]string{}
		}
		cases[dir][path.Base(header.Name)] = string(content)
	}
}

// readSignature reads `name(type, …)`, one to a line.
func readSignature(t *testing.T, text string) check.Signature {
	t.Helper()
	types := map[string]schema.ValueKind{"int": schema.KindInt, "string": schema.KindString, "float": schema.KindFloat}
	sig := check.Signature{}
	for line := range strings.Lines(text) {
		name, args, ok := strings.Cut(strings.TrimSpace(line), "(")
		if !ok {
			continue
		}
		kinds := []schema.ValueKind{}
		for _, a := range strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune(" ,)", r) }) {
			kind, ok := types[a[strings.LastIndexByte(a, ':')+1:]]
			if !ok {
				t.Fatalf("unknown type in %q", line)
			}
			kinds = append(kinds, kind)
		}
		sig[name] = kinds
	}
	return sig
}

// readLog reads `@ts name(a,…)(b,…) …` with one time point to a line.
func readLog(t *testing.T, sig check.Signature, text string) []point {
	t.Helper()
	var log []point
	for line := range strings.Lines(text) {
		fields := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), ";"))
		if len(fields) == 0 {
			continue
		}
		ts, err := strconv.ParseInt(strings.TrimPrefix(fields[0], "@"), 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		tp := point{ts: ts}
		for _, f := range fields[1:] {
			name, tuples, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
			for tuple := range strings.SplitSeq(tuples, ")(") {
				tp.facts = append(tp.facts, readFact(t, name, sig[name], tuple))
			}
		}
		log = append(log, tp)
	}
	return log
}

func readFact(t *testing.T, name string, kinds []schema.ValueKind, tuple string) schema.Fact {
	t.Helper()
	fact := schema.Fact{Name: name}
	args := strings.Split(tuple, ",")
	for i, k := range kinds {
		v := schema.Value{Kind: k}
		var err error
		switch k {
		case schema.KindInt:
			v.Int, err = strconv.ParseInt(args[i], 10, 64)
		case schema.KindString:
			v.Str = strings.Trim(args[i], `"`)
		case schema.KindFloat:
			v.Float, err = strconv.ParseFloat(args[i], 64)
		}
		if err != nil {
			t.Fatalf("%s(%s): %v", name, tuple, err)
		}
		fact.Args = append(fact.Args, v)
	}
	return fact
}
