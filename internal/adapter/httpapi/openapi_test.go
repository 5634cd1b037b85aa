package httpapi

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// document is the part of OpenAPI that ours uses.
type document struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct {
		Schemas map[string]jsonSchema
	}
}

type operation struct {
	OperationID string
	Security    *[]map[string][]string
	Parameters  []struct{ Name, In string }
	RequestBody *struct {
		Required bool
		Content  map[string]media
	}
	Responses map[string]struct {
		Description string
		Content     map[string]media
	}
}

type media struct{ Schema jsonSchema }

type jsonSchema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Description          string
	Enum                 []string
	Required             []string
	Properties           map[string]jsonSchema
	AdditionalProperties any // false, or a schema
	Items                *jsonSchema
	AnyOf                []jsonSchema
}

func parseDocument(t *testing.T) *document {
	t.Helper()
	var d document
	if err := stdjson.Unmarshal(openapi, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// closed reports whether an object has no members but those described.
func closed(s jsonSchema) bool {
	more, given := s.AdditionalProperties.(bool)
	return given && !more
}

// resolve follows a reference.
func (d *document) resolve(s jsonSchema) jsonSchema {
	if s.Ref == "" {
		return s
	}
	return d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
}

// fits says why a value is not of a schema, or "".
func (d *document) fits(s jsonSchema, v any, at string) string {
	s = d.resolve(s)
	if len(s.AnyOf) > 0 {
		var why []string
		for _, alt := range s.AnyOf {
			w := d.fits(alt, v, at)
			if w == "" {
				return ""
			}
			why = append(why, w)
		}
		return strings.Join(why, "; or ")
	}
	switch v := v.(type) {
	case map[string]any:
		return d.objectFits(s, v, at)
	case []any:
		if s.Type != "array" {
			return fmt.Sprintf("%s is an array, described as %q", at, s.Type)
		}
		for i, e := range v {
			if why := d.fits(*s.Items, e, fmt.Sprintf("%s/%d", at, i)); why != "" {
				return why
			}
		}
	case string:
		if s.Type != "string" || len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			return fmt.Sprintf("%s is %q, described as %q of %v", at, v, s.Type, s.Enum)
		}
	case float64:
		if s.Type != "integer" || v != float64(int64(v)) {
			return fmt.Sprintf("%s is a number, described as %q", at, s.Type)
		}
	case bool:
		if s.Type != "boolean" {
			return fmt.Sprintf("%s is a truth value, described as %q", at, s.Type)
		}
	default:
		return fmt.Sprintf("%s is %v", at, v)
	}
	return ""
}

func (d *document) objectFits(s jsonSchema, v map[string]any, at string) string {
	if s.Type != "object" {
		return fmt.Sprintf("%s is an object, described as %q", at, s.Type)
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Sprintf("%s lacks %s", at, name)
		}
	}
	for name, e := range v {
		p, known := s.Properties[name]
		switch {
		case known:
			if why := d.fits(p, e, at+"/"+name); why != "" {
				return why
			}
		case closed(s):
			return fmt.Sprintf("%s has %s, which is not described", at, name)
		}
	}
	return ""
}

// checkDescribed fails the test when a response is not one that the description
// announces. A path or a method that is not there is announced for all of them.
func checkDescribed(t *testing.T, s *Server, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	d := parseDocument(t)
	mime, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	if w.Code == http.StatusNotFound || w.Code == http.StatusMethodNotAllowed || r.Method == http.MethodHead {
		return
	}
	op, found := d.Paths[pathOf(s, r)][strings.ToLower(r.Method)]
	if !found {
		t.Errorf("%s %s answered %d and is not described", r.Method, r.URL.Path, w.Code)
		return
	}
	response, found := op.Responses[strconv.Itoa(w.Code)]
	content, sameType := response.Content[mime]
	if !found || !sameType {
		t.Errorf("%s %s answered %d %s: %s, which is not described", r.Method, r.URL.Path, w.Code, mime, w.Body)
		return
	}
	if mime == "text/plain" {
		return
	}
	for line := range bytes.Lines(w.Body.Bytes()) {
		var v any
		if err := stdjson.Unmarshal(line, &v); err != nil {
			if mime == typeNDJSON || stdjson.Unmarshal(w.Body.Bytes(), &v) != nil {
				t.Errorf("%s %s answered no JSON: %s", r.Method, r.URL.Path, line)
				return
			}
		}
		if why := d.fits(content.Schema, v, ""); why != "" {
			t.Errorf("%s %s %d: %s in %s", r.Method, r.URL.Path, w.Code, why, line)
		}
		if mime != typeNDJSON {
			return
		}
	}
}

