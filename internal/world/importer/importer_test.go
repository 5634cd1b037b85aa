package importer

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
)

// show prints a graph as tests read it.
func show(g *Graph) string {
	var out []string
	for _, v := range g.Vertices {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s:%s %s %s", v.Name, v.Sort, v.Domain, strings.Join(v.Labels, ","))))
	}
	for _, e := range g.Edges {
		out = append(out, fmt.Sprintf("%s-%s %d", e.From, e.To, e.Distance))
	}
	for _, c := range g.Channels {
		out = append(out, fmt.Sprintf("%s>%s %d %v", c.From, c.To, c.Weight, c.Open))
	}
	for _, p := range g.Ignored {
		out = append(out, "ignored "+p.Name)
	}
	return strings.Join(out, "; ")
}

const keys = `<key id="n" for="node" attr.name="labels"/><key id="o" for="node" attr.name="domain"/><key id="s" for="node" attr.name="sort"/>` +
	`<key id="d" for="edge" attr.name="distance"/><key id="w" for="edge" attr.name="weight"/><key id="p" for="edge" attr.name="open"/>` +
	`<key id="x" attr.name="colour"/>`

func ml(body string) string {
	return "<?xml version=\"1.0\"?>\n<!-- c --><graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">" + keys + "\n<graph>" + body + "</graph></graphml>"
}

