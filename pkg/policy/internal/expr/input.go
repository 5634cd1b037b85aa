package expr

import (
	"encoding/hex"
	"encoding/json"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Input is what one evaluation reads. It is not safe for concurrent use.
type Input struct {
	Event *schema.Event
	// Args holds the declared arguments that are there, coerced; nil when the event
	// has none that can be read.
	Args *Object
	// Result is the value of a result event, nil when there is none.
	Result ref.Val
	// Name and Element are the variable of an `each` and what it stands for now.
	Name    string
	Element ref.Val
	// Bound holds what the parameters of a typing rule stand for.
	Bound map[string]ref.Val
}

var _ interpreter.Activation = (*Input)(nil)

// Parent implements interpreter.Activation.
func (in *Input) Parent() interpreter.Activation { return nil }

// ResolveName implements interpreter.Activation. A name without a value makes the
// expression fail: what it says is then unknown.
func (in *Input) ResolveName(name string) (any, bool) {
	if in.Name != "" && name == in.Name {
		return in.Element, true
	}
	if v, ok := in.Bound[name]; ok {
		return v, true
	}
	switch name {
	case "args":
		return in.Args, in.Args != nil
	case "result":
		return in.Result, in.Result != nil
	}
	if len(name) > len("event.") && name[:len("event.")] == "event." {
		return eventValue(in.Event, name[len("event."):])
	}
	if in.Args != nil {
		if v, ok := in.Args.Lookup(name); ok {
			return v, true
		}
	}
	return nil, false
}

// value returns the value of a variable, if there is one and it is no error.
func (in *Input) value(name string) (ref.Val, bool) {
	v, found := in.ResolveName(name)
	val, ok := v.(ref.Val)
	if !found || !ok || types.IsError(val) {
		return nil, false
	}
	return val, true
}

// eventFields lists the fields of `event`. Times are not among them: they belong
// in formulas.
func eventFields() []string {
	return []string{
		"session", "actor", "class", "tool", "server", "call", "text", "kind", "approval", "source",
		"trust_domain", "trace", "tenant", "issuer", "vantage", "status", "digest", "object", "recipient", "labels", "result",
	}
}

func eventType(name string) *cel.Type {
	switch name {
	case "object", "recipient":
		return cel.ListType(cel.StringType)
	case "labels":
		return cel.MapType(cel.StringType, cel.StringType)
	}
	return cel.StringType
}

// textField returns how to read a text field of the event, nil for other names.
func textField(name string) func(*schema.Event) string {
	switch name {
	case "session":
		return func(e *schema.Event) string { return e.SessionID }
	case "actor":
		return func(e *schema.Event) string { return e.Actor.ID }
	case "class":
		return func(e *schema.Event) string { return string(e.Actor.Class) }
	case "tool":
		return func(e *schema.Event) string { return e.Tool }
	case "server":
		return func(e *schema.Event) string { return e.Server }
	case "call":
		return func(e *schema.Event) string { return e.CallID }
	case "text":
		return func(e *schema.Event) string { return e.Text }
	case "kind":
		return func(e *schema.Event) string { return e.Kind.String() }
	case "approval":
		return func(e *schema.Event) string { return e.ApprovalID }
	case "source":
		return func(e *schema.Event) string { return e.Source }
	case "trust_domain":
		return func(e *schema.Event) string { return e.TrustDomain }
	case "trace":
		return func(e *schema.Event) string { return e.Trace }
	case "tenant":
		return func(e *schema.Event) string { return e.Tenant }
	case "issuer":
		return func(e *schema.Event) string { return string(e.Issuer) }
	case "vantage":
		return func(e *schema.Event) string { return e.Vantage.String() }
	case "digest":
		return digestOf
	case "status":
		return func(e *schema.Event) string { return e.Status.String() }
	}
	return nil
}

// digestOf is the digest of a call, or of the call to which an authority's act is bound, in
// hexadecimal; empty when there is none.
func digestOf(e *schema.Event) string {
	if e.Grant != nil {
		return hex.EncodeToString(e.Grant.CallDigest)
	}
	return hex.EncodeToString(e.Digest)
}

func eventValue(ev *schema.Event, name string) (any, bool) {
	switch name {
	case "object":
		return types.NewStringList(types.DefaultTypeAdapter, ev.Object), true
	case "recipient":
		return types.NewStringList(types.DefaultTypeAdapter, ev.Recipient), true
	case "labels":
		return NewObject(ev.Labels), true
	case "result":
		return resultText(&ev.Result)
	}
	if get := textField(name); get != nil {
		return types.String(get(ev)), true
	}
	return nil, false
}

// resultText is a result as it was printed: the text that it is, or its JSON. A result that
// is not there is empty; one that cannot be read has no value.
func resultText(p *schema.Payload) (any, bool) {
	switch p.Status {
	case schema.PayloadAbsent:
		return types.String(""), true
	case schema.PayloadWithheld, schema.PayloadMalformed:
		return nil, false
	case schema.PayloadOK:
	}
	var text string
	if len(p.Canon) == 0 || p.Canon[0] != '"' {
		return types.String(p.Canon), true
	}
	if json.Unmarshal(p.Canon, &text) != nil {
		return nil, false
	}
	return types.String(text), true
}
