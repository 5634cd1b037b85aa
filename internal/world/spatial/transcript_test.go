package spatial

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

var rewrite = flag.Bool("rewrite", false, "write what the transcripts print into testdata") //nolint:gochecknoglobals // flags of a test binary are global

// medevac is the world of the medical evacuation domain, in metres.
func medevac() *world.Spec {
	str := schema.KindString
	spec := &world.Spec{States: []world.StateSpec{{Name: "marked", Kinds: []schema.ValueKind{str, str}}}}
	for _, v := range []struct{ name, domain, labels string }{
		{"med_fwd", "MED", "home medical_enclave forward"},
		{"med_rear", "MED", "medical_enclave rear"},
		{"c2_cop", "MED", "cop"},
		{"partner_med", "MED_COALITION", "medical_enclave"},
		{"coalition_cop", "PARTNER", "cop"},
		{"log_enclave", "LOG", ""},
		{"alpha", "", ""},
		{"open_1", "", ""},
		{"sam", "", "threat"},
		{"bravo", "", ""},
		{"open_2", "", ""},
		{"charlie", "", ""},
		{"ridge", "", "masking"},
		{"wp_1", "", ""},
		{"wp_2", "", ""},
		{"wp_3", "", "beyond_front"},
		{"fires_box", "", "prohibited"},
	} {
		sort := world.Informational
		if v.domain == "" {
			sort = world.Physical
		}
		spec.Vertices = append(spec.Vertices, world.VertexSpec{Name: v.name, Sort: sort, Domain: v.domain, Labels: strings.Fields(v.labels)})
	}
	for _, e := range []struct {
		from, to string
		metres   int64
	}{
		{"alpha", "open_1", 3000},
		{"open_1", "sam", 5000},
		{"bravo", "open_2", 1000},
		{"open_2", "sam", 2000},
		{"charlie", "ridge", 1000},
		{"ridge", "sam", 1500},
		{"wp_1", "wp_2", 2000},
		{"wp_2", "wp_3", 2000},
		{"wp_2", "fires_box", 600},
		{"alpha", "wp_1", 2000},
	} {
		spec.Edges = append(spec.Edges, world.EdgeSpec{From: e.from, To: e.to, Distance: e.metres})
	}
	for _, c := range []string{"+med_fwd med_rear", "+med_fwd c2_cop", "-med_fwd partner_med", "-c2_cop coalition_cop", "-c2_cop log_enclave"} {
		from, to, _ := strings.Cut(c[1:], " ")
		spec.Channels = append(spec.Channels, world.ChannelSpec{From: from, To: to, Weight: world.WeightByDomain, Open: c[0] == '+'})
	}
	return spec
}

// TestTranscript runs testdata/medevac.txt, whose first comment says what its commands are.
func TestTranscript(t *testing.T) {
	const file = "testdata/medevac.txt"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(medevac())
	if err != nil {
		t.Fatal(err)
	}
	s := &session{w: w}
	var got strings.Builder
	commands := 0
	for line := range strings.Lines(string(want)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		fmt.Fprintln(&got, line)
		if line != "" && line[0] != '#' {
			commands++
			fmt.Fprintln(&got, "  "+s.run(t, line))
		}
	}
	if commands == 0 {
		t.Fatal("no commands")
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// session is the state of a transcript.
type session struct {
	w      *world.World
	f      *Formula // the last one
	offset uint64
}

func (s *session) run(t *testing.T, line string) string {
	t.Helper()
	if strings.HasPrefix(line, "AT ") || strings.HasPrefix(line, "UNSAFE AT ") || strings.HasPrefix(line, "SAFE AT ") {
		text, safe := strings.CutPrefix(line, "SAFE ")
		return s.ask(t, strings.TrimPrefix(text, "UNSAFE "), safe)
	}
	words := strings.Fields(line)
	e := world.Edit{A: words[1], B: words[2], N: world.WeightByDomain}
	switch words[0] {
	case "open":
		e.Op = world.OpenChannel
	case "close":
		e.Op = world.CloseChannel
	case "label":
		e.Op = world.AddLabel
	case "place":
		e.Op = world.Place
	case "mark":
		e = markEdit("marked", words[1:3], verdict.F)
	case "suspect":
		e = markEdit("marked", words[1:3], verdict.Fp)
	default:
		t.Fatalf("no command %s", line)
	}
	s.offset++
	after, delta := s.w.Apply([]world.Edit{e}, world.Origin{Offset: s.offset})
	out := "concerns"
	s.f.Touched(s.w, after, delta, func(v string) bool { out += " " + v; return true })
	s.w = after
	return out
}

func (s *session) ask(t *testing.T, line string, safe bool) string {
	t.Helper()
	f, diags := syntax.Parse(line, syntax.Options{Mode: syntax.Bundle})
	if diags.HasErrors() {
		return diags.Error()
	}
	at, ok := f.(*syntax.At)
	if !ok {
		t.Fatalf("%s is no AT", line)
	}
	var err error
	if s.f, err = Compile(at, s.w.Spec()); err != nil {
		return err.Error()
	}
	loc, sense := at.Loc.(syntax.Const), world.Unsafe
	if safe {
		sense = world.Safe
	}
	out := s.f.Value(s.w, loc.Value.Str, nil, sense).String()
	if path, ok := s.f.Witness(s.w, loc.Value.Str, nil, sense); ok {
		out += ":"
		for _, p := range path {
			out += fmt.Sprintf(" %s %d", p.Vertex, p.Distance)
			if p.Origin > 0 {
				out += fmt.Sprintf(" (event %d)", p.Origin)
			}
		}
	}
	return out
}
