package monpoly

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Point is a time point of a log.
type Point struct {
	// TS is its time stamp, in the log's unit. Time stamps are not put in order here.
	TS int64
	// Line is the line on which its time stamp stands.
	Line int
	// Facts are the facts of relations that are read, in the order of the log; a fact
	// that is written twice is there twice. They, and the strings in them, are valid
	// until the next call of Next.
	Facts []schema.Fact
}

// Clone is the time point in memory of its own, which is valid for ever.
func (p *Point) Clone() Point {
	out := Point{TS: p.TS, Line: p.Line, Facts: slices.Clone(p.Facts)}
	for i := range out.Facts {
		f := &out.Facts[i]
		f.Args = slices.Clone(f.Args)
		for j := range f.Args {
			f.Args[j].Str = strings.Clone(f.Args[j].Str)
		}
	}
	return out
}

// Reader reads a log, one time point after the other. It reads no further than it must
// to know that a time point is complete: to the `;` that ends it or the `@` of the next.
// It is not safe for concurrent use.
//
// Its memory is reused: in the long run a time point costs no allocation. It holds the
// time point at hand, the longest one's facts and two buffers of 64 KiB, or of
// twice the longest word. A time point of more than 4 million facts, or 512 MiB of
// strings, is an error.
type Reader struct {
	scan  *scanner
	rels  map[string]*relation
	last  *relation // of the fact before: it is often the same again
	state expects
	facts []schema.Fact
	args  []schema.Value
	texts int // bytes of the strings in facts
	most  limits
}

// limits bound one time point, which must lie in memory: a log that never ends one is
// found out before the memory is full.
type limits struct {
	facts int // of relations that are read
	texts int // bytes of the strings in them
}

// defaultLimits are some half a gigabyte each.
func defaultLimits() limits { return limits{facts: 1 << 22, texts: 1 << 29} }

// expects is what a Reader finds next.
type expects uint8

const (
	expectsPoint expects = iota // a time point or the end
	expectsStamp                // the time stamp of a time point
	expectsNothing
)

// relation is a declared relation.
type relation struct {
	name   string
	kinds  []schema.ValueKind
	wanted bool
}

// NewReader makes a reader of a log whose relations the signature declares. The file's
// name is for errors. Facts of relations for which reads is false are passed over, and
// their arguments may be anything.
func NewReader(in io.Reader, file string, sig check.Signature, reads func(relation string) bool) *Reader {
	return newReader(newScanner(in, file, bufferSize), sig, reads)
}

func newReader(s *scanner, sig check.Signature, reads func(string) bool) *Reader {
	r := &Reader{scan: s, rels: make(map[string]*relation, len(sig)), most: defaultLimits()}
	for name, kinds := range sig {
		r.rels[name] = &relation{name: name, kinds: kinds, wanted: reads(name)}
	}
	return r
}

// Next reads the next time point into p. It returns io.EOF after the last one, and an
// error of type *Error when the log is wrong or cannot be read; the reader is then at its
// end.
func (r *Reader) Next(p *Point) error {
	err := r.point(p)
	if err != nil {
		r.state = expectsNothing
	}
	return err
}

func (r *Reader) point(p *Point) error {
	s := r.scan
	s.release()
	r.facts, r.args, r.texts = r.facts[:0], r.args[:0], 0
	if r.state == expectsNothing {
		return io.EOF
	}
	if r.state == expectsPoint {
		switch s.next() {
		case tokAt:
		case tokEnd:
			return io.EOF
		case tokCommand:
			return r.command()
		case tokBad, tokWord, tokOpen, tokClose, tokComma, tokSemicolon:
			return s.hinted("a log is a sequence of `@TIME relation(value, …) …`, with a whole number as TIME", s.expected(`"@"`))
		}
	}
	if s.next() != tokWord {
		return s.expected("a time stamp")
	}
	ts, err := parseInt(s.word)
	if err != nil || len(s.word) == 0 {
		return s.notA("time stamp", err)
	}
	p.TS, p.Line = ts, s.at.line
	err = r.factsOfPoint()
	p.Facts = r.facts
	return err
}

// factsOfPoint reads facts up to the end of the time point.
func (r *Reader) factsOfPoint() error {
	s := r.scan
	for tok := s.next(); ; tok = s.tok {
		switch tok {
		case tokWord:
			if err := r.relation(); err != nil {
				return err
			}
		case tokAt:
			r.state = expectsStamp
			return nil
		case tokSemicolon:
			r.state = expectsPoint
			return nil
		case tokEnd:
			r.state = expectsNothing
			return nil
		case tokCommand:
			return r.command()
		case tokBad, tokOpen, tokClose, tokComma:
			return s.expected(`a fact, "@" or ";"`)
		}
	}
}

