package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ordinaryCall is a call as harnesses send them.
const ordinaryCall = `{"session":"s1.01kb2c3d4e5f6g7h8j9k.abcdefghijklmnop.abcdefghijklmnopqrstuvwx","tool":"send_money",` +
	`"args":{"recipient":"GB29NWBK60161331926819","amount":100.50,"subject":"rent","date":"2026-12-01"},"call_id":"call_abc123"}`

// BenchmarkCall is the adapter's own cost of a call, with a backend that answers at
// once: in process through the handler, and over a loopback connection.
func BenchmarkCall(b *testing.B) {
	b.Run("handler", func(b *testing.B) {
		s := newServer(b, &fake{}, nil)
		b.ReportAllocs()
		for b.Loop() {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, post("/v1/calls", ordinaryCall).build(b.Context()))
			if w.Code != http.StatusOK {
				b.Fatal(w.Body)
			}
		}
	})
	b.Run("loopback", func(b *testing.B) {
		srv := httptest.NewServer(newServer(b, &fake{}, nil))
		defer srv.Close()
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL+"/v1/calls", strings.NewReader(ordinaryCall))
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+agentToken)
			r.Header.Set("Content-Type", "application/json")
			resp, err := srv.Client().Do(r)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
}

// maxAllocs bounds the allocations of one call in the handler. Nearly half of the 46
// seen are the test's own request and recorder; -race and coverage add some.
const maxAllocs = 60

func TestCallAllocations(t *testing.T) {
	s := newServer(t, &fake{}, nil)
	got := testing.AllocsPerRun(200, func() {
		s.ServeHTTP(httptest.NewRecorder(), post("/v1/calls", ordinaryCall).build(t.Context()))
	})
	if got > maxAllocs {
		t.Errorf("%v allocations, at most %d are wanted", got, maxAllocs)
	}
}
