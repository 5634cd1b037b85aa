package policy

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// BenchmarkLoadWorld loads a bundle with a graph of 20,000 vertices and 80,000 edges.
func BenchmarkLoadWorld(bench *testing.B) {
	const n = 20_000
	var s strings.Builder
	s.WriteString(`<graphml><key id="d" for="edge" attr.name="distance"><default>5</default></key><graph>`)
	for i := range n {
		fmt.Fprintf(&s, "<node id='v%d'/>\n", i)
		for _, step := range []int{1, 7, 131, 2000} {
			fmt.Fprintf(&s, "<edge source='v%d' target='v%d'/>\n", i, (i+step)%n)
		}
	}
	s.WriteString("</graph></graphml>")
	fsys := fstest.MapFS{
		policyFile:  {Data: []byte(filled("trace: tenant\nworld: {import: g.graphml}"))},
		"g.graphml": {Data: []byte(s.String())},
	}
	for bench.Loop() {
		if b, found := LoadFS(fsys); b == nil || len(b.World.Edges) != 4*n {
			bench.Fatal(found)
		}
	}
}
