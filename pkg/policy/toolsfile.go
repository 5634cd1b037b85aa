package policy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// foreignTool is one tool of a deployment.
type foreignTool struct {
	name   string
	schema [32]byte // digest of its canonical argument schema
	empty  bool     // the schema has no properties
	props  []string // sorted
	known  bool     // the schema lists its properties
}

// CompareTools compares a bundle with the tools of a deployment: the answer of an
// MCP server to tools/list (with or without its JSON-RPC envelope), OpenAI tool
// schemas, or a list of either. The bundle may be nil; then only the file is
// checked. The list is sorted.
func CompareTools(b *Bundle, file string, data []byte) diag.List {
	c := toolCheck{b: b, src: source.NewFile(file, data)}
	tools, err := readTools(data)
	if err != nil {
		c.report(0, 0, fault(CodeRead, "give the answer of tools/list, or a list of OpenAI tool schemas", "the tools cannot be read: %v", err))
		return c.found
	}
	if b == nil {
		return nil
	}
	for _, t := range tools {
		c.covered(t)
		c.arguments(t)
	}
	c.alike(tools)
	return c.found.Sorted()
}

type toolCheck struct {
	b     *Bundle
	src   *source.File
	found diag.List
}

func (c *toolCheck) report(start, end int, f finding) {
	c.found = append(c.found, diag.Diagnostic{
		Code: f.code, Severity: f.severity, File: c.src.Name, Span: c.src.Span(start, end), Message: f.message, Hint: f.hint,
	})
}

// at reports at the tool's name.
func (c *toolCheck) at(name string, f finding) {
	quoted, err := json.Marshal(name)
	start := bytes.Index(c.src.Data, quoted)
	if err != nil || start < 0 {
		c.report(0, 0, f)
		return
	}
	c.report(start, start+len(quoted), f)
}

func (c *toolCheck) covered(t foreignTool) {
	if c.b.typing.entries[t.name] != nil || c.b.typing.classes.match(t.name) != 0 {
		return
	}
	f := caution(CodeUncovered, "add an entry under tools (empty for a tool without effects), or let a class match it",
		"no entry covers the tool %q: its calls are handled by `unmapped: %s`", t.name, c.b.Unmapped)
	if c.b.Unmapped == UnmappedPermit {
		f.severity = diag.Info
	}
	c.at(t.name, f)
}

// arguments compares the declared arguments with the schema's properties.
func (c *toolCheck) arguments(t foreignTool) {
	e := c.b.typing.entries[t.name]
	if e == nil || !e.declares || !t.known {
		return
	}
	var declared []string
	for _, p := range e.params {
		declared = append(declared, p.name)
	}
	for _, p := range t.props {
		if !slices.Contains(declared, p) {
			c.at(t.name, caution(CodeSchema, "declare it under args", "the tool %q has an argument %q that its entry does not declare: a call with it is refused as invalid", t.name, p))
		}
	}
	for _, p := range declared {
		if !slices.Contains(t.props, p) {
			c.at(t.name, caution(CodeSchema, didYouMean(p, t.props), "the entry of the tool %q declares an argument %q that the tool does not have", t.name, p))
		}
	}
}

// alike warns of tools with the same schema and different effects: an agent that
// is refused one may try the other.
func (c *toolCheck) alike(tools []foreignTool) {
	groups := map[[32]byte][]foreignTool{}
	for _, t := range tools {
		if t.known && !t.empty {
			groups[t.schema] = append(groups[t.schema], t)
		}
	}
	for _, group := range groups {
		first := group[0]
		for _, t := range group[1:] {
			if a, b := c.b.effects(first.name), c.b.effects(t.name); a != b {
				c.at(t.name, caution(CodeSameSchema, "let one be same_as the other if they do the same",
					"the tools %q and %q take the same arguments and have different effects (%s; %s)", first.name, t.name, a, b))
			}
		}
	}
}

// effects describes what a call of a tool can make true, and do to the world.
func (b *Bundle) effects(tool string) string {
	var out []string
	add := func(es []emitter) {
		for i := range es {
			out = append(out, es[i].what())
		}
	}
	for hits := b.typing.classes.match(tool); hits != 0; hits &= hits - 1 {
		class := bits.TrailingZeros64(hits)
		add(b.typing.emitters[class])
		add(b.typing.effects[class])
	}
	if e := b.typing.entries[tool]; e != nil {
		add(e.emitters)
		add(e.effects)
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(unique(out), ", ")
}

// toolJSON is one tool in either format.
type toolJSON struct {
	Name        string         `json:"name"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Parameters  jsontext.Value `json:"parameters"`
	Function    *toolJSON      `json:"function"`
}

// readTools reads the tools of a file in the order of the file. The decoder refuses
// duplicate names and compares names case-sensitively.
func readTools(data []byte) ([]foreignTool, error) {
	var envelope struct {
		Tools  []toolJSON `json:"tools"`
		Result struct {
			Tools []toolJSON `json:"tools"`
		} `json:"result"`
	}
	var tools []toolJSON
	if err := json.Unmarshal(data, &tools); err != nil {
		if err := json.Unmarshal(data, &envelope); err != nil {
			return nil, err
		}
		tools = append(envelope.Tools, envelope.Result.Tools...)
	}
	if len(tools) == 0 {
		return nil, errors.New("there are none in the file")
	}
	out := make([]foreignTool, 0, len(tools))
	for i, t := range tools {
		if t.Function != nil {
			t = *t.Function
		}
		if t.Name == "" {
			return nil, fmt.Errorf("tool %d has no name", i)
		}
		out = append(out, t.foreign())
	}
	return out, nil
}

func (t toolJSON) foreign() foreignTool {
	f := foreignTool{name: t.Name}
	raw := t.InputSchema
	if len(raw) == 0 {
		raw = t.Parameters
	}
	var shape struct {
		Properties map[string]struct {
			Type jsontext.Value `json:"type"`
		} `json:"properties"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &shape) != nil || shape.Properties == nil {
		return f
	}
	f.known, f.empty = true, len(shape.Properties) == 0
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(shape.Properties)) { // descriptions do not matter, names and types do
		f.props = append(f.props, name)
		h.Write(fmt.Appendf(nil, "%q:%s\n", name, shape.Properties[name].Type))
	}
	h.Sum(f.schema[:0])
	return f
}
