package cli

import (
	"errors"
	"fmt"

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

// policyOnly refuses arguments of a command that takes its bundle by flag.
func policyOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return hint(fmt.Errorf("%s takes no argument %s", cmd.CommandPath(), show(args[0])), "name the bundle with --policy DIR")
}