func TestGraphML(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{ml(``), ""},
		{ml(`<node id="a"/>`), "a:physical"},
		{ml(`<node id="a &amp; b"><data key="n"> x, ,y z </data></node>`), "a & b:physical  x,y z"},
		{ml(`<node id="a"><data key="o">MED</data></node>`), "a:informational MED"},
		{ml(`<node id="a"><data key="s">informational</data><desc>text</desc></node>`), "a:informational"},
		{ml(`<node id="a"><data key="x">red</data></node><node id="b"><data key="x">red</data></node>`), "a:physical; b:physical; ignored colour"},
		{ml(`<edge source="a" target="b"><data key="d">5.0</data></edge>`), "a-b 5"},
		{ml(`<edge source="a" target="b" directed="true"><data key="p">true</data></edge>`), "a>b -1 true"},
		{ml(`<edge source="a" target="b" directed="true"><data key="w">2</data><data key="p">0</data></edge>`), "a>b 2 false"},
		{strings.Replace(ml(`<edge source="a" target="b"><data key="p">1</data></edge>`), "<graph>", `<graph edgedefault="directed">`, 1), "a>b -1 true"},
		{`<graphml><key id="d" for="edge" attr.name="distance"><default>7</default></key><key id="p" for="edge" attr.name="open"><default>false</default></key>` +
			`<graph><edge source="a" target="b"/><edge source="a" target="b" directed="true"/></graph></graphml>`, "a-b 7; a>b -1 false"},
		{`<graphml><key id="d" for="node" attr.name="labels"><default>l</default></key><data key="d">of the file</data><graph><node id="a"/></graph></graphml>`, "a:physical  l"},
	} {
		g, err := GraphML([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		} else if got := show(g); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func geo(features ...string) string {
	return `{"type": "FeatureCollection", "name": {"x": [1, [2]]}, "features": [` + strings.Join(features, ",\n") + "]}"
}

func TestGeoJSON(t *testing.T) {
	line := `"geometry": {"type": "LineString", "coordinates": [[1, 2], [3.5, 4]]}`
	for _, tt := range []struct{ text, want string }{
		{geo(), ""},
		{geo(`{"type": "Feature", "id": "a", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": null}`), "a:physical"},
		{geo(`{"type": "Feature", "id": 7, "geometry": null, "bbox": [1, 2]}`), "7:physical"},
		{geo(`{"type": "Feature", "id": "a", "properties": {"name": "b", "labels": ["x", "y, z"], "domain": null, "o": {"a": [1]}}}`), "b:physical  x,y, z; ignored o"},
		{geo(`{"type": "Feature", "properties": {"name": "b", "labels": "x,y", "domain": "MED"}}`), "b:informational MED x,y"},
		{geo(`{"type": "Feature", ` + line + `, "properties": {"from": "a", "to": "b", "distance": 10, "name": "road"}}`), "a-b 10"},
		{geo(`{"type": "Feature", "properties": {"from": "a", "to": "b", "distance": 10, "channel": false}}`), "a-b 10"},
		{geo(`{"type": "Feature", ` + line + `, "properties": {"channel": true, "from": "a", "to": "b", "open": false, "weight": 0}}`), "a>b 0 false"},
	} {
		g, err := GeoJSON([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		} else if got := show(g); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// The offset of an error is where the marked text begins.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		read             func([]byte) (*Graph, error)
		text, part, mark string
	}{
		{GraphML, "", "has no graph", ""},
		{GraphML, "<graphml/>", "has no graph", "<graphml/>"},
		{GraphML, "<html/>", "not GraphML", "<html/>"},
		{GraphML, "<graphml><graph>", "cannot be read", ""},
		{GraphML, "<!DOCTYPE x [<!ENTITY a 'b'>]><graphml/>", "document type", "<!DOCTYPE"},
		{GraphML, "<graphml><graph/>\n<graph/></graphml>", "further graphs", "<graph/></graphml>"},
		{GraphML, ml(`<node id="a"><graph/></node>`), "nested and further graphs", "<graph/>"},
		{GraphML, ml(`<hyperedge/>`), "hyperedge is not supported", "<hyperedge"},
		{GraphML, ml(`<node id=" "/>`), "no name", "<node"},
		{GraphML, ml(`<node id="a"><data key="q">x</data></node>`), `no key "q"`, "<data"},
		{GraphML, ml(`<node id="a"><data key="n">x</data><data key="n">y</data></node>`), "stands twice", "<data key=\"n\">y"},
		{GraphML, ml(`<node id="a"><data key="s">x</data></node>`), `"x" is no sort`, "<data"},
		{GraphML, ml(`<edge source="a" target="b"/>`), "has no distance", "<edge"},
		{GraphML, ml(`<edge source="a"/>`), "lacks an end", "<edge"},
		{GraphML, ml(`<edge source="a" target="b"><data key="d">1.5</data></edge>`), `"1.5" is not a distance`, "<data"},
		{GraphML, ml(`<edge source="a" target="b"><data key="d">-1</data></edge>`), "is not a distance", "<data"},
		{GraphML, ml(`<edge source="a" target="b"><data key="w">1</data></edge>`), "cannot have the property weight", "<data"},
		{GraphML, ml(`<edge source="a" target="b" directed="true"/>`), "does not say whether it is open", "<edge"},
		{GraphML, ml(`<edge source="a" target="b" directed="true"><data key="p">yes</data></edge>`), `"yes" does not say`, "<data"},
		{GraphML, ml(`<edge source="a" target="b" directed="true"><data key="d">1</data></edge>`), "cannot have the property distance", "<data"},
		{GraphML, `<graphml><key id="a"/><key id="a"/></graphml>`, "stands twice", `<key id="a"/></graphml>`},
		{GraphML, `<graphml><node id="a"/></graphml>`, "outside of a graph", "<node"},
		{GraphML, strings.Repeat("<a>", maxDepth+1), "not GraphML", ""},
		{GraphML, "<graphml>" + strings.Repeat("<a>", maxDepth), "nested more than", ""},
		{GraphML, "<graphml><key id='a' attr.name='sort'/><key id='b' attr.name='sort'/><graph><node id='n'><data key='a'>physical</data><data key='b'>physical</data></node></graph></graphml>", "two keys", "<data key='b'>"},
		{GeoJSON, "", "cannot be read", ""},
		{GeoJSON, "[]", "starts with", "[]"},
		{GeoJSON, "{}", "no collection", "{}"},
		{GeoJSON, `{"type": "Feature", "features": []}`, "no collection", "{"},
		{GeoJSON, geo() + "x", "follows", ""},
		{GeoJSON, geo(`5`), "starts with", ""},
		{GeoJSON, geo(`{}`), "no feature", ""},
		{GeoJSON, geo(`{"type": "Feature"}`), "no name", `type": "Feature"}`},
		{GeoJSON, geo(`{"type": "Feature", "id": "a", "id": "b"}`), "stands twice", `id": "b"`},
		{GeoJSON, geo(`{"type": "Feature", "id": "a", "properties": {"sort": "y", "sort": "y"}}`), "stands twice", `sort": "y"}`},
		{GeoJSON, geo(`{"type": "Feature", "id": "a", "properties": {"sort": "y"}}`), "no sort", `sort"`},
		{GeoJSON, geo(`{"type": "Feature", "id": "a", "properties": {"labels": [[1]]}}`), "list of texts", ""},
		{GeoJSON, geo(`{"type": "Feature", "properties": {"from": "a", "to": "b"}}`), "no distance", `type": "Feature"`},
		{GeoJSON, geo(`{"type": "Feature", "properties": {"from": "a", "to": "b", "distance": 1e3}}`), "is not a distance", `distance"`},
		{GeoJSON, geo(`{"type": "Feature", "properties": {"from": "a", "to": "b", "channel": 1}}`), "whether this is a channel", `channel"`},
		{GeoJSON, geo(`{"type": "Feature", "geometry": {"type": "LineString"}, "properties": {"channel": true, "open": true}}`), "lacks an end", `type": "Feature"`},
		{GeoJSON, geo(`{"type": "Feature", "bbox": ` + strings.Repeat("[", 40)), "nested more than", ""},
	} {
		_, err := tt.read([]byte(tt.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, tt.part) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.part)
			continue
		}
		if tt.mark != "" && e.Offset != strings.Index(tt.text, tt.mark) {
			t.Errorf("%s: %v, want it at %d", tt.text, err, strings.Index(tt.text, tt.mark))
		}
		if e.Offset < 0 || e.Offset > len(tt.text) {
			t.Errorf("%s: %v is outside", tt.text, err)
		}
	}
}

func TestTooManyElements(t *testing.T) {
	b := builder{}
	b.graph.Vertices = make([]Vertex, MaxElements-1)
	if err := b.vertex("a", nil, 0); err != nil {
		t.Error(err)
	}
	if err := b.vertex("b", nil, 0); err == nil {
		t.Error("one more is taken")
	}
}

// fuzz holds that a reader never panics, places its errors, gives the same twice, and lets
// through no distance or weight that a world would refuse.
func fuzz(f *testing.F, read func([]byte) (*Graph, error)) {
	f.Helper()
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := read(data)
		again, _ := read(data)
		if !reflect.DeepEqual(g, again) || (g == nil) == (err == nil) {
			t.Fatalf("%v %v, then %v", g, err, again)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(data) || e.Message == "" {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		for _, v := range g.Vertices {
			if v.Name == "" || v.Sort == world.Unknown || slices.Contains(v.Labels, "") {
				t.Fatalf("vertex %+v", v)
			}
		}
		for _, e := range g.Edges {
			if e.Distance < 0 || e.From == "" || e.To == "" {
				t.Fatalf("edge %+v", e)
			}
		}
		for _, c := range g.Channels {
			if c.Weight < world.WeightByDomain || c.From == "" || c.To == "" {
				t.Fatalf("channel %+v", c)
			}
		}
	})
}

func FuzzGraphML(f *testing.F) {
	f.Add([]byte(ml(`<node id="a"><data key="n">x,y</data></node><edge source="a" target="b"><data key="d">5</data></edge>`)))
	f.Add([]byte(ml(`<edge source="a" target="b" directed="1"><data key="w">5</data><data key="p">true</data></edge>`)))
	f.Add([]byte(`<graphml><key id="d"><default>7</default></key><graph></graph></graphml>`))
	fuzz(f, GraphML)
}

func FuzzGeoJSON(f *testing.F) {
	f.Add([]byte(geo(`{"type": "Feature", "id": "a", "geometry": null, "properties": {"labels": ["x"]}}`)))
	f.Add([]byte(geo(`{"type": "Feature", "properties": {"from": "a", "to": "b", "open": true, "channel": true}}`)))
	f.Add([]byte("{\"\xff\xff\": 1}"))
	fuzz(f, GeoJSON)
}
