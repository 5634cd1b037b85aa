package mfotl

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/cli"
)

// asProgram makes the test binary be the program that is measured.
const asProgram = "ASPIS_LOADTEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func small() *Workload {
	return &Workload{
		Name: "small", Sig: []byte("turn(tid:int, rid:string)\nuse(o:int, name:string, x:float)"), Formula: []byte("turn(t, r)"),
		Log:  []byte("@5 turn(1,\"r1\") use(7,\"a \\\"b\\\"\",1.5)\n@5\n@8 turn(2,r2) turn(3,\"r3\");"),
		Want: []byte("@5 (time point 0): (1,\"r1\")\n@8 (time point 2): (2,\"r2\") (3,\"r3\")\n"),
	}
}

func TestRepeat(t *testing.T) {
	var out strings.Builder
	size, err := small().Repeat(&out, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := `@5 turn(1,"r1") use(7,"a \"b\"",1.5)
@5
@8 turn(2,"r2") turn(3,"r3")
@9 turn(5,"r5") use(7,"a \"b\"",1.5)
@9
@12 turn(6,"r6") turn(7,"r7")
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if size != (Size{Points: 6, Facts: 8, Bytes: int64(len(want))}) {
		t.Errorf("got %+v", size)
	}
}

func TestRepeatRefusesNothing(t *testing.T) {
	for _, log := range []string{"", "@1"} {
		w := small()
		w.Log = []byte(log)
		if _, err := w.Repeat(&strings.Builder{}, 1); !errors.Is(err, ErrArchive) {
			t.Errorf("%q: got %v, want ErrArchive", log, err)
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Setenv(asProgram, "1")
	o := &Options{Aspis: Program{Name: "aspis", Command: []string{os.Args[0], "mfotl"}}, Facts: 200_000, Runs: 1}
	o.MonPoly = Program{Name: "beside", Command: o.Aspis.Command}
	row, err := o.Measure(t.Context(), small(), t.TempDir())
	if err != nil || row.Wrong != "" {
		t.Fatalf("%v, %s", err, row.Wrong)
	}
	if a := row.Aspis; a.Size.Facts < 200_000 || a.User <= 0 || a.Rate <= 0 || a.Peak < 1<<20 || a.Answers < int64(len(small().Want)) {
		t.Errorf("got %+v", *a)
	}
	if m := row.MonPoly; m.Size.Points != 3 || m.Size.Bytes != int64(len(small().Log)) {
		t.Errorf("beside it: got %+v", *m)
	}
	row.MonPoly.Rate = 1 // three time points may take no time that is measured
	var text strings.Builder
	if err := (&Report{Rows: []Row{row}}).WriteText(&text); err != nil || !strings.Contains(text.String(), "times as fast as beside") {
		t.Errorf("got %v\n%s", err, text.String())
	}
}

func TestWrongAnswersAreFound(t *testing.T) {
	t.Setenv(asProgram, "1")
	o := &Options{Aspis: Program{Name: "aspis", Command: []string{os.Args[0], "mfotl"}}, Facts: 1, Runs: 1}
	w := small()
	w.Want = bytes.Replace(w.Want, []byte("r3"), []byte("r4"), 1)
	row, err := o.Measure(t.Context(), w, t.TempDir())
	if err != nil || !strings.Contains(row.Wrong, "line 2") {
		t.Errorf("got %v, %q, want a difference in line 2", err, row.Wrong)
	}
	w = small()
	w.Formula = []byte("NOT turn(t, r)")
	if row, err = o.Measure(t.Context(), w, t.TempDir()); err != nil || !strings.Contains(row.Wrong, "NOT monitorable") {
		t.Errorf("got %v, %q, want what the program said", err, row.Wrong)
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.tar.gz")
	w := small()
	if err := os.WriteFile(file, archive(t, map[string][]byte{
		"bench/small/sig": w.Sig, "bench/small/formula.mfotl": w.Formula, "bench/small/log.gz": zipped(t, w.Log), "bench/small/expected.gz": zipped(t, w.Want),
	}), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load(file)
	if err != nil || len(got) != 1 || got[0].Name != "small" || !bytes.Equal(got[0].Log, w.Log) || !bytes.Equal(got[0].Want, w.Want) {
		t.Errorf("got %v, %v", got, err)
	}
	if err := os.WriteFile(file, archive(t, map[string][]byte{"bench/small/sig": w.Sig}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); !errors.Is(err, ErrArchive) {
		t.Errorf("without a log: got %v", err)
	}
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(content)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func archive(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	a := tar.NewWriter(&b)
	for name, content := range files {
		err := a.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = a.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped(t, b.Bytes())
}

func TestFirstDifference(t *testing.T) {
	for _, tc := range []struct{ got, want, diff string }{
		{"", "", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\n", "a\nc\n", `line 2: got "b", want "c"`},
		{"a\n", "a\nc\n", `line 2: got "", want "c"`},
		{"a", "a\n", `line 1: got "a", want "a"`},
	} {
		if diff := firstDifference([]byte(tc.got), []byte(tc.want)); diff != tc.diff {
			t.Errorf("%q, %q: got %s, want %s", tc.got, tc.want, diff, tc.diff)
		}
	}
}
