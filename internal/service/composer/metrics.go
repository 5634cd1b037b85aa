package composer

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Metrics counts what a composer does. A nil Metrics counts nothing.
type Metrics struct {
	decisions          *prometheus.CounterVec
	bad, faults, fails prometheus.Counter
}

// NewMetrics registers the metrics of a composer with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aspis_composer_decisions_total", Help: "Resolutions proposed, by outcome and reason class.",
		}, []string{"outcome", "reason"}),
		bad: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "aspis_composer_undecodable_records_total", Help: "Records that could not be decoded.",
		}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "aspis_composer_conflicting_verdicts_total", Help: "Verdicts that contradict another one for the same key, or are of another policy.",
		}),
		fails: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "aspis_composer_unwritten_records_total", Help: "Records that could not be appended.",
		}),
	}
	r.MustRegister(m.decisions, m.bad, m.faults, m.fails)
	return m
}

func (m *Metrics) decided(r *schema.Resolution) {
	if m != nil {
		m.decisions.WithLabelValues(r.Outcome.String(), string(r.Reason)).Inc()
	}
}

func (m *Metrics) undecodable() {
	if m != nil {
		m.bad.Inc()
	}
}

func (m *Metrics) fault() {
	if m != nil {
		m.faults.Inc()
	}
}

func (m *Metrics) unwritten() {
	if m != nil {
		m.fails.Inc()
	}
}
