package command

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/text"
)

func newText(e *env) *cobra.Command {
	var o text.Options
	cmd := &cobra.Command{
		Use: "text", Short: "How fast texts are read for cues and values", Args: cobra.NoArgs,
		Long: "Reads texts for cues, plain and in disguise, and takes tokens out of them. Hits are compared with a naive\n" +
			"search; a wrong number makes the exit code 1.",
		RunE: func(*cobra.Command, []string) error { return e.text(o) },
	}
	fs := cmd.Flags()
	fs.IntSliceVar(&o.Cues, "cues", []int{10, 100, 1_000, 10_000}, "cues, up to 50000")
	fs.IntVar(&o.Bytes, "bytes", 1<<20, "bytes of the plain text")
	fs.IntVar(&o.Runs, "runs", 15, "readings of each text")
	fs.Uint64Var(&o.Seed, "seed", 1, "seed of the texts")
	return cmd
}

func (e *env) text(o text.Options) error {
	for _, n := range o.Cues {
		if n < 1 || n > 50_000 {
			return errors.New("--cues is 1 to 50000")
		}
	}
	if o.Bytes < 1 || o.Runs < 1 {
		return errors.New("--bytes and --runs are at least 1")
	}
	rows, err := text.Run(o)
	if errors.Is(err, text.ErrWrong) {
		return fmt.Errorf("%w: %w", errUnsound, err)
	}
	if err != nil {
		return err
	}
	if e.json {
		enc := json.NewEncoder(e.out)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	fmt.Fprintf(e.out, "loadtest text on %s, load average %s\n\n", measure.Machine(), measure.LoadAverage())
	return text.WriteText(e.out, rows)
}
