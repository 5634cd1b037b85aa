package gate

import (
	"encoding/json"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Answer is what a gate says about a call. Decision is always set; a reader that
// does not find "permit" there must not execute the call.
type Answer struct {
	Decision string         `json:"decision"` // permit, refuse, redirect or escalate
	Reason   verdict.Reason `json:"reason,omitempty"`
	Clause   string         `json:"clause,omitempty"`
	Message  string         `json:"message,omitempty"`
	CallID   string         `json:"call_id,omitempty"`
	// Unchecked says why a permit was not checked by policy: "observe".
	Unchecked string `json:"unchecked-by-policy,omitempty"`
	// Args is the canonical form of the arguments: executors run these.
	Args        json.RawMessage `json:"args,omitzero"`
	Digest      string          `json:"digest,omitempty"`   // hex, of the canonical call
	Position    string          `json:"position,omitempty"` // partition/offset of the resolution
	Permit      *Permit         `json:"permit,omitempty"`
	Certificate *Certificate    `json:"certificate,omitempty"`

	ground     ground             // of a permit that is still to be signed
	resolution *schema.Resolution // of a permit, whose signature is still to be checked
}

// permits reports whether the answer permits the call.
func (a *Answer) permits() bool { return a.Decision == verdict.Permit.String() }

// Certificate names what the decision rests on, for an independent check.
type Certificate struct {
	Policy       string   `json:"policy"` // hex digest of the bundle
	Attempt      string   `json:"attempt"`
	Value        string   `json:"value,omitempty"`
	Completeness string   `json:"completeness"`
	Parts        []Part   `json:"parts,omitempty"`
	Missing      []string `json:"missing,omitempty"`
	Flags        []string `json:"flags,omitempty"`
	Writer       string   `json:"writer,omitempty"`
	Signature    []byte   `json:"signature,omitempty"`
}

// Part names a part verdict that was used.
type Part struct {
	Aspect string `json:"aspect"`
	Value  string `json:"value"`
	Hash   string `json:"hash"` // hex SHA-256 of the verdict record
}

// Permit is a signed statement that one executor may run one call once.
type Permit struct {
	// Statement is canonical JSON: aud, call, digest, not_after, policy, position,
	// principal, tenant.
	Statement json.RawMessage `json:"statement"`
	Signature []byte          `json:"signature"` // Ed25519 over Statement
	Key       string          `json:"key"`       // hex of the first 8 bytes of the public key's SHA-256
}

func (a *Answer) clone() *Answer {
	c := *a
	return &c
}

// refusal is an answer that the gate gives on its own account.
func refusal(reason verdict.Reason, message string) *Answer {
	return &Answer{Decision: verdict.Refuse.String(), Reason: reason, Message: message}
}

// fromResolution is the answer that a standing resolution gives.
func fromResolution(r *schema.Resolution) *Answer {
	a := &Answer{
		Decision: decisionOf(r.Outcome), Reason: r.Reason, Clause: r.Clause, Message: r.Message,
		CallID: r.CallID, Digest: hexOf(r.CallDigest),
		Certificate: &Certificate{
			Policy: hexOf(r.Policy), Attempt: attemptString(r.Attempt), Value: r.Value.String(),
			Completeness: r.Completeness.String(), Missing: r.Missing, Flags: r.Flags,
			Writer: r.Writer, Signature: r.Signature,
		},
	}
	for _, p := range r.Parts {
		a.Certificate.Parts = append(a.Certificate.Parts, Part{Aspect: p.Aspect, Value: p.Value.String(), Hash: hexOf(p.Hash)})
	}
	if a.Message == "" && r.Detail != "" && r.Writer == "" {
		a.Message = r.Detail
	}
	if r.Outcome == schema.SettledPermit {
		a.Reason, a.Clause, a.Message = "", "", ""
	}
	return a
}

func decisionOf(s schema.SettledAs) string {
	switch s {
	case schema.SettledPermit:
		return verdict.Permit.String()
	case schema.SettledRedirect:
		return verdict.Redirect.String()
	case schema.SettledEscalate:
		return verdict.Escalate.String()
	case schema.SettledRefuse, schema.SettledExpired, schema.SettledHold:
		return verdict.Refuse.String()
	}
	return verdict.Refuse.String()
}
