// Package deploy starts the deployments that a load test measures: all roles in this
// process, each role in a process of its own, or one process behind HTTP. Everything
// listens on 127.0.0.1 only, and lives in a directory that the caller removes.
package deploy

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aspis-rv/aspis/loadtest/fleet"
	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/script"
)

// Options say what to start.
type Options struct {
	Dir        string // of log, keys and bundle; it exists
	Workload   *script.Workload
	Partitions uint32
	Agents     int // with a credential each
	Tenants    int // among which the agents are divided
}

// Validate reports every mistake at once.
func (o *Options) Validate() error {
	var errs []error
	if o.Dir == "" || o.Workload == nil {
		errs = append(errs, errors.New("deploy: a directory and a workload are needed"))
	}
	if o.Agents < 1 || o.Tenants < 1 || o.Tenants > o.Agents {
		errs = append(errs, fmt.Errorf("deploy: %d agents of %d tenants: want at least one agent for each tenant", o.Agents, o.Tenants))
	}
	return errors.Join(errs...)
}

func (o *Options) tenant(i int) string { return fmt.Sprintf("tenant-%03d", i%o.Tenants) }
func (o *Options) agent(i int) string  { return fmt.Sprintf("agent-%04d", i) }
func (o *Options) user(i int) string   { return "user-of-" + o.tenant(i) }

// Deployment is a running deployment.
type Deployment struct {
	// Doors has one entry per agent.
	Doors []fleet.Door
	// GateKey is the public key of permits.
	GateKey ed25519.PublicKey
	pids    []namedPID
	stops   []func() error
}

type namedPID struct {
	name string
	pid  int
}

// startTimeout bounds the start of a deployment.
const startTimeout = 30 * time.Second

// Close stops everything, last started first, and returns when it has ended.
func (d *Deployment) Close() error {
	var errs []error
	for len(d.stops) > 0 {
		last := len(d.stops) - 1
		errs = append(errs, d.stops[last]())
		d.stops = d.stops[:last]
	}
	return errors.Join(errs...)
}

func (d *Deployment) onClose(stop func() error) { d.stops = append(d.stops, stop) }

func (d *Deployment) process(name string, pid int) {
	d.pids = append(d.pids, namedPID{name, pid})
}

// RoleUsage is what one process has used so far.
type RoleUsage struct {
	Name string
	measure.Usage
}

// Usage reads what every process of the deployment has used, this one included.
func (d *Deployment) Usage() ([]RoleUsage, error) {
	var out []RoleUsage
	var errs []error
	for _, p := range d.pids {
		var u measure.Usage
		var err error
		if p.pid == os.Getpid() {
			u, err = measure.Self()
		} else {
			u, err = measure.Process(p.pid)
		}
		errs = append(errs, err)
		out = append(out, RoleUsage{Name: p.name, Usage: u})
	}
	return out, errors.Join(errs...)
}
