package classify

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Endpoint is where a classifier is found.
type Endpoint struct {
	Name string // of the classifier, as the bundle names it
	URL  string
	// Model selects a chat completion endpoint and names its model; empty: the contract of this
	// project.
	Model string
	// Key is sent as a bearer token; empty: none.
	Key string
}

// The errors of configuring endpoints.
var (
	ErrEndpoint     = errors.New("classify: not an endpoint")
	ErrUnconfigured = errors.New("classify: no endpoint for a classifier of the policy")
)

const chatPrefix = "openai:"

// ParseEndpoint reads NAME=URL, or NAME=openai:URL#MODEL for a chat completion endpoint, whose
// URL ends before /chat/completions. A URL without TLS is taken for a loopback host only: texts
// leave the process.
func ParseEndpoint(s string) (Endpoint, error) {
	bad := func(what string) (Endpoint, error) {
		return Endpoint{}, fmt.Errorf("%w: %q: %s; write NAME=URL or NAME=openai:URL#MODEL", ErrEndpoint, s, what)
	}
	name, rest, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return bad("it names no classifier")
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		s = name + "=…" + rest[at:] // what may be a password does not come into a message
	}
	rest, chat := strings.CutPrefix(rest, chatPrefix)
	u, err := url.Parse(rest)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return bad("the URL is not an absolute one with http or https")
	}
	if u.User != nil {
		return bad("a URL with a password is not taken; give the key by the environment")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return bad("without TLS only a loopback host is taken")
	}
	e := Endpoint{Name: name, Model: u.Fragment}
	switch {
	case chat && e.Model == "":
		return bad("the model is missing")
	case !chat && e.Model != "":
		return bad("a fragment means nothing here")
	}
	u.Fragment = ""
	if chat {
		u = u.JoinPath("chat", "completions")
	}
	e.URL = u.String()
	return e, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// KeyVariable is the environment variable in which the key of a classifier stands:
// ASPIS_CLASSIFIER_NAME_KEY, with the name in capitals and _ for what is no letter or digit.
func KeyVariable(name string) string {
	return "ASPIS_CLASSIFIER_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name) + "_KEY"
}
