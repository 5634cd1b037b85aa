package timed_test

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// rule is a timed policy with its case and what is needed to make more of them.
type rule struct {
	name    string
	formula string // of the violation; the unit of time is the hour
	mutants []string

	// relations are those that the formula reads, in the order in which the facts of
	// one time point may be dealt out to two time points of its time stamp: what
	// discharges before what it discharges.
	relations []relation
	// act is the relation whose facts are judged: a row is the arguments of a fact of
	// the time point itself. T2 has none: it speaks of the window as a whole.
	act string
	// own says that one object's facts have no part in another object's firings.
	own bool
	// window is how far back an event matters by its age, in hours. P1 and Lock go by
	// the order of events alone.
	window int64

	table string // a log
	fires string // the answer to it

	oracle    func() step
	scenarios []scenario
	gaps      []int64 // between the time points of random traces
	numbers   []int64 // arguments that name no object
}

// relation is a relation of a signature.
type relation struct {
	name string
	args []role
}

// role is what an argument stands for.
type role bool

const (
	object role = true  // an identity: any other name would do
	number role = false // an amount
)

// objects reports whether the relation speaks of an object.
func (r relation) objects() bool { return len(r.args) > 0 }

// policies returns the seven policies.
func policies() []*rule {
	return []*rule{
		windowed("T1", "export", "consent", 24,
			"@0 consent(1) @12 export(1) @48 export(1) @50 consent(1) @60 export(1)", "@48 (1)"),
		actuators(),
		windowed("T3", "execute", "request", 8,
			"@0 request(5) @6 execute(5) @40 execute(5) @44 request(5) @48 execute(5)", "@40 (5)"),
		maintenance(),
		windowed("P2", "compressor_start", "damper_open", 3, building, "@9 (3) @14 (4)"),
		windowed("P3", "door_unlock", "badge_auth", 3, building, "@19 (9) @22 (11)"),
		lock(),
	}
}

// building is the log that P1, P2 and P3 share.
const building = `@0 maint_on() @1 setpoint(1,30) @2 setpoint(1,29) @3 maint_off() @4 setpoint(1,30)
	@5 setpoint(1,35) @6 setpoint(1,22) @7 damper_open(2) @8 compressor_start(2) @9 compressor_start(3)
	@10 damper_open(4) @14 compressor_start(4) @15 damper_open(5) @16 compressor_start(5) @17 badge_auth(5)
	@18 door_unlock(5) @19 door_unlock(9) @20 badge_auth(7) @21 door_unlock(7) @22 door_unlock(11)`

// windowed is a policy by which act on an object needs leave for that object, given
// at most window hours before.
func windowed(name, act, leave string, window int64, table, fires string) *rule {
	formula := func(act, interval, leave string) string {
		return act + "(x) AND NOT (ONCE" + interval + " " + leave + ")"
	}
	given := leave + "(x)"
	return &rule{
		name:    name,
		formula: formula(act, upTo(window), given),
		mutants: []string{
			formula(act, upTo(window-1), given), formula(act, upTo(window+1), given), formula(act, "", given),
			formula(act, "(0,"+digits(window)+"]", given), formula(act, upTo(window), leave+"(_)"),
			formula(act, upTo(window), "("+given+" AND NOT "+act+"(x))"),
		},
		relations: []relation{{leave, []role{object}}, {act, []role{object}}},
		act:       act,
		own:       true,
		window:    window,
		table:     table,
		fires:     fires,
		oracle:    func() step { return withoutLeave(act, leave, uint64(window)) },
		scenarios: windowScenarios(act, leave, window),
		gaps:      []int64{0, 0, 1, 1, 2, window - 1, window, window + 1},
	}
}

// actuators is T2: three commands to one device within six hours are too many.
func actuators() *rule {
	return &rule{
		name:    "T2",
		formula: "(c <- CNT s; d (ONCE[0,6] actuate(d,s))) AND c >= 3",
		mutants: []string{
			"(c <- CNT s; d (ONCE[0,5] actuate(d,s))) AND c >= 3", "(c <- CNT s; d (ONCE[0,7] actuate(d,s))) AND c >= 3",
			"(c <- CNT s; d (ONCE[0,6] actuate(d,s))) AND c >= 2", "(c <- CNT s; d (ONCE[0,6] actuate(d,s))) AND c > 3",
			"(c <- CNT d; s (ONCE[0,6] actuate(d,s))) AND c >= 3", "(c <- CNT s; d (ONCE(0,6] actuate(d,s))) AND c >= 3",
		},
		relations: []relation{{"actuate", []role{object, object}}},
		own:       true,
		window:    6,
		table:     "@0 actuate(7,1) @2 actuate(7,2) @5 actuate(7,3) @30 actuate(7,4) @33 actuate(7,5) @40 actuate(7,6)",
		fires:     "@5 (3,7)",
		oracle:    tooManyCommands,
		scenarios: actuatorScenarios(),
		gaps:      []int64{0, 0, 1, 1, 2, 3, 6, 7},
	}
}

