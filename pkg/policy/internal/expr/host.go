package expr

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// ErrHost says that a text is not a URL with one unmistakable host.
var ErrHost = errors.New("expr: no host")

// hostFunctions declares the functions that policies have beyond CEL's own.
func hostFunctions(domains map[string]string) []cel.EnvOption {
	text := []*cel.Type{cel.StringType}
	unary := func(name string, f func(string) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_string", text, cel.StringType, cel.UnaryBinding(func(v ref.Val) ref.Val {
			s, ok := v.(types.String)
			if !ok {
				return types.MaybeNoSuchOverloadErr(v)
			}
			return f(string(s))
		})))
	}
	return []cel.EnvOption{
		unary("domain_of", func(s string) ref.Val {
			d, ok := domains[s]
			if !ok {
				return types.NewErr("the domain of %q is not known", s)
			}
			return types.String(d)
		}),
		unary("host_of", func(s string) ref.Val {
			h, err := HostOf(s)
			if err != nil {
				return types.WrapErr(err)
			}
			return types.String(h)
		}),
		unary("lower", func(s string) ref.Val { return types.String(strings.ToLower(s)) }),
	}
}

// hostCosts prices the functions that look at every byte of their argument as CEL
// prices its own: a tenth per byte.
func hostCosts() []cost.TrackerOption {
	linear := func(args []ref.Val, _ ref.Val) *uint64 {
		n := uint64(1)
		if s, ok := args[0].(types.String); ok {
			n += uint64(len(s)) / 10
		}
		return &n
	}
	return []cost.TrackerOption{
		cost.OverloadTracker("host_of_string", linear),
		cost.OverloadTracker("lower_string", linear),
	}
}

// HostOf returns the host of an absolute URL in lower case, without port, user
// and final dot. What different programs read differently is an error: backslashes,
// blanks, control and non-ASCII characters before the path, a missing scheme or
// host.
func HostOf(text string) (string, error) {
	for i := range len(text) {
		if text[i] == '\\' || text[i] <= ' ' || text[i] == 0x7f {
			return "", fmt.Errorf("%w: a character that programs read differently", ErrHost)
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return "", fmt.Errorf("%w: not an absolute URL", ErrHost)
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "" {
		return "", fmt.Errorf("%w: the URL names none", ErrHost)
	}
	for i := range len(host) {
		if host[i] >= 0x80 || host[i] == '%' {
			return "", fmt.Errorf("%w: a host outside ASCII, write it in its xn-- form", ErrHost)
		}
	}
	return host, nil
}
