package syntax

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// walkCases calls visit with every file of the reference cases in the shared folder.
func walkCases(t *testing.T, shared string, visit func(name string, content []byte)) {
	t.Helper()
	file, err := os.Open(filepath.Join(shared, "data", "mfotl", "cases.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		visit(header.Name, content)
	}
}
