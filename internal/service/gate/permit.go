package gate

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func attemptString(a schema.Attempt) string {
	return fmt.Sprintf("%d/%d", a.Partition, a.Opening)
}

func positionString(p schema.Position) string { return fmt.Sprintf("%d/%d", p.Partition, p.Offset) }

// statement is what a permit says.
type statement struct {
	Audience  string `json:"aud"`
	Call      string `json:"call"`
	Digest    string `json:"digest"`
	NotAfter  int64  `json:"not_after"`
	Policy    string `json:"policy"`
	Position  string `json:"position"`
	Principal string `json:"principal"`
	Tenant    string `json:"tenant"`
}

// KeyID names a public key in permits.
func KeyID(pub ed25519.PublicKey) string {
	sum := sha256.Sum256(pub)
	return hexOf(sum[:8])
}

// permit signs the statement that call may be run by its principal's executor.
func (s *Service) permit(call *schema.Event, r *schema.Resolution, at schema.Position, now time.Time) (*Permit, error) {
	st, err := json.Marshal(statement{
		Audience: call.Server, Call: call.CallID, Digest: hexOf(call.Digest),
		NotAfter: now.Add(s.cfg.NotAfter).UnixNano(), Policy: hexOf(r.Policy), Position: positionString(at),
		Principal: call.Actor.ID, Tenant: call.Tenant,
	})
	if err == nil {
		st, err = schema.Canonical(st) // the encoder escapes <, > and &
	}
	if err != nil {
		return nil, fmt.Errorf("gate: encoding a permit: %w", err)
	}
	pub, _ := s.cfg.Key.Public().(ed25519.PublicKey)
	return &Permit{Statement: st, Signature: ed25519.Sign(s.cfg.Key, st), Key: KeyID(pub)}, nil
}

// signed reports whether a resolution carries the signature of a composer that this
// gate trusts.
func (s *Service) signed(r *schema.Resolution) bool {
	if len(s.cfg.ComposerKeys) == 0 {
		return true
	}
	for _, k := range s.cfg.ComposerKeys {
		if ed25519.Verify(k, r.SigningBytes(), r.Signature) {
			return true
		}
	}
	return false
}
