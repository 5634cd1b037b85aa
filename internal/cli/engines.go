package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/aspis-rv/aspis/internal/adapter/monpoly"
	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// engines makes the engines of a bundle, those outside this program too. They end with
// the command, which prints why one of them fails.
func (e *env) engines(b *policy.Bundle) ([]aspects.Engine, error) {
	return node.Engines(b, e.alternatives(e.printFailure())...)
}

// alternatives are the engines that a bundle may name besides the built-in one. failed
// is told why they fail, by any goroutine.
func (e *env) alternatives(failed func(error)) []node.Alternative {
	return []node.Alternative{{Name: policy.EngineMonPoly, New: func(b *policy.Bundle) (aspects.Engine, error) {
		engine, err := monpoly.New(b, monpoly.Config{Binary: e.monpoly, Failed: failed})
		if err != nil {
			return nil, hint(err, "aspis check DIR --monpoly PATH")
		}
		e.closing = append(e.closing, engine.Close)
		return engine, nil
	}}}
}

// close ends what the command's engines have started.
func (e *env) close() {
	for _, end := range e.closing {
		if err := end(); err != nil {
			fmt.Fprintf(e.err, "aspis: %s\n", err)
		}
	}
}

// printFailure returns a function that prints failures, a repeated one once.
func (e *env) printFailure() func(error) {
	var mu sync.Mutex
	last := ""
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if text := err.Error(); text != last {
			fmt.Fprintf(e.err, "aspis: %s\n", text)
			last = text
		}
	}
}

// logFailure returns a function that logs failures.
func logFailure(ctx context.Context, log *slog.Logger) func(error) {
	return func(err error) {
		log.LogAttrs(ctx, slog.LevelError, "engine failed", slog.String("error", err.Error()))
	}
}

// checkEngine adds to a report whether this machine has the engine that the bundle
// names, and whether that engine takes its formulas.
func (e *env) checkEngine(r *policy.Report) {
	if r.Bundle == nil || r.Bundle.Engine != policy.EngineMonPoly {
		return
	}
	engine, err := monpoly.New(r.Bundle, monpoly.Config{Binary: e.monpoly})
	if err == nil {
		e.closing = append(e.closing, engine.Close)
		return
	}
	r.OK = false
	r.Diagnostics = append(r.Diagnostics, diag.Diagnostic{
		Code: policy.CodeEngine, Severity: diag.Error, File: policyFile, Span: keySpan(r.Sources[policyFile], "engine"),
		Message: err.Error(),
		Hint:    "give the binary with --monpoly PATH, or write `engine: " + string(policy.EngineAspis) + "`",
	}).Sorted()
}

// policyFile is the main file of a bundle.
const policyFile = "policy.yaml"

// keySpan is the place of a key at the beginning of a line; of the first line if there
// is none.
func keySpan(text, key string) diag.Span {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.HasPrefix(line, key+":") {
			return diag.Span{Start: diag.Pos{Line: n, Col: 1}, End: diag.Pos{Line: n, Col: 1 + len(key)}}
		}
	}
	return diag.Span{Start: diag.Pos{Line: 1, Col: 1}, End: diag.Pos{Line: 1, Col: 1}}
}
