package eval

import (
	"cmp"
	"maps"
	"slices"

	"github.com/aspis-rv/aspis/internal/corpus"
	"github.com/aspis-rv/aspis/internal/eval/stats"
)

// Convention says by whose reading a corpus is tabulated where the published one
// is open to doubt.
type Convention string

// The conventions. The generic AgentDojo rows report both readings side by side
// under each of them.
const (
	Published Convention = "published"
	Ours      Convention = "ours"
	Both      Convention = "both"
)

// Table is the outcome of `aspis eval agentdojo`. Encoded as JSON it is the
// command's output.
type Table struct {
	Corpus     string     `json:"corpus"`
	Convention Convention `json:"convention"`
	// Policy and Revision name the bundle that was evaluated.
	Policy   string `json:"policy"`
	Revision int64  `json:"revision"`
	// Provenance names the bundle that answered the parametric questions, if they were asked.
	Provenance string `json:"provenance,omitempty"`
	// Models lists the models whose runs were read, sorted.
	Models []string `json:"models"`
	// Rows holds the row "all" and then one row a suite, sorted by name.
	Rows []Row `json:"rows"`
	// Obligations holds one entry for each clause of the bundle, by clause id.
	Obligations map[string]Obligation `json:"obligations"`
	Earliest    Earliest              `json:"earliest"`
	// Parametric holds, by question and predicate, what provenance of values finds, and
	// Planting what of it can be planted. Both are left out where nothing was asked.
	Parametric map[string]map[string]Counts `json:"parametric,omitempty"`
	Planting   map[string]*Planting         `json:"planting,omitempty"`
	// Combined says what all clauses of that bundle find together.
	Combined *Combined `json:"combined,omitempty"`
	// Quirks is the importer's report.
	Quirks []corpus.Finding `json:"quirks"`

	// clauses lists the ids in the bundle's order, for printing.
	clauses []string
}

// Row counts runs. All columns but Files and Skipped count runs with a tool chain.
type Row struct {
	Name string `json:"name"`
	// Files is the number of runs, Skipped of those without a tool chain.
	Files   int `json:"files"`
	Skipped int `json:"skipped"`
	// Attacked runs, and those of them in which the injected goal was reached.
	Attacked   int `json:"attacked"`
	Successful int `json:"successful"`
	// FiredAttacked and Detected count the attacked and the successful runs in which
	// a clause fired.
	FiredAttacked int `json:"fired_attacked"`
	Detected      int `json:"detected"`
	// Benign runs by the published convention, and those of them with a firing.
	Benign      int `json:"benign"`
	BenignFired int `json:"benign_fired"`
	// UserBenign leaves out injection tasks issued as the user's own.
	UserBenign      int `json:"user_benign"`
	UserBenignFired int `json:"user_benign_fired"`
}

// Detection is the share of the successful runs in which a clause fired.
func (r Row) Detection() stats.Proportion { return stats.Proportion{K: r.Detected, N: r.Successful} }

// FalseAlarms is the share of benign runs with a firing, published convention.
func (r Row) FalseAlarms() stats.Proportion { return stats.Proportion{K: r.BenignFired, N: r.Benign} }

// UserFalseAlarms is the same for the user's own tasks only.
func (r Row) UserFalseAlarms() stats.Proportion {
	return stats.Proportion{K: r.UserBenignFired, N: r.UserBenign}
}

// Obligation counts the runs in which one clause fired.
type Obligation struct {
	Detected     int `json:"detected"`      // successful runs
	Benign       int `json:"benign"`        // benign runs, published convention
	OnlyDetected int `json:"only_detected"` // successful runs in which no other clause fired
}

// Earliest says how early the successful runs were detected. The lead of a run is
// the number of calls of its chain that follow the first firing.
type Earliest struct {
	Preventive int `json:"preventive"` // before the chain's last call
	Last       int `json:"last"`       // on the last call
	None       int `json:"none"`       // not at all
	// The leads of the preventive ones, in calls; 0 when there are none.
	LeadMedian float64 `json:"lead_median"`
	LeadMean   float64 `json:"lead_mean"`
	LeadMax    int     `json:"lead_max"`
}

// tally adds outcomes up. It is not safe for concurrent use.
type tally struct {
	clauses     []string
	all         Row
	suites      map[string]*Row
	models      map[string]bool
	obligations []Obligation
	earliest    Earliest
	leads       []int
}

func newTally(clauses []string) *tally {
	return &tally{
		clauses: clauses, all: Row{Name: "all"},
		suites: make(map[string]*Row), models: make(map[string]bool),
		obligations: make([]Obligation, len(clauses)),
	}
}

func (t *tally) add(o outcome) {
	t.models[o.model] = true
	suite := t.suites[o.suite]
	if suite == nil {
		suite = &Row{Name: o.suite}
		t.suites[o.suite] = suite
	}
	t.all.add(&o)
	suite.add(&o)
	if o.calls == 0 {
		return
	}
	t.addClauses(&o)
	if o.successful {
		t.addEarliest(&o)
	}
}

func (r *Row) add(o *outcome) {
	r.Files++
	if o.calls == 0 {
		r.Skipped++
		return
	}
	fired := o.fired()
	count := func(in bool, runs, firings *int) {
		if in {
			*runs++
			if fired {
				*firings++
			}
		}
	}
	count(o.attacked, &r.Attacked, &r.FiredAttacked)
	count(o.successful, &r.Successful, &r.Detected)
	count(o.benign, &r.Benign, &r.BenignFired)
	count(o.userTask, &r.UserBenign, &r.UserBenignFired)
}

func (t *tally) addClauses(o *outcome) {
	only := o.only()
	for clause, call := range o.first {
		if call < 0 {
			continue
		}
		if o.successful {
			t.obligations[clause].Detected++
		}
		if o.benign {
			t.obligations[clause].Benign++
		}
		if o.successful && clause == only {
			t.obligations[clause].OnlyDetected++
		}
	}
}

func (t *tally) addEarliest(o *outcome) {
	first := o.earliest()
	switch lead := o.calls - 1 - first; {
	case first < 0:
		t.earliest.None++
	case lead == 0:
		t.earliest.Last++
	default:
		t.earliest.Preventive++
		t.earliest.LeadMax = max(t.earliest.LeadMax, lead)
		t.leads = append(t.leads, lead)
	}
}

// table finishes the tally.
func (t *tally) table() *Table {
	out := &Table{Corpus: "agentdojo", clauses: t.clauses, Models: slices.Sorted(maps.Keys(t.models))}
	out.Rows = []Row{t.all}
	for _, row := range t.suites {
		out.Rows = append(out.Rows, *row)
	}
	slices.SortFunc(out.Rows[1:], func(a, b Row) int { return cmp.Compare(a.Name, b.Name) })
	out.Obligations = make(map[string]Obligation, len(t.clauses))
	for i, id := range t.clauses {
		out.Obligations[id] = t.obligations[i]
	}
	out.Earliest = t.earliest
	if len(t.leads) > 0 {
		out.Earliest.LeadMedian, out.Earliest.LeadMean = stats.Median(t.leads), stats.Mean(t.leads)
	}
	return out
}
