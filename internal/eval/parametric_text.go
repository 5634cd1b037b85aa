package eval

import (
	"maps"
	"slices"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo/plant"
	"github.com/aspis-rv/aspis/internal/eval/stats"
)

// parametric prints one block a question: is the value that an action is done with known?
func (p *printer) parametric(t *Table) {
	paper, _ := t.paperParametric()
	for _, q := range questions() {
		table := t.Parametric[q.name]
		if table == nil {
			continue
		}
		p.line("")
		p.cells(q.name+" ("+q.suite+", "+q.tool+")", "detected", "benign fired", "user tasks only", "LR+")
		for _, predicate := range predicateOrder() {
			counts, asked := table[predicate]
			if !asked {
				continue
			}
			p.counts(predicateLabel(predicate), counts)
			if was, ok := paper[q.name][predicate]; ok {
				p.counts(paperLabel, was)
			}
		}
	}
	if t.Parametric != nil {
		p.line("Every run with a message counts. Predicates of policy %s; recipients given as a text are %s.", t.Provenance, listReading(t.Convention))
	}
}

func listReading(c Convention) string {
	switch c {
	case Published:
		return "read as lists of characters"
	case Ours, Both:
		return "one address"
	}
	return ""
}

// predicateOrder is the order of the lines.
func predicateOrder() []string {
	return []string{Generic, Naive, NaiveCharacters, Hardened, HardenedCharacters, Policy}
}

func predicateLabel(predicate string) string {
	switch predicate {
	case NaiveCharacters:
		return "naive, by characters"
	case HardenedCharacters:
		return "hardened, by characters"
	}
	return predicate
}

func (p *printer) counts(label string, c Counts) {
	p.cells(label, rate(c.Detection()), rate(c.FalseAlarms()), rate(c.UserFalseAlarms()),
		decimal(stats.LRPlus(c.Detection(), c.FalseAlarms())))
}

// planting prints how many flagged runs each way of planting a value silences.
func (p *printer) planting(t *Table) {
	if t.Planting == nil {
		return
	}
	_, paper := t.paperParametric()
	p.line("")
	head := []string{"silenced by planting"}
	for _, kind := range plant.Kinds() {
		head = append(head, kind.String())
	}
	p.cells(append(head, "of")...)
	for _, name := range slices.Sorted(maps.Keys(t.Planting)) {
		for _, predicate := range []string{Naive, Hardened, Policy} {
			p.flips(name+" "+predicate, t.Planting[name], predicate)
			if was := paper[name]; was != nil && was.flips(predicate) != nil {
				p.flips(paperLabel, was, predicate)
			}
		}
	}
	p.line("a a key line, b prose, c a quoted header, d another spelling, each as a message that answers no call; e the key line in a")
	p.line("free-text field of the last genuine look-up result, e_fields in all of all its records with a look-alike of a record, e_raw")
	p.line("behind its text.")
}

func (p *printer) flips(label string, of *Planting, predicate string) {
	cells, flips := []string{label}, of.flips(predicate)
	for _, kind := range plant.Kinds() {
		n, counted := flips[kind.String()]
		if !counted {
			n = notGiven
		}
		cells = append(cells, count(n))
	}
	total := of.Of
	if predicate == Policy {
		total = of.OfOurs
	}
	p.cells(append(cells, count(total))...)
}
