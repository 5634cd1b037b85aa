package schema

import "fmt"

// Kinds lists every kind of event.
func Kinds() []Kind {
	return []Kind{
		KindCall, KindResult, KindResolution, KindMessage, KindGrant,
		KindObservation, KindTick, KindPolicy, KindSession, KindWithdrawn,
	}
}

// String returns the kind's name in lower case, as in JSON.
func (k Kind) String() string {
	switch k {
	case KindCall:
		return "call"
	case KindResult:
		return "result"
	case KindResolution:
		return "resolution"
	case KindMessage:
		return "message"
	case KindGrant:
		return "grant"
	case KindObservation:
		return "observation"
	case KindTick:
		return "tick"
	case KindPolicy:
		return "policy"
	case KindSession:
		return "session"
	case KindWithdrawn:
		return "withdrawn"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// ParseKind reads a kind as String prints it.
func ParseKind(s string) (Kind, error) {
	return parseName(s, "kind of event", Kinds(), Kind.String)
}

// ActorClasses lists every class of principal.
func ActorClasses() []ActorClass {
	return []ActorClass{
		ClassAgent, ClassUser, ClassTool, ClassEnv, ClassCommand, ClassMonitor, ClassSystem,
	}
}

// ParseActorClass reads a class of principal.
func ParseActorClass(s string) (ActorClass, error) {
	return parseName(s, "class of principal", ActorClasses(), func(c ActorClass) string { return string(c) })
}

// Vantages lists every vantage, weakest first.
func Vantages() []Vantage { return []Vantage{Reported, Attested, Observed} }

// String returns the vantage's name in lower case.
func (v Vantage) String() string {
	switch v {
	case Reported:
		return "reported"
	case Attested:
		return "attested"
	case Observed:
		return "observed"
	}
	return fmt.Sprintf("Vantage(%d)", uint8(v))
}

// ParseVantage reads a vantage as String prints it.
func ParseVantage(s string) (Vantage, error) {
	return parseName(s, "vantage", Vantages(), Vantage.String)
}

// PayloadStates lists every payload state.
func PayloadStates() []PayloadStatus {
	return []PayloadStatus{PayloadAbsent, PayloadOK, PayloadWithheld, PayloadMalformed}
}

// String returns the state's name in lower case.
func (s PayloadStatus) String() string {
	switch s {
	case PayloadAbsent:
		return "absent"
	case PayloadOK:
		return "ok"
	case PayloadWithheld:
		return "withheld"
	case PayloadMalformed:
		return "malformed"
	}
	return fmt.Sprintf("PayloadStatus(%d)", uint8(s))
}

// ParsePayloadStatus reads a payload state as String prints it.
func ParsePayloadStatus(s string) (PayloadStatus, error) {
	return parseName(s, "payload status", PayloadStates(), PayloadStatus.String)
}

// ResultStates lists every outcome of a call.
func ResultStates() []ResultStatus { return []ResultStatus{ResultOK, ResultError, ResultUnknown} }

// String returns the outcome's name in lower case.
func (s ResultStatus) String() string {
	switch s {
	case ResultOK:
		return "ok"
	case ResultError:
		return "error"
	case ResultUnknown:
		return "unknown"
	}
	return fmt.Sprintf("ResultStatus(%d)", uint8(s))
}

// ParseResultStatus reads an outcome of a call as String prints it.
func ParseResultStatus(s string) (ResultStatus, error) {
	return parseName(s, "result status", ResultStates(), ResultStatus.String)
}

// Issuers lists every issuer of a call.
func Issuers() []Issuer {
	return []Issuer{IssuerModel, IssuerProgram, IssuerUser, IssuerHosted, IssuerServer}
}

// ParseIssuer reads an issuer of a call.
func ParseIssuer(s string) (Issuer, error) {
	return parseName(s, "issuer", Issuers(), func(i Issuer) string { return string(i) })
}

// Settlements lists every outcome a resolution records.
func Settlements() []SettledAs {
	return []SettledAs{
		SettledPermit, SettledRefuse, SettledRedirect, SettledHold, SettledEscalate, SettledExpired,
	}
}

// String returns the outcome's name in lower case.
func (s SettledAs) String() string {
	switch s {
	case SettledPermit:
		return "permit"
	case SettledRefuse:
		return "refuse"
	case SettledRedirect:
		return "redirect"
	case SettledHold:
		return "hold"
	case SettledEscalate:
		return "escalate"
	case SettledExpired:
		return "expired"
	}
	return fmt.Sprintf("SettledAs(%d)", uint8(s))
}

// ParseSettledAs reads an outcome of a resolution as String prints it.
func ParseSettledAs(s string) (SettledAs, error) {
	return parseName(s, "outcome of a resolution", Settlements(), SettledAs.String)
}

// Roles lists every role of a formula.
func Roles() []Role { return []Role{RoleForbid, RoleGuard} }

// String returns the role's name in lower case.
func (r Role) String() string {
	switch r {
	case RoleForbid:
		return "forbid"
	case RoleGuard:
		return "guard"
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// ParseRole reads a role as String prints it.
func ParseRole(s string) (Role, error) {
	return parseName(s, "role", Roles(), Role.String)
}

// String prints the position as partition:offset.
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Partition, p.Offset) }

// String prints the attempt as partition:opening:call.
func (a Attempt) String() string {
	return fmt.Sprintf("%d:%d:%s", a.Partition, a.Opening, a.CallID)
}

// parseName finds the element of a closed set by its name.
func parseName[X any](s, what string, all []X, name func(X) string) (X, error) {
	var names []byte
	for i, x := range all {
		if name(x) == s {
			return x, nil
		}
		if i > 0 {
			names = append(names, ", "...)
		}
		names = append(names, name(x)...)
	}
	var zero X
	return zero, fmt.Errorf("schema: %q is no %s; want one of %s", s, what, names)
}
