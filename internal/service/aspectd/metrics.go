package aspectd

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what an aspect worker does. A nil Metrics counts nothing.
type Metrics struct {
	records, verdicts, bad, failed prometheus.Counter
}

// NewMetrics registers the metrics of one aspect with r.
func NewMetrics(r prometheus.Registerer, aspect string) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{
			Name: name, Help: help, ConstLabels: prometheus.Labels{"aspect": aspect},
		})
		r.MustRegister(c)
		return c
	}
	return &Metrics{
		records:  counter("aspis_aspectd_records_total", "Records folded."),
		verdicts: counter("aspis_aspectd_verdicts_total", "Part verdicts published."),
		bad:      counter("aspis_aspectd_undecodable_records_total", "Records of the events topic that could not be decoded."),
		failed:   counter("aspis_aspectd_unpublished_verdicts_total", "Part verdicts that the bus did not accept."),
	}
}

func (m *Metrics) record(verdicts int) {
	if m != nil {
		m.records.Inc()
		m.verdicts.Add(float64(verdicts))
	}
}

func (m *Metrics) undecodable() {
	if m != nil {
		m.bad.Inc()
	}
}

func (m *Metrics) lost() {
	if m != nil {
		m.failed.Inc()
	}
}
