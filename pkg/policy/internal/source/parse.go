package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/aspis-rv/aspis/internal/diag"
)

// The limits of one file.
const (
	// MaxDepth bounds nesting. The deepest key of the policy format stands at 8; the
	// arguments of an event in a test may nest some more.
	MaxDepth = 64
	// MaxNodes bounds the values of one file. A thousand clauses with thirty keys
	// each are 60,000 nodes; the bound keeps a tree below some 50 MB.
	MaxNodes = 200_000
)

// Parse reads one YAML document. It reports every finding it can; the node is nil
// when there is no usable tree. It never panics.
func Parse(f *File) (root *Node, found []diag.Diagnostic) {
	p := &parser{file: f}
	defer func() {
		if r := recover(); r != nil { // a fault of the YAML library, not of ours
			p.report(f.Span(0, 0), CodeSyntax, fmt.Sprintf("the file could not be read: %v", r), "")
			root, found = nil, p.found
		}
	}()
	if !p.characters() {
		return nil, p.found
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(f.Data))
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && (len(doc.Content) == 0 || isEmpty(doc.Content[0]))) {
		p.reportAt(f.Span(0, 0))(errEmpty())
		return nil, p.found
	}
	if err != nil {
		p.yamlError(err)
		return nil, p.found
	}
	if err := dec.Decode(&second); err == nil {
		p.reportAt(f.LineSpan(second.Line))(errDocuments())
	} else if !errors.Is(err, io.EOF) {
		p.yamlError(err)
	}
	root = p.node(doc.Content[0], 0)
	return root, p.found
}

func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && n.Value == ""
}

type parser struct {
	file  *File
	found []diag.Diagnostic
	count int
}

func (p *parser) report(at diag.Span, code diag.Code, message, hint string) {
	p.found = append(p.found, diag.Diagnostic{Code: code, File: p.file.Name, Span: at, Message: message, Hint: hint})
}

func (p *parser) reportAt(at diag.Span) func(diag.Code, string, string) {
	return func(code diag.Code, message, hint string) { p.report(at, code, message, hint) }
}

// characters checks the encoding and refuses what a reader cannot see.
func (p *parser) characters() bool {
	for i := 0; i < len(p.file.Data); {
		r, n := utf8.DecodeRune(p.file.Data[i:])
		at := p.reportAt
		switch {
		case r == utf8.RuneError && n <= 1:
			at(p.file.Span(i, i+1))(errNotUTF8())
			return false
		case hidden(r), r == '\r' && !bytes.HasPrefix(p.file.Data[i:], []byte("\r\n")):
			at(p.file.Span(i, i+n))(errCharacter(r))
			return false
		}
		i += n
	}
	return true
}

// hidden reports characters that break lines for YAML but not for an editor, that
// control the direction of text, or that cannot be seen.
func hidden(r rune) bool {
	switch {
	case r < ' ' && r != '\n' && r != '\t' && r != '\r', r == 0x7f, r >= 0x80 && r <= 0x9f:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == 0x061c:
		return true
	}
	return false
}

// yamlError turns an error of the YAML library, "yaml: line 3: …", into a
// diagnostic.
func (p *parser) yamlError(err error) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		at := bytes.Index(p.file.Data, []byte("*"+strings.TrimSuffix(name, "' referenced")))
		p.reportAt(p.file.Span(at, at+1))(errAlias())
		return
	}
	line := 1
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if number, text, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, msg = n, text
				if fromGrammar(text) {
					line++ // the library counts these from 0
				}
			}
		}
	}
	p.reportAt(p.file.LineSpan(line))(errSyntax(msg))
}

// fromGrammar tells errors of the library's parser from those of its scanner.
func fromGrammar(msg string) bool {
	rest, ok := strings.CutPrefix(msg, "did not find expected ")
	if !ok {
		return false
	}
	switch rest {
	case "'-' indicator", "key", "',' or ']'", "',' or '}'", "node content", "<document start>":
		return true
	}
	return false
}

// node converts one node; nil when it is not usable.
func (p *parser) node(y *yaml.Node, depth int) *Node {
	start := p.file.offsetOf(y.Line, y.Column)
	n := &Node{file: p.file, span: p.file.Span(start, p.file.lineEnd(start)), Value: y.Value}
	p.count++
	switch {
	case depth > MaxDepth:
		p.reportAt(n.span)(errDepth())
		return nil
	case p.count > MaxNodes:
		if p.count == MaxNodes+1 {
			p.reportAt(n.span)(errCount())
		}
		return nil
	case y.Kind == yaml.AliasNode:
		p.reportAt(n.span)(errAlias())
		return nil
	case y.Anchor != "":
		p.reportAt(n.span)(errAnchor())
	case y.Style&yaml.TaggedStyle != 0:
		p.reportAt(n.span)(errTag(y.Tag))
	}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Map
		p.fields(n, y, depth)
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			if c := p.node(item, depth+1); c != nil {
				n.Items = append(n.Items, c)
			}
		}
	case yaml.ScalarNode:
		p.scalar(n, y)
	case yaml.DocumentNode, yaml.AliasNode:
		return nil
	}
	return n
}

func (p *parser) fields(n *Node, y *yaml.Node, depth int) {
	seen := make(map[string]diag.Pos, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := p.node(y.Content[i], depth+1)
		if key == nil {
			continue
		}
		switch {
		case key.Kind != Scalar:
			p.reportAt(key.span)(errKey(key.Kind.String()))
			continue
		case key.Type == Null:
			p.reportAt(key.span)(errKey("nothing"))
			continue
		case y.Content[i].Tag == "!!merge":
			p.reportAt(key.span)(errMerge())
			continue
		}
		if first, dup := seen[key.Value]; dup {
			p.reportAt(key.span)(errDuplicate(key.Value, first))
			continue
		}
		seen[key.Value] = key.span.Start
		if value := p.node(y.Content[i+1], depth+1); value != nil {
			n.Fields = append(n.Fields, Field{Key: key, Value: value})
		}
	}
}

func (p *parser) scalar(n *Node, y *yaml.Node) {
	switch y.ShortTag() {
	case "!!int":
		n.Type = Int
	case "!!float":
		n.Type = Float
	case "!!bool":
		n.Type = Bool
	case "!!null":
		n.Type = Null
	}
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.style = double
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.style = single
	case y.Style&yaml.LiteralStyle != 0:
		n.style = literal
	case y.Style&yaml.FoldedStyle != 0:
		n.style = folded
	}
	start := n.span.Start.Offset
	if t := n.Text(); t.Exact() {
		end := t.at[len(n.Value)]
		if n.style == single || n.style == double {
			end++
		}
		n.span = p.file.Span(start, min(end, p.file.lineEnd(start)))
	}
}