// maintenance is P1: a set point above 28 degrees is for maintenance only.
func maintenance() *rule {
	return &rule{
		name:    "P1",
		formula: "setpoint(z,v) AND v > 28 AND NOT ((NOT maint_off()) SINCE maint_on())",
		mutants: []string{
			"setpoint(z,v) AND v >= 28 AND NOT ((NOT maint_off()) SINCE maint_on())",
			"setpoint(z,v) AND v > 29 AND NOT ((NOT maint_off()) SINCE maint_on())",
			"setpoint(z,v) AND v > 28 AND NOT (ONCE maint_on())",
			"setpoint(z,v) AND v > 28 AND ((NOT maint_on()) SINCE maint_off())",
			"setpoint(z,v) AND v > 28 AND NOT ((NOT maint_off()) SINCE (maint_on() AND NOT maint_off()))",
			"setpoint(z,v) AND v > 28 AND NOT (PREVIOUS ((NOT maint_off()) SINCE maint_on()))",
		},
		relations: []relation{{"maint_off", nil}, {"maint_on", nil}, {"setpoint", []role{object, number}}},
		act:       "setpoint",
		table:     building,
		fires:     "@4 (1,30) @5 (1,35)",
		oracle:    hotOutsideMaintenance,
		scenarios: maintenanceScenarios(),
		gaps:      []int64{0, 0, 1, 1, 2, 5, 100},
		numbers:   []int64{-40, 27, 28, 29, 30},
	}
}

// lock is the policy of the lock: access of kind 1 is granted after consent.
func lock() *rule {
	return &rule{
		name:    "Lock",
		formula: "grant_access(g,p) AND p = 1 AND NOT (ONCE consent())",
		mutants: []string{
			"grant_access(g,p) AND NOT (ONCE consent())",
			"grant_access(g,p) AND p = 2 AND NOT (ONCE consent())",
			"grant_access(g,p) AND p = 1 AND NOT (ONCE[0,100] consent())",
			"grant_access(g,p) AND p = 1 AND NOT consent()",
			"grant_access(g,p) AND p = 1 AND NOT (PREVIOUS (ONCE consent()))",
		},
		relations: []relation{{"consent", nil}, {"grant_access", []role{object, number}}},
		act:       "grant_access",
		table:     "@0 grant_access(2,1) @10 consent() @11 grant_access(2,1)",
		fires:     "@0 (2,1)",
		oracle:    grantWithoutConsent,
		scenarios: lockScenarios(),
		gaps:      []int64{0, 0, 1, 1, 2, 50, 101},
		numbers:   []int64{0, 1, 1, 2},
	}
}

// signature declares the policy's relations; those of the shared log it does not
// read are not declared.
func (p *rule) signature(objects schema.ValueKind) check.Signature {
	sig := check.Signature{}
	for _, r := range p.relations {
		kinds := []schema.ValueKind{}
		for _, a := range r.args {
			kind := schema.KindInt
			if a == object {
				kind = objects
			}
			kinds = append(kinds, kind)
		}
		sig[r.name] = kinds
	}
	return sig
}

// checked reads a formula over the policy's relations; nil if it is refused.
func (p *rule) checked(formula string, objects schema.ValueKind) (*check.Checked, string) {
	f, diags := syntax.Parse(formula, syntax.Options{Mode: syntax.MonPoly})
	if f == nil {
		return nil, diags.Render(map[string]string{"": formula})
	}
	c, diags := check.Check(f, p.signature(objects), check.Options{Mode: syntax.MonPoly})
	return c, diags.Render(map[string]string{"": formula})
}

// compile makes a plan of one formula over the policy's relations.
func (p *rule) compile(t *testing.T, formula string, objects schema.ValueKind) *mfotl.Plan {
	t.Helper()
	c, diags := p.checked(formula, objects)
	if c == nil {
		t.Fatalf("%s: %s\n%s", p.name, formula, diags)
	}
	plan, err := mfotl.Compile([]*check.Checked{c})
	if err != nil {
		t.Fatalf("%s: %s: %v", p.name, formula, err)
	}
	return plan
}
