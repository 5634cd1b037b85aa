package gate

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aspis-rv/aspis/internal/obs"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
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
	Position  string `json:"position"` // partition/offset at which the judged attempt opened
	Principal string `json:"principal"`
	Tenant    string `json:"tenant"`
}

// KeyID names a public key in permits.
func KeyID(pub ed25519.PublicKey) string {
	sum := sha256.Sum256(pub)
	return hexOf(sum[:8])
}

// ground is what a permit rests on besides the call: the attempt that was judged and
// the policy it was judged under.
type ground struct {
	attempt schema.Attempt
	policy  []byte
}

func (g ground) equal(o ground) bool {
	return g.attempt == o.attempt && bytes.Equal(g.policy, o.policy)
}

// prepared is a permit that was signed while the decision was pending. It is given
// out only with a standing permit of the same ground, and dropped otherwise.
type prepared struct {
	ground ground
	permit *Permit
	at     time.Time
}

// permit signs the statement that call may be run by its principal's executor.
func (s *Service) permit(call *schema.Event, g ground, now time.Time) (*Permit, error) {
	st, err := json.Marshal(statement{
		Audience: call.Server, Call: call.CallID, Digest: hexOf(call.Digest),
		NotAfter: now.Add(s.cfg.NotAfter).UnixNano(), Policy: hexOf(g.policy), Position: attemptString(g.attempt),
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

// prepare signs a permit for an attempt that has opened.
func (l *lane) prepare(call *schema.Event, g ground) prepared {
	now := time.Now()
	permit, err := l.permit(call, g, now)
	if err != nil {
		return prepared{}
	}
	return prepared{ground: g, permit: permit, at: now}
}

// finish completes the answer that a caller takes (rule 12): a permit is delivered
// only while the call's time lasts and when a composer that the gate trusts signed the
// decision, and is withdrawn otherwise. The signature is checked here, on the caller's
// goroutine, because it takes longer than all else that the lane does for a call.
func (l *lane) finish(p *pendingCall, a *Answer, ready prepared) *Answer {
	if !a.permits() || a.Permit != nil {
		return a
	}
	now := time.Now()
	if now.UnixNano() > p.event.Deadline {
		return l.seal(p, a, nil, l.lateAnswer(false, nil))
	}
	if !l.signed(a.resolution) {
		l.foreign(a.resolution)
		return l.seal(p, a, nil, refusal(verdict.NoAnswer, "the decision does not carry a trusted signature"))
	}
	if ready.permit == nil || !ready.ground.equal(a.ground) || now.Sub(ready.at) > l.cfg.NotAfter/4 {
		ready = l.prepare(p.event, a.ground)
	}
	return l.seal(p, a, ready.permit, refusal(verdict.NoAnswer, "the permit could not be signed"))
}

// foreign counts a permit that no trusted composer signed, and says so once for each
// partition: every permit that follows has the same cause.
func (l *lane) foreign(r *schema.Resolution) {
	l.cfg.Metrics.distrusted()
	if l.foreignSaid.Swap(true) {
		return
	}
	l.log.LogAttrs(context.Background(), slog.LevelError,
		"a permit is refused because none of this gate's composer keys signed it: do gate and composer use the same --keys directory?",
		obs.Partition(l.partition), slog.String("composer", r.Writer))
}

// seal completes the answer with the one permit that all who waited for it get: the
// first one sealed, which is none when permit is nil. The call is withdrawn then.
func (l *lane) seal(p *pendingCall, a *Answer, permit *Permit, none *Answer) *Answer {
	sealed, first := l.pending.seal(p, permit)
	if sealed != nil {
		a.Permit = sealed
		return a
	}
	if first {
		l.withdraw(p.event)
	}
	return none
}

// signed reports whether a resolution carries the signature of a composer that this
// gate trusts.
func (s *Service) signed(r *schema.Resolution) bool {
	if len(s.cfg.ComposerKeys) == 0 || s.vouched.has(r) {
		return true
	}
	for _, k := range s.cfg.ComposerKeys {
		if ed25519.Verify(k, r.SigningBytes(), r.Signature) {
			return true
		}
	}
	return false
}
