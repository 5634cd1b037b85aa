package records

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads one YAML document as programmes print it: no anchor, alias, tag,
// comment, directive or merge key, every key once. Scalars are those of YAML 1.1 as
// PyYAML reads them.
func parseYAML(text string) (Value, error) {
	if err := checkYAML(text); err != nil {
		return Value{}, err
	}
	root, err := yamlTree(text)
	if err != nil {
		return Value{}, err
	}
	var r yamlReader
	return r.value(root, 0)
}

// checkYAML refuses what the tree does not show.
func checkYAML(text string) error {
	// Readers of YAML 1.1 and 1.2 disagree whether these end a line. Printed text has
	// them escaped.
	if at := strings.IndexAny(text, "\r\u0085\u2028\u2029\ufeff"); at >= 0 {
		return errorAt(YAML, text, at, "a carriage return, NEL, LS, PS or byte order mark stands in the text",
			`end lines with \n, and escape the others in double quotes`)
	}
	if strings.HasPrefix(text, "%") {
		return errorAt(YAML, text, 0, "the text starts with a directive", "print the document only")
	}
	return nil
}

// yamlTree runs the library, and reports a fault of it as an error.
func yamlTree(text string) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &Error{Format: YAML, Problem: fmt.Sprintf("the text cannot be read: %v", r)}
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{Format: YAML, Line: 1, Column: 1, Problem: "the text is empty", Repair: "print a value"}
	case err != nil:
		return nil, fromYAMLError(err)
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, &Error{Format: YAML, Line: more.Line, Column: more.Column, Problem: "a second document follows", Repair: "print one value"}
	case !errors.Is(err, io.EOF):
		return nil, fromYAMLError(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, &Error{Format: YAML, Problem: "the text is no document", Repair: "print a value"}
	}
	if comment(&doc) {
		return nil, nodeError(&doc, "a comment stands in the text", "print the value only")
	}
	return doc.Content[0], nil
}

// fromYAMLError takes the line out of a message of the library.
func fromYAMLError(err error) error {
	out := &Error{Format: YAML, Problem: strings.TrimPrefix(err.Error(), "yaml: "), Repair: "print the value as YAML 1.1"}
	if rest, ok := strings.CutPrefix(out.Problem, "line "); ok {
		number, problem, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			out.Line, out.Problem = line, problem
		}
	}
	return out
}

func comment(n *yaml.Node) bool {
	return n.HeadComment != "" || n.LineComment != "" || n.FootComment != ""
}

func nodeError(n *yaml.Node, problem, repair string) error {
	return &Error{Format: YAML, Line: n.Line, Column: n.Column, Problem: problem, Repair: repair}
}

// yamlReader makes values of nodes.
type yamlReader struct{ nodes budget }

func (r *yamlReader) value(n *yaml.Node, depth int) (Value, error) {
	if err := r.check(n, depth); err != nil {
		return Value{}, err
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return yamlScalar(n)
	case yaml.SequenceNode:
		v := Value{kind: List, items: make([]Value, len(n.Content))}
		for i, c := range n.Content {
			var err error
			if v.items[i], err = r.value(c, depth+1); err != nil {
				return Value{}, err
			}
		}
		return v, nil
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return Value{}, nodeError(n, "an alias stands for another value", "print values in full")
}

func (r *yamlReader) check(n *yaml.Node, depth int) error {
	switch {
	case depth > MaxDepth || depth == MaxDepth && n.Kind != yaml.ScalarNode:
		return nodeError(n, fmt.Sprintf("lists and maps nest more than %d deep", MaxDepth), "flatten the value")
	case n.Anchor != "":
		return nodeError(n, fmt.Sprintf("the value has the anchor %q", n.Anchor), "print values in full")
	case n.Style&yaml.TaggedStyle != 0:
		return nodeError(n, fmt.Sprintf("the value has the tag %q", n.Tag), "print plain values, as safe_dump does")
	case comment(n):
		return nodeError(n, "a comment stands in the text", "print the value only")
	}
	if err := r.nodes.take(); err != nil {
		return nodeError(n, err.Error(), "print less")
	}
	return nil
}

func (r *yamlReader) mapping(n *yaml.Node, depth int) (Value, error) {
	v := Value{kind: Map, members: make([]Member, 0, len(n.Content)/2)}
	names := make(map[string]struct{}, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		key, err := r.value(k, depth+1)
		if err != nil {
			return Value{}, err
		}
		m, ok := keyed(key)
		if !ok {
			return Value{}, nodeError(k, "a key is a "+key.kind.String(), "use texts as keys")
		}
		if _, twice := names[m.Name]; twice {
			return Value{}, nodeError(k, fmt.Sprintf("the key %.80q occurs twice in its map", m.Name), "print each key once")
		}
		names[m.Name] = struct{}{}
		if m.Value, err = r.value(n.Content[i+1], depth+1); err != nil {
			return Value{}, err
		}
		v.members = append(v.members, m)
	}
	return v, nil
}

// keyed makes a member of a key. Lists and maps are no keys.
func keyed(key Value) (Member, bool) {
	switch {
	case key.kind == Null:
		return Member{Name: "null", key: &key}, true
	case key.kind == String && key.form == plain:
		return Member{Name: key.text}, true
	}
	name, ok := key.Text()
	return Member{Name: name, key: &key}, ok
}

// keyValue is the key of a member as it was read.
func (m Member) keyValue() Value {
	if m.key != nil {
		return *m.key
	}
	return NewString(m.Name)
}

func yamlScalar(n *yaml.Node) (Value, error) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return NewString(n.Value), nil
	}
	if strings.HasSuffix(n.Value, ":") {
		return Value{}, nodeError(n, fmt.Sprintf("%.40q is a text or a key, as one reads it", n.Value), "put it in quotes if it is a text")
	}
	switch resolve(n.Value) {
	case yamlText:
		return NewString(n.Value), nil
	case yamlNull:
		return Value{}, nil
	case yamlBool:
		return NewBool(yamlTruth(n.Value)), nil
	case yamlInt:
		return yamlNumber(n, yamlInteger(n.Value))
	case yamlFloat:
		return yamlNumber(n, yamlDecimal(n.Value))
	case yamlDate:
		return Value{kind: String, form: date, text: n.Value}, nil
	case yamlMerge, yamlDefault:
	}
	return Value{}, nodeError(n, fmt.Sprintf("%q is a sign of YAML 1.1", n.Value), "put it in quotes if it is a text")
}

func yamlNumber(n *yaml.Node, lit string) (Value, error) {
	v, err := NewNumber(lit)
	if err != nil {
		return Value{}, nodeError(n, fmt.Sprintf("%.40q is no decimal number within the limits", n.Value), "put it in quotes if it is a text")
	}
	return v, nil
}
