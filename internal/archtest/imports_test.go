package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// importRules is the order of the module's packages. `a < b` means that b, and
// whatever stands above b, may import a and whatever stands below a. Nothing else
// may be imported. A statement ends with a semicolon; a comma makes a list.
//
// The text is the design, not a description of the imports: a package that needs
// an arrow that is not here is at the wrong place or needs a decision record in
// docs/adr. Rooms that are planned and not yet built are in the text already.
//
// Test files may import more, because a test compares an engine with an oracle or
// drives it through a service; Go itself forbids them cycles.
const importRules = `
# Values and records: a leaf and what is built on it.
NONE < pkg/verdict < pkg/schema;
internal/world < pkg/aspects;

# From a text to a plan.
NONE < internal/diag;
internal/diag, pkg/schema < internal/lang/syntax < internal/lang/check;

# Engines. They know no policy file, no bus and no service.
internal/lang/check < internal/mfotl, internal/ltlf;
internal/mfotl < internal/mfotl/future;
internal/diag, pkg/schema < internal/text;
pkg/schema < internal/records;
pkg/schema < internal/world;
internal/world, internal/lang/check < internal/world/spatial;
internal/world < internal/world/importer;
internal/world < internal/world/render;
pkg/schema < internal/protocol;

# MonPoly's texts, and an engine run over them.
internal/mfotl/future < internal/monpoly;

# The bundle a user writes, and what follows from it for one event.
internal/diag < pkg/policy/internal/source < pkg/policy/internal/expr, pkg/policy/internal/rewrite;
pkg/schema, internal/text < pkg/policy/internal/expr;
internal/lang/check < pkg/policy/internal/rewrite;
pkg/policy/internal/expr, pkg/policy/internal/rewrite, internal/lang/check, internal/text, internal/records, internal/world/importer, pkg/aspects < pkg/policy;
pkg/policy < internal/facts;

# The folds over one partition: one aspect's verdicts, and their decision.
internal/facts, internal/protocol, pkg/policy < internal/judge, internal/compose;

# The aspects: an engine behind the contract of a monitor.
internal/mfotl, internal/world/spatial, pkg/policy < internal/monitor;
internal/monitor < pkg/aspects/temporal, pkg/aspects/spatial, pkg/aspects/semantic;
internal/ltlf, pkg/policy < pkg/aspects/contract;
pkg/aspects/temporal, pkg/aspects/spatial, pkg/aspects/semantic, pkg/aspects/contract < ENGINES;
internal/compose, internal/judge < ENGINES;

# The fold in one process, without a log.
ENGINES, internal/placement < internal/offline;

# The log. Drivers know the bus and nothing of what it carries.
NONE < internal/bus < internal/bus/membus, internal/bus/natsbus, internal/bus/kafkabus;

# The roles. They meet in messages only: no service imports another or a driver.
NONE < internal/obs;
internal/bus, pkg/schema < internal/appender;
NONE < internal/latch;
pkg/policy < internal/placement;
ENGINES, internal/appender, internal/latch, internal/obs, internal/placement < internal/service;
internal/service < internal/service/ingest, internal/service/aspectd, internal/service/composer, internal/service/gate;

# All roles in one process, over whatever bus is given; and the log, run again.
internal/service/aspectd, internal/service/composer, internal/service/gate < internal/node;
internal/bus, internal/offline, internal/world/render < internal/replay;

# The surfaces. An adapter is a shell over one service or over the client.
pkg/schema < pkg/client;
internal/console, internal/obs, internal/service/gate, pkg/client < internal/adapter/httpapi;
NONE < internal/console;
internal/service/gate, pkg/client < internal/adapter/mcpproxy, internal/adapter/hook, internal/adapter/extauthz;
internal/service/ingest < internal/adapter/otlp;

# An engine outside this program, behind the contract of a monitor.
internal/lang/check, pkg/policy < internal/adapter/monpoly;

# Classifiers, asked before the append.
pkg/policy < internal/adapter/classify < internal/cli;

# Recorded traces and the figures drawn from them.
pkg/schema < internal/corpus < internal/corpus/agentdojo;
pkg/schema < internal/corpus/jsonl;
NONE < internal/eval/stats;
internal/corpus/agentdojo, internal/records < internal/corpus/agentdojo/plant;
internal/corpus/agentdojo/plant, internal/eval/stats, internal/offline < internal/eval;

# The one place that chooses adapters and prints.
internal/adapter/httpapi, internal/adapter/mcpproxy, internal/adapter/hook, internal/adapter/extauthz, internal/adapter/otlp, internal/adapter/monpoly < internal/cli;
internal/bus/membus, internal/bus/natsbus, internal/bus/kafkabus < internal/cli;
internal/service/ingest, internal/service/aspectd, internal/service/composer, internal/service/gate < internal/cli;
internal/eval, internal/corpus/jsonl, internal/monpoly, internal/node, internal/replay, policies < internal/cli;
NONE < policies;
internal/cli < cmd/aspis, cmd/ingest, cmd/aspectd, cmd/composer, cmd/gate;

# The load test: fleets against whole deployments. It stands beside the command tree
# and starts the roles itself.
NONE < loadtest/measure, loadtest/pace;
internal/node, internal/offline, policies < loadtest/script;
loadtest/script, internal/service/gate, pkg/client < loadtest/fleet;
loadtest/fleet, loadtest/measure < loadtest/table;
loadtest/fleet, loadtest/measure, internal/bus/natsbus, internal/node < loadtest/deploy;
loadtest/fleet, loadtest/measure, internal/bus < loadtest/hops;
internal/monpoly < loadtest/mfotl;
internal/node, loadtest/measure < loadtest/world;
internal/text < loadtest/text;
loadtest/deploy, loadtest/hops, loadtest/mfotl, loadtest/world, loadtest/text, loadtest/pace, loadtest/table < loadtest/command < loadtest;

# Tests only: nothing that ships stands above these.
internal/lang/check < internal/mfotl/naive;
NONE < internal/mfotl/timed, internal/monpoly/reference;
internal/diag < internal/diag/diagtest;
internal/protocol < internal/protocol/model;
internal/bus < internal/bus/bustest;
internal/cli < internal/sim, internal/e2e;
NONE < internal/archtest;
`

