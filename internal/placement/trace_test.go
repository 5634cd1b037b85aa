package placement

import (
	"errors"
	"testing"

	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func event(session, actor string, class schema.ActorClass) *schema.Event {
	return &schema.Event{Tenant: "acme", SessionID: session, Actor: schema.Actor{ID: actor, Class: class}}
}

// TestOwnerIsTheFirstAgent follows two sessions and a record without one.
func TestOwnerIsTheFirstAgent(t *testing.T) {
	o := NewOwners()
	for i, step := range []struct {
		ev   *schema.Event
		want string
	}{
		{event("s1", "ann", schema.ClassUser), "ann"},
		{event("s1", "mailer", schema.ClassTool), "ann"},
		{event("s1", "planner", schema.ClassAgent), "planner"},
		{event("s1", "other", schema.ClassAgent), "planner"},
		{event("s1", "ann", schema.ClassUser), "planner"},
		{event("s2", "other", schema.ClassAgent), "other"},
		{event("", "ann", schema.ClassUser), "ann"},
	} {
		if got, err := o.Of(step.ev); got != step.want || err != nil {
			t.Errorf("step %d: owner %q, %v; want %q", i, got, err, step.want)
		}
	}
}

func TestOwnersAreBounded(t *testing.T) {
	o := NewOwners()
	o.max = 2
	for _, s := range []string{"s1", "s2", "s1"} {
		if _, err := o.Of(event(s, "a", schema.ClassAgent)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if _, err := o.Of(event("s3", "a", schema.ClassAgent)); !errors.Is(err, ErrTooManySessions) {
		t.Errorf("a session beyond the limit: %v", err)
	}
}

func TestTrace(t *testing.T) {
	for _, tc := range []struct {
		key           policy.TraceKey
		session, want string
	}{
		{policy.TraceTenant, "s1", "tenant"},
		{policy.TraceSession, "s1", "s1"},
		{policy.TraceSession, "", "agent:x"},
		{policy.TraceAgent, "s1", "agent:x"},
	} {
		if got := Trace(&policy.Bundle{Trace: tc.key}, tc.session, "x"); got != tc.want {
			t.Errorf("%s, session %q: %q, want %q", tc.key, tc.session, got, tc.want)
		}
	}
}
