package importer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// GraphML reads a graph in GraphML (graphml.graphdrawing.org). The id of a node is the name
// of a vertex. Properties are `data` elements, by the `attr.name` of their `key`, whose
// `default` counts where there is none. Nested graphs, hyperedges and ports are errors, and
// so are document types. It takes time linear in the file, and fails with an *Error.
func GraphML(data []byte) (*Graph, error) {
	r := &graphML{keys: map[string]key{}}
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		at := int(dec.InputOffset())
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, placed(err, int(dec.InputOffset()))
		}
		if err := r.token(tok, at); err != nil {
			return nil, err
		}
	}
	if !r.seen {
		return nil, fail(0, "GraphML has the elements graphml and in it graph", "the file has no graph")
	}
	return &r.graph, nil
}

// key is a declared property.
type key struct {
	name     string
	nodes    bool // for nodes
	edges    bool // for edges
	fallback *value
}

// graphML is the state of a reader between two tokens.
type graphML struct {
	builder
	keys     map[string]key
	order    []string // ids of keys
	path     []string // open elements
	seen     bool     // a graph
	directed bool     // its edges, unless they say otherwise

	declared string // the id of the open key
	element  *element
	data     string // the id of the open data's key
	text     strings.Builder
	at       int // of the open data or default
}

// element is the open node or edge.
type element struct {
	edge     bool
	id       string
	from, to string
	directed bool
	offset   int
	data     map[string]value // by id of key
}

func (r *graphML) token(tok xml.Token, at int) error {
	switch tok := tok.(type) {
	case xml.StartElement:
		if len(r.path) == maxDepth {
			return fail(at, "", "the file is nested more than %d deep", maxDepth)
		}
		r.path = append(r.path, tok.Name.Local)
		return r.start(tok, at)
	case xml.EndElement:
		r.path = r.path[:len(r.path)-1]
		return r.end(tok.Name.Local)
	case xml.CharData:
		if r.data != "" || r.within("default") {
			r.text.Write(tok)
		}
	case xml.Directive:
		return fail(at, "delete the document type", "a document type is not allowed")
	}
	return nil
}

// within tells whether the innermost open element has a name.
func (r *graphML) within(name string) bool {
	return len(r.path) > 0 && r.path[len(r.path)-1] == name
}

// below tells whether the element just opened stands right below one of a name.
func (r *graphML) below(name string) bool {
	return len(r.path) > 1 && r.path[len(r.path)-2] == name
}

func (r *graphML) start(tok xml.StartElement, at int) error {
	switch name := tok.Name.Local; name {
	case "graphml":
		if len(r.path) != 1 {
			return fail(at, "", "graphml is the outermost element")
		}
	case "key":
		return r.startKey(tok, at)
	case "default":
		r.text.Reset()
		r.at = at
	case "graph":
		if !r.below("graphml") || r.seen {
			return fail(at, "put everything into one graph", "nested and further graphs are not supported")
		}
		r.seen = true
		r.directed = attribute(tok, "edgedefault") == "directed"
	case "node", "edge":
		return r.startElement(tok, at)
	case "data":
		if r.element == nil {
			return nil // of the graph itself
		}
		r.data, r.at = attribute(tok, "key"), at
		r.text.Reset()
		if _, ok := r.keys[r.data]; !ok {
			return fail(at, "declare it: <key id=… for=… attr.name=…/>", "there is no key %q", r.data)
		}
	case "hyperedge", "port":
		return fail(at, "write edges between two nodes", "%s is not supported", name)
	default:
		if len(r.path) == 1 {
			return fail(at, "GraphML has the outermost element graphml", "the file is not GraphML: it starts with %q", name)
		}
	}
	return nil
}

func attribute(tok xml.StartElement, name string) string {
	for _, a := range tok.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (r *graphML) startKey(tok xml.StartElement, at int) error {
	id, domain := attribute(tok, "id"), attribute(tok, "for")
	if id == "" {
		return fail(at, "give it an id", "a key has no id")
	}
	if _, twice := r.keys[id]; twice {
		return fail(at, "rename one of the two", "the key %q stands twice", id)
	}
	k := key{name: attribute(tok, "attr.name"), nodes: domain == "node", edges: domain == "edge"}
	if domain == "" || domain == "all" {
		k.nodes, k.edges = true, true
	}
	r.keys[id], r.declared = k, id
	r.order = append(r.order, id)
	return nil
}

func (r *graphML) startElement(tok xml.StartElement, at int) error {
	if !r.below("graph") {
		return fail(at, "put it into the graph", "%s stands outside of a graph", tok.Name.Local)
	}
	e := &element{edge: tok.Name.Local == "edge", id: attribute(tok, "id"), offset: at, data: map[string]value{}}
	if e.edge {
		e.from, e.to, e.directed = attribute(tok, "source"), attribute(tok, "target"), r.directed
		switch attribute(tok, "directed") {
		case "true", "1":
			e.directed = true
		case "false", "0":
			e.directed = false
		}
	}
	r.element = e
	return nil
}

func (r *graphML) end(name string) error {
	switch name {
	case "key":
		r.declared = ""
	case "default":
		if k, ok := r.keys[r.declared]; ok {
			k.fallback = &value{texts: []string{strings.TrimSpace(r.text.String())}, offset: r.at}
			r.keys[r.declared] = k
		}
	case "data":
		if r.element != nil && r.data != "" {
			if _, twice := r.element.data[r.data]; twice {
				return fail(r.at, "delete one of the two", "the property %q stands twice", r.keys[r.data].name)
			}
			r.element.data[r.data] = value{texts: []string{strings.TrimSpace(r.text.String())}, offset: r.at}
		}
		r.data = ""
	case "node", "edge":
		e := r.element
		r.element = nil
		if e == nil {
			return nil
		}
		return r.add(e)
	}
	return nil
}

// add gives a finished element its properties and enters it.
func (r *graphML) add(e *element) error {
	props := values{}
	var order []string
	for _, id := range r.order {
		k := r.keys[id]
		v, ok := e.data[id]
		if !ok && k.fallback != nil && (e.edge && k.edges || !e.edge && k.nodes) && r.applies(k.name, e) {
			v, ok = *k.fallback, true
		}
		if !ok || k.name == "" {
			continue
		}
		if _, twice := props[k.name]; twice {
			return fail(v.offset, "delete one of the keys", "two keys give the property %q", k.name)
		}
		props[k.name] = v
		order = append(order, k.name)
	}
	if !e.edge {
		r.take(props, VertexProperties(), order)
		return r.vertex(e.id, props, e.offset)
	}
	r.take(props, EdgeProperties(), order)
	if e.directed {
		return r.channel(e.from, e.to, props, e.offset)
	}
	return r.edge(e.from, e.to, props, e.offset)
}

// applies tells whether the default of a property of edges is meant for an element: that of
// a distance for edges, those of weight and open for channels.
func (r *graphML) applies(name string, e *element) bool {
	switch name {
	case "distance":
		return e.edge && !e.directed
	case "weight", "open":
		return e.edge && e.directed
	}
	return true
}
