package httpapi

import (
	"net/http"

	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// answerStatus is the status of an answer to a call. 200 says that the policy
// decided; everything else that nobody did, and whose fault that is.
func answerStatus(a *gate.Answer) int {
	switch a.Decision {
	case verdict.Permit.String(), verdict.Redirect.String(), verdict.Escalate.String():
		return http.StatusOK
	case verdict.Refuse.String():
		return refusalStatus(a.Reason)
	}
	return http.StatusInternalServerError
}

func refusalStatus(r verdict.Reason) int {
	switch r {
	case verdict.Violation, verdict.Unknown, verdict.Unmapped:
		return http.StatusOK
	case verdict.Invalid:
		return http.StatusBadRequest
	case verdict.Busy:
		return http.StatusTooManyRequests
	case verdict.Late:
		return http.StatusGatewayTimeout
	case verdict.NoAnswer, verdict.Unrecorded:
		return http.StatusServiceUnavailable
	case verdict.NotAdmitted:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// problemStatus is the status of a refusal of anything but a call. There, what the
// policy refuses is 403.
func problemStatus(r verdict.Reason) int {
	switch r {
	case verdict.Violation, verdict.Unknown, verdict.Unmapped:
		return http.StatusForbidden
	case verdict.Invalid, verdict.Busy, verdict.Late, verdict.NoAnswer, verdict.Unrecorded, verdict.NotAdmitted:
		return refusalStatus(r)
	}
	return http.StatusInternalServerError
}

// sound replaces an answer that says nothing usable by one that refuses: a decision
// out of the known ones, or a refusal without a reason.
func sound(a *gate.Answer) *gate.Answer {
	if a != nil && answerStatus(a) != http.StatusInternalServerError {
		return a
	}
	return refusal(verdict.NoAnswer, "the gate gave no usable answer")
}

func refusal(reason verdict.Reason, message string) *gate.Answer {
	return &gate.Answer{Decision: verdict.Refuse.String(), Reason: reason, Message: message}
}
