package policy

import (
	"os"
	"testing"
)

func load(tb testing.TB, dir string) *Bundle {
	tb.Helper()
	b, found := Load(dir)
	if len(found) > 0 {
		src := map[string]string{}
		for _, d := range found {
			data, err := os.ReadFile(dir + "/" + d.File)
			if err == nil {
				src[d.File] = string(data)
			}
		}
		tb.Fatalf("%s:\n%s", dir, found.Render(src))
	}
	return b
}

func TestShippedBundlesAreClean(t *testing.T) {
	for _, dir := range []string{"../../policies/baseline", "testdata/consent"} {
		b := load(t, dir)
		if len(b.Clauses) < 5 || len(b.Tests) < 5 {
			t.Errorf("%s has %d clauses and %d tests", dir, len(b.Clauses), len(b.Tests))
		}
		t.Log(b)
	}
}
