package cli

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/adapter/classify"
	"github.com/aspis-rv/aspis/internal/corpus/jsonl"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// classifyFlags say where the classifiers of a policy are found.
type classifyFlags struct {
	endpoints []string
	timeout   time.Duration
}

func (f *classifyFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.endpoints, "classifier", nil,
		"NAME=URL of a classifier that the policy names, or NAME=openai:URL#MODEL; may be repeated. Its key is read from ASPIS_CLASSIFIER_NAME_KEY, or from the file that ASPIS_CLASSIFIER_NAME_KEY_FILE names")
	fs.DurationVar(&f.timeout, "classifier-timeout", 0, "longest wait for an answer of a classifier, besides the policy's own (default: the policy's)")
}

// asker returns what asks the classifiers of a bundle; nil when it names none. Endpoints that the
// bundle does not name are warned of.
func (f *classifyFlags) asker(e *env, b *policy.Bundle, log *slog.Logger, reg prometheus.Registerer) (*classify.Asker, error) {
	if f.timeout < 0 {
		return nil, fmt.Errorf("--classifier-timeout: %v is no time to wait; leave it out for the policy's own", f.timeout)
	}
	endpoints, err := f.parse()
	if err != nil {
		return nil, fmt.Errorf("--classifier: %w", err)
	}
	cfg := classify.Config{Classifiers: b.Classifiers(), Endpoints: endpoints, Timeout: f.timeout, Logger: log}
	if len(cfg.Classifiers) > 0 && reg != nil {
		cfg.Metrics = classify.NewMetrics(reg)
	}
	a, surplus, err := classify.New(cfg)
	if err != nil {
		return nil, err
	}
	for _, name := range surplus {
		fmt.Fprintf(e.err, "aspis: warning: the policy %s names no classifier %q; it will not be asked\n", b.Name, name)
	}
	if len(cfg.Classifiers) == 0 {
		return nil, nil
	}
	return a, nil
}

// parse reads the endpoints, with their keys. A key is for one of them: two that would share it are refused.
func (f *classifyFlags) parse() ([]classify.Endpoint, error) {
	var out []classify.Endpoint
	keyOf := map[string]string{}
	for _, s := range f.endpoints {
		p, err := classify.ParseEndpoint(s)
		if err != nil {
			return nil, err
		}
		name := classify.KeyVariable(p.Name)
		if p.Key, err = keyIn(name); err != nil {
			return nil, err
		}
		if other, shared := keyOf[name]; shared && other != p.Name && p.Key != "" {
			return nil, fmt.Errorf("%s is the key of %q and of %q; rename one of them", name, other, p.Name)
		}
		keyOf[name] = p.Name
		out = append(out, p)
	}
	return out, nil
}

// keyIn returns the key that stands in an environment variable, or in the file that NAME_FILE names;
// empty when neither is set. No error shows a part of it.
func keyIn(name string) (string, error) {
	key, path := os.Getenv(name), os.Getenv(name+"_FILE")
	switch {
	case key != "" && path != "":
		return "", fmt.Errorf("%s and %[1]s_FILE are set; unset one of them", name)
	case path != "":
		b, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
		if err != nil {
			return "", fmt.Errorf("%s_FILE: %w", name, err)
		}
		if key = strings.TrimSpace(string(b)); key == "" {
			return "", fmt.Errorf("%s_FILE: %s is empty; put the key into it", name, path)
		}
	}
	key = strings.TrimSpace(key)
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("%s: the key has blanks or characters that are not ASCII; give the key alone", name)
	}
	return key, nil
}

func newClassify(e *env) *cobra.Command {
	var f classifyFlags
	var dir, path string
	cmd := &cobra.Command{
		Use: "classify --policy DIR --events FILE", Args: policyOnly,
		Short: "Ask the classifiers of a policy about recorded events and record their answers",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := e.loadBundle(dir)
			if err != nil {
				return err
			}
			a, err := f.asker(e, b, nil, nil)
			if err != nil {
				return err
			}
			return e.classify(cmd.Context(), b, a, path)
		},
	}
	f.register(cmd)
	policyFlag(cmd, &dir)
	cmd.Flags().StringVar(&path, "events", "-", "events, JSON Lines; - for standard input")
	return cmd
}

// classify writes the events of a file with the answers of classifiers, one a line. Answers that
// are there already stay, and are not asked for again.
func (e *env) classify(ctx context.Context, b *policy.Bundle, a *classify.Asker, path string) error {
	in, name, err := e.open(path)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	out := bufio.NewWriter(e.out)
	calls, missing := map[[2]string]*schema.Event{}, 0
	for ev, err := range jsonl.Events(in, name) {
		if err != nil {
			return err
		}
		key := [2]string{ev.SessionID, ev.CallID}
		if ev.Kind == schema.KindCall && ev.CallID != "" {
			calls[key] = ev
		}
		if questions := b.Unanswered(calls[key], ev); len(questions) > 0 && a != nil {
			ev.Answers = append(ev.Answers, a.Ask(ctx, questions)...)
		}
		if ctx.Err() != nil {
			return ctx.Err() //nolint:wrapcheck // an interrupt
		}
		for i := range ev.Answers {
			if ev.Answers[i].Missing {
				missing++
			}
		}
		line, err := ev.MarshalJSON()
		if err != nil {
			return fmt.Errorf("event %s: %w", ev.ID, err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	if missing > 0 {
		fmt.Fprintf(e.err, "aspis: %d answers are missing: what rests on them is unknown\n", missing)
	}
	return out.Flush() //nolint:wrapcheck // of standard output
}
