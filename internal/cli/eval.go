package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/corpus"
	"github.com/aspis-rv/aspis/internal/eval"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/policies"
)

func newEval(e *env) *cobra.Command {
	var dir, convention string
	var workers int
	var verbose bool
	cmd := &cobra.Command{
		Use: "eval agentdojo PATH…", Args: cobra.MinimumNArgs(2),
		Short: "Replay a corpus of recorded runs and tabulate what the policy detects",
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "agentdojo" {
				return hint(fmt.Errorf("corpus %q is not supported", args[0]), "aspis eval agentdojo PATH")
			}
			b, err := e.bundleOr(dir, "baseline")
			if err != nil {
				return err
			}
			engines, err := e.engines(b)
			if err != nil {
				return err
			}
			asking, asked, err := e.asking(b)
			if err != nil {
				return err
			}
			switch eval.Convention(convention) {
			case eval.Published, eval.Ours, eval.Both:
			default:
				return errors.New("--convention: want published, ours or both")
			}
			t, err := eval.AgentDojo(cmd.Context(), args[1:], b, eval.Options{
				Engines: engines, Convention: eval.Convention(convention), Workers: workers,
				Provenance: asking, ProvenanceEngines: asked,
			})
			if errors.Is(err, corpus.ErrNoFiles) {
				return hint(err, "runs are files <model>/<suite>/<task>/<attack>/<injection>.json; name the folder runs of AgentDojo's repository, or one in it")
			}
			if err != nil {
				return err
			}
			if e.json {
				return json.NewEncoder(e.out).Encode(t)
			}
			if err := t.WriteText(e.out); err != nil || !verbose {
				return err
			}
			return t.WriteReasons(e.out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "policy", "", "directory of the policy bundle (default: the shipped baseline, and agentdojo for where values come from)")
	f.StringVar(&convention, "convention", string(eval.Both), "how a text of recipients is read: published, ours or both; both conventions of benign are always printed")
	f.BoolVar(&verbose, "verbose", false, "list by class what was missed and what fired on benign runs")
	f.IntVar(&workers, "workers", 0, "runs replayed at a time (0: one per core)")
	return cmd
}

// asking returns the bundle that answers the parametric questions, with its engines: the
// given one if it does, otherwise the shipped one.
func (e *env) asking(b *policy.Bundle) (*policy.Bundle, []aspects.Engine, error) {
	if !eval.Asks(b) {
		var err error
		if b, err = e.bundleOr("", "agentdojo"); err != nil {
			return nil, nil, err
		}
	}
	engines, err := e.engines(b)
	return b, engines, err
}

// bundleOr loads the bundle in dir, or a shipped one when dir is empty.
func (e *env) bundleOr(dir, shipped string) (*policy.Bundle, error) {
	if dir != "" {
		return e.loadBundle(dir)
	}
	sub, err := policies.FS(shipped)
	if err != nil {
		return nil, fmt.Errorf("shipped policy %s: %w", shipped, err)
	}
	b, diags := policy.LoadFS(sub)
	if diags.HasErrors() {
		return nil, fmt.Errorf("shipped policy %s: %w", shipped, diags)
	}
	return b, nil
}
