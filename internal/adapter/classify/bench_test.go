package classify

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aspis-rv/aspis/pkg/policy"
)

// BenchmarkAsk asks a server on the same host that answers at once: what asking itself costs, for one
// question and for eight of one event, and for an answer that is remembered.
func BenchmarkAsk(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"label":"leak","score":0.1,"model":"m"}`)
	}))
	defer srv.Close()
	for _, c := range []struct {
		name      string
		questions int
		same      bool
	}{{"one", 1, false}, {"eight", 8, false}, {"remembered", 1, true}} {
		b.Run(c.name, func(b *testing.B) {
			tr := &http.Transport{MaxIdleConnsPerHost: 16}
			defer tr.CloseIdleConnections()
			a, _, err := New(Config{Classifiers: one("c"), Endpoints: []Endpoint{{Name: "c", URL: srv.URL}}, Transport: tr})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				questions := make([]policy.Question, c.questions)
				for j := range questions {
					questions[j] = policy.Question{Classifier: "c", Text: fmt.Sprint("text ", i, j)}
					if c.same {
						questions[j].Text = "text"
					}
				}
				for _, answer := range a.Ask(b.Context(), questions) {
					if answer.Missing {
						b.Fatal("an answer is missing")
					}
				}
			}
		})
	}
}
