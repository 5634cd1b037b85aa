package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/pkg/policy"
)

func newCheck(e *env) *cobra.Command {
	var tools string
	cmd := &cobra.Command{
		Use: "check DIR", Short: "Check a policy bundle and say what each clause is judged on", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			report, err := policy.Check(args[0], policy.CheckOptions{Tools: tools})
			if err != nil {
				return err
			}
			e.checkEngine(report)
			if e.json {
				err = json.NewEncoder(e.out).Encode(report)
			} else {
				_, err = fmt.Fprint(e.out, report.Text())
			}
			if err == nil && !report.OK {
				err = errNo
			}
			return err
		},
	}
	cmd.Flags().StringVar(&tools, "tools", "", "a tools/list answer of MCP or OpenAI tool schemas, to compare with")
	return cmd
}
