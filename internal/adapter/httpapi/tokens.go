package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// The limits of a tokens file.
const (
	// MinToken is the length of the shortest token accepted, in characters: 16 of the
	// 64 that tokens use are 96 bits when they are random.
	MinToken = 16
	// MaxToken is the length of the longest one; it has to fit into a header.
	MaxToken = 4096
	// MaxTokensFile is the size of a tokens file in bytes: over ten thousand lines,
	// beyond which credentials need a service of their own.
	MaxTokensFile = 1 << 20
)

// ErrTokens is wrapped by every error about a tokens file.
var ErrTokens = errors.New("httpapi: tokens file")

// Tokens maps bearer tokens to principals. It is immutable and safe for concurrent
// use. It holds keyed hashes, not tokens: the time that a lookup takes says nothing
// about how much of a guess was right, and a printed value gives no credential away.
type Tokens struct {
	key  [32]byte
	byID map[[sha256.Size]byte]gate.Principal
}

// LoadTokens reads a tokens file. One that others than its owner may access is
// refused unless shared is set: whoever reads it can act as every principal in it.
func LoadTokens(path string, shared bool) (*Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrTokens, path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !shared {
		return nil, fmt.Errorf("%w: %s has mode %04o, so others than its owner can read or write it; run `chmod 600 %s`", ErrTokens, path, mode, path)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxTokensFile+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	return ParseTokens(path, data)
}

// ParseTokens reads lines of the form `token principal class tenant`. Empty lines
// and comments, from a # at the start of a field on, are skipped. Errors name the
// line and never contain a token; all bad lines are reported at once. name stands
// for the file in errors.
func ParseTokens(name string, data []byte) (*Tokens, error) {
	if len(data) > MaxTokensFile {
		return nil, fmt.Errorf("%w: %s is larger than %d bytes", ErrTokens, name, MaxTokensFile)
	}
	t := &Tokens{byID: map[[sha256.Size]byte]gate.Principal{}}
	if _, err := rand.Read(t.key[:]); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	p := tokensParser{tokens: t, lines: map[[sha256.Size]byte]int{}, classes: map[identity]classAt{}}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if err := p.line(n, strings.TrimSuffix(line, "\n")); err != nil {
			p.errs = append(p.errs, fmt.Errorf("%w: %s:%d: %w", ErrTokens, name, n, err))
		}
	}
	if len(p.errs) == 0 && len(t.byID) == 0 {
		p.errs = append(p.errs, fmt.Errorf("%w: %s names no token, so nobody could do anything; add a line `token principal class tenant`", ErrTokens, name))
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return t, nil
}

type identity struct{ tenant, id string }

type classAt struct {
	class schema.ActorClass
	line  int
}

type tokensParser struct {
	tokens  *Tokens
	lines   map[[sha256.Size]byte]int
	classes map[identity]classAt
	errs    []error
}

func (p *tokensParser) line(n int, line string) error {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	for i, f := range fields {
		if strings.HasPrefix(f, "#") {
			fields = fields[:i]
			break
		}
	}
	if len(fields) == 0 {
		return nil
	}
	if len(fields) != 4 {
		return fmt.Errorf("want four fields, token principal class tenant, found %d", len(fields))
	}
	if err := checkToken(fields[0]); err != nil {
		return err
	}
	who, err := parsePrincipal(fields[1], fields[2], fields[3])
	if err != nil {
		return err
	}
	id := identity{who.Tenant, who.ID}
	if c, known := p.classes[id]; known && c.class != who.Class {
		return fmt.Errorf("principal %q of tenant %q has class %s here and class %s in line %d; give an authority a name of its own",
			who.ID, who.Tenant, who.Class, c.class, c.line)
	}
	hash := p.tokens.hash(fields[0])
	if first, twice := p.lines[hash]; twice {
		return fmt.Errorf("the token stands in line %d already; make a new one for each line", first)
	}
	p.classes[id] = classAt{who.Class, n}
	p.lines[hash] = n
	p.tokens.byID[hash] = who
	return nil
}

func checkToken(token string) error {
	switch {
	case len(token) < MinToken:
		return fmt.Errorf("the token has %d characters, at least %d are needed; `openssl rand -hex 24` makes one", len(token), MinToken)
	case len(token) > MaxToken:
		return fmt.Errorf("the token has %d characters, at most %d are accepted", len(token), MaxToken)
	case !isToken(token):
		return errors.New("the token has a character that a bearer token cannot have; use letters, digits and -._~+/ with = at the end only (RFC 6750)")
	}
	return nil
}

// isToken reports whether s is a b64token of RFC 6750, section 2.1.
func isToken(s string) bool {
	body := strings.TrimRight(s, "=")
	for i := range len(body) {
		c := body[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~+/", c) >= 0 {
			continue
		}
		return false
	}
	return body != ""
}

func parsePrincipal(id, class, tenant string) (gate.Principal, error) {
	who := gate.Principal{ID: id, Class: schema.ActorClass(class), Tenant: tenant}
	if !isName(id) || !isName(tenant) {
		return who, fmt.Errorf("principal and tenant are printable text of at most %d bytes each", schema.MaxID)
	}
	switch who.Class {
	case schema.ClassAgent, schema.ClassUser, schema.ClassTool, schema.ClassEnv, schema.ClassCommand:
		return who, nil
	case schema.ClassMonitor, schema.ClassSystem:
		return who, fmt.Errorf("class %s is that of the pipeline's own records; nobody can hold a credential of it", class)
	}
	return who, fmt.Errorf("%q is no class of principal; want agent, user, tool, env or command", class)
}

func isName(s string) bool {
	return len(s) <= schema.MaxID && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) })
}

func (t *Tokens) hash(token string) [sha256.Size]byte {
	var buf [32 + 128]byte
	return sha256.Sum256(append(append(buf[:0], t.key[:]...), token...))
}

// Len returns the number of tokens.
func (t *Tokens) Len() int { return len(t.byID) }

// Lookup returns the principal of a token.
func (t *Tokens) Lookup(token string) (who gate.Principal, ok bool) {
	if len(token) > MaxToken {
		return gate.Principal{}, false
	}
	who, ok = t.byID[t.hash(token)]
	return who, ok
}

// Authenticate returns the principal of the request's only Authorization header,
// which must be `Bearer` and a token.
func (t *Tokens) Authenticate(r *http.Request) (who gate.Principal, ok bool) {
	headers := r.Header["Authorization"]
	if len(headers) != 1 {
		return gate.Principal{}, false
	}
	scheme, token, found := strings.Cut(headers[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return gate.Principal{}, false
	}
	return t.Lookup(token)
}

// String keeps keys and hashes out of logs.
func (t *Tokens) String() string { return fmt.Sprintf("%d tokens", len(t.byID)) }

// GoString keeps keys and hashes out of logs.
func (t *Tokens) GoString() string { return t.String() }
