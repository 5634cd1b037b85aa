package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/pkg/client"
)

// The policies that are played against.
const (
	baseline = "../../policies/baseline"
	history  = "testdata/history"
)

// partitions is the number of partitions of the logs; agents is the number of
// principals. Sessions are spread over partitions by principal.
const (
	partitions = 8
	agents     = 16
)

// The names of processes.
const (
	roleUp       = "up"
	roleBroker   = "nats"
	roleAspect   = "aspectd"
	roleComposer = "composer"
	roleGate     = "gate"
	second       = "-2" // of the name of a role that is there twice
	third        = "-3"
)

// deployment is a set of processes with one gate.
type deployment struct {
	tb     testing.TB
	policy string
	dir    string
	base   string // URL of the gate
	twin   string // URL of the second gate, if there is one
	nats   string // URL of the broker; empty where it does not listen
	tokens []string
	procs  map[string]*process
}

func newDeployment(tb testing.TB, policy string) *deployment {
	tb.Helper()
	policy, err := filepath.Abs(policy)
	if err != nil {
		tb.Fatal(err)
	}
	d := &deployment{tb: tb, policy: policy, dir: tb.TempDir(), procs: map[string]*process{}}
	d.makeTokens()
	return d
}

func (d *deployment) makeTokens() {
	d.tb.Helper()
	var file strings.Builder
	for i := range agents {
		b := make([]byte, 16)
		if _, err := rand.Read(b); err != nil {
			d.tb.Fatal(err)
		}
		d.tokens = append(d.tokens, hex.EncodeToString(b))
		fmt.Fprintf(&file, "%s agent-%d agent default\n", d.tokens[i], i)
	}
	if err := os.WriteFile(d.tokensFile(), []byte(file.String()), 0o600); err != nil {
		d.tb.Fatal(err)
	}
}

func (d *deployment) tokensFile() string { return filepath.Join(d.dir, "tokens") }
func (d *deployment) keyDir() string     { return filepath.Join(d.dir, "keys") }
func (d *deployment) dataDir() string    { return filepath.Join(d.dir, "data") }

// add describes a process that runs a command of the product.
func (d *deployment) add(role, name string, args ...string) {
	d.tb.Helper()
	bin := binary(d.tb, name)
	d.procs[role] = newProcess(d.tb, role, d.dir, func() *exec.Cmd {
		c := exec.CommandContext(context.WithoutCancel(d.tb.Context()), bin, args...)
		c.Dir = d.dir
		return c
	})
}

// startUp starts `aspis up` and waits until it decides calls.
func startUp(tb testing.TB, policy string) *deployment {
	tb.Helper()
	d := newDeployment(tb, policy)
	addr := "127.0.0.1:" + strconv.Itoa(freePort(tb))
	d.base = "http://" + addr
	d.add(roleUp, "aspis", "up", "--policy", d.policy, "--listen", addr, "--data", d.dataDir(), "--tokens", d.tokensFile(),
		"--partitions", strconv.Itoa(partitions), "--log-level", "warn")
	d.procs[roleUp].ready = func(out string) bool { return strings.Contains(out, "deciding calls at") }
	d.startAll()
	return d
}

// startSeparate starts a broker and the three roles, each as a process of its own.
func startSeparate(tb testing.TB, policy string) *deployment {
	tb.Helper()
	d := newDeployment(tb, policy)
	d.startBroker()
	d.base = d.addRoles("")
	d.createLog()
	d.startAll()
	return d
}

// startDouble is startSeparate with every role there twice: both composers and both
// aspect workers work on all partitions, which each believes to own.
func startDouble(tb testing.TB, policy string) *deployment {
	tb.Helper()
	d := newDeployment(tb, policy)
	d.startBroker()
	d.base, d.twin = d.addRoles(""), d.addRoles(second)
	d.createLog()
	d.startAll()
	return d
}

