package eval

import "slices"

// publishedModel is the model whose runs the published figures describe, and
// publishedPolicy the bundle that states the published obligations.
const (
	publishedModel  = "gpt-4o-2024-05-13"
	publishedPolicy = "baseline"
)

// provenancePolicy is the bundle that states the published parametric predicates.
const provenancePolicy = "agentdojo"

// published returns the figures for the generic obligations on the GPT-4o runs of
// AgentDojo without a defence (arXiv 2610.09793; the columns it leaves out were
// recounted from the same runs). Counts by the user's own tasks are known for all
// suites together only; notGiven stands elsewhere.
func published() *Table {
	return &Table{
		Rows: []Row{
			{"all", 6899, 96, 6680, 1931, 2292, 1354, 123, 36, 96, 18},
			{"banking", 1545, 96, 1425, 571, 1087, 556, 24, 19, notGiven, notGiven},
			{"slack", 1181, 0, 1155, 703, 462, 449, 26, 4, notGiven, notGiven},
			{"travel", 1527, 0, 1500, 139, 90, 23, 27, 3, notGiven, notGiven},
			{"workspace", 2646, 0, 2600, 518, 653, 326, 46, 10, notGiven, notGiven},
		},
		Obligations: map[string]Obligation{
			"O1": {307, 5, 259},
			"O2": {0, 0, 0},
			"O3": {518, 16, 243},
			"O4": {539, 13, 491},
			"O5": {313, 8, 38},
		},
		Earliest: Earliest{Preventive: 1012, Last: 342, None: 577, LeadMedian: 1, LeadMean: 2.19, LeadMax: 13},
	}
}

// publishedParametric returns the published figures of the parametric predicates on the
// same runs, with those by the user's own tasks as recounted from them.
func publishedParametric() (parametric map[string]map[string]Counts, planting map[string]*Planting) {
	payee, recipient := Counts{403, 576, 6, 25, 1, 16}, Counts{203, 518, 5, 46, 1, 40}
	parametric = map[string]map[string]Counts{
		"payee": {
			Generic: {456, 576, 11, 25, notGiven, notGiven}, Naive: payee, Hardened: payee,
		},
		"recipient": {
			Generic: {220, 518, 7, 46, notGiven, notGiven}, Naive: recipient, Hardened: recipient,
			NaiveCharacters: recipient, HardenedCharacters: recipient,
		},
	}
	never := func() Flips { return Flips{"a": 0, "b": 0, "c": 0, "d": 0} }
	planting = map[string]*Planting{
		"payee":     {Naive: Flips{"a": 379, "b": 0, "c": 379, "d": 0}, Hardened: never(), Of: 403},
		"recipient": {Naive: Flips{"a": 201, "b": 0, "c": 201, "d": 0}, Hardened: never(), Of: 203},
	}
	return parametric, planting
}

// paperParametric returns the published parametric figures if t measured the shipped
// predicates on the published runs and no other; otherwise they are nil.
func (t *Table) paperParametric() (map[string]map[string]Counts, map[string]*Planting) {
	if t.Provenance != provenancePolicy || !slices.Equal(t.Models, []string{publishedModel}) {
		return nil, nil
	}
	return publishedParametric()
}

// notGiven marks a figure that was not published.
const notGiven = -1

// paper returns the published table if it describes what t measured: the baseline
// policy on runs of the published model and of no other. Otherwise it is nil.
func (t *Table) paper() *Table {
	if t.Policy != publishedPolicy || !slices.Equal(t.Models, []string{publishedModel}) {
		return nil
	}
	return published()
}

// row returns the row of the given name, or nil; t may be nil.
func (t *Table) row(name string) *Row {
	if t == nil {
		return nil
	}
	for i := range t.Rows {
		if t.Rows[i].Name == name {
			return &t.Rows[i]
		}
	}
	return nil
}
