package cli

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// makeTokens writes a tokens file for development: an agent, a user and a tool server
// that attests results, with random tokens, readable by its owner only. An existing file is left alone.
func makeTokens(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var s strings.Builder
	s.WriteString("# token principal class tenant\n")
	for _, who := range []string{"agent-1 agent default", "user-1 user default", "tools-1 tool default"} {
		b := make([]byte, 20)
		if _, err := rand.Read(b); err != nil {
			return fmt.Errorf("tokens: %w", err)
		}
		fmt.Fprintf(&s, "%s %s\n", strings.ToLower(base32.StdEncoding.EncodeToString(b)), who)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if err := os.WriteFile(path, []byte(s.String()), 0o600); err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	return nil
}

// devTokens reads the first agent's and the first user's token of a tokens file.
func devTokens(path string) (agent, user string, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the path is the operator's
	if err != nil {
		return "", "", fmt.Errorf("tokens: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 4 || strings.HasPrefix(f[0], "#") {
			continue
		}
		switch {
		case f[2] == "agent" && agent == "":
			agent = f[0]
		case f[2] == "user" && user == "":
			user = f[0]
		}
	}
	if agent == "" || user == "" {
		return "", "", fmt.Errorf("tokens: %s names no agent or no user", path)
	}
	return agent, user, nil
}
