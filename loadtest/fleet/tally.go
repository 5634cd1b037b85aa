package fleet

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"sync"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Tally counts the answers of a fleet. The zero value is ready to use. Safe for
// concurrent use.
type Tally struct {
	mu struct {
		sync.Mutex
		counts  Counts
		permits []*Permit
	}
}

// Counts is what a fleet was told, the warm-up included.
type Counts struct {
	Checked   int `json:"checked"` // answers that were compared with the right one
	Permitted int `json:"permitted"`
	Refused   int `json:"refused"`
	Wrong     int `json:"wrong"`
	// Undecided calls were refused because nothing was decided about them: late,
	// busy, unavailable, unrecorded. That is safe, and no proof of anything.
	Undecided int `json:"undecided"`
	// Failed are requests without an answer, and results, grants and sessions that
	// could not be recorded.
	Failed  int `json:"failed"`
	Records int `json:"records"` // results, grants, session marks
	// Examples describes the first of the wrong, undecided and failed.
	Examples []string `json:"examples,omitempty"`
}

// maxExamples is enough to see what is wrong.
const maxExamples = 5

type finding uint8

const (
	right finding = iota
	wrong
	undecided
)

// check counts an answer. Answers that the end of the run cut short are not counted.
func (t *Tally) check(ctx context.Context, j judgement) finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := &t.mu.counts
	switch {
	case j.got == j.want && j.fault == "":
		c.Checked++
		if j.got.Decision == permit {
			c.Permitted++
		} else {
			c.Refused++
		}
		return right
	case notDecided(j.got.Decision, j.got.Reason):
		if ctx.Err() == nil {
			c.Undecided++
			t.exampleLocked("undecided: %s (%s), want %s", j.got, j.message, j.want)
		}
		return undecided
	}
	c.Checked++
	c.Wrong++
	t.exampleLocked("wrong: %s (%s), want %s; %s", j.got, j.message, j.want, j.fault)
	return wrong
}

func notDecided(decision, reason string) bool {
	if decision == permit {
		return false
	}
	switch verdict.Reason(reason) {
	case verdict.Late, verdict.Busy, verdict.NoAnswer, verdict.Unrecorded:
		return true
	case verdict.Violation, verdict.Unknown, verdict.Invalid, verdict.Unmapped, verdict.NotAdmitted:
	}
	return false
}

func (t *Tally) exampleLocked(format string, args ...any) {
	if len(t.mu.counts.Examples) < maxExamples {
		t.mu.counts.Examples = append(t.mu.counts.Examples, fmt.Sprintf(format, args...))
	}
}

func (t *Tally) failed(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.counts.Failed++
	t.exampleLocked("failed: %s: %v", what, err)
}

func (t *Tally) recorded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.counts.Records++
}

// Signatures are checked of one permit in sampleEvery, at most maxSamples, after the
// run: a check costs as much processor time as a third of a decision and would be
// measured with it.
const (
	sampleEvery = 32
	maxSamples  = 2000
)

func (t *Tally) sample(p *Permit) {
	if p == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.counts.Permitted%sampleEvery == 1 && len(t.mu.permits) < maxSamples {
		t.mu.permits = append(t.mu.permits, p)
	}
}

// Verify checks the signatures of the sampled permits and counts bad ones as wrong
// answers. It returns the number checked.
func (t *Tally) Verify(key ed25519.PublicKey) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.mu.permits {
		if !ed25519.Verify(key, p.Statement, p.Signature) {
			t.mu.counts.Wrong++
			t.exampleLocked("wrong: the signature of the permit %s does not verify", p.Statement)
		}
	}
	return len(t.mu.permits)
}

// Counts returns a copy of the counts.
func (t *Tally) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.mu.counts
	c.Examples = append([]string(nil), c.Examples...)
	return c
}

// maxUndecided is the share of calls that may end undecided or without an answer
// before a run says nothing: one in a hundred.
const maxUndecided = 0.01

// Sound reports whether the counts support the figures: answers were checked, none
// was wrong, and few calls were left undecided. The error says which does not hold.
func (c *Counts) Sound() error {
	switch left := c.Undecided + c.Failed; {
	case c.Wrong > 0:
		return fmt.Errorf("%d of %d answers are wrong", c.Wrong, c.Checked)
	case c.Checked == 0 || c.Permitted == 0 || c.Refused == 0:
		return fmt.Errorf("of %d answers checked %d permit and %d refuse: the run says nothing", c.Checked, c.Permitted, c.Refused)
	case float64(left) > maxUndecided*float64(c.Checked):
		return fmt.Errorf("%d calls were left undecided and %d requests failed, beside %d answers", c.Undecided, c.Failed, c.Checked)
	}
	return nil
}
