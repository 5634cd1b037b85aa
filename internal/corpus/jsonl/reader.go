// Package jsonl reads canonical events in JSON Lines: one event a line, in the long
// form or in the short one that suffices for people and tests.
//
// Blank lines are passed over. What the short form leaves out is derived from the
// event's position, its index n among the events from 0: the id is "en", and the
// call id of a call is "cn". A result without a call id belongs to the latest call
// of its session before it.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// MaxSessions is the number of sessions whose latest call is remembered for results
// that do not name theirs. A million take about 100 MB.
const MaxSessions = 1 << 20

// The errors of reading events. A *LineError says on which line.
var (
	// ErrLineTooLong is returned for a line longer than schema.MaxLine.
	ErrLineTooLong = errors.New("line too long")
	// ErrNoCall is returned for a result without a call id that follows no call of
	// its session.
	ErrNoCall = errors.New("a result without a call: name it by \"call\", or put it after a call of its session")
	// ErrTooManySessions is returned when a call is in one session more than
	// MaxSessions.
	ErrTooManySessions = errors.New("too many sessions; split the file")
)

// LineError is an error on one line of a file.
type LineError struct {
	File string // as given to Events
	Line int    // from 1
	Err  error
}

// Error returns "file:line: error".
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the error without its place.
func (e *LineError) Unwrap() error { return e.Err }

// Events yields the events of r, one at a time. The name is for messages. A line
// that is no event yields a *LineError, and reading goes on after it if the
// consumer does; such a line counts as an event where ids are derived, so that the
// others keep theirs. An error of r, a line that is too long and too many sessions
// end the sequence. It can be ranged over once.
func Events(r io.Reader, name string) iter.Seq2[*schema.Event, error] {
	return func(yield func(*schema.Event, error) bool) {
		d := deriver{latest: make(map[session]string), max: MaxSessions}
		lines := bufio.NewReaderSize(r, schema.MaxLine+2)
		for number := 1; ; number++ {
			line, end := lines.ReadSlice('\n')
			if number == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if line = bytes.TrimSpace(line); errors.Is(end, bufio.ErrBufferFull) || len(line) > schema.MaxLine {
				yield(nil, &LineError{name, number, fmt.Errorf("%w: more than %d bytes", ErrLineTooLong, schema.MaxLine)})
				return
			}
			if end != nil && !errors.Is(end, io.EOF) {
				yield(nil, &LineError{name, number, end})
				return
			}
			if len(line) > 0 {
				ev, err := d.event(line)
				if err != nil {
					ev, err = nil, &LineError{name, number, err}
				}
				if !yield(ev, err) || errors.Is(err, ErrTooManySessions) {
					return
				}
			}
			if end != nil {
				return
			}
		}
	}
}

// deriver fills in what the short form leaves out.
type deriver struct {
	index int
	// latest is the id of the latest call of each session.
	latest map[session]string
	max    int
}

// session names a session: its id is unique within its tenant.
type session struct{ tenant, id string }

func (d *deriver) event(line []byte) (*schema.Event, error) {
	position := strconv.Itoa(d.index)
	d.index++
	ev, err := schema.ParseEventJSON(line)
	if err != nil {
		return nil, err
	}
	if ev.ID == "" {
		ev.ID = "e" + position
	}
	in := session{ev.Tenant, ev.SessionID}
	switch ev.Kind {
	case schema.KindCall:
		if ev.CallID == "" {
			ev.CallID = "c" + position
		}
		if _, known := d.latest[in]; !known && len(d.latest) >= d.max {
			return nil, ErrTooManySessions
		}
		d.latest[in] = ev.CallID
	case schema.KindResult:
		if ev.CallID == "" {
			ev.CallID = d.latest[in]
		}
		if ev.CallID == "" {
			return nil, ErrNoCall
		}
	case schema.KindSession:
		if ev.Session != nil && ev.Session.End {
			delete(d.latest, in)
		}
	case schema.KindResolution, schema.KindMessage, schema.KindGrant, schema.KindObservation,
		schema.KindTick, schema.KindPolicy, schema.KindWithdrawn:
	}
	return ev, nil
}
