package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
)

func newWorldReach(e *env) *cobra.Command {
	var f worldFlags
	var r replay.ReachSince
	var at string
	cmd := &cobra.Command{
		Use: "reach --policy DIR [--from OBJECT|VERTEX] [--to DOMAIN|VERTEX] [--events FILE|- | --log DIR|URL] [--at POSITION]", Args: policyOnly,
		Short: "Say who could come to know what, on which path, and since when",
		Long: "Say which release domains, or which vertex, an object can come to through open channels, on which path, since\n" +
			"when without a break, and by which events. Without --from: all objects. Exit code 1 says that nothing\n" +
			"reaches what --to names. With --json one line for each pair.\n\n" + positions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := e.worldAt(cmd, &f, at, func(c *replay.WorldChange) {
				if f.fits(c.Trace) {
					r.Changed(c)
				}
			})
			if err != nil {
				return err
			}
			return e.printReach(t, &r)
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&at, "at", "", "position up to and including which events count (default: all)")
	fs.StringVar(&r.From, "from", "", "an object, or a vertex: what is there (default: all objects)")
	fs.StringVar(&r.To, "to", "", "a release domain or a vertex (default: all release domains)")
	return cmd
}

// printReach answers. A name that the world does not know is an error: "not reached" would be
// an all-clear on a slip of the pen.
func (e *env) printReach(t *replay.TraceWorld, r *replay.ReachSince) error {
	if r.From != "" && !render.IsObject(t.World, r.From) && !render.IsVertex(t.World, r.From) {
		return hint(fmt.Errorf("--from: there is no object and no vertex %s", render.Name(r.From)), "aspis world show lists them")
	}
	if r.To != "" && !isDomain(t.World, r.To) && !render.IsVertex(t.World, r.To) {
		return hint(fmt.Errorf("--to: there is no release domain and no vertex %s", render.Name(r.To)), "aspis world show lists them")
	}
	rows := r.Rows(t)
	if err := e.printRows(t, r, rows); err != nil {
		return err
	}
	if r.To != "" && len(rows) == 0 {
		return errNo
	}
	return nil
}

func (e *env) printRows(t *replay.TraceWorld, r *replay.ReachSince, rows []*render.Reach) error {
	if e.json {
		enc := json.NewEncoder(e.out)
		for _, row := range rows {
			if err := enc.Encode(row); err != nil {
				return err
			}
		}
		return nil
	}
	var text strings.Builder
	text.WriteString(t.At.Text() + "\n")
	if domains := domainsOf(t.World, rows); r.From == "" && r.To == "" && len(domains) > 0 {
		text.WriteString(render.Matrix(replay.Objects(t.World), domains, rows))
	}
	for _, row := range rows {
		text.WriteString(row.Text())
	}
	if len(rows) == 0 {
		text.WriteString(nothing(r))
	}
	_, err := io.WriteString(e.out, text.String())
	return err
}

// nothing says that no pair holds.
func nothing(r *replay.ReachSince) string {
	from, to := "no object", "any release domain"
	if r.From != "" {
		from = render.Name(r.From)
	}
	if r.To != "" {
		to = render.Name(r.To)
	}
	if r.From == "" {
		return fmt.Sprintf("%s reaches %s\n", from, to)
	}
	return fmt.Sprintf("%s does not reach %s\n", from, to)
}

// domainsOf lists the release domains of a world, and those that rows name, sorted.
func domainsOf(w *world.World, rows []*render.Reach) []string {
	var out []string
	for i := range w.Vertices() {
		if d := w.Domain(world.V(i)); d != "" { //nolint:gosec // a vertex number
			out = append(out, d)
		}
	}
	for _, r := range rows {
		out = append(out, r.To)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func isDomain(w *world.World, name string) bool {
	return name == world.UnknownDomain || slices.Contains(w.Spec().Domains, name) || slices.Contains(domainsOf(w, nil), name)
}
