package gate

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// disclose takes out of an answer what its clauses keep from those who are no
// operators: of a clause that discloses nothing neither its id nor its message, nor the
// values and flags from which it could be told that there is one. What the other
// disclosures allow is in the message, which the composer wrote. Without these parts
// the signature of the certificate can be checked against the log only.
func (s *Service) disclose(a *Answer) {
	silent := a.Clause != "" && !s.mayName(a.Clause)
	if silent {
		a.Clause, a.Message = "", ""
	}
	if a.Certificate == nil {
		return
	}
	c := *a.Certificate // the answer may share it with other waiters
	c.Flags = slices.DeleteFunc(slices.Clone(c.Flags), func(id string) bool {
		return silent || id != compose.ObserveMark && !s.mayName(id)
	})
	if silent || len(c.Flags) != len(a.Certificate.Flags) {
		c.Value, c.Parts = "", nil
	}
	a.Certificate = &c
}

// mayName reports whether an agent may be told of a clause. Of one that the bundle
// does not have, it may not.
func (s *Service) mayName(clause string) bool {
	for i := range s.cfg.Bundle.Clauses {
		if c := &s.cfg.Bundle.Clauses[i]; c.ID == clause {
			return c.Disclose != policy.DiscloseNone
		}
	}
	return false
}
