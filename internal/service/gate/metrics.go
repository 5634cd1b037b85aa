package gate

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what a gate does. A nil Metrics counts nothing.
type Metrics struct {
	answers                              *prometheus.CounterVec
	bad, violations, withdrawals, unsaid prometheus.Counter
	foreign                              prometheus.Counter
}

// NewMetrics registers the metrics of a gate with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &Metrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aspis_gate_answers_total", Help: "Answers given, by decision and reason class.",
		}, []string{"decision", "reason"}),
		bad:         counter("aspis_gate_undecodable_records_total", "Records that could not be decoded."),
		violations:  counter("aspis_gate_integrity_violations_total", "Results of calls that were not permitted, and second results."),
		withdrawals: counter("aspis_gate_withdrawn_permits_total", "Permits that stood but could not be delivered."),
		unsaid:      counter("aspis_gate_unwritten_expiries_total", "Expiries that could not be recorded."),
		foreign:     counter("aspis_gate_unsigned_decisions_total", "Permits of this gate's calls that none of its composer keys signed; they are refused."),
	}
	for _, c := range []prometheus.Collector{m.answers, m.bad, m.violations, m.withdrawals, m.unsaid, m.foreign} {
		if err := r.Register(c); err != nil {
			panic(err) // two gates on one registry: a wiring error
		}
	}
	return m
}

func (m *Metrics) answered(a *Answer) {
	if m != nil {
		m.answers.WithLabelValues(a.Decision, string(a.Reason)).Inc()
	}
}

func (m *Metrics) undecodable() { m.inc(func() prometheus.Counter { return m.bad }) }
func (m *Metrics) violated()    { m.inc(func() prometheus.Counter { return m.violations }) }
func (m *Metrics) withdrew()    { m.inc(func() prometheus.Counter { return m.withdrawals }) }
func (m *Metrics) unrecorded()  { m.inc(func() prometheus.Counter { return m.unsaid }) }

func (m *Metrics) distrusted() { m.inc(func() prometheus.Counter { return m.foreign }) }

func (m *Metrics) inc(c func() prometheus.Counter) {
	if m != nil {
		c().Inc()
	}
}
