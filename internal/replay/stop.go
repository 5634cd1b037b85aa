package replay

import "fmt"

// StopKind is a kind of Stop.
type StopKind uint8

// The kinds.
const (
	StopNewest StopKind = iota // the end of what there is
	StopRecord                 // after the record at Partition and Offset of a log
	StopEvent                  // after the event of a file with the number Event, from 0
	StopTime                   // at Time, with all of that time: records of a log by their append time, events of a file by log time
)

// Stop is a place in a log or in a file of events.
type Stop struct {
	Kind      StopKind
	Partition uint32
	Offset    uint64
	Event     int   // -1: before the first
	Time      int64 // ns
}

// String says where it is.
func (s *Stop) String() string {
	switch s.Kind {
	case StopRecord:
		return "record " + position(s.Partition, s.Offset)
	case StopEvent:
		return fmt.Sprintf("event %d", s.Event)
	case StopTime:
		return fmt.Sprintf("time %d ns", s.Time)
	case StopNewest:
	}
	return "the end"
}
