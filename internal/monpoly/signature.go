package monpoly

import (
	"bytes"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// ParseSignature reads the signature of a log. The file's name is for errors, which
// are of type *Error; the first one ends the reading.
func ParseSignature(content []byte, file string) (check.Signature, error) {
	s := newScanner(bytes.NewReader(content), file, bufferSize)
	sig := check.Signature{}
	for s.next() != tokEnd {
		if s.tok != tokWord {
			return nil, s.expected("the name of a relation")
		}
		name := string(s.word)
		if err := s.newRelation(sig, name); err != nil {
			return nil, err
		}
		kinds, err := s.columns(name)
		if err != nil {
			return nil, err
		}
		sig[name] = kinds
	}
	return sig, nil
}

// newRelation refuses names that cannot be declared.
func (s *scanner) newRelation(sig check.Signature, name string) error {
	if name == "" {
		return s.errorf("", "a relation has no name")
	}
	if _, ok := check.BuiltIn()[name]; ok {
		return s.errorf("remove the line: it needs no declaration", "the relation %s is built in", quoted(s.word))
	}
	if _, ok := sig[name]; ok {
		return s.errorf("remove one of the declarations", "the relation %s is declared twice", quoted(s.word))
	}
	return nil
}

// columns reads the columns of a relation with their parentheses.
func (s *scanner) columns(name string) ([]schema.ValueKind, error) {
	kinds := []schema.ValueKind{}
	if s.next() != tokOpen {
		return nil, s.expected(`"(" after the relation ` + name)
	}
	if s.next() == tokClose {
		return kinds, nil
	}
	for {
		if s.tok != tokWord {
			return nil, s.expected("the type of a column")
		}
		kind, err := s.columnKind()
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
		switch s.next() {
		case tokClose:
			return kinds, nil
		case tokComma:
			s.next()
		case tokEnd, tokBad, tokWord, tokAt, tokOpen, tokSemicolon, tokCommand:
			return nil, s.expected(`"," or ")"`)
		}
	}
}

// columnKind is the type that the current word declares.
func (s *scanner) columnKind() (schema.ValueKind, error) {
	name := string(s.word)
	if i := strings.IndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	switch name {
	case "int":
		return schema.KindInt, nil
	case "string":
		return schema.KindString, nil
	case "float":
		return schema.KindFloat, nil
	}
	hint := "the types are int, string and float"
	if near := diag.Closest(name, []string{"int", "string", "float"}); near != "" {
		hint = "did you mean " + near + "?"
	}
	return 0, s.errorf(hint, "there is no type %s", quoted([]byte(name)))
}
