package cli

import (
	"context"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aspis-rv/aspis/pkg/client"
)

// TestMain makes `aspis` a command of the scripts, run in process of the test binary.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"aspis": func() { os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the transcripts in testdata/script: commands, their output, their
// exit codes.
func TestScripts(t *testing.T) {
	policies, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: commands(),
		Setup: func(e *testscript.Env) error {
			e.Setenv("POLICIES", policies+"/../../policies")
			e.Setenv("SOON", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			e.Values[classifierKey{}] = &classifierValue{}
			e.Setenv("CLASSIFIERS", policies+"/../../docs/examples/classifiers")
			e.Setenv("CONSENT", policies+"/../../pkg/policy/testdata/consent")
			return nil
		},
	})
}

// commands are the verbs of the scripts besides the usual ones.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"waitfor":    waitFor,
		"call":       call,
		"classifier": classifier,
	}
}

// waitFor waits until a file exists.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 600 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}

// call proposes a call of a tool through a socket with the development token of a data
// directory and compares status and decision:
// call [--data DIR] [--socket FILE] [--args JSON] TOOL STATUS DECISION. $CALL is the call's id.
func call(ts *testscript.TestScript, _ bool, args []string) {
	fs := flag.NewFlagSet("call", flag.ContinueOnError)
	data := fs.String("data", "data", "")
	socket := fs.String("socket", "gate.sock", "")
	arguments := fs.String("args", "", "")
	ts.Check(fs.Parse(args))
	args = fs.Args()
	agent, _, err := devTokens(ts.MkAbs(*data + "/tokens"))
	ts.Check(err)
	hc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", ts.MkAbs(*socket))
	}}}
	c := client.New("http://localhost", agent, hc)
	for range 600 {
		if err = c.Ready(context.Background()); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Check(err)
	session, err := c.OpenSession(context.Background())
	ts.Check(err)
	d, err := c.Propose(context.Background(), client.Call{Session: session, Tool: args[0], Args: []byte(*arguments)})
	ts.Check(err)
	if got := []string{strconv.Itoa(d.Status), d.Decision}; !slices.Equal(got, args[1:]) {
		ts.Fatalf("%s: got %v, want %v (%+v)", args[0], got, args[1:], d)
	}
	ts.Setenv("CALL", d.CallID)
}

// classifier starts the server that knows the texts of docs/classifiers.md, as $CLASSIFIER, or ends it:
// classifier start, classifier stop.
func classifier(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: classifier start|stop")
	}
	if args[0] == "stop" {
		if srv, ok := ts.Value(classifierKey{}).(*classifierValue); ok {
			srv.stop()
		}
		return
	}
	srv, ok := ts.Value(classifierKey{}).(*classifierValue)
	if !ok {
		ts.Fatalf("no room for a classifier in this script")
	}
	srv.server = httptest.NewServer(tableServer())
	ts.Defer(srv.stop)
	ts.Setenv("CLASSIFIER", srv.server.URL)
}

type classifierKey struct{}

// classifierValue is the classifier of one script.
type classifierValue struct{ server *httptest.Server }

func (c *classifierValue) stop() {
	if c.server != nil {
		c.server.Close()
		c.server = nil
	}
}
