package gate

import "github.com/aspis-rv/aspis/pkg/schema"

// poster finds the lane of a session for what somebody says happened in it, and from which
// vantage they say it. Both follow from the credential and the session id; nothing that a
// body says counts.
//
//	who                         may post                          vantage
//	the session's own principal results, messages, observations   reported
//	class tool, env             results, messages, observations   attested
//	class user, command         messages, observations            attested
//	another agent               nothing
//
// The session's own principal is whose calls are judged, whatever its class: it never attests
// its own account. The others are of the same tenant and have to know the session id.
func (s *Service) poster(who Principal, session string, kind schema.Kind) (*lane, schema.Vantage, error) {
	part, own, err := s.sessions.open(who, session)
	switch {
	case err != nil:
		return nil, schema.Reported, err
	case own:
		return s.lanes[part], schema.Reported, nil
	case attests(who.Class, kind):
		return s.lanes[part], schema.Attested, nil
	}
	return nil, schema.Reported, errSession
}

// attests reports whether principals of the class may say what happened in a session that is
// not theirs. People and commands speak for themselves; what a tool answered is not theirs to
// say.
func attests(class schema.ActorClass, kind schema.Kind) bool {
	switch class {
	case schema.ClassTool, schema.ClassEnv:
		return kind == schema.KindResult || kind == schema.KindMessage || kind == schema.KindObservation
	case schema.ClassUser, schema.ClassCommand:
		return kind == schema.KindMessage || kind == schema.KindObservation
	case schema.ClassAgent, schema.ClassMonitor, schema.ClassSystem:
	}
	return false
}
