package mfotl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/monpoly"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Size is what a log holds.
type Size struct {
	Points int   `json:"points"`
	Facts  int   `json:"facts"`
	Bytes  int64 `json:"bytes"`
}

// serials are the names of the columns that count: a number, or a text that ends in one,
// that the log uses for one time point or for a few in a row.
func serials() []string { return []string{"i", "tid", "rid", "call_id"} }

// Repeat writes the log again and again until it has at least so many facts. A copy
// starts one time unit after the copy before has ended, and its serials go on where those
// of the copy before have ended, so that the long log looks like the short one throughout.
// The first copy is as the log is.
func (w *Workload) Repeat(out io.Writer, facts int) (Size, error) {
	sig, err := monpoly.ParseSignature(w.Sig, w.Name+"/sig")
	if err != nil {
		return Size{}, err
	}
	points, err := readPoints(w, sig)
	if err != nil {
		return Size{}, err
	}
	if len(points) == 0 {
		return Size{}, fmt.Errorf("%w: %s has an empty log", ErrArchive, w.Name)
	}
	counted := &counter{w: out}
	r := repeater{out: bufio.NewWriterSize(counted, 1<<20), serial: serialColumns(w.Sig)}
	r.span = points[len(points)-1].TS - points[0].TS + 1
	r.step = r.largestSerial(points) + 1
	for n := int64(0); r.size.Facts < facts || n == 0; n++ {
		before := r.size.Facts
		if err := r.copy(points, n); err != nil {
			return Size{}, err
		}
		if r.size.Facts == before {
			return Size{}, fmt.Errorf("%w: %s has a log without facts", ErrArchive, w.Name)
		}
	}
	err = r.out.Flush()
	r.size.Bytes = counted.n
	return r.size, err
}

// readPoints reads the whole log.
func readPoints(w *Workload, sig check.Signature) ([]monpoly.Point, error) {
	r := monpoly.NewReader(bytes.NewReader(w.Log), w.Name+"/log", sig, func(string) bool { return true })
	var out []monpoly.Point
	for {
		var p monpoly.Point
		err := r.Next(&p)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p.Clone())
	}
}

// serialColumns says for each relation which of its columns are serials.
func serialColumns(sig []byte) map[string][]bool {
	out := map[string][]bool{}
	for _, m := range regexp.MustCompile(`(\w+)\(([^)]*)\)`).FindAllSubmatch(sig, -1) {
		var is []bool
		for column := range strings.SplitSeq(string(m[2]), ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(column), ":")
			is = append(is, slices.Contains(serials(), name))
		}
		out[string(m[1])] = is
	}
	return out
}

// repeater writes copies of a log.
type repeater struct {
	out        *bufio.Writer
	serial     map[string][]bool
	span, step int64
	size       Size
	line       []byte
}

// serialOf splits a serial into what stands before its number, and the number.
func serialOf(v schema.Value) (prefix string, n int64, ok bool) {
	if v.Kind == schema.KindInt {
		return "", v.Int, true
	}
	at := len(v.Str)
	for at > 0 && v.Str[at-1] >= '0' && v.Str[at-1] <= '9' {
		at--
	}
	n, err := strconv.ParseInt(v.Str[at:], 10, 64)
	return v.Str[:at], n, err == nil
}

func (r *repeater) largestSerial(points []monpoly.Point) int64 {
	var largest int64
	for _, p := range points {
		for _, f := range p.Facts {
			for i, v := range f.Args {
				if _, n, ok := serialOf(v); ok && r.serial[f.Name][i] {
					largest = max(largest, n)
				}
			}
		}
	}
	return largest
}

// copy writes the n-th copy, one time point to a line.
func (r *repeater) copy(points []monpoly.Point, n int64) error {
	for _, p := range points {
		r.line = strconv.AppendInt(append(r.line[:0], '@'), p.TS+n*r.span, 10)
		for _, f := range p.Facts {
			r.line = append(append(r.line, ' '), f.Name...)
			r.line = append(r.line, '(')
			for i, v := range f.Args {
				if i > 0 {
					r.line = append(r.line, ',')
				}
				r.value(v, r.serial[f.Name][i], n)
			}
			r.line = append(r.line, ')')
		}
		r.line = append(r.line, '\n')
		r.size.Points++
		r.size.Facts += len(p.Facts)
		if _, err := r.out.Write(r.line); err != nil {
			return err
		}
	}
	return nil
}

// value writes an argument; what stands in quotes is as it was there.
func (r *repeater) value(v schema.Value, serial bool, n int64) {
	if prefix, number, ok := serialOf(v); ok && serial {
		v = schema.Value{Kind: v.Kind, Int: number + n*r.step, Str: prefix + strconv.FormatInt(number+n*r.step, 10)}
	}
	switch v.Kind {
	case schema.KindInt:
		r.line = strconv.AppendInt(r.line, v.Int, 10)
	case schema.KindString:
		r.line = append(append(append(r.line, '"'), v.Str...), '"')
	case schema.KindFloat:
		r.line = strconv.AppendFloat(r.line, v.Float, 'g', -1, 64)
	}
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
