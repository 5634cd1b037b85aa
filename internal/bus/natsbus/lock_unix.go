//go:build unix

package natsbus

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errLocked says that another process, or another server of this one, holds the lock.
var errLocked = errors.New("in use by another server")

// lockFile takes the lock named path, which the system gives up when the file is closed
// or the process dies.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w (%w)", errLocked, err)
	}
	return f, nil
}
