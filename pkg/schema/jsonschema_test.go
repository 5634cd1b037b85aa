package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

type node = map[string]any

func schemaDocument(t *testing.T) node {
	t.Helper()
	var doc node
	if err := json.Unmarshal(JSONSchema(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// checker validates by the keywords that the document uses, and fails on any other,
// so that no keyword is believed to be checked that is not.
type checker struct {
	doc  node
	used map[string]bool // pointer of every property that an instance had
	errs []string
}

func (c *checker) fail(at, format string, args ...any) {
	c.errs = append(c.errs, at+": "+fmt.Sprintf(format, args...))
}

func (c *checker) check(at, where string, s node, v any) {
	for keyword, want := range s {
		switch keyword {
		case "description", "$schema", "$id", "title", "$defs", "properties", "additionalProperties":
		case "$ref":
			name := strings.TrimPrefix(want.(string), "#/$defs/")
			def, ok := c.doc["$defs"].(node)[name].(node)
			if !ok {
				c.fail(at, "no definition %q", name)
				return
			}
			c.check(at, "#/"+name, def, v)
		case "type":
			if !hasType(v, want.(string)) {
				c.fail(at, "%v is no %s", v, want)
			}
		case "const":
			if fmt.Sprint(want) != fmt.Sprint(v) {
				c.fail(at, "%v is not %v", v, want)
			}
		case "enum":
			if !slices.ContainsFunc(want.([]any), func(w any) bool { return w == v }) {
				c.fail(at, "%v is not one of %v", v, want)
			}
		case "pattern":
			if text, ok := v.(string); !ok || !regexp.MustCompile(want.(string)).MatchString(text) {
				c.fail(at, "%v does not match %s", v, want)
			}
		case "minimum":
			if n, ok := new(big.Int).SetString(fmt.Sprint(v), 10); !ok || n.Sign() < 0 {
				c.fail(at, "%v is below 0", v)
			}
		case "items":
			for i, e := range v.([]any) {
				c.check(fmt.Sprintf("%s/%d", at, i), where+"/[]", want.(node), e)
			}
		case "required":
			for _, name := range want.([]any) {
				if _, has := v.(node)[name.(string)]; !has {
					c.fail(at, "lacks %v", name)
				}
			}
		default:
			c.fail(at, "the keyword %q is not known to this test", keyword)
		}
	}
	if object, ok := v.(node); ok {
		c.members(at, where, s, object)
	}
}

func (c *checker) members(at, where string, s, object node) {
	properties, _ := s["properties"].(node)
	for name, v := range object {
		if property, ok := properties[name].(node); ok {
			c.used[where+"/"+name] = true
			c.check(at+"/"+name, where+"/"+name, property, v)
			continue
		}
		switch rest := s["additionalProperties"].(type) {
		case node:
			c.check(at+"/"+name, where+"/*", rest, v)
		case bool:
			if !rest {
				c.fail(at, "the member %q is not in the schema", name)
			}
		}
	}
}

func hasType(v any, want string) bool {
	switch v := v.(type) {
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case []any:
		return want == "array"
	case node:
		return want == "object"
	case json.Number:
		_, isInt := new(big.Int).SetString(v.String(), 10)
		return want == "number" || (want == "integer" && isInt)
	}
	return false
}

// properties lists every property of a schema below where.
func properties(where string, s node) []string {
	var out []string
	if p, ok := s["properties"].(node); ok {
		for name, sub := range p {
			out = append(out, where+"/"+name)
			out = append(out, properties(where+"/"+name, sub.(node))...)
		}
	}
	if items, ok := s["items"].(node); ok {
		out = append(out, properties(where+"/[]", items)...)
	}
	if rest, ok := s["additionalProperties"].(node); ok {
		out = append(out, properties(where+"/*", rest)...)
	}
	if defs, ok := s["$defs"].(node); ok {
		for name, sub := range defs {
			out = append(out, properties("#/"+name, sub.(node))...)
		}
	}
	return out
}

// Every golden event satisfies the schema, and every property of the schema is
// used by one of them: neither can have a member that the other lacks.
func TestJSONSchemaIsTrue(t *testing.T) {
	c := &checker{doc: schemaDocument(t), used: map[string]bool{}}
	for name := range samples() {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		c.check(name, "", c.doc, v)
	}
	for _, e := range c.errs {
		t.Error(e)
	}
	for _, p := range properties("", c.doc) {
		if !c.used[p] {
			t.Errorf("no golden event has the property %s", p)
		}
	}
}

func TestJSONSchemaRefuses(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"kind":"Call"}`, `{"kind":"call","TOOL":"x"}`, `{"kind":"call","digest":"ab"}`, `{"kind":"call","claimed_ts":1.5}`,
		`{"kind":"call","actor":{"class":"root"}}`, `{"kind":"call","action":[1]}`, `{"kind":"call","schema":2}`, `[]`,
	} {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		c := &checker{doc: schemaDocument(t), used: map[string]bool{}}
		if _, isObject := v.(node); isObject {
			c.check("", "", c.doc, v)
		} else if !hasType(v, c.doc["type"].(string)) {
			continue
		}
		if len(c.errs) == 0 {
			t.Errorf("%s satisfies the schema", text)
		}
	}
}

// Every member that the schema lists is read by ParseEventJSON: none is "no member".
func TestParserKnowsTheSchema(t *testing.T) {
	doc := schemaDocument(t)
	for name := range doc["properties"].(node) {
		_, err := ParseEventJSON([]byte(fmt.Sprintf(`{%q:[[]]}`, name)))
		if err != nil && strings.Contains(err.Error(), "no member of this name") {
			t.Errorf("ParseEventJSON does not know %q", name)
		}
	}
}

// The enumerations of the document are the closed sets of the code.
func TestJSONSchemaEnums(t *testing.T) {
	doc := schemaDocument(t)
	at := func(path ...string) []string {
		var v any = doc
		for _, p := range path {
			v = v.(node)[p]
		}
		var out []string
		for _, e := range v.(node)["enum"].([]any) {
			out = append(out, e.(string))
		}
		return out
	}
	values := verdict.Values()
	for _, tt := range []struct{ got, want []string }{
		{at("properties", "kind"), names(Kinds())},
		{at("properties", "vantage"), names(Vantages())},
		{at("properties", "status"), names(ResultStates())},
		{at("properties", "args_status"), names(PayloadStates()[2:])},
		{at("properties", "result_status"), names(PayloadStates()[2:])},
		{at("properties", "issuer"), names(Issuers())},
		{at("properties", "actor", "properties", "class"), names(ActorClasses())},
		{at("$defs", "value"), names(values[:])},
		{at("$defs", "resolution", "properties", "outcome"), names(Settlements())},
		{at("$defs", "resolution", "properties", "reason"), names(verdict.Reasons())},
		{at("$defs", "resolution", "properties", "completeness"), names([]verdict.Completeness{
			verdict.Sound, verdict.Degraded, verdict.Incomplete, verdict.Unavailable,
		})},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("the schema lists %q, the code %q", tt.got, tt.want)
		}
	}
}

func names[E any](all []E) []string {
	var out []string
	for _, e := range all {
		out = append(out, fmt.Sprint(e))
	}
	return out
}

func TestJSONSchemaIsACopy(t *testing.T) {
	clear(JSONSchema())
	if len(bytes.Trim(JSONSchema(), "\x00")) == 0 {
		t.Error("a caller can change the schema of all others")
	}
}

func TestNamesRoundTrip(t *testing.T) {
	checkNames(t, Kinds(), Kind.String, ParseKind)
	checkNames(t, Vantages(), Vantage.String, ParseVantage)
	checkNames(t, PayloadStates(), PayloadStatus.String, ParsePayloadStatus)
	checkNames(t, ResultStates(), ResultStatus.String, ParseResultStatus)
	checkNames(t, Settlements(), SettledAs.String, ParseSettledAs)
	checkNames(t, Roles(), Role.String, ParseRole)
	checkNames(t, Issuers(), func(i Issuer) string { return string(i) }, ParseIssuer)
	checkNames(t, ActorClasses(), func(c ActorClass) string { return string(c) }, ParseActorClass)
}

func checkNames[E comparable](t *testing.T, all []E, name func(E) string, parse func(string) (E, error)) {
	t.Helper()
	seen := map[string]E{}
	for i, e := range all {
		if v := reflect.ValueOf(e); v.CanUint() && v.Uint() != uint64(i) {
			t.Errorf("%v stands at %d of its list", e, i)
		}
		if got, err := parse(name(e)); err != nil || got != e {
			t.Errorf("parse(%q) = %v, %v", name(e), got, err)
		}
		seen[name(e)] = e
	}
	if len(seen) != len(all) {
		t.Errorf("names are not unique: %q", slices.Sorted(maps.Keys(seen)))
	}
	if got, err := parse("no such name"); err == nil {
		t.Errorf("parse of a wrong name gave %v", got)
	}
}
