package policies

import (
	"io/fs"
	"slices"
	"testing"
)

func TestNamesAreTheDirectories(t *testing.T) {
	entries, err := fs.ReadDir(bundles, ".")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range entries {
		dirs = append(dirs, e.Name())
	}
	if !slices.Equal(dirs, Names()) {
		t.Errorf("embedded are %v, named are %v", dirs, Names())
	}
	for _, name := range Names() {
		sub, err := FS(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fs.Stat(sub, "policy.yaml"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
