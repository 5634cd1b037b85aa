package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/internal/service/gate"
)

// MaxDecisions is the largest number of decisions that one request may ask for. Each
// is a few kilobytes, and finding them folds the retained log.
const MaxDecisions = 1000

// DecisionList is the answer to GET /v1/decisions, oldest first.
type DecisionList struct {
	Decisions []gate.DecisionRecord `json:"decisions"`
}

func (s *Server) getDecisions(w *reply, r *http.Request, who gate.Principal) {
	var f gate.DecisionFilter
	fail := query(r, func(name, value string) error {
		switch name {
		case "session":
			f.Session = value
		case "call":
			f.CallID = value
		case "limit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > MaxDecisions {
				return fmt.Errorf("limit is a number from 1 to %d", MaxDecisions)
			}
			f.Limit = n
		default:
			return fmt.Errorf("the parameter %q is not known; want session, call or limit", clip(name))
		}
		return nil
	})
	if fail != nil {
		w.fail(fail)
		return
	}
	found, err := s.cfg.Backend.Journal.Decisions(r.Context(), who, f)
	if err != nil {
		w.problem(r, err)
		return
	}
	w.json(http.StatusOK, &DecisionList{Decisions: found})
}

// query calls set for each parameter of the request, in the order of their names. A
// parameter that occurs twice is refused, and any at all when set is nil.
func query(r *http.Request, set func(name, value string) error) *failure {
	if r.URL.RawQuery == "" {
		return nil
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return malformed(errors.New("the query is malformed; percent-encode what is not a letter or a digit"))
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if len(values[name]) != 1 {
			return malformed(fmt.Errorf("the parameter %q occurs %d times; give it once", clip(name), len(values[name])))
		}
		if set == nil {
			return malformed(fmt.Errorf("the parameter %q is not known; this request has none", clip(name)))
		}
		if err := set(name, values[name][0]); err != nil {
			return malformed(err)
		}
	}
	return nil
}
