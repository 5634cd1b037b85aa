package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// keySet is the key material of a deployment. Files hold hex and are readable by
// their owner only.
type keySet struct {
	secret   []byte
	gate     ed25519.PrivateKey
	composer ed25519.PrivateKey
	created  []string // names of the files that were made
}

// The files of a key directory.
const (
	secretFile      = "deployment.secret" // 32 random bytes: partitions, session ids
	gateKeyFile     = "gate.key"          // Ed25519 seed: permits
	composerKeyFile = "composer.key"      // Ed25519 seed: resolutions
	composerPubFile = "composer.pub"      // its public half: what gates need of it
)

// keyReport is the output of `aspis keys --json`.
type keyReport struct {
	Dir      string   `json:"dir"`
	Created  []string `json:"created"`
	Gate     string   `json:"gate_public_key"`     // hex; what executors check permits with
	Composer string   `json:"composer_public_key"` // hex
}

func newKeys(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "keys DIR", Short: "Make the keys that the roles of a deployment share, where they are missing", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			k, err := makeKeys(args[0])
			if err != nil {
				return err
			}
			r := keyReport{Dir: args[0], Created: k.created, Gate: publicHex(k.gate), Composer: publicHex(k.composer)}
			if e.json {
				return json.NewEncoder(e.out).Encode(r)
			}
			for _, name := range r.Created {
				if _, err := fmt.Fprintf(e.out, "created %s\n", filepath.Join(r.Dir, name)); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(e.out, "gate's public key %s\ncomposer's public key %s\n", r.Gate, r.Composer)
			return err
		},
	}
}

func publicHex(k ed25519.PrivateKey) string {
	pub, _ := k.Public().(ed25519.PublicKey)
	return hex.EncodeToString(pub)
}

// makeKeys reads the keys in dir, making those that are missing.
func makeKeys(dir string) (*keySet, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("key directory: %w", err)
	}
	k := &keySet{created: []string{}}
	var seeds [3][]byte
	for i, name := range []string{secretFile, gateKeyFile, composerKeyFile} {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			k.created = append(k.created, name)
			seeds[i], err = makeSecret(path)
		} else {
			seeds[i], err = loadSecret(path)
		}
		if err != nil {
			return nil, err
		}
	}
	k.secret, k.gate, k.composer = seeds[0], ed25519.NewKeyFromSeed(seeds[1]), ed25519.NewKeyFromSeed(seeds[2])
	return k, k.publish(dir)
}

// publish writes the public half of the composer's key beside it.
func (k *keySet) publish(dir string) error {
	path, text := filepath.Join(dir, composerPubFile), publicHex(k.composer)+"\n"
	if had, err := os.ReadFile(path); err == nil && string(had) == text { //nolint:gosec // the path is the operator's
		return nil
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // a public key
		return fmt.Errorf("key file: %w", err)
	}
	k.created = append(k.created, composerPubFile)
	return nil
}

// loadKey reads an Ed25519 key of a role.
func loadKey(dir, name string) (ed25519.PrivateKey, error) {
	seed, err := loadSecret(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// loadComposerPub reads the composer's public key: from its own file, or, where that
// is not there, from the composer's key.
func loadComposerPub(dir string) (ed25519.PublicKey, error) {
	path := filepath.Join(dir, composerPubFile)
	text, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
	if errors.Is(err, fs.ErrNotExist) {
		if k, err := loadKey(dir, composerKeyFile); err == nil {
			pub, _ := k.Public().(ed25519.PublicKey)
			return pub, nil
		}
		return nil, missingKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	pub, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(pub) != ed25519.PublicKeySize {
		return nil, hint(fmt.Errorf("%s does not hold 32 bytes in hex", path), "aspis keys %s writes it again from composer.key", dir)
	}
	return pub, nil
}

// gateKeys is what a gate needs: no private key of a composer.
type gateKeys struct {
	secret   []byte
	gate     ed25519.PrivateKey
	composer ed25519.PublicKey
}

func loadGateKeys(dir string) (*gateKeys, error) {
	var k gateKeys
	var err error
	if k.secret, err = loadSecret(filepath.Join(dir, secretFile)); err != nil {
		return nil, err
	}
	if k.gate, err = loadKey(dir, gateKeyFile); err != nil {
		return nil, err
	}
	k.composer, err = loadComposerPub(dir)
	return &k, err
}

// missingKey refuses to start without a key: a role that made one of its own would
// sign, or look for sessions, where no other role can follow.
func missingKey(path string) error {
	return hint(fmt.Errorf("the key file %s is missing", path),
		"all roles of a deployment share one key directory: name it with --keys DIR, or make keys with: aspis keys %s", filepath.Dir(path))
}

// loadSecret reads 32 bytes of hex.
func loadSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missingKey(path)
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
		return nil, hint(fmt.Errorf("%s does not hold 32 bytes in hex", path), "remove it and run: aspis keys %s; sessions and permits issued before become void", filepath.Dir(path))
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
