// Package reference reads MonPoly's recorded answers, for tests. They lie outside of the
// repository, in the folder that the environment variable ASPIS_SHARED names.
package reference

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// T is what the package needs of a *testing.T or *testing.B; the product never imports
// package testing.
type T interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// The archives.
const (
	Answers   = "cases.tar.gz" // a folder for each case, and recorded checks
	Workloads = "bench.tar.gz" // long logs with their answers
)

// Files reads an archive: by path the content of each file, unpacked where its name ends
// in .gz. Without the folder the test is skipped.
func Files(t T, archive string) map[string]string {
	t.Helper()
	shared := os.Getenv("ASPIS_SHARED")
	if shared == "" {
		t.Skip("ASPIS_SHARED is not set: the reference cases are not at hand")
	}
	file, err := os.Open(filepath.Join(shared, "data", "mfotl", archive))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for entries := tar.NewReader(zip); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files[path.Clean(header.Name)] = content(t, header.Name, entries)
		}
	}
}

func content(t T, name string, r io.Reader) string {
	t.Helper()
	if strings.HasSuffix(name, ".gz") {
		zip, err := gzip.NewReader(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r = zip
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(text)
}

// Cases reads an archive: by name of the folder and of the file its content.
func Cases(t T, archive string) map[string]map[string]string {
	t.Helper()
	cases := map[string]map[string]string{}
	for name, text := range Files(t, archive) {
		dir := path.Base(path.Dir(name))
		if cases[dir] == nil {
			cases[dir] = map[string]string{}
		}
		cases[dir][path.Base(name)] = text
	}
	return cases
}
