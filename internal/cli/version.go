package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func newVersion(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := "(devel)"
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				v = info.Main.Version
			}
			_, err := fmt.Fprintf(e.out, "aspis %s, schema %d\n", v, schema.Version)
			return err
		},
	}
}

func newSchema(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the canonical event", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(e.out, "%s\n", schema.JSONSchema())
			return err
		},
	}
}
