package eval

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/aspis-rv/aspis/internal/eval/stats"
)

// WriteText prints the table for people: every measured line with the published
// one beneath it where the figures describe the same runs, rates with their
// Wilson 95 % intervals.
func (t *Table) WriteText(w io.Writer) error {
	p := newPrinter(w)
	p.paper = t.paper()
	p.line("AgentDojo · policy %s, revision %d · %s", t.Policy, t.Revision, plural(len(t.Models), "model")+": "+strings.Join(t.Models, ", "))
	if p.paper == nil {
		p.line("The published figures are for the policy %s on %s alone; they are left out.", publishedPolicy, publishedModel)
	}
	p.rows(t)
	p.obligations(t)
	p.earliest(t)
	p.parametric(t)
	p.planting(t)
	p.combined(t.Combined)
	p.quirks(t)
	return p.flush()
}

// WriteReasons prints the classes of runs that the clauses together missed, and of benign
// runs in which one fired.
func (t *Table) WriteReasons(w io.Writer) error {
	p := newPrinter(w)
	p.reasons(t.Combined)
	return p.flush()
}

// printer writes aligned lines and keeps the first error.
type printer struct {
	tab   *tabwriter.Writer
	paper *Table
	err   error
}

func newPrinter(w io.Writer) printer {
	return printer{tab: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.tab, format+"\n", args...)
	}
}

func (p *printer) flush() error {
	if p.err != nil {
		return p.err
	}
	return p.tab.Flush()
}

func (p *printer) cells(cells ...string) { p.line("%s", strings.Join(cells, "\t")) }

const paperLabel = "  published"

func (p *printer) rows(t *Table) {
	p.line("")
	p.cells("suite", "files", "skipped", "attacked", "successful", "fired on attacked", "detected", "benign fired", "user tasks only", "LR+")
	for i := range t.Rows {
		r := &t.Rows[i]
		p.row(r.Name, r)
		if was := p.paper.row(r.Name); was != nil {
			p.row(paperLabel, was)
		}
	}
	p.line("Benign counts injection tasks issued as the user's own task; the next column leaves them out.")
}

func (p *printer) row(label string, r *Row) {
	p.cells(label, count(r.Files), count(r.Skipped), count(r.Attacked), count(r.Successful), count(r.FiredAttacked),
		rate(r.Detection()), rate(r.FalseAlarms()), rate(r.UserFalseAlarms()),
		decimal(stats.LRPlus(r.Detection(), r.FalseAlarms())))
}

func (p *printer) obligations(t *Table) {
	p.line("")
	p.cells("clause", "detected", "benign fired", "only this one")
	for _, id := range t.clauses {
		p.obligation(id, t.Obligations[id])
		if p.paper != nil {
			if was, ok := p.paper.Obligations[id]; ok {
				p.obligation(paperLabel, was)
			}
		}
	}
}

func (p *printer) obligation(label string, o Obligation) {
	p.cells(label, count(o.Detected), count(o.Benign), count(o.OnlyDetected))
}

func (p *printer) earliest(t *Table) {
	p.line("")
	p.cells("earliest warning", "preventive", "last moment", "none", "lead median", "mean", "max")
	p.warning("measured", t.Earliest)
	if p.paper != nil {
		p.warning(paperLabel, p.paper.Earliest)
	}
}

func (p *printer) warning(label string, e Earliest) {
	p.cells(label, count(e.Preventive), count(e.Last), count(e.None),
		strconv.FormatFloat(e.LeadMedian, 'g', -1, 64), decimal(e.LeadMean), count(e.LeadMax))
}

func (p *printer) quirks(t *Table) {
	if len(t.Quirks) == 0 {
		return
	}
	p.line("")
	p.cells("quirk", "count", "runs", "first in")
	for _, q := range t.Quirks {
		p.cells(string(q.Quirk), count(q.Count), count(q.Runs), q.Example)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func count(n int) string {
	if n == notGiven {
		return "–"
	}
	return strconv.Itoa(n)
}

func decimal(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 1):
		return "∞"
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// rate prints K/N, the rate and its interval.
func rate(p stats.Proportion) string {
	if p.N == notGiven {
		return "–"
	}
	if p.N == 0 {
		return fmt.Sprintf("%d/%d", p.K, p.N)
	}
	low, high := p.Wilson()
	return fmt.Sprintf("%d/%d = %.1f %% [%.1f, %.1f]", p.K, p.N, 100*p.Rate(), 100*low, 100*high)
}
