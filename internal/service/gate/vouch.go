package gate

import (
	"crypto/sha256"
	"sync"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// vouchers remembers what a composer in the same process has signed lately, so that
// its signatures need not be verified by arithmetic: a resolution counts only if its
// signature was made here over exactly its content. Safe for concurrent use.
type vouchers struct {
	mu struct {
		sync.Mutex
		signed map[string][sha256.Size]byte // digest of what was signed, by signature
		order  []string                     // a ring, oldest at next
		next   int
	}
}

// vouchersKept outlasts the resolutions on their way through the log of one process by
// orders of magnitude; one that is forgotten is verified.
const vouchersKept = 4096

func newVouchers() *vouchers {
	v := &vouchers{}
	v.mu.signed = make(map[string][sha256.Size]byte)
	v.mu.order = make([]string, vouchersKept)
	return v
}

func (v *vouchers) add(signature, signed []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.mu.signed, v.mu.order[v.mu.next])
	key := string(signature)
	v.mu.order[v.mu.next] = key
	v.mu.next = (v.mu.next + 1) % vouchersKept
	v.mu.signed[key] = sha256.Sum256(signed)
}

func (v *vouchers) has(r *schema.Resolution) bool {
	v.mu.Lock()
	sum, ok := v.mu.signed[string(r.Signature)]
	v.mu.Unlock()
	return ok && sum == sha256.Sum256(r.SigningBytes())
}

// Vouch tells the gate that a composer in the same process, whose key it trusts, made
// the signature over signed.
func (s *Service) Vouch(signature, signed []byte) { s.vouched.add(signature, signed) }