// order is a parsed importRules: for each name the set of names strictly below it.
type order struct {
	below map[string]map[string]bool
}

// parseOrder reads the rules and closes them transitively.
func parseOrder(text string) (order, error) {
	o := order{below: map[string]map[string]bool{}}
	var clean strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		clean.WriteString(line + " ")
	}
	for stmt := range strings.SplitSeq(clean.String(), ";") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		levels := strings.Split(stmt, "<")
		if len(levels) < 2 {
			return o, fmt.Errorf("rule %q has no <", strings.TrimSpace(stmt))
		}
		for i := 1; i < len(levels); i++ {
			if err := o.add(levels[i-1], levels[i]); err != nil {
				return o, fmt.Errorf("rule %q: %w", strings.TrimSpace(stmt), err)
			}
		}
	}
	return o, o.close()
}

func (o order) add(lower, upper string) error {
	for hi := range strings.SplitSeq(upper, ",") {
		hi = strings.TrimSpace(hi)
		if hi == "" || hi == "NONE" || strings.ContainsAny(hi, " \t\n") {
			return fmt.Errorf("%q is not a package", hi)
		}
		if o.below[hi] == nil {
			o.below[hi] = map[string]bool{}
		}
		for lo := range strings.SplitSeq(lower, ",") {
			if lo = strings.TrimSpace(lo); lo != "NONE" {
				o.below[hi][lo] = true
			}
		}
	}
	return nil
}

// close makes the order transitive and reports a name without a rule of its own
// and a cycle.
func (o order) close() error {
	for changed := true; changed; {
		changed = false
		for hi, lows := range o.below {
			for lo := range lows {
				if o.below[lo] == nil {
					return fmt.Errorf("%q is used by %q and introduced nowhere", lo, hi)
				}
				for deeper := range o.below[lo] {
					if !lows[deeper] {
						lows[deeper] = true
						changed = true
					}
				}
			}
		}
	}
	for name, lows := range o.below {
		if lows[name] {
			return fmt.Errorf("%q stands below itself", name)
		}
	}
	return nil
}

func TestImportsFollowRules(t *testing.T) {
	o, err := parseOrder(importRules)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, p := range packages(t) {
		name := p.rel()
		allowed, named := o.below[name]
		if !named {
			t.Errorf("package %s is in no rule: give it its place in importRules", name)
			continue
		}
		for _, imp := range p.Imports {
			rel, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			checked++
			if !allowed[rel] {
				t.Errorf("%s must not import %s; below it stand %s", name, rel, list(allowed))
			}
		}
	}
	if checked == 0 {
		t.Fatal("no import of the module's own packages was found")
	}
}

func TestOrderRejectsNonsense(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no arrow", "a, b;", "has no <"},
		{"cycle", "NONE < a < b < c; c < a;", "below itself"},
		{"unknown name", "a < b;", "introduced nowhere"},
		{"empty name", "NONE < a, ;", "not a package"},
		{"forgotten semicolon", "NONE < a\nNONE < b;", "not a package"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parseOrder(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestServicesStandBesideEachOther(t *testing.T) {
	o, err := parseOrder(importRules)
	if err != nil {
		t.Fatal(err)
	}
	var services, drivers []string
	for name := range o.below {
		switch {
		case strings.HasPrefix(name, "internal/service/"):
			services = append(services, name)
		case strings.HasPrefix(name, "internal/bus/"):
			drivers = append(drivers, name)
		}
	}
	if len(services) < 4 || len(drivers) < 3 {
		t.Fatalf("the rules name %d services and %d drivers, want at least 4 and 3", len(services), len(drivers))
	}
	for _, s := range services {
		for _, other := range append(slices.Clone(services), drivers...) {
			if o.below[s][other] {
				t.Errorf("the rules let %s import %s", s, other)
			}
		}
	}
}

func list(set map[string]bool) string {
	if len(set) == 0 {
		return "no package"
	}
	return strings.Join(sorted(set), ", ")
}
