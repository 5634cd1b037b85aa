package corpus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func isTxt(name string) bool { return strings.HasSuffix(name, ".txt") }

// write puts files into a folder, by slash-separated name.
func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("in "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// pack makes an archive of the names, in their order.
func pack(t *testing.T, path string, names ...string) {
	t.Helper()
	var buf bytes.Buffer
	var z *gzip.Writer
	w := tar.NewWriter(&buf)
	if !strings.HasSuffix(path, ".tar") {
		z = gzip.NewWriter(&buf)
		w = tar.NewWriter(z)
	}
	for _, name := range names {
		body := "in " + name
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(body)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if z != nil {
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// list reads a corpus as "name: content" lines, up to the first error.
func list(t *testing.T, dir string, lim limits, paths ...string) ([]string, error) {
	t.Helper()
	var out []string
	for f, err := range files(t.Context(), paths, isTxt, lim) {
		if err != nil {
			return out, err
		}
		data, err := f.Bytes()
		if err != nil {
			return out, err
		}
		out = append(out, strings.ReplaceAll(f.String()+": "+string(data), filepath.ToSlash(dir), "DIR"))
	}
	return out, nil
}

func TestFilesInFoldersAndArchives(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b/2.txt", "b/1.txt", "b/skip.md", "c.txt", "single.md")
	pack(t, filepath.Join(dir, "b", "0.tar.gz"), "z.txt", "./a/y.txt", "skip.md", "../../up.txt")
	pack(t, filepath.Join(dir, "d.tar"), "in.txt")
	want := []string{
		"DIR/b/0.tar.gz:z.txt: in z.txt",
		"DIR/b/0.tar.gz:a/y.txt: in ./a/y.txt",
		"DIR/b/0.tar.gz:up.txt: in ../../up.txt",
		"DIR/b/1.txt: in b/1.txt",
		"DIR/b/2.txt: in b/2.txt",
		"DIR/c.txt: in c.txt",
		"DIR/d.tar:in.txt: in in.txt",
		"DIR/single.md: in single.md",
		"DIR/d.tar:in.txt: in in.txt",
	}
	got, err := list(t, dir, defaultLimits(), dir, filepath.Join(dir, "single.md"), filepath.Join(dir, "d.tar"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFilesFollowsTheGivenLinkOnly(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "real/1.txt", "elsewhere/2.txt")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere", "2.txt"), filepath.Join(dir, "real", "2.txt")); err != nil {
		t.Fatal(err)
	}
	got, err := list(t, dir, defaultLimits(), link)
	if err != nil || !slices.Equal(got, []string{"DIR/link/1.txt: in real/1.txt"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFilesErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "empty/skip.md", "not.tar.gz")
	pack(t, filepath.Join(dir, "cut.tgz"), "1.txt", "2.txt")
	whole, err := os.ReadFile(filepath.Join(dir, "cut.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cut.tgz"), whole[:len(whole)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"empty":      ErrNoFiles,
		"not.tar.gz": ErrArchive,
		"cut.tgz":    ErrArchive,
		"absent":     os.ErrNotExist,
	} {
		if _, err := list(t, dir, defaultLimits(), filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		} else if !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the message does not name it: %v", name, err)
		}
	}
}

// TestLimits crosses each limit by one.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "folder/1.txt", "folder/2.txt")
	pack(t, filepath.Join(dir, "a.tar"), "1.txt", "2.txt")
	info, err := os.Stat(filepath.Join(dir, "a.tar"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		set  func(*limits, int64)
		n    int64
	}{
		"file in a folder":    {"folder", func(l *limits, n int64) { l.file = n }, int64(len("in folder/1.txt"))},
		"member":              {"a.tar", func(l *limits, n int64) { l.file = n }, int64(len("in 1.txt"))},
		"archive":             {"a.tar", func(l *limits, n int64) { l.archive = n }, info.Size()},
		"files of a folder":   {"folder", func(l *limits, n int64) { l.files = int(n) }, 2},
		"files of an archive": {"a.tar", func(l *limits, n int64) { l.files = int(n) }, 2},
	} {
		at, below := defaultLimits(), defaultLimits()
		c.set(&at, c.n)
		c.set(&below, c.n-1)
		if got, err := list(t, dir, at, filepath.Join(dir, c.path)); err != nil || len(got) != 2 {
			t.Errorf("%s of exactly the limit: %v, %v", name, got, err)
		}
		if _, err := list(t, dir, below, filepath.Join(dir, c.path)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s one above the limit: %v, want ErrTooLarge", name, err)
		}
	}
}

func TestMapKeepsTheOrder(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("%03d.txt", i))
	}
	write(t, dir, names...)
	boom := errors.New("boom")
	for _, workers := range []int{0, 1, 3, 16} {
		var got []string
		failed := 0
		for name, err := range Map(t.Context(), Files(t.Context(), []string{dir}, isTxt), workers, func(f File) (string, error) {
			data, err := f.Bytes()
			if strings.HasSuffix(f.Name, "050.txt") {
				return "", boom
			}
			return strings.TrimPrefix(string(data), "in "), err
		}) {
			if err != nil {
				failed++
				if !errors.Is(err, boom) || len(got) != 50 {
					t.Fatalf("%d workers: error %v after %d files", workers, err, len(got))
				}
				continue
			}
			got = append(got, name)
		}
		if want := slices.Delete(slices.Clone(names), 50, 51); failed != 1 || !slices.Equal(got, want) {
			t.Errorf("%d workers: %d errors and files %v", workers, failed, got)
		}
	}
}

func TestMapStops(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		write(t, dir, fmt.Sprintf("%03d.txt", i))
	}
	seen := 0
	for _, err := range Map(t.Context(), Files(t.Context(), []string{dir}, isTxt), 4, func(f File) (string, error) { return f.Name, nil }) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 3 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var last error
	seen = 0
	for _, err := range Map(ctx, Files(ctx, []string{dir}, isTxt), 2, func(f File) (string, error) { return f.Name, nil }) {
		if last = err; seen == 3 {
			cancel()
		}
		seen++
	}
	cancel()
	if !errors.Is(last, context.Canceled) {
		t.Errorf("after cancelling: last error %v, want context.Canceled", last)
	}
	for _, err := range Map(t.Context(), Files(t.Context(), []string{filepath.Join(dir, "none")}, isTxt), 2, func(File) (int, error) { return 0, nil }) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("missing path: %v", err)
		}
	}
}

func TestReport(t *testing.T) {
	var r Report
	r.Add("one", Quirks(nil).Add("b").Add("b").Add("a"))
	r.Add("two", Quirks{"b": 3})
	r.Add("three", nil)
	want := []Finding{{"a", 1, 1, "one"}, {"b", 5, 2, "one"}}
	if got := r.Findings(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
