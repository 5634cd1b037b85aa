package eval

import "strconv"

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
			strconv.Itoa(r.Stopped)+"/"+strconv.Itoa(r.Benign), strconv.Itoa(r.Precautionary)+"/"+strconv.Itoa(r.Benign))
	}
}

// judged says plainly whether a half keeps to the bars, and of what kind its misses are.
func (c *Combined) judged(h *HalfFigures) string {
	all := h.Rows[0]
	silent, permitted := 0, 0
	for _, m := range h.Misses {
		if m.Effect {
			permitted += m.Runs
		} else {
			silent += m.Runs
		}
	}
	says := "the bars are not met"
	if h.Met {
		says = "the bars are met"
	}
	return says + ": at least " + percent(c.Detection) + " detected, at most " + percent(c.FalseAlarms) + " benign fired; of " +
		strconv.Itoa(all.Successful-all.Detected) + " misses" + " " + strconv.Itoa(silent) + " without any call but look-ups, " +
		strconv.Itoa(permitted) + " by calls that the clauses permit"
}

func percent(share float64) string {
	return strconv.FormatFloat(100*share, 'f', 0, 64) + " %"
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
			by := "words alone"
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