// addRoles describes one process for each role and returns the URL of the gate.
func (d *deployment) addRoles(suffix string) string {
	d.tb.Helper()
	addr := "127.0.0.1:" + strconv.Itoa(freePort(d.tb))
	d.run("aspis", "keys", d.keyDir())
	shared := []string{"--policy", d.policy, "--nats", d.nats, "--log-level", "warn"}
	keys := []string{"--keys", d.keyDir()}
	d.add(roleComposer+suffix, "composer", append(slices.Concat(shared, keys), "--partitions", strconv.Itoa(partitions))...)
	d.add(roleAspect+suffix, "aspectd", append(slices.Clone(shared), "--aspect", "temporal")...)
	d.add(roleGate+suffix, "gate", append(slices.Concat(shared, keys), "--listen", addr, "--tokens", d.tokensFile())...)
	return "http://" + addr
}

func (d *deployment) startBroker() {
	d.tb.Helper()
	port := strconv.Itoa(freePort(d.tb))
	d.nats = "nats://127.0.0.1:" + port
	p := newProcess(d.tb, roleBroker, d.dir, func() *exec.Cmd {
		c := exec.CommandContext(context.WithoutCancel(d.tb.Context()), os.Args[0])
		c.Env = append(os.Environ(), brokerDir+"="+filepath.Join(d.dir, "broker"), brokerPort+"="+port)
		return c
	})
	p.ready = func(out string) bool { return strings.Contains(out, brokerReady) }
	d.procs[roleBroker] = p
	p.start()
}

// createLog makes the streams, so that it does not matter which role comes first.
func (d *deployment) createLog() {
	d.tb.Helper()
	b, err := natsbus.Connect(d.tb.Context(), natsbus.Config{URL: d.nats, Partitions: partitions})
	if err != nil {
		d.tb.Fatal(err)
	}
	_ = b.Close()
}

// client returns a client of the i-th agent with connections of its own.
func (d *deployment) client(i int) *client.Client {
	return client.New(d.base, d.tokens[i%len(d.tokens)], nil)
}

// awaitReady waits until a gate says that it can decide calls.
func (d *deployment) awaitReady(base string) {
	d.tb.Helper()
	c := client.New(base, d.tokens[0], &http.Client{Timeout: time.Second})
	var err error
	for range 400 {
		if err = c.Ready(d.tb.Context()); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.tb.Fatalf("the gate is not ready after 20 s: %v", err)
}

// restart kills a role with SIGKILL and starts it again after a pause.
func (d *deployment) restart(role string, pause time.Duration) {
	d.tb.Helper()
	d.procs[role].kill()
	time.Sleep(pause)
	d.procs[role].start()
}

// startAll starts everything that is not running and waits until calls can be decided.
func (d *deployment) startAll() {
	d.tb.Helper()
	for _, role := range []string{roleUp, roleComposer, roleAspect, roleGate} {
		for _, suffix := range []string{"", second, third} {
			if p := d.procs[role+suffix]; p != nil {
				p.start()
			}
		}
	}
	d.awaitReady(d.base)
	if d.twin != "" {
		d.awaitReady(d.twin)
	}
}

// stopAll ends everything but a broker of its own in an orderly manner.
func (d *deployment) stopAll() {
	d.tb.Helper()
	for role, p := range d.procs {
		if role != roleBroker {
			p.interrupt()
		}
	}
}

// killAll ends everything but a broker of its own, without a chance to tidy up.
func (d *deployment) killAll() {
	for role, p := range d.procs {
		if role != roleBroker {
			p.kill()
		}
	}
}

// log is what `aspis replay --log` is given once killAll was called.
func (d *deployment) log() string {
	if d.nats != "" {
		return d.nats
	}
	return d.dataDir()
}

// run runs a command of the product to its end and returns what it printed.
func (d *deployment) run(args ...string) []byte {
	d.tb.Helper()
	ctx, cancel := context.WithTimeout(d.tb.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, binary(d.tb, args[0]), args[1:]...)
	c.Dir = d.dir
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		d.tb.Fatalf("%s: %v\n%s%.2000s", strings.Join(args, " "), err, errs.Bytes(), out[max(0, len(out)-2000):])
	}
	return out
}
