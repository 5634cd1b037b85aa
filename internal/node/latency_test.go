package node_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// BenchmarkDecision measures one decision after another through the Go API: all
// roles in one process over an embedded NATS server with its log on disk.
func BenchmarkDecision(b *testing.B) {
	srv, err := natsbus.StartServer(natsbus.ServerConfig{Dir: b.TempDir(), DontListen: true})
	if err != nil {
		b.Fatal(err)
	}
	defer srv.Shutdown()
	bundle, diags := policy.Load("../../policies/baseline")
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := natsbus.Connect(b.Context(), natsbus.Config{InProcess: srv, Partitions: 4})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a benchmark
	n, err := node.New(node.Config{
		Bus:    func(string) (bus.Bus, error) { return conn, nil },
		Bundle: bundle, Rules: protocol.DefaultRules(), Secret: make([]byte, 32), GateKey: key, ComposerKey: key,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}()
	if err := n.Ready(ctx); err != nil {
		b.Fatal(err)
	}
	who := gate.Principal{ID: "agent-1", Class: schema.ClassAgent, Tenant: "default"}
	s, err := n.Gate.OpenSession(ctx, who, nil)
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		i++
		a := n.Gate.Call(ctx, who, gate.CallRequest{Session: s.Session, Tool: "read_file", CallID: fmt.Sprint(i), Args: []byte(`{"path":"/srv/a"}`)})
		if a.Decision != "permit" {
			b.Fatalf("%+v", a)
		}
	}
}
