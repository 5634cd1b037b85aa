// Package placement decides which partition a trace lives in. Gates and ingests
// share it, so that the events of one trace meet in one partition whoever appends
// them.
package placement

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/dchest/siphash"

	"github.com/aspis-rv/aspis/pkg/policy"
)

// Placement is a keyed hash from (tenant, partition key) to partitions. It is keyed
// with a secret of the deployment, so that no agent can choose on whose partition it
// lands. Safe for concurrent use.
type Placement struct {
	k0, k1     uint64
	partitions uint32
}

// New returns the placement of a deployment.
func New(secret []byte, partitions uint32) *Placement {
	key := Derive(secret, "partition")
	return &Placement{
		k0: binary.LittleEndian.Uint64(key[:8]), k1: binary.LittleEndian.Uint64(key[8:16]), partitions: partitions,
	}
}

// Derive makes a key for one purpose from the deployment's secret.
func Derive(secret []byte, purpose string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("aspis/" + purpose))
	return h.Sum(nil)
}

// Partitions is the number of partitions.
func (p *Placement) Partitions() uint32 { return p.partitions }

// Of returns the partition of a tenant's partition key. Both are length-prefixed
// before hashing, so that no two pairs are confused.
func (p *Placement) Of(tenant, key string) uint32 {
	buf := make([]byte, 0, 16+len(tenant)+len(key))
	for _, s := range []string{tenant, key} {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	return uint32(siphash.Hash(p.k0, p.k1, buf) % uint64(p.partitions)) //nolint:gosec // below partitions
}

// Key is the partition key under a bundle: the coarsest trace key. That is the whole
// tenant where traces share it, else root, the head of the delegation chain or, for
// recorded traces, whatever keeps a trace together (protocol, rule 1).
func Key(b *policy.Bundle, root string) string {
	if b.Trace == policy.TraceTenant {
		return ""
	}
	return root
}
