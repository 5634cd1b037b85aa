package monpoly

import (
	"math"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func row(values ...schema.Value) schema.Row { return schema.Row{Values: values} }

func TestAnswer(t *testing.T) {
	i, s, f := schema.IntValue, schema.StringValue, schema.FloatValue
	for _, tc := range []struct {
		name  string
		style Style
		rows  []schema.Row
		want  string
	}{
		{"nothing", Style{}, nil, ""},
		{"closed", Style{}, []schema.Row{row()}, "@7 (time point 3): true\n"},
		{"tuples", Style{}, []schema.Row{row(i(-1), s("a b")), row(i(2), s(""))}, "@7 (time point 3): (-1,\"a b\") (2,\"\")\n"},
		{"quotes", Style{}, []schema.Row{row(s(`"q"`), s(`\"q\"`), s(`"`))}, "@7 (time point 3): (\"q\",\"\\\"q\\\"\",\")\n"},
		{"one line", Style{}, []schema.Row{row(s("a\n@8 (time point 4): true\r"))}, "@7 (time point 3): (\"a\\n@8 (time point 4): true\\r\")\n"},
		{"floats", Style{}, []schema.Row{row(f(8.0/3), f(1e6), f(123456), f(1e-5))}, "@7 (time point 3): (2.66667,1e+06,123456,1e-05)\n"},
		{"exact floats", Style{ExactFloats: true}, []schema.Row{row(f(8.0/3), f(math.Inf(-1)))}, "@7 (time point 3): (2.6666666666666665,-inf)\n"},
		{"verbose", Style{Verbose: true}, []schema.Row{row(i(1)), row(i(2))}, "@7 (time point 3): ((1),(2))\n"},
		{"verbose nothing", Style{Verbose: true}, nil, "@7 (time point 3): ()\n"},
		{"verbose closed", Style{Verbose: true, Closed: true}, nil, "@7 (time point 3): false\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(tc.style.Append(nil, &Verdict{Index: 3, TS: 7, Rows: tc.rows})); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestFloatsAsC holds the results of printf("%g").
func TestFloatsAsC(t *testing.T) {
	for want, f := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "1": 1, "100000": 100000, "1e+06": 1000000, "999999": 999999, "1e+06 ": 999999.5, "123457": 123456.7,
		"0.0001": 0.0001, "0.00012345": 0.00012345, "1.2345e-05": 0.000012345, "1e+100": 1e100, "1e-100": 1e-100, "0.1": 0.1, "0.333333": 1.0 / 3,
		"2.5": 2.5, "1.79769e+308": math.MaxFloat64, "4.94066e-324": math.SmallestNonzeroFloat64, "10": 10, "1234.5": 1234.5,
		"inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN(), "-nan": math.Copysign(math.NaN(), -1),
	} {
		if got := string(appendFloat(nil, f, 6)); got != want && got+" " != want {
			t.Errorf("%b: got %s, want %s", f, got, want)
		}
	}
}

func TestAnswerAsJSON(t *testing.T) {
	rows := []schema.Row{{
		Values:  []schema.Value{schema.IntValue(1), schema.StringValue("a\n\"b\""), schema.FloatValue(0.1), schema.FloatValue(math.Inf(1))},
		Witness: []uint64{0, 3},
	}}
	got, err := AppendJSON(nil, &Verdict{Index: 3, TS: 7, Rows: rows})
	want := `{"ts":7,"tp":3,"tuples":[[1,"a\n\"b\"",0.1,"inf"]],"witness":[[0,3]]}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := AppendJSON(nil, &Verdict{Rows: []schema.Row{row()}}); err != nil || string(got) != `{"ts":0,"tp":0,"tuples":[[]],"witness":[[]]}`+"\n" {
		t.Errorf("a closed formula: got %s, %v", got, err)
	}
	if got, err := AppendJSON(nil, &Verdict{}); err != nil || len(got) > 0 {
		t.Errorf("no tuple: got %s, %v", got, err)
	}
}
