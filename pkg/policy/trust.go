package policy

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/policy/internal/rewrite"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Trust is the domain to which the values of a field belong: who chose them.
type Trust string

// The trust domains. Values of the first four make something known, and can discharge an
// obligation. Those of the last two can only add suspicion.
const (
	TrustUser      Trust = "user"
	TrustAuthority Trust = "authority"
	TrustTool      Trust = "trusted_tool"
	TrustSystem    Trust = "system"
	TrustContent   Trust = "untrusted_content"
	TrustAgent     Trust = "agent"
)

// Trusts lists the domains.
func Trusts() []Trust {
	return []Trust{TrustUser, TrustAuthority, TrustTool, TrustSystem, TrustContent, TrustAgent}
}

// Trusted reports whether values of the domain can discharge an obligation.
func (t Trust) Trusted() bool { return t != TrustContent && t != TrustAgent }

func (l *loader) trust(n *source.Node) Trust {
	var names []string
	for _, t := range Trusts() {
		names = append(names, string(t))
	}
	s, _ := l.choice(n, "trust", names...)
	return Trust(s)
}

// trustReported reads the reason for which what the agent's own account reports counts, and
// remarks on it: it is a weakening that somebody has to stand by.
func (l *loader) trustReported(n *source.Node, where string) string {
	reason, ok := l.text(n, "trust_reported")
	if ok {
		l.report(n, remark(CodeTrustReported, "", "%s counts on the account of the agent's harness alone, because %q", where, reason))
	}
	return reason
}

// hearsay reports whether the event is the agent's own account of what somebody else said or
// did. It may add suspicion and never discharges an obligation.
func (r *typer) hearsay() bool {
	if r.ev.Vantage != schema.Reported {
		return false
	}
	switch r.ev.Kind {
	case schema.KindResult, schema.KindMessage, schema.KindObservation:
		return r.entry == nil || r.entry.trustReported == ""
	case schema.KindCall, schema.KindGrant, schema.KindResolution, schema.KindTick, schema.KindPolicy, schema.KindSession, schema.KindWithdrawn:
	}
	return false
}

// suppressed reports whether a fact may not be made of this event, because it could discharge an
// obligation and only the agent's account says so. For facts of authorities see authorised.
func (r *typer) suppressed(e *emitter) bool {
	return e.discharges && !e.authority && r.hearsay()
}

// noteDischarging notes which emitters can make a violation go away.
func (t *typing) noteDischarging(b *Bundle) {
	discharging := b.discharging()
	note := func(es []emitter) {
		for i := range es {
			e := &es[i]
			e.discharges = e.operation == nil && discharging[e.rel]
		}
	}
	for _, name := range b.toolNames() {
		note(t.entries[name].emitters)
	}
	for _, es := range t.emitters {
		note(es)
	}
}

// untrustedDischarge reports formulas in which a value that anybody can write would discharge.
func (l *loader) untrustedDischarge() {
	for i := range l.b.Clauses {
		for _, f := range l.b.Clauses[i].Formulas {
			atoms := rewrite.NegatedAtoms(rewrite.After(f.Checked.Source))
			for _, name := range sortedAtoms(atoms) {
				d := l.names[name]
				if d == nil || d.kind != declProvenance || d.trusted {
					continue
				}
				l.reportSpan(f.File, atoms[name].Span(), fault(CodeUntrusted,
					"negate a relation of trusted fields only, or let the untrusted one stand without a negation, as in taint",
					"the values of %s are not trusted, and here one of them would discharge the obligation", name))
			}
		}
	}
}

func sortedAtoms(atoms map[string]*syntax.Pred) []string {
	out := make([]string, 0, len(atoms))
	for name := range atoms {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
