package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/adapter/httpapi"
	"github.com/aspis-rv/aspis/loadtest/script"
)

// TestMain makes the test's binary a child of the tests: it says what the environment
// tells it to, then waits for the end of its standard input, or fails.
func TestMain(m *testing.M) {
	switch say, fail := os.Getenv("CHILD_SAYS"), os.Getenv("CHILD_FAILS"); {
	case fail != "":
		fmt.Fprintln(os.Stderr, fail)
		os.Exit(3)
	case say != "":
		fmt.Println(say) //nolint:forbidigo // this is a program
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func spawn(t *testing.T, d *Deployment) *child {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.spawn(t.Context(), "child", path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChildIsHeardAndStopped(t *testing.T) {
	t.Setenv("CHILD_SAYS", `{"msg":"listening","address":"http://127.0.0.1:1"}`)
	var d Deployment
	c := spawn(t, &d)
	addr, err := c.await(t.Context(), listeningAt)
	if err != nil || addr != "http://127.0.0.1:1" {
		t.Errorf("heard %q, %v", addr, err)
	}
	usage, err := d.Usage()
	if err != nil || len(usage) != 1 || usage[0].RSS <= 0 {
		t.Errorf("usage %+v, %v", usage, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.await(ctx, func(string) string { return "" }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for what is never said: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	select {
	case <-c.done:
	default:
		t.Error("the child lives on")
	}
}

func TestChildThatFailsSaysWhy(t *testing.T) {
	t.Setenv("CHILD_FAILS", "the port is in use")
	var d Deployment
	_, err := spawn(t, &d).await(t.Context(), listeningAt)
	if !errors.Is(err, errChild) || !strings.Contains(err.Error(), "the port is in use") {
		t.Errorf("got %v", err)
	}
	if err := d.Close(); !errors.Is(err, errChild) {
		t.Errorf("closing after a failure: %v", err)
	}
}

func TestLinesKeepTheLast(t *testing.T) {
	l := newLines()
	for i := range maxLines + 50 {
		fmt.Fprintf(l, "line %d\nhal", i)
		fmt.Fprint(l, "f ")
	}
	if got := l.tail(); !strings.HasSuffix(got, fmt.Sprintf("half line %d", maxLines+49)) || strings.Count(got, "\n") != 9 {
		t.Errorf("the tail is %q", got)
	}
	if _, found := l.search(func(s string) string {
		if s == "half line 3" {
			return s
		}
		return ""
	}); found != "" {
		t.Error("a line of long ago was kept")
	}
}

func TestListeningAt(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"x","level":"INFO","msg":"listening","address":"http://127.0.0.1:80"}`: "http://127.0.0.1:80",
		`{"level":"INFO","msg":"listening","address":"127.0.0.1:80"}`:                   "http://127.0.0.1:80",
		`{"msg":"activating the policy","address":"x"}`:                                 "",
		`aspis: deciding calls at http://127.0.0.1:80`:                                  "",
	} {
		if got := listeningAt(line); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// TestSetupGivesEveryAgentACredential checks the tokens by the reader of the gate.
func TestSetupGivesEveryAgentACredential(t *testing.T) {
	w, err := script.Load("ledger", 1)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: t.TempDir(), Workload: w, Partitions: 2, Agents: 10, Tenants: 3}
	s, err := newSetup(&o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.LoadTokens(s.tokens, false); err != nil {
		t.Error(err)
	}
	agents, users := map[string]bool{}, map[string]bool{}
	for i := range o.Agents {
		agents[s.agents[i]], users[s.users[i]] = true, true
	}
	if len(agents) != 10 || len(users) != 3 || s.users[1] != s.users[4] {
		t.Errorf("%d agents and %d users have tokens, want 10 and one user for each of 3 tenants", len(agents), len(users))
	}
	if _, err := os.Stat(s.bundle + "/policy.yaml"); err != nil {
		t.Error(err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	w := &script.Workload{}
	for _, o := range []Options{
		{},
		{Dir: "d", Workload: w},
		{Dir: "d", Workload: w, Agents: 2, Tenants: 3},
		{Workload: w, Agents: 1, Tenants: 1},
	} {
		if o.Validate() == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	if _, err := InProcess(t.Context(), Options{}, nil); err == nil {
		t.Error("a deployment of nothing was started")
	}
}