// pathOf is the pattern of the route that a request belongs to.
func pathOf(s *Server, r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	return pattern
}

func TestOpenAPIListsEveryRoute(t *testing.T) {
	d := parseDocument(t)
	if !strings.HasPrefix(d.OpenAPI, "3.1.") {
		t.Errorf("version %q", d.OpenAPI)
	}
	s := newServer(t, &fake{}, nil)
	ops := map[string]bool{}
	for _, rt := range s.routes() {
		key := rt.method + " " + rt.path
		ops[key] = true
		op, found := d.Paths[rt.path][strings.ToLower(rt.method)]
		if !found {
			t.Errorf("%s is not described", key)
			continue
		}
		if open := op.Security != nil && len(*op.Security) == 0; open != rt.open {
			t.Errorf("%s: described as open: %v", key, open)
		}
		if strings.Contains(rt.path, "{id}") && !slices.ContainsFunc(op.Parameters, func(p struct{ Name, In string }) bool { return p.Name == "id" && p.In == "path" }) {
			t.Errorf("%s: parameter id is not described", key)
		}
	}
	for path, methods := range d.Paths {
		for method := range methods {
			if key := strings.ToUpper(method) + " " + path; !ops[key] {
				t.Errorf("%s is described and does not exist", key)
			}
		}
	}
}

// TestOpenAPIFields holds the schemas against the Go structs: the names, the types,
// and in answers what is always there.
func TestOpenAPIFields(t *testing.T) {
	d := parseDocument(t)
	answers := map[string]any{
		"Answer": gate.Answer{}, "Permit": gate.Permit{}, "Certificate": gate.Certificate{}, "Part": gate.Part{},
		"Receipt": gate.Receipt{}, "SessionView": gate.SessionView{}, "DecisionRecord": gate.DecisionRecord{},
		"DecisionList": DecisionList{}, "Problem": Problem{}, "Status": Status{}, "ItemResult": ItemResult{}, "BatchResult": BatchResult{},
	}
	requests := map[string]any{
		"NewSession": sessionBody{}, "Empty": emptyBody{}, "Call": callBody{}, "Result": resultBody{},
		"Event": eventBody{}, "Grant": grantBody{},
	}
	seen := map[string]bool{"Reason": true, "Batch": true}
	for name, v := range answers {
		seen[name] = true
		names, always := fieldsOf(reflect.TypeOf(v))
		described := d.Components.Schemas[name]
		compareFields(t, name, names, described)
		slices.Sort(described.Required)
		if diff := cmp.Diff(always, described.Required); diff != "" {
			t.Errorf("%s: what is always there (-struct +description):\n%s", name, diff)
		}
	}
	for name, v := range requests {
		seen[name] = true
		names, _ := fieldsOf(reflect.TypeOf(v))
		compareFields(t, name, names, d.Components.Schemas[name])
	}
	for name := range d.Components.Schemas {
		if !seen[name] {
			t.Errorf("schema %s belongs to no struct", name)
		}
	}
	both, _ := fieldsOf(reflect.TypeFor[eventsBody]())
	delete(both, "events")
	compareFields(t, "Event (in eventsBody)", both, d.Components.Schemas["Event"])
	var reasons []string
	for _, r := range verdict.Reasons() {
		reasons = append(reasons, string(r))
	}
	if diff := cmp.Diff(reasons, d.Components.Schemas["Reason"].Enum); diff != "" {
		t.Errorf("reason classes:\n%s", diff)
	}
}

