package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// CallDigest is the digest that binds a call: SHA-256 over a domain tag and the
// tenant, principal, tool server, tool name, digest of the tool's schema and the
// canonical arguments, each preceded by its length as eight big-endian bytes, so
// that no two different calls have the same input. canonArgs is the output of
// Canonical, or nil for a call without arguments.
func CallDigest(tenant, principal, server, tool string, schemaDigest, canonArgs []byte) []byte {
	h := sha256.New()
	for _, field := range []string{"aspis call 1", tenant, principal, server, tool} {
		hashField(h, []byte(field))
	}
	hashField(h, schemaDigest)
	hashField(h, canonArgs)
	return h.Sum(nil)
}

func hashField(h hash.Hash, field []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(field)))
	h.Write(length[:]) // a hash never fails to write
	h.Write(field)
}

// VerdictKey identifies a verdict: two different values under one key are a fault.
// It is comparable.
type VerdictKey struct {
	Tenant  string
	Attempt Attempt
	Aspect  string
	Policy  string // the digest's bytes
}

// Key returns the verdict's key.
func (v *Verdict) Key() VerdictKey {
	return VerdictKey{Tenant: v.Tenant, Attempt: v.Attempt, Aspect: v.Aspect, Policy: string(v.Policy)}
}

// Hash is the SHA-256 of the verdict's wire form. It is nil for a verdict that
// cannot be encoded, which no hash of another verdict equals.
func (v *Verdict) Hash() []byte {
	b, err := v.AppendBinary(nil)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// SigningBytes is what the signature of a resolution covers: its deterministic
// encoding without the signature, marked so that it is no other kind of record.
// The call's digest within it ties it to tenant, principal and arguments. It is nil
// for a resolution that cannot be encoded.
func (r *Resolution) SigningBytes() []byte {
	a := appender{}
	a.resolution(r, true)
	if a.err != nil {
		return nil
	}
	return a.b
}
