package cli

import (
	"fmt"

	"github.com/aspis-rv/aspis/pkg/policy"
)

// loadBundle loads a policy, printing every diagnostic to standard error.
func (e *env) loadBundle(dir string) (*policy.Bundle, error) {
	if dir == "" {
		return nil, hint(fmt.Errorf("no policy was given"), "name one with --policy DIR, for example --policy policies/baseline")
	}
	report, err := policy.Check(dir, policy.CheckOptions{})
	if err != nil {
		return nil, err
	}
	b, diags := report.Bundle, report.Diagnostics
	if len(diags) > 0 {
		fmt.Fprint(e.err, diags.Render(report.Sources))
	}
	if b == nil || diags.HasErrors() {
		return nil, hint(fmt.Errorf("the policy in %s cannot be used", dir), "aspis check %s", dir)
	}
	return b, nil
}
