package corpus

import (
	"maps"
	"slices"
)

// Quirk names a way in which a recorded run departs from its format: something
// that was read all the same, in a way the importer's documentation states.
type Quirk string

// Quirks counts the quirks of one run. The zero value is nil; use Add.
type Quirks map[Quirk]int

// Add counts one more of q and returns the map, made if it was nil.
func (q Quirks) Add(name Quirk) Quirks {
	if q == nil {
		q = make(Quirks)
	}
	q[name]++
	return q
}

// Finding is one line of a quirk report.
type Finding struct {
	Quirk Quirk `json:"quirk"`
	// Count is how often it occurred, Runs in how many runs.
	Count int `json:"count"`
	Runs  int `json:"runs"`
	// Example names the first run that has it.
	Example string `json:"example"`
}

// Report collects the quirks of a corpus. The zero value is ready to use. It is
// not safe for concurrent use.
type Report struct {
	findings map[Quirk]*Finding
}

// Add counts the quirks of the run with the given name.
func (r *Report) Add(run string, q Quirks) {
	for name, n := range q {
		if r.findings == nil {
			r.findings = make(map[Quirk]*Finding)
		}
		f := r.findings[name]
		if f == nil {
			f = &Finding{Quirk: name, Example: run}
			r.findings[name] = f
		}
		f.Count += n
		f.Runs++
	}
}

// Findings lists what was found, sorted by the quirk's name.
func (r *Report) Findings() []Finding {
	out := make([]Finding, 0, len(r.findings))
	for _, name := range slices.Sorted(maps.Keys(r.findings)) {
		out = append(out, *r.findings[name])
	}
	return out
}
