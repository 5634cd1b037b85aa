//go:build !unix

package natsbus

import "os"

// lockFile opens the file only: systems without flock are left to the care of whoever
// starts two servers on one directory.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
