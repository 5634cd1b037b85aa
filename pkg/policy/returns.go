package policy

import (
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/records"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// errResult says that the body of an ok result cannot be read.
var errResult = errors.New("the result cannot be read")

// returns reads how the text of a tool's results is to be read; 0 when the key is absent.
func (l *loader) returns(n *source.Node) records.Format {
	var names []string
	for _, f := range records.Formats() {
		names = append(names, f.String())
	}
	s, ok := l.choice(n, "returns", names...)
	if !ok {
		return 0
	}
	f, err := records.ParseFormat(s)
	if err != nil {
		l.report(n, badValue("returns", s, err.Error(), ""))
	}
	return f
}

// readResult reads the body of a result as its tool prints it. Without a format the body is
// the JSON value that it is. With json it is either that, or a text that holds JSON; with
// another format it is a text.
func readResult(f records.Format, body schema.Payload) (records.Value, error) {
	switch body.Status {
	case schema.PayloadOK:
	case schema.PayloadAbsent:
		return records.Value{}, fmt.Errorf("%w: it has no body", errResult)
	case schema.PayloadWithheld:
		return records.Value{}, fmt.Errorf("%w: it was withheld", errResult)
	case schema.PayloadMalformed:
		return records.Value{}, fmt.Errorf("%w: it is malformed", errResult)
	}
	v, err := records.Parse(records.JSON, string(body.Canon))
	if err != nil {
		return records.Value{}, fmt.Errorf("%w: %w", errResult, err)
	}
	printed, isText := v.Text()
	switch {
	case f == 0, f == records.JSON && v.Kind() != records.String:
		return v, nil
	case !isText || v.Kind() != records.String:
		return records.Value{}, fmt.Errorf("%w: it is a %v, and returns says that it is a text in the format %v", errResult, v.Kind(), f)
	}
	if v, err = records.Parse(f, printed); err != nil {
		return records.Value{}, fmt.Errorf("%w: %w", errResult, err)
	}
	return v, nil
}

// structure is the result of the call at hand as a tree, read once.
func (r *typer) structure() (records.Value, error) {
	if !r.opened {
		r.opened = true
		r.tree, r.unread = readResult(r.format(), r.ev.Result)
	}
	return r.tree, r.unread
}

func (r *typer) format() records.Format {
	if r.entry == nil {
		return 0
	}
	return r.entry.returns
}

// resultValue is what expressions see as the result: nil when there is none, and an error when
// it is not what its tool is said to print.
func (r *typer) resultValue() expr.Value {
	if r.ev.Result.Status != schema.PayloadOK {
		return nil
	}
	canon := r.ev.Result.Canon
	if r.format() != 0 {
		v, err := r.structure()
		if err != nil {
			return expr.Failed("result", err)
		}
		canon = v.AppendJSON(nil)
	}
	v, err := expr.Decode(canon)
	if err != nil {
		return nil
	}
	return v
}
