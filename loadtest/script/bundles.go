package script

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/aspis-rv/aspis/policies"
)

//go:embed bundles
var bundles embed.FS

// bundleFiles are the files of a workload's bundle: a shipped one, or one made for
// load tests.
func bundleFiles(name string) (fs.FS, error) {
	if name == "baseline" {
		return policies.FS(name)
	}
	files, err := fs.Sub(bundles, "bundles/"+name)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	return files, nil
}
