package model

// mutation is a rule made looser, to show that the model notices.
type mutation uint8

const (
	asWritten mutation = iota
	lastWins
	matchByCall
	noReadBack
	expiredIsNotTerminal
	ticksDoNotExpire
	neverBornExpired
	keyByTimePoint
	grantsDoNotReopen
	resultsPass
	refusedCallsLeaveTraces
	holdsLookForwardOnly
	duplicatesCount
	decideOnOnePart
	permitAfterDeadline
	anyGateDelivers
	anyGateWithdraws
	repeatsAreJudgedAfresh
	mutations
)

// loosened is what a mutation does, and the rule of docs/protocol.md that it breaks.
func (m mutation) loosened() (rule, what string) {
	switch m {
	case asWritten:
		return "", "nothing"
	case lastWins:
		return "10", "the last resolution of an attempt stands, not the first"
	case matchByCall:
		return "6", "resolutions are matched by call, not by attempt"
	case noReadBack:
		return "12", "a gate answers by a permit that is under way"
	case expiredIsNotTerminal:
		return "12", "a permit after a gate's expired record stands"
	case ticksDoNotExpire:
		return "15", "a tick past the deadline does not settle the call"
	case neverBornExpired:
		return "5", "a call whose deadline has passed is opened"
	case keyByTimePoint:
		return "2", "verdicts are keyed by time point alone"
	case grantsDoNotReopen:
		return "6", "an authority record leaves the open attempt open"
	case resultsPass:
		return "5", "results do not wait behind the open attempt"
	case refusedCallsLeaveTraces:
		return "13", "a refused call is adopted"
	case holdsLookForwardOnly:
		return "14", "a hold does not see that what it waits for has come"
	case duplicatesCount:
		return "3", "a record written twice counts twice"
	case decideOnOnePart:
		return "8", "a composer permits while a part is missing"
	case permitAfterDeadline:
		return "12", "a gate answers permit after the deadline"
	case anyGateDelivers:
		return "17", "every gate that waits for a call delivers its permit"
	case anyGateWithdraws:
		return "17", "every gate that gave up withdraws the permit"
	case repeatsAreJudgedAfresh:
		return "17", "a repeated call id gets the permit again"
	case mutations:
	}
	return "?", "?"
}
