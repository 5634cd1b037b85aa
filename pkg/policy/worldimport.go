package policy

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/world/importer"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// String writes the place as file:line.
func (s spot) String() string { return s.file + ":" + strconv.Itoa(s.span.Start.Line) }

// imported is a graph read from another format, and its file.
type imported struct {
	*importer.Graph
	file *source.File
}

func (g imported) at(offset int) spot {
	return spot{g.file.Name, g.file.Span(offset, offset)}
}

// imports reads the graphs that `import: graph.graphml` names, or a list of them.
func (l *loader) imports(n *source.Node) []imported {
	var out []imported
	read := map[string]bool{}
	for _, item := range l.listOf(n) {
		name, ok := l.text(item, "a graph to import")
		switch {
		case !ok:
		case !insidePath(name):
			l.report(item, badPath(name))
		case read[name]:
			l.report(item, nameTaken(name, "another graph of this list"))
		default:
			read[name] = true
			if g, ok := l.importGraph(item, name); ok {
				out = append(out, g)
			}
		}
	}
	return out
}

func (l *loader) importGraph(n *source.Node, name string) (imported, bool) {
	read := importer.GraphML
	switch path.Ext(name) {
	case ".graphml", ".xml":
	case ".geojson", ".json":
		read = importer.GeoJSON
	default:
		l.report(n, badValue("import", name, "is of no known format", "import .graphml or .geojson"))
		return imported{}, false
	}
	i, ok := slices.BinarySearchFunc(l.files, name, func(e entry, n string) int { return strings.Compare(e.name, n) })
	if !ok {
		l.report(n, noFile(name, l.fileNames()))
		return imported{}, false
	}
	g := imported{file: source.NewFile(name, l.files[i].data)}
	graph, err := read(l.files[i].data)
	if err != nil {
		var fault *importer.Error
		if !errors.As(err, &fault) {
			fault = &importer.Error{Message: err.Error()}
		}
		l.reportAt(g.at(fault.Offset), badGraph(fault.Message, fault.Hint))
		return imported{}, false
	}
	g.Graph = graph
	known := append(importer.VertexProperties(), importer.EdgeProperties()...)
	for _, p := range graph.Ignored {
		if c := diag.Closest(p.Name, known); c != "" {
			l.reportAt(g.at(p.Offset), caution(CodeUnused, didYouMean(p.Name, known), "the property %q means nothing to a world", p.Name))
		}
	}
	return g, true
}

// vertices enters the vertices of a graph, links its edges and channels.
func (g imported) vertices(l *loader) {
	for _, v := range g.Vertices {
		l.addVertex(v.VertexSpec, g.at(v.Offset))
	}
}

func (g imported) links(l *loader) {
	for _, e := range g.Edges {
		l.addEdge(e.EdgeSpec, g.at(e.Offset))
	}
	for _, c := range g.Channels {
		l.addChannel(c.ChannelSpec, g.at(c.Offset))
	}
}
