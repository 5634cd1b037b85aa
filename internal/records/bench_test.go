package records

import (
	"strings"
	"testing"
)

// BenchmarkParse reads a result of five transactions, the commonest one recorded.
func BenchmarkParse(b *testing.B) {
	const record = "- amount: 100.0\n  date: '2022-01-01'\n  id: 1\n  recipient: CH9300762011623852957\n  recurring: false\n  sender: me\n  subject: Pizza party\n"
	v, err := Parse(YAML, strings.Repeat(record, 5))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range []Format{JSON, YAML, Python} {
		text, err := Print(f, v)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(f, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
