package deploy

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// keys are the keys of a deployment, made anew for each.
type keys struct {
	secret         []byte
	gate, composer ed25519.PrivateKey
}

// makeKeys makes keys and writes them to dir as the daemons read them.
func makeKeys(dir string) (*keys, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("deploy: keys: %w", err)
	}
	var seeds [3][]byte
	for i, name := range []string{"deployment.secret", "gate.key", "composer.key"} {
		seeds[i] = make([]byte, ed25519.SeedSize)
		if _, err := rand.Read(seeds[i]); err != nil {
			return nil, fmt.Errorf("deploy: keys: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(hex.EncodeToString(seeds[i])+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("deploy: keys: %w", err)
		}
	}
	return &keys{secret: seeds[0], gate: ed25519.NewKeyFromSeed(seeds[1]), composer: ed25519.NewKeyFromSeed(seeds[2])}, nil
}

func public(k ed25519.PrivateKey) ed25519.PublicKey {
	return ed25519.PublicKey(k[ed25519.SeedSize:])
}
