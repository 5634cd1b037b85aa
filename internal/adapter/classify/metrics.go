package classify

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts questions. A nil Metrics counts nothing.
type Metrics struct {
	questions *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	open      *prometheus.GaugeVec
}

// NewMetrics registers the metrics of an asker with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		questions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aspis_classifier_questions_total",
			Help: "Questions to classifiers, by what came of them: answered, remembered, late, busy, refused, no_answer, unreachable, left_alone, given_up.",
		}, []string{"classifier", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "aspis_classifier_seconds", Help: "Time from a question to its answer or to giving up, remembered answers apart.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}, []string{"classifier"}),
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "aspis_classifier_left_alone", Help: "1 while a classifier is not asked because it failed too often in a row.",
		}, []string{"classifier"}),
	}
	for _, c := range []prometheus.Collector{m.questions, m.seconds, m.open} {
		if err := r.Register(c); err != nil {
			panic(err) // two askers on one registry: a wiring error
		}
	}
	return m
}

func (m *Metrics) asked(name, outcome string) {
	if m != nil {
		m.questions.WithLabelValues(name, outcome).Inc()
	}
}

func (m *Metrics) took(name string, d time.Duration) {
	if m != nil {
		m.seconds.WithLabelValues(name).Observe(d.Seconds())
	}
}

func (m *Metrics) breaker(name string, open bool) {
	if m == nil {
		return
	}
	v := 0.0
	if open {
		v = 1
	}
	m.open.WithLabelValues(name).Set(v)
}
