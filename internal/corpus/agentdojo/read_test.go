package agentdojo

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus"
)

// archive packs testdata/runs, and a file that is no run, in reverse order.
func archive(t *testing.T) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir("testdata/runs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(names)
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	add := func(name string, data []byte) {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(data)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	add("runs/summary.json", []byte("{}"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		add(strings.TrimPrefix(filepath.ToSlash(name), "testdata/"), data)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "runs.tar.gz")
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ids(t *testing.T, o Options, paths ...string) []string {
	t.Helper()
	var out []string
	for run, err := range Runs(t.Context(), paths, o) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, run.ID)
	}
	return out
}

func TestFolderAndArchiveHoldTheSameRuns(t *testing.T) {
	folder, packed := ids(t, Options{}, "testdata/runs"), ids(t, Options{Workers: 3}, archive(t))
	if len(folder) != 9 {
		t.Fatalf("%d runs in the folder, want 9", len(folder))
	}
	slices.Reverse(packed)
	if !slices.Equal(folder, packed) {
		t.Errorf("folder %v\narchive, reversed %v", folder, packed)
	}
}

func TestASecondRunOfANameIsPassedOver(t *testing.T) {
	var report corpus.Report
	got := ids(t, Options{Report: &report}, "testdata/runs", archive(t), "testdata/runs/model-a/banking/user_task_0/none/none.json")
	if len(got) != 9 {
		t.Errorf("%d runs, want 9: %v", len(got), got)
	}
	var duplicates, reused int
	for _, f := range report.Findings() {
		switch f.Quirk {
		case QuirkDuplicate:
			duplicates = f.Count
		case QuirkIDReused:
			reused = f.Count
		}
	}
	if duplicates != 10 || reused != 1 {
		t.Errorf("%d duplicates and %d reused ids reported, want 10 and 1", duplicates, reused)
	}
}

func TestAnUnreadableRunEndsTheSequence(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1", "2", "3"} {
		task := filepath.Join(dir, "m", "banking", "user_task_"+name, "none")
		if err := os.MkdirAll(task, 0o755); err != nil {
			t.Fatal(err)
		}
		body := `{"suite_name": "banking", "messages": []}`
		if name == "2" {
			body = "{"
		}
		if err := os.WriteFile(filepath.Join(task, "none.json"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var errs []error
	for _, err := range Runs(t.Context(), []string{dir}, Options{}) {
		errs = append(errs, err)
	}
	if len(errs) != 2 || errs[0] != nil || !errors.Is(errs[1], ErrMalformed) {
		t.Errorf("got %v, want one run and then ErrMalformed", errs)
	}
}

func TestSample(t *testing.T) {
	ctx := t.Context()
	pick := func(n int, seed uint64, path string) []string {
		runs, err := Sample(ctx, []string{path}, n, seed, (*Run).HasChain)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range runs {
			out = append(out, r.ID)
		}
		if len(out) != n || !slices.IsSorted(out) {
			t.Fatalf("asked for %d, got %v", n, out)
		}
		return out
	}
	packed := archive(t)
	for n := range 6 {
		some, more := pick(n, 1, "testdata/runs"), pick(n+1, 1, packed)
		for _, id := range some {
			if !slices.Contains(more, id) {
				t.Errorf("%s is among %d but not among %d", id, n, n+1)
			}
		}
	}
	differs := false
	for seed := uint64(2); seed < 8; seed++ {
		differs = differs || !slices.Equal(pick(3, 1, packed), pick(3, seed, packed))
	}
	if !differs {
		t.Error("seven seeds give the same sample")
	}
	if _, err := Sample(ctx, []string{packed}, 7, 1, (*Run).HasChain); !errors.Is(err, ErrSample) {
		t.Errorf("more than there are: %v, want ErrSample", err)
	}
	if _, err := Sample(ctx, []string{packed}, MaxSample+1, 1, nil); err == nil || errors.Is(err, ErrSample) {
		t.Errorf("more than the limit: %v", err)
	}
}

// TestRecordedCorpus reads all recorded runs and checks them one by one.
func TestRecordedCorpus(t *testing.T) {
	dir := os.Getenv("ASPIS_SHARED")
	if dir == "" {
		t.Skip("ASPIS_SHARED is not set: the recorded corpora are not at hand")
	}
	var report corpus.Report
	runs, calls := 0, 0
	path := filepath.Join(dir, "data", "traces", "agentdojo.tar.gz")
	for run, err := range Runs(t.Context(), []string{path}, Options{Report: &report}) {
		if err != nil {
			t.Fatal(err)
		}
		checkRun(t, run)
		runs++
		calls += run.Calls
	}
	if runs != 2284 || calls != 7936 {
		t.Errorf("%d runs with %d calls, want 2284 and 7936", runs, calls)
	}
	got := map[corpus.Quirk]int{}
	for _, f := range report.Findings() {
		got[f.Quirk] = f.Count
	}
	want := map[corpus.Quirk]int{QuirkIDMissing: 940, QuirkIDReused: 13, QuirkResultNoID: 939, QuirkCallUnpaired: 2}
	if !maps.Equal(got, want) {
		t.Errorf("quirks %v, want %v", got, want)
	}
}
