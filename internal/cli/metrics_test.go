package cli

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/internal/adapter/classify"
	"github.com/aspis-rv/aspis/internal/adapter/httpapi"
	"github.com/aspis-rv/aspis/internal/service/aspectd"
	"github.com/aspis-rv/aspis/internal/service/composer"
	"github.com/aspis-rv/aspis/internal/service/gate"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md") //nolint:gochecknoglobals // a flag of the test

const metricsFile = "../../docs/metrics.md"

// TestMetricsAreDocumented holds docs/metrics.md to the metrics that are registered:
// names, labels, help.
func TestMetricsAreDocumented(t *testing.T) {
	c := &collected{}
	aspectd.NewMetrics(c, "temporal")
	composer.NewMetrics(c)
	gate.NewMetrics(c)
	httpapi.NewMetrics(c)
	classify.NewMetrics(c)
	if len(c.rows) == 0 {
		t.Fatal("no metric was registered")
	}
	slices.Sort(c.rows)
	var s strings.Builder
	s.WriteString("# Metrics\n\nWhat `/metrics` shows, besides the Go runtime and the process. Seconds and bytes; no session, tenant or principal is a label.\nThis page is generated: `go test ./internal/cli -run TestMetricsAreDocumented -update`.\n\n| metric | labels | meaning |\n|---|---|---|\n")
	for _, r := range c.rows {
		s.WriteString(r)
	}
	if *update {
		if err := os.WriteFile(metricsFile, []byte(s.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(metricsFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(recorded) != s.String() {
		t.Errorf("docs/metrics.md differs from the code; run: go test ./internal/cli -run TestMetricsAreDocumented -update\n%s", s.String())
	}
}

// collected is a registerer that keeps descriptions.
type collected struct{ rows []string }

func (c *collected) Register(m prometheus.Collector) error {
	ch := make(chan *prometheus.Desc, 16)
	m.Describe(ch)
	close(ch)
	for d := range ch {
		name, help := between(d.String(), `fqName: "`), between(d.String(), `help: "`)
		var labels []string
		if k := between(d.String(), `constLabels: {`); strings.HasPrefix(k, "aspect=") {
			labels = append(labels, "aspect")
		}
		_, vars, _ := strings.Cut(d.String(), "variableLabels: {")
		vars, _, _ = strings.Cut(vars, "}")
		for v := range strings.SplitSeq(vars, ",") {
			if v != "" {
				labels = append(labels, v)
			}
		}
		c.rows = append(c.rows, fmt.Sprintf("| `%s` | %s | %s |\n", name, strings.Join(labels, ", "), help))
	}
	return nil
}

func between(s, start string) string {
	_, s, _ = strings.Cut(s, start)
	s, _, _ = strings.Cut(s, `"`)
	return s
}

func (c *collected) MustRegister(ms ...prometheus.Collector) {
	for _, m := range ms {
		_ = c.Register(m)
	}
}

func (c *collected) Unregister(prometheus.Collector) bool { return false }