// fieldsOf returns the JSON names of a struct with the types that describe them, and
// those that are never left out.
func fieldsOf(t reflect.Type) (types map[string]string, always []string) {
	types = map[string]string{}
	for f := range t.Fields() {
		if f.Anonymous {
			inner, req := fieldsOf(f.Type)
			maps.Copy(types, inner)
			always = append(always, req...)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if !f.IsExported() {
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		types[name] = typeOf(f.Type)
		if !strings.Contains(opts, "omitempty") && !strings.Contains(opts, "omitzero") {
			always = append(always, name)
		}
	}
	slices.Sort(always)
	return types, always
}

func typeOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Name() == "RawMessage" || t.Name() == "Value":
		return "object or anything"
	case t == reflect.TypeFor[[]byte]():
		return "string"
	}
	switch t.Kind() { //nolint:exhaustive // the kinds in use
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		return "array"
	}
	return "object"
}

func compareFields(t *testing.T, name string, types map[string]string, s jsonSchema) {
	t.Helper()
	d := parseDocument(t)
	described := map[string]string{}
	for n, p := range s.Properties {
		p = d.resolve(p)
		if p.Description == "" {
			t.Errorf("%s.%s has no description", name, n)
		}
		described[n] = p.Type
		if types[n] == "object or anything" && (p.Type == "object" || p.Type == "") {
			described[n] = types[n]
		}
	}
	if diff := cmp.Diff(types, described); diff != "" {
		t.Errorf("%s (-struct +description):\n%s", name, diff)
	}
	if s.Type != "object" || !closed(s) {
		t.Errorf("%s is not a closed object", name)
	}
}

// TestOpenAPIRequired leaves each member of a full request out: what is described as
// required must be missed, and nothing else.
func TestOpenAPIRequired(t *testing.T) {
	d := parseDocument(t)
	for name, tc := range map[string]struct{ path, body string }{
		"Call":       {"/v1/calls", validCall},
		"Result":     {"/v1/results", `{"session":"s1","call_id":"c1","status":"error","result":null}`},
		"Event":      {"/v1/events", `{"session":"s1","kind":"observation","role":"user","text":"hi","labels":{}}`},
		"Grant":      {"/v1/grants", `{"session":"s1","tool":"approve","args":{},"revokes":"g0"}`},
		"Batch":      {"/v1/events", `{"events":[{"session":"s1"}]}`},
		"NewSession": {"/v1/sessions", `{"labels":{"a":"b"}}`},
	} {
		s := newServer(t, &fake{}, nil)
		described := d.Components.Schemas[name]
		var full map[string]stdjson.RawMessage
		if err := stdjson.Unmarshal([]byte(tc.body), &full); err != nil {
			t.Fatal(err)
		}
		if w := send(t, s, post(tc.path, tc.body)); w.Code != http.StatusOK || len(full) != len(described.Properties) {
			t.Errorf("%s: the full request has %d of %d members and was answered %d: %s", name, len(full), len(described.Properties), w.Code, w.Body)
		}
		for member := range full {
			part := map[string]stdjson.RawMessage{}
			for k, v := range full {
				if k != member {
					part[k] = v
				}
			}
			body, err := stdjson.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			w := send(t, s, post(tc.path, string(body)))
			if required := slices.Contains(described.Required, member); required != (w.Code == http.StatusBadRequest) {
				t.Errorf("%s without %s: status %d, described as required: %v", name, member, w.Code, required)
			}
		}
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	w := send(t, newServer(t, &fake{}, nil), request{path: "/v1/openapi.json", token: "-"})
	if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), openapi) {
		t.Errorf("status %d, %d bytes", w.Code, w.Body.Len())
	}
}
