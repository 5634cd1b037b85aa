package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// once is a text that may be given once: of two policies, silently taking the last
// would leave out the first one's clauses.
type once struct {
	value *string
	set   bool
}

func (o *once) String() string { return *o.value }
func (o *once) Type() string   { return "string" }

func (o *once) Set(s string) error {
	if o.set {
		return errors.New("it is given twice; a deployment has one policy")
	}
	*o.value, o.set = s, true
	return nil
}

// policyFlag registers --policy.
func policyFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().Var(&once{value: value}, "policy", "directory of the policy bundle (required)")
}
