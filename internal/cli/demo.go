package cli

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/pkg/client"
)

//go:embed demo
var demoFiles embed.FS

// demoStep is one line of the demo's script: what somebody does next.
type demoStep struct {
	Who    string          `json:"who"` // agent or user
	Say    string          `json:"say"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
	Note   string          `json:"note"`
}

// demoDecision is one decision in the demo's output.
type demoDecision struct {
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Clause   string          `json:"clause,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// demoReport is the output of `aspis demo --json`.
type demoReport struct {
	Calls     int            `json:"calls"`
	Permitted int            `json:"permitted"`
	Refused   int            `json:"refused"`
	Decisions []demoDecision `json:"decisions"`
}

func newDemo(e *env) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Play a short session against the whole pipeline and show what was refused and why", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the data directory, and say where it is")
	return cmd
}

func (e *env) demo(ctx context.Context, keep bool) error {
	b, err := e.bundleOr("", "baseline")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "aspis-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if keep {
		fmt.Fprintf(e.err, "aspis: data is kept in %s\n", dir)
	} else {
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	}
	f := &upFlags{data: dir, durability: "process", quiet: true}
	f.mode, f.partitions = "enforce", 2
	f.http.listen = "127.0.0.1:0"
	var report demoReport
	err = e.up(ctx, f, b, func(ctx context.Context, base, tokens string) error {
		var err error
		report, err = e.playDemo(ctx, base, tokens)
		return err
	})
	if err != nil {
		return err
	}
	if e.json {
		return json.NewEncoder(e.out).Encode(report)
	}
	_, err = fmt.Fprintf(e.out, "\n%d calls, %d permitted, %d refused\n", report.Calls, report.Permitted, report.Refused)
	return err
}

func (e *env) playDemo(ctx context.Context, base, tokens string) (demoReport, error) {
	var report demoReport
	script, err := demoFiles.ReadFile("demo/session.jsonl")
	if err != nil {
		return report, fmt.Errorf("demo: %w", err)
	}
	agentToken, userToken, err := devTokens(tokens)
	if err != nil {
		return report, err
	}
	agent, user := client.New(base, agentToken, nil), client.New(base, userToken, nil)
	session, err := agent.OpenSession(ctx)
	if err != nil {
		return report, err
	}
	for line := range strings.Lines(string(script)) {
		var s demoStep
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return report, fmt.Errorf("demo: %w", err)
		}
		if err := e.playStep(ctx, &report, agent, user, session, &s); err != nil {
			return report, err
		}
	}
	return report, agent.EndSession(ctx, session)
}

func (e *env) playStep(ctx context.Context, report *demoReport, agent, user *client.Client, session string, s *demoStep) error {
	e.say(s)
	switch {
	case s.Say != "":
		return agent.PostMessage(ctx, client.Message{Session: session, Role: s.Who, Text: s.Say})
	case s.Who == "user":
		return user.PostGrant(ctx, client.Grant{Session: session, Tool: s.Tool, Args: s.Args})
	}
	began := time.Now()
	d, err := agent.Propose(ctx, client.Call{Session: session, Tool: s.Tool, Args: s.Args})
	if err != nil {
		return err
	}
	took := time.Since(began)
	report.Calls++
	report.Decisions = append(report.Decisions, demoDecision{
		Tool: s.Tool, Args: s.Args, Decision: d.Decision, Reason: d.Reason, Clause: d.Clause, Message: d.Message,
	})
	if !d.Permitted() {
		report.Refused++
		e.printf("      REFUSED in %s: %s, clause %s\n              %s\n", took.Round(10*time.Microsecond), d.Reason, d.Clause, d.Message)
		return nil
	}
	report.Permitted++
	e.printf("      permitted in %s\n", took.Round(10*time.Microsecond))
	return agent.PostResult(ctx, client.Result{Session: session, CallID: d.CallID, Result: s.Result})
}

func (e *env) say(s *demoStep) {
	if s.Note != "" {
		e.printf("\n# %s\n", s.Note)
	}
	switch {
	case s.Say != "":
		e.printf("%-5s says: %s\n", s.Who, s.Say)
	case s.Who == "user":
		e.printf("%-5s grants: %s %s\n", s.Who, s.Tool, s.Args)
	default:
		e.printf("%-5s wants: %s %s\n", s.Who, s.Tool, s.Args)
	}
}

// printf writes for people; with --json it writes nothing.
func (e *env) printf(format string, args ...any) {
	if !e.json {
		fmt.Fprintf(e.out, format, args...)
	}
}