// relation reads the facts of the relation that the current word names, and the token
// after them.
func (r *Reader) relation() error {
	s := r.scan
	rel := r.last
	if rel == nil || rel.name != string(s.word) {
		if rel = r.rels[string(s.word)]; rel == nil {
			return r.unknown()
		}
		r.last = rel
	}
	at := s.at
	if s.next() != tokOpen {
		return r.fact(rel, len(r.args), 0, at)
	}
	for s.tok == tokOpen {
		start := len(r.args)
		n, err := r.tuple(rel)
		if err != nil {
			return err
		}
		if err := r.fact(rel, start, n, at); err != nil {
			return err
		}
		s.next()
	}
	return nil
}

// tuple reads the arguments up to the closing parenthesis and counts them.
func (r *Reader) tuple(rel *relation) (int, error) {
	s := r.scan
	if s.next() == tokClose {
		return 0, nil
	}
	for n := 1; ; n++ {
		if s.tok != tokWord {
			return 0, s.expected("an argument")
		}
		if rel.wanted && n <= len(rel.kinds) {
			if err := r.argument(rel, n); err != nil {
				return 0, err
			}
		}
		switch s.next() {
		case tokClose:
			return n, nil
		case tokComma:
			s.next()
		case tokEnd, tokBad, tokWord, tokAt, tokOpen, tokSemicolon, tokCommand:
			return 0, s.expected(`"," or ")"`)
		}
	}
}

// argument reads the current word as the n-th argument, counted from 1.
func (r *Reader) argument(rel *relation, n int) error {
	s := r.scan
	switch kind := rel.kinds[n-1]; kind {
	case schema.KindInt:
		v, err := parseInt(s.word)
		if err != nil {
			return s.notArgument(rel, n, err)
		}
		r.args = append(r.args, schema.IntValue(v))
	case schema.KindString:
		s.hold()
		if r.texts += len(s.word); r.texts > r.most.texts {
			return s.errorf("split it", "the strings of the time point have more than %d bytes", r.most.texts)
		}
		r.args = append(r.args, schema.StringValue(text(s.word)))
	case schema.KindFloat:
		v, err := parseFloat(s.word)
		if err != nil {
			return s.notArgument(rel, n, err)
		}
		r.args = append(r.args, schema.FloatValue(v))
	}
	return nil
}

// fact adds the fact with the arguments from start on, of which n were written.
func (r *Reader) fact(rel *relation, start, n int, at place) error {
	if !rel.wanted {
		return nil
	}
	if n != len(rel.kinds) {
		return at.errorf(r.scan.file, "", "the relation %s has %d columns, this fact has %d arguments", quoted([]byte(rel.name)), len(rel.kinds), n)
	}
	if len(r.facts) == r.most.facts {
		return at.errorf(r.scan.file, "split it", "the time point has more than %d facts", r.most.facts)
	}
	r.facts = append(r.facts, schema.Fact{Name: rel.name, Args: r.args[start:len(r.args):len(r.args)]})
	return nil
}

func (r *Reader) command() error {
	return r.scan.errorf("remove it; the log has facts only", "commands in a log are not supported")
}

func (r *Reader) unknown() error {
	s := r.scan
	name := string(s.word)
	if _, ok := check.BuiltIn()[name]; ok {
		return s.errorf("remove it", "facts of the built-in relation %s cannot be given", quoted(s.word))
	}
	names := make([]string, 0, len(r.rels))
	for declared := range r.rels {
		names = append(names, declared)
	}
	hint := "declare it in the signature"
	if near := diag.Closest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return s.errorf(hint, "the relation %s is not declared", quoted(s.word))
}

func (s *scanner) notArgument(rel *relation, n int, why error) *Error {
	return s.errorf("", "argument %d of %s: %s is no %s%s", n, quoted([]byte(rel.name)), quoted(s.word), rel.kinds[n-1], beyond(why))
}

func (s *scanner) notA(what string, why error) *Error {
	return s.errorf("", "%s is no %s%s", quoted(s.word), what, beyond(why))
}

// beyond ends the message of a number that is too large.
func beyond(why error) string {
	if errors.Is(why, errTooLarge) {
		return ": it " + errTooLarge.Error()
	}
	return ""
}
