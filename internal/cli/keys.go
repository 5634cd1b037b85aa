package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keySet is the key material of a deployment. Files hold hex and are readable by
// their owner only.
type keySet struct {
	secret   []byte
	gate     ed25519.PrivateKey
	composer ed25519.PrivateKey
}

// The files of a key directory.
const (
	secretFile      = "deployment.secret" // 32 random bytes: partitions, session ids
	gateKeyFile     = "gate.key"          // Ed25519 seed: permits
	composerKeyFile = "composer.key"      // Ed25519 seed: resolutions
)

// loadKeys reads the keys in dir, making those that are missing.
func loadKeys(dir string) (*keySet, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("key directory: %w", err)
	}
	var seeds [3][]byte
	for i, name := range []string{secretFile, gateKeyFile, composerKeyFile} {
		b, err := loadSecret(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		seeds[i] = b
	}
	return &keySet{
		secret: seeds[0], gate: ed25519.NewKeyFromSeed(seeds[1]), composer: ed25519.NewKeyFromSeed(seeds[2]),
	}, nil
}

// loadSecret reads 32 bytes of hex, or makes them.
func loadSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeSecret(path)
	}
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, hint(fmt.Errorf("%s can be read by others", path), "chmod 600 %s", path)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != 32 {
		return nil, hint(fmt.Errorf("%s does not hold 32 bytes in hex", path), "remove it to have a new one made; sessions and permits issued before become void")
	}
	return b, nil
}

// makeSecret creates the file exclusively, so that of two processes that start
// together both use the same bytes.
func makeSecret(path string) ([]byte, error) {
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(tmp, []byte(hex.EncodeToString(b)+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	err := os.Link(tmp, path)
	_ = os.Remove(tmp)
	if errors.Is(err, fs.ErrExist) {
		return loadSecret(path)
	}
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	return b, nil
}
