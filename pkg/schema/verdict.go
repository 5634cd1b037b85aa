package schema

import "github.com/aspis-rv/aspis/pkg/verdict"

// Verdict is what one aspect says about one attempt: one record of the verdicts
// topic. Its key is (Tenant, Attempt, Aspect, Policy); two different values for
// one key are a fault. It carries no epoch, writer or clock, so that any owner
// publishes the same bytes.
type Verdict struct {
	Tenant    string
	Attempt   Attempt
	Aspect    string
	Policy    []byte
	Trace     string
	TimePoint uint64 // index of the time point within the trace
	Timestamp int64  // its log time, ns
	// Parts lists the clause parts and guards this aspect owns that say anything:
	// a part without rows is T, a guard without rows does not hold. Sorted by
	// (Clause, Role, Name).
	Parts []Part
	// Completeness is the meet over everything the verdict rests on.
	Completeness verdict.Completeness
}

// Role says what a formula does in its clause. The zero value is RoleForbid.
type Role uint8

// The roles.
const (
	RoleForbid Role = iota // its rows are violations
	RoleGuard              // its rows arm the clause
)

// Part is the outcome of one formula of one clause at the time point.
type Part struct {
	Clause string
	Role   Role
	Name   string // of the formula within its clause; empty when it has none
	// Columns are the free variables of the formula, in order of first occurrence.
	Columns []string
	// Rows are the satisfying bindings, sorted by value; a closed formula that
	// holds has one row without values.
	Rows []Row
	// Completeness of this part alone; Sound when the part could not be affected.
	Completeness verdict.Completeness
	// Absence is set when the outcome rests on facts that are not there.
	Absence bool
}

// Row is one binding with the mark of its derivation (Tp, Fp or F).
type Row struct {
	Values []Value
	Mark   verdict.Value
	// Witness lists positions (offsets in the verdict's partition) of the events
	// whose facts made the row true, ascending, the time point's own included.
	Witness []uint64
	// Paths are the walks through the world on which the row rests.
	Paths []Path
	// Documents is set when the row is about an object that the event brings into being by a
	// tool that documents, and not due to where the event puts it: it is flagged, not refused.
	Documents bool
}

// Path is a walk through the world.
type Path struct {
	// Of is the sub-formula that it makes true, as written, for example
	// `reaches("A", "PARTNER")`.
	Of string
	// Vertices are the names on it in order; one where start and end are the same.
	Vertices []string
	// Distance is its weight, in the unit of the graph.
	Distance int64
}

// Value is the fused value of the forbid parts of the verdict before guards.
func (v *Verdict) Value() verdict.Value {
	out := verdict.T
	for i := range v.Parts {
		if v.Parts[i].Role == RoleForbid {
			out = verdict.Fuse(out, v.Parts[i].Value())
		}
	}
	return out
}

// Value is the strongest mark among the rows, T without rows.
func (p *Part) Value() verdict.Value {
	out := verdict.T
	for i := range p.Rows {
		out = verdict.Fuse(out, p.Rows[i].Mark)
	}
	return out
}
