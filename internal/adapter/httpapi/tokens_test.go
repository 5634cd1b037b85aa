package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func TestParseTokens(t *testing.T) {
	tokens, err := ParseTokens("tokens", []byte(strings.Join([]string{
		"# the fleet",
		"",
		"0123456789abcdef agent-1 agent acme",
		"  fedcba9876543210\tagent-1   agent acme   # its second one",
		"AZaz09-._~+/AZaz== j.doe user acme",
		"0123456789abcdeX agent-1 command umbrella # no newline at the end",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]gate.Principal{
		"0123456789abcdef":   {ID: "agent-1", Class: schema.ClassAgent, Tenant: "acme"},
		"fedcba9876543210":   {ID: "agent-1", Class: schema.ClassAgent, Tenant: "acme"},
		"AZaz09-._~+/AZaz==": {ID: "j.doe", Class: schema.ClassUser, Tenant: "acme"},
		"0123456789abcdeX":   {ID: "agent-1", Class: schema.ClassCommand, Tenant: "umbrella"},
	}
	if tokens.Len() != len(want) {
		t.Errorf("%d tokens, want %d", tokens.Len(), len(want))
	}
	for token, who := range want {
		if got, ok := tokens.Lookup(token); !ok || got != who {
			t.Errorf("%s: got %+v, %v", token, got, ok)
		}
	}
	for _, token := range []string{"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", strings.Repeat("x", MaxToken+1)} {
		if who, ok := tokens.Lookup(token); ok {
			t.Errorf("%q is %+v", token, who)
		}
	}
}

func TestTokensRefused(t *testing.T) {
	const good = "0123456789abcdef"
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "# nobody\n", "names no token"},
		{"three fields", good + " a agent", "tokens:1: want four fields, token principal class tenant, found 3"},
		{"five fields", "\n" + good + " a agent t x", "tokens:2: want four fields"},
		{"short", "secret-secret15 a agent t", "the token has 15 characters, at least 16"},
		{"long", strings.Repeat("s", MaxToken+1) + " a agent t", "at most 4096"},
		{"quoted", `"secret-secret-16" a agent t`, "a character that a bearer token cannot have"},
		{"padding inside", "secret=secret-16 a agent t", "a character that a bearer token cannot have"},
		{"only padding", "================ a agent t", "a character that a bearer token cannot have"},
		{"class", good + " a wizard t", `"wizard" is no class of principal`},
		{"class in capitals", good + " a Agent t", `"Agent" is no class of principal`},
		{"reserved class", good + " a system t", "class system is that of the pipeline's own records"},
		{"twice", good + " a agent t\n\n" + good + " b agent t", "tokens:3: the token stands in line 1 already"},
		{"two classes", good + " a agent t\n" + good + "0 a user t", `tokens:2: principal "a" of tenant "t" has class user here and class agent in line 1`},
		{"carriage return", good + " a agent t\r\n", "printable text"},
		{"control character", good + " a\x1b agent t", "printable text"},
		{"invisible", good + " a\u202eb agent t", "printable text"},
		{"not UTF-8", good + " a\xff agent t", "printable text"},
		{"long principal", good + " " + strings.Repeat("a", schema.MaxID+1) + " agent t", "printable text"},
		{"large file", strings.Repeat("#", MaxTokensFile+1), "larger than 1048576 bytes"},
	} {
		tokens, err := ParseTokens("tokens", []byte(tc.text))
		if tokens != nil || !errors.Is(err, ErrTokens) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want an error with %q", tc.name, err, tc.want)
			continue
		}
		for _, secret := range []string{good, "secret"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error gives a token away: %v", tc.name, err)
			}
		}
	}
	_, err := ParseTokens("tokens", []byte("short a agent t\n"+good+" a nobody t\n"))
	if err == nil || !strings.Contains(err.Error(), "tokens:1") || !strings.Contains(err.Error(), "tokens:2") {
		t.Errorf("not every bad line is reported: %v", err)
	}
	atLimit := good + " a agent t\n" + strings.Repeat("#", MaxTokensFile-len(good)-11)
	if _, err := ParseTokens("tokens", []byte(atLimit)); len(atLimit) != MaxTokensFile || err != nil {
		t.Errorf("a file of %d bytes: %v", len(atLimit), err)
	}
	for n, ok := range map[int]bool{MinToken - 1: false, MinToken: true, MaxToken: true, MaxToken + 1: false} {
		if _, err := ParseTokens("tokens", []byte(strings.Repeat("a", n)+" a agent t")); ok != (err == nil) {
			t.Errorf("token of %d characters: %v", n, err)
		}
	}
}

func TestLoadTokensMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(tokensText), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, private := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false, 0o602: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTokens(path, false); private != (err == nil) {
			t.Errorf("mode %o: %v", mode, err)
		} else if err != nil && !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %o: no word on how to repair it: %v", mode, err)
		}
		if _, err := LoadTokens(path, true); err != nil {
			t.Errorf("mode %o, shared: %v", mode, err)
		}
	}
	for _, bad := range []string{filepath.Dir(path), path + "-missing"} {
		if _, err := LoadTokens(bad, true); !errors.Is(err, ErrTokens) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestAuthenticate(t *testing.T) {
	tokens := testTokens(t)
	for _, tc := range []struct {
		name    string
		headers []string
		ok      bool
	}{
		{"fine", []string{"Bearer " + agentToken}, true},
		{"scheme in lower case", []string{"bearer " + agentToken}, true},
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"scheme alone", []string{"Bearer"}, false},
		{"token alone", []string{agentToken}, false},
		{"another scheme", []string{"Basic " + agentToken}, false},
		{"two blanks", []string{"Bearer  " + agentToken}, false},
		{"prefix", []string{"Bearer " + agentToken[:len(agentToken)-1]}, false},
		{"longer", []string{"Bearer " + agentToken + "x"}, false},
		{"twice", []string{"Bearer " + agentToken, "Bearer " + agentToken}, false},
	} {
		r := request{path: "/"}.build(t.Context())
		r.Header["Authorization"] = tc.headers
		if who, ok := tokens.Authenticate(r); ok != tc.ok || !ok && who != (gate.Principal{}) {
			t.Errorf("%s: %+v, %v", tc.name, who, ok)
		}
	}
}

// TestPrincipalComesFromTheCredential posts bodies and headers that claim to be
// somebody else.
func TestPrincipalComesFromTheCredential(t *testing.T) {
	f := &fake{}
	s := newServer(t, f, nil)
	q := post("/v1/calls", validCall)
	q.header = map[string]string{"X-Principal": "user-1", "X-Tenant": "umbrella", "Cookie": "token=" + userToken}
	send(t, s, q)
	for _, member := range []string{"actor", "agent", "principal", "tenant", "class"} {
		if w := send(t, s, post("/v1/calls", `{"session":"s","tool":"t","`+member+`":"user-1"}`)); w.Code != http.StatusBadRequest {
			t.Errorf("a body with %s is answered %d", member, w.Code)
		}
	}
	if want := (gate.Principal{ID: "agent-1", Class: schema.ClassAgent, Tenant: "acme"}); len(f.who) != 1 || f.who[0] != want {
		t.Errorf("the gate was asked for %+v", f.who)
	}
	q.token = userToken
	send(t, s, q)
	if want := (gate.Principal{ID: "user-1", Class: schema.ClassUser, Tenant: "acme"}); f.who[1] != want {
		t.Errorf("the gate was asked for %+v", f.who[1])
	}
}

func TestTokensPrintNothing(t *testing.T) {
	tokens := testTokens(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, tokens); got != "4 tokens" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add([]byte(tokensText))
	f.Add([]byte("0123456789abcdef a agent t # c\r\n"))
	f.Add([]byte("0123456789abcdef\ta\u00a0b agent \xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := ParseTokens("tokens", data)
		if (tokens == nil) == (err == nil) {
			t.Fatalf("tokens %v, error %v", tokens, err)
		}
		if err == nil && tokens.Len() == 0 {
			t.Error("a file without tokens was accepted")
		}
	})
}
