package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// GeoJSON reads a graph in GeoJSON (RFC 7946): a FeatureCollection. A feature whose
// geometry is a LineString or MultiLineString, or that has the properties from and to, is an
// edge or, with the property channel true, a channel; any other is a vertex. The name of a
// vertex is its property name or, without one, the id of the feature. Coordinates are not
// looked at: distances are properties. It takes time linear in the file, and fails with an
// *Error.
func GeoJSON(data []byte) (*Graph, error) {
	r := &geoJSON{dec: json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	if err := r.collection(); err != nil {
		return nil, placed(err, int(r.dec.InputOffset()))
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fail(int(r.dec.InputOffset()), "", "something follows the collection")
	}
	return &r.graph, nil
}

// geoJSON reads tokens one by one, so that everything has a place.
type geoJSON struct {
	builder
	dec *json.Decoder
}

func (r *geoJSON) at() int { return int(r.dec.InputOffset()) }

// object reads an object: visit reads the value of each key, which stands once.
func (r *geoJSON) object(what string, visit func(name string, at int) error) error {
	if err := r.delim('{', what); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return err
		}
		name, _ := tok.(string)
		at := max(r.at()-len(name)-1, 0)
		if seen[name] {
			return fail(at, "delete one of the two", "the key %q stands twice in %s", name, what)
		}
		seen[name] = true
		if err := visit(name, at); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

// delim reads an opening bracket.
func (r *geoJSON) delim(want json.Delim, what string) error {
	at := r.at()
	tok, err := r.dec.Token()
	if err != nil {
		return err
	}
	if tok != want {
		return fail(at, "", "%s starts with %v, and this is %v", what, want, tok)
	}
	return nil
}

// text reads a text.
func (r *geoJSON) text(what string) (string, error) {
	at := r.at()
	tok, err := r.dec.Token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", fail(at, "", "%s is a text, and this is %v", what, tok)
	}
	return s, nil
}

func (r *geoJSON) collection() error {
	typ, features := "", false
	err := r.object("the file", func(name string, _ int) (err error) {
		switch name {
		case "type":
			typ, err = r.text("type")
			return err
		case "features":
			features = true
			return r.features()
		}
		return r.skip(0)
	})
	if err == nil && (typ != "FeatureCollection" || !features) {
		err = fail(0, "write {\"type\": \"FeatureCollection\", \"features\": […]}", "the file is no collection of features")
	}
	return err
}

func (r *geoJSON) features() error {
	if err := r.delim('[', "features"); err != nil {
		return err
	}
	for r.dec.More() {
		if err := r.feature(); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

// feature reads one feature and enters it.
func (r *geoJSON) feature() error {
	var id, geometry, typ string
	props, order := values{}, []string(nil)
	at := -1
	err := r.object("a feature", func(name string, place int) (err error) {
		if at < 0 {
			at = place
		}
		switch name {
		case "type":
			typ, err = r.text("type")
		case "id":
			var v value
			v, err = r.property(name)
			id = v.text()
		case "geometry":
			geometry, err = r.geometry()
		case "properties":
			props, order, err = r.properties()
		default:
			err = r.skip(0)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case typ != "Feature":
		return fail(max(at, 0), "write \"type\": \"Feature\"", "%q is no feature", typ)
	}
	return r.enter(id, geometry, props, order, at)
}

func (r *geoJSON) enter(id, geometry string, props values, order []string, at int) error {
	_, from := props["from"]
	_, to := props["to"]
	line := geometry == "LineString" || geometry == "MultiLineString"
	if !line && (!from || !to) {
		if name, ok := props["name"]; ok {
			id = name.text()
		}
		r.take(props, append(VertexProperties(), "name"), order)
		return r.vertex(id, props, at)
	}
	r.take(props, append(EdgeProperties(), "channel", "from", "name", "to"), order)
	switch p := props["channel"]; p.text() {
	case "true":
		return r.channel(props["from"].text(), props["to"].text(), props, at)
	case "", "false":
		return r.edge(props["from"].text(), props["to"].text(), props, at)
	default:
		return fail(p.offset, "write true or false", "%q does not say whether this is a channel", p.text())
	}
}

// geometry reads the type of a geometry, "" for none.
func (r *geoJSON) geometry() (string, error) {
	if null, err := r.null(); null || err != nil {
		return "", err
	}
	typ := ""
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return "", err
		}
		if tok == "type" {
			if typ, err = r.text("the type of a geometry"); err != nil {
				return "", err
			}
			continue
		}
		if err := r.skip(0); err != nil {
			return "", err
		}
	}
	_, err := r.dec.Token()
	return typ, err
}

// null reads a null, or the start of an object.
func (r *geoJSON) null() (bool, error) {
	at := r.at()
	tok, err := r.dec.Token()
	switch {
	case err != nil:
		return false, err
	case tok == nil:
		return true, nil
	case tok != json.Delim('{'):
		return false, fail(at, "", "this is an object or null, and not %v", tok)
	}
	return false, nil
}

// properties reads the properties of a feature; null values count as absent.
func (r *geoJSON) properties() (values, []string, error) {
	props, order := values{}, []string(nil)
	if null, err := r.null(); null || err != nil {
		return props, nil, err
	}
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return nil, nil, err
		}
		name, _ := tok.(string)
		at := max(r.at()-len(name)-1, 0)
		v, err := r.property(name)
		if err != nil {
			return nil, nil, err
		}
		if _, twice := props[name]; twice {
			return nil, nil, fail(at, "delete one of the two", "the property %q stands twice", name)
		}
		if v.texts != nil {
			v.offset = at
			props[name] = v
			order = append(order, name)
		}
	}
	_, err := r.dec.Token()
	return props, order, err
}

// property reads a value: a scalar, or a list of them. Objects and deeper lists have no
// meaning here and count as a property without a text.
func (r *geoJSON) property(name string) (value, error) {
	at := r.at()
	tok, err := r.dec.Token()
	if err != nil {
		return value{}, err
	}
	switch tok {
	case nil:
		return value{}, nil
	case json.Delim('['):
		return r.list(name, at)
	case json.Delim('{'):
		return value{texts: []string{}, offset: at}, r.rest(1)
	}
	return value{texts: []string{fmt.Sprint(tok)}, offset: at}, nil
}

func (r *geoJSON) list(name string, at int) (value, error) {
	v := value{texts: []string{}, list: true, offset: at}
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return value{}, err
		}
		switch tok.(type) {
		case json.Delim:
			if err := r.rest(2); err != nil {
				return value{}, err
			}
			if name == "labels" {
				return value{}, fail(at, "write a list of texts", "labels are a list of texts")
			}
		case nil:
		default:
			v.texts = append(v.texts, fmt.Sprint(tok))
		}
	}
	_, err := r.dec.Token()
	return v, err
}

// skip reads a value without a meaning.
func (r *geoJSON) skip(depth int) error {
	tok, err := r.dec.Token()
	if err != nil {
		return err
	}
	if d, ok := tok.(json.Delim); ok && (d == '{' || d == '[') {
		return r.rest(depth + 1)
	}
	return nil
}

// rest reads up to the end of what is open.
func (r *geoJSON) rest(depth int) error {
	for open := 1; open > 0; {
		if open+depth > maxDepth {
			return fail(r.at(), "", "the file is nested more than %d deep", maxDepth)
		}
		tok, err := r.dec.Token()
		if err != nil {
			return err
		}
		if d, ok := tok.(json.Delim); ok {
			if d == '{' || d == '[' {
				open++
			} else {
				open--
			}
		}
	}
	return nil
}
