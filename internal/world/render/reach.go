package render

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// From says what a question about reaching starts from.
type From uint8

// The starts.
const (
	ByObject From = iota // an object: reaches(o, d)
	ByVertex             // what is at a vertex: connects(v, d)
)

// String returns "object" or "vertex".
func (f From) String() string {
	if f == ByVertex {
		return "vertex"
	}
	return "object"
}

// MarshalJSON writes the name.
func (f From) MarshalJSON() ([]byte, error) { return json.Marshal(f.String()) }

// Domains is the relation of what is reached where only release domains are asked for, All
// that with vertices as well.
func (f From) Domains() world.Rel {
	if f == ByVertex {
		return world.Rel{Kind: world.ConnectsDomain}
	}
	return world.Rel{Kind: world.ReachesDomain}
}

// All is the relation of what is reached, domains and vertices; see Domains.
func (f From) All() world.Rel {
	if f == ByVertex {
		return world.Rel{Kind: world.Connects}
	}
	return world.Rel{Kind: world.Reaches}
}

// Targets lists the release domains that an object, or what is at a vertex, can come to,
// sorted. It answers in the unsafe sense; what is neither comes to nothing.
func Targets(w *world.World, kind From, from string) []string {
	var out []string
	if !kind.is(w, from) {
		return nil
	}
	w.Scan(kind.Domains(), []schema.Value{schema.StringValue(from), {}}, 1, world.Unsafe, func(t world.Tuple) bool {
		out = append(out, t.Args[1].Str)
		return true
	})
	slices.Sort(out)
	return out
}

// Reaches tells whether an object, or what is at a vertex, can come to a domain or vertex,
// in the unsafe sense; what is neither comes to nothing.
func Reaches(w *world.World, kind From, from, to string) bool {
	known := []schema.Value{schema.StringValue(from), schema.StringValue(to)}
	return kind.is(w, from) && !w.Scan(kind.All(), known, 3, world.Unsafe, func(world.Tuple) bool { return false })
}

func (f From) is(w *world.World, name string) bool {
	if f == ByVertex {
		return IsVertex(w, name)
	}
	return IsObject(w, name)
}

// IsObject tells whether an object of a name has come into being.
func IsObject(w *world.World, name string) bool {
	return some(w, world.Exists, []schema.Value{schema.StringValue(name)})
}

// IsVertex tells whether a vertex of a name is declared, or is unknown and holds something or
// is at an end of an edge or channel.
func IsVertex(w *world.World, name string) bool {
	v, met := w.Vertex(name)
	if !met {
		return false
	}
	return w.Sort(v) != world.Unknown || len(w.Edges(v))+len(w.Out(v))+len(w.In(v)) > 0 ||
		some(w, world.Holds, []schema.Value{schema.StringValue(name), {}})
}

// some tells whether a relation has a tuple that begins with a value.
func some(w *world.World, kind world.RelKind, known []schema.Value) bool {
	return !w.Scan(world.Rel{Kind: kind}, known, 1, world.Safe, func(world.Tuple) bool { return false })
}

// Reach says that an object, or what is at a vertex, can come to a domain or vertex.
type Reach struct {
	From string `json:"from"`
	Kind From   `json:"kind"`
	To   string `json:"to"`
	// Path is a least walk, the vertices in order. Where the target is reached only
	// because some vertex is unknown, it leads to that vertex and Unknown is set.
	Path     []string `json:"path"`
	Distance int64    `json:"distance"`
	Unknown  bool     `json:"unknown,omitempty"`
	// Since is the event since which it is so without a break; nil: it was so before the
	// first event.
	Since *Event `json:"since"`
	// By are the events that placed the object and opened the channels on the path, in order
	// of the log, each once. What the policy declares is not among them.
	By []*Event `json:"by,omitempty"`
}

// NewReach returns the row of a question whose answer is yes, with the present path.
func NewReach(w *world.World, kind From, from, to string, since *Event, events Events) *Reach {
	r := &Reach{From: from, Kind: kind, To: to, Since: since, Path: []string{}}
	steps, _ := path(w, kind, from, to)
	seen := map[uint64]bool{}
	var offsets []uint64
	for _, s := range steps {
		r.Path, r.Distance = append(r.Path, s.Vertex), s.Distance
		if s.Origin > 0 && !seen[s.Origin] {
			seen[s.Origin] = true
			offsets = append(offsets, s.Origin)
		}
	}
	r.Unknown = leadsNowhere(w, r.Path, to)
	slices.Sort(offsets)
	for _, o := range offsets {
		if ev := events.origin(o); ev != nil {
			r.By = append(r.By, ev)
		}
	}
	return r
}

// leadsNowhere tells whether a path ends at an unknown vertex, where that is not the target.
func leadsNowhere(w *world.World, path []string, to string) bool {
	if len(path) == 0 {
		return true
	}
	end, met := w.Vertex(path[len(path)-1])
	return path[len(path)-1] != to && (!met || w.Sort(end) == world.Unknown)
}

func path(w *world.World, kind From, from, to string) ([]world.Step, bool) {
	if kind == ByObject {
		return w.ObjectPath(from, to)
	}
	v, ok := w.Vertex(from)
	if !ok {
		return nil, false
	}
	return w.Path(v, to)
}

// Text is the row for people, one or two lines.
func (r *Reach) Text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s reaches %s", Name(r.From), Name(r.To))
	if r.Since == nil {
		s.WriteString(" from the beginning")
	} else {
		fmt.Fprintf(&s, " since %s", r.Since.Text())
	}
	fmt.Fprintf(&s, ": %s\n", r.walk())
	for i, ev := range r.By {
		lead := "       "
		if i == 0 {
			lead = "    by "
		}
		fmt.Fprintf(&s, "%s%s\n", lead, ev.Text())
	}
	return s.String()
}

func (r *Reach) walk() string {
	switch {
	case len(r.Path) == 0:
		return "on no known path"
	case r.Unknown:
		return Walk(r.Path, r.Distance) + ", and anywhere from there: that vertex is unknown"
	}
	return Walk(r.Path, r.Distance)
}

// Walk prints a path: its vertices and its distance.
func Walk(vertices []string, distance int64) string {
	names := make([]string, len(vertices))
	for i, v := range vertices {
		names[i] = Name(v)
	}
	return fmt.Sprintf("%s (%d)", strings.Join(names, " → "), distance)
}

// Matrix prints which objects reach which domains: a row an object, a column a domain, in
// the cell the distance. A cell with ? is reached only because some vertex is unknown.
func Matrix(objects, domains []string, rows []*Reach) string {
	cells := map[[2]string]string{}
	for _, r := range rows {
		cells[[2]string{r.From, r.To}] = fmt.Sprint(r.Distance)
		if r.Unknown {
			cells[[2]string{r.From, r.To}] = "?"
		}
	}
	var t table
	head := []string{"object"}
	for _, d := range domains {
		head = append(head, Name(d))
	}
	t.row(head...)
	for _, o := range objects {
		line := []string{Name(o)}
		for _, d := range domains {
			line = append(line, orDash(cells[[2]string{o, d}]))
		}
		t.row(line...)
	}
	return t.text("")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
