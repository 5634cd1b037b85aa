package main

import (
	"strings"
	"testing"
)

const (
	pass = `{"Action":"run","Package":"github.com/aspis-rv/aspis/pkg/a","Test":"TestX"}
{"Action":"output","Package":"github.com/aspis-rv/aspis/pkg/a","Test":"TestX","Output":"chatter\n"}
{"Action":"pass","Package":"github.com/aspis-rv/aspis/pkg/a","Test":"TestX"}
{"Action":"output","Package":"github.com/aspis-rv/aspis/pkg/a","Output":"PASS\n"}
{"Action":"output","Package":"github.com/aspis-rv/aspis/pkg/a","Output":"ok  \tgithub.com/aspis-rv/aspis/pkg/a\t0.1s\n"}
{"Action":"pass","Package":"github.com/aspis-rv/aspis/pkg/a"}
`
	skip = `{"Action":"output","Package":"github.com/aspis-rv/aspis/pkg/b","Test":"TestY","Output":"no broker\n"}
{"Action":"skip","Package":"github.com/aspis-rv/aspis/pkg/b","Test":"TestY"}
`
	fail = `{"Action":"output","Package":"github.com/aspis-rv/aspis/pkg/c","Test":"TestZ","Output":"got 1, want 2\n"}
{"Action":"fail","Package":"github.com/aspis-rv/aspis/pkg/c","Test":"TestZ"}
{"Action":"output","Package":"github.com/aspis-rv/aspis/pkg/c","Output":"FAIL\tgithub.com/aspis-rv/aspis/pkg/c\t0.1s\n"}
{"Action":"fail","Package":"github.com/aspis-rv/aspis/pkg/c"}
`
	panicked = `{"Action":"output","Package":"github.com/aspis-rv/aspis/pkg/d","Test":"TestP","Output":"panic: boom\n"}
{"Action":"fail","Package":"github.com/aspis-rv/aspis/pkg/d"}
`
	noTests = `{"Action":"skip","Package":"github.com/aspis-rv/aspis/pkg/e"}
`
	unbuilt = `{"Action":"build-output","ImportPath":"x","Output":"syntax error\n"}
{"Action":"build-fail","ImportPath":"x"}
`
)

func TestVerdict(t *testing.T) {
	for _, tc := range []struct {
		name, in, allow string
		good            bool
		want, not       string // in the output, and not in it
	}{
		{"pass", pass, "", true, "ok  \tgithub.com/aspis-rv/aspis/pkg/a", "chatter"},
		{"package without tests", pass + noTests, "", true, "1 packages passed, 1 tests passed, 0 skipped", "not on the list"},
		{"skip", pass + skip, "", false, "not on the list of allowed skips: pkg/b TestY", "no broker"},
		{"allowed skip", pass + skip, "pkg/b TestY | needs a cluster", true, "as allowed: pkg/b TestY (needs a cluster)", "not on the list"},
		{"another's allowed skip", pass + skip, "pkg/b TestY2 | needs a cluster", false, "not on the list", "as allowed"},
		{"fail", pass + fail, "", false, "got 1, want 2", "chatter"},
		{"panic", pass + panicked, "", false, "panic: boom", "chatter"},
		{"nothing", "", "", false, "no test ran", "ok"},
		{"only packages without tests", noTests, "", false, "no test ran", "ok"},
		{"does not build", pass + unbuilt, "", false, "syntax error", "chatter"},
		{"no JSON", "go: cannot find main module\n" + pass, "", true, "cannot find main module", "chatter"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			l := newLog(&out)
			var err error
			if l.allowed, err = parseAllowed(tc.allow); err != nil {
				t.Fatal(err)
			}
			if err := l.read(strings.NewReader(tc.in)); err != nil {
				t.Fatal(err)
			}
			if good := l.verdict(); good != tc.good {
				t.Errorf("got %v, want %v", good, tc.good)
			}
			if !strings.Contains(out.String(), tc.want) || strings.Contains(out.String(), tc.not) {
				t.Errorf("want %q and not %q in:\n%s", tc.want, tc.not, out.String())
			}
		})
	}
}

func TestClosingLines(t *testing.T) {
	l := newLog(&strings.Builder{})
	if err := l.read(strings.NewReader(pass + fail)); err != nil {
		t.Fatal(err)
	}
	want := "ok  \tgithub.com/aspis-rv/aspis/pkg/a\t0.1s\nFAIL\tgithub.com/aspis-rv/aspis/pkg/c\t0.1s\n"
	if got := l.closing.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAllowedNeedsAReason(t *testing.T) {
	for _, bad := range []string{"pkg/b TestY", "pkg/b | why", "pkg/b TestY |", "pkg/b TestY because | why"} {
		if _, err := parseAllowed(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
