package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
)

func newWorldShow(e *env) *cobra.Command {
	var f worldFlags
	var at, format, sort, out string
	cmd := &cobra.Command{
		Use: "show --policy DIR [--events FILE|- | --log DIR|URL] [--at POSITION]", Args: policyOnly,
		Short: "Show the world of a trace: graph, objects, attributes, states",
		Long:  "Show the world of a trace, as the policy declares it or after recorded events.\n\n" + positions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			draw, err := worldFormat(e, format)
			if err != nil {
				return err
			}
			part, err := worldSort(sort)
			if err != nil {
				return err
			}
			t, err := e.worldAt(cmd, &f, at, nil)
			if err != nil {
				return err
			}
			g := render.View(t.World, t.At, t.Events)
			if part != world.Unknown {
				g = g.Of(part)
			}
			text, err := draw(g)
			if err != nil {
				return err
			}
			return e.write(out, text)
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&at, "at", "", "position up to and including which events count (default: all)")
	fs.StringVar(&format, "format", "text", "text, dot (Graphviz), svg or json")
	fs.StringVar(&sort, "sort", "", "only vertices of this sort: physical or informational")
	fs.StringVar(&out, "out", "", "write to this file, not to standard output")
	return cmd
}

// worldAt is the world that flags and a position name; changed, if not nil, is told of every
// change up to there.
func (e *env) worldAt(cmd *cobra.Command, f *worldFlags, at string, changed func(*replay.WorldChange)) (*replay.TraceWorld, error) {
	b, err := e.worldBundle(f.policy)
	if err != nil {
		return nil, err
	}
	h, err := e.history(cmd.Context(), f, b)
	if err != nil {
		return nil, err
	}
	if h == nil {
		if at != "" || f.trace != "" || f.tenant != "" {
			return nil, hint(errors.New("--at, --trace and --tenant say something about recorded events"), "name them with --events FILE or --log DIR")
		}
		return declared(b)
	}
	defer h.close()
	stop, err := h.stop("--at", at)
	if err != nil {
		return nil, err
	}
	s, err := h.snapshots(b, []replay.Stop{stop}, changed)
	if err != nil {
		return nil, err
	}
	return f.choose(b, s[0])
}

// worldFormat is the renderer of a format.
func worldFormat(e *env, format string) (func(*render.Graph) (string, error), error) {
	if e.json && format != "text" && format != "json" {
		return nil, hint(fmt.Errorf("--json contradicts --format %s", format), "leave one of the two out")
	}
	if e.json {
		format = "json"
	}
	switch format {
	case "text":
		return func(g *render.Graph) (string, error) { return render.Text(g), nil }, nil
	case "dot":
		return func(g *render.Graph) (string, error) { return render.DOT(g), nil }, nil
	case "svg":
		return worldSVG, nil
	case "json":
		return func(g *render.Graph) (string, error) {
			data, err := json.Marshal(g)
			return string(data) + "\n", err
		}, nil
	}
	return nil, hint(fmt.Errorf("--format: there is no format %q", format), "give text, dot, svg or json")
}

// worldSVG draws a graph, or the part of it around what holds objects.
func worldSVG(g *render.Graph) (string, error) {
	part, err := render.Neighbourhood(g, render.MaxDrawn)
	if err != nil {
		return "", hint(err, "draw it with Graphviz (--format dot), or a part of it (--sort physical)")
	}
	return render.SVG(part), nil
}

func worldSort(s string) (world.Sort, error) {
	for _, sort := range []world.Sort{world.Physical, world.Informational} {
		if s == sort.String() {
			return sort, nil
		}
	}
	if s == "" {
		return world.Unknown, nil
	}
	return world.Unknown, hint(fmt.Errorf("--sort: there is no sort %q", s), "give physical or informational")
}

// write prints a text, to a file where one is named.
func (e *env) write(path, text string) error {
	if path == "" {
		_, err := io.WriteString(e.out, text)
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // what was asked for, for whoever it is shown to
}
