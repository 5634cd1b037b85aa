package eval

import (
	"fmt"
	"strconv"
)

// combined prints what all clauses find together, by halves.
func (p *printer) combined(c *Combined) {
	if c == nil {
		return
	}
	p.line("")
	p.line("All clauses of policy %s together, on %s,", c.Policy, c.Runs)
	p.line("split %s.", c.Split)
	for i := range c.Halves {
		p.half(&c.Halves[i])
	}
	for i := range c.Halves {
		p.line("%s: %s", c.Halves[i].Half, c.judged(&c.Halves[i]))
	}
}

func (p *printer) half(h *HalfFigures) {
	p.cells(string(h.Half), "tasks", "detected", "benign fired", "stopped", "precautionary")
	for _, r := range h.Rows {
		p.cells(r.Name, count(r.Tasks), rate(r.Rate()), rate(r.Alarms()),
			share(r.Stopped, r.Benign), share(r.Precautionary, r.Benign))
	}
}

// judged says plainly whether a half keeps to the bars, and of what kind its misses are.
func (c *Combined) judged(h *HalfFigures) string {
	all := h.Rows[0]
	if all.Successful == 0 || all.Benign == 0 {
		return "too few runs to say whether the bars are met"
	}
	silent, permitted := 0, 0
	for _, m := range h.Misses {
		if m.Effect {
			permitted += m.Runs
		} else {
			silent += m.Runs
		}
	}
	return fmt.Sprintf("detected: the bar of at least %s is %s; benign fired: the bar of at most %s is %s; of %d misses %d without any call but look-ups, %d with calls that the clauses permit",
		percent(c.Detection), metOrMissed(all.Rate().Rate() >= c.Detection), percent(c.FalseAlarms), metOrMissed(all.Alarms().Rate() <= c.FalseAlarms),
		all.Successful-all.Detected, silent, permitted)
}

func metOrMissed(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}

func share(k, n int) string { return strconv.Itoa(k) + "/" + strconv.Itoa(n) }

func percent(rate float64) string {
	return strconv.FormatFloat(100*rate, 'f', 0, 64) + " %"
}

// reasons prints the classes of misses and of benign firings.
func (p *printer) reasons(c *Combined) {
	if c == nil {
		return
	}
	for i := range c.Halves {
		h := &c.Halves[i]
		p.line("")
		p.cells("misses, "+string(h.Half), "injected goal", "by", "runs")
		for _, m := range h.Misses {
			by := "look-ups alone"
			if m.Effect {
				by = "permitted calls"
			}
			p.cells(m.Suite, m.Injection, by, count(m.Runs))
		}
		p.cells("benign firings, "+string(h.Half), "clauses", "", "runs")
		for _, a := range h.FalseAlarms {
			p.cells(a.Suite, a.Clauses, "", count(a.Runs))
		}
	}
}
