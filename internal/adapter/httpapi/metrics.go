package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts requests. A nil Metrics counts nothing. Routes are labelled by their
// pattern, never by a session's id; a request outside every route has the label
// "none".
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	panics   prometheus.Counter
	unknown  prometheus.Counter
}

// NewMetrics registers the metrics of the surface with r.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aspis_http_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "aspis_http_request_seconds", Help: "Time from the header of a request to the end of its answer, by route.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 18), // 0.5 ms to the longest deadline
		}, []string{"route"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "aspis_http_panics_total", Help: "Requests whose handler panicked.",
		}),
		unknown: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "aspis_http_unauthenticated_requests_total", Help: "Requests without a valid credential.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.panics, m.unknown} {
		if err := r.Register(c); err != nil {
			panic(err) // two surfaces on one registry: a wiring error
		}
	}
	return m
}

func (m *Metrics) served(w *reply, took time.Duration) {
	if m == nil {
		return
	}
	name := "none"
	if w.route != nil {
		name = w.route.path
	}
	m.requests.WithLabelValues(name, strconv.Itoa(w.status)).Inc()
	m.seconds.WithLabelValues(name).Observe(took.Seconds())
}

func (m *Metrics) panicked() {
	if m != nil {
		m.panics.Inc()
	}
}

func (m *Metrics) unauthenticated() {
	if m != nil {
		m.unknown.Inc()
	}
}
