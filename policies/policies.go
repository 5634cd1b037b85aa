// Package policies holds the bundles that ship with the program, as a file system.
package policies

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed agentdojo baseline medevac medevac-paper
var bundles embed.FS

// Names lists the shipped bundles, sorted.
func Names() []string { return []string{"agentdojo", "baseline", "medevac", "medevac-paper"} }

// FS returns the files of a shipped bundle. It fails with an error that wraps
// fs.ErrNotExist when there is no bundle of that name.
func FS(name string) (fs.FS, error) {
	if _, err := fs.Stat(bundles, name); err != nil {
		return nil, fmt.Errorf("policies: %w", err)
	}
	sub, err := fs.Sub(bundles, name)
	if err != nil {
		return nil, fmt.Errorf("policies: %w", err)
	}
	return sub, nil
}
