package bus_test

import (
	"errors"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
)

func TestCheck(t *testing.T) {
	big := make([]byte, bus.MaxRecordBytes+1)
	for name, c := range map[string]struct {
		m    bus.Message
		want error
	}{
		"the zero message":        {bus.Message{}, nil},
		"the last partition":      {bus.Message{Partition: 3, Topic: bus.Verdicts, Class: bus.Reserved}, nil},
		"one partition too far":   {bus.Message{Partition: 4}, bus.ErrInvalid},
		"an unknown topic":        {bus.Message{Topic: 2}, bus.ErrInvalid},
		"an unknown class":        {bus.Message{Class: 2}, bus.ErrInvalid},
		"the largest record":      {bus.Message{Data: big[1:]}, nil},
		"one byte over the limit": {bus.Message{Data: big}, bus.ErrTooLarge},
	} {
		if err := c.m.Check(4); !errors.Is(err, c.want) || (err != nil) != (c.want != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		bus.Events.String(): "events", bus.Verdicts.String(): "verdicts", bus.Topic(7).String(): "topic(7)",
		bus.Ordinary.String(): "ordinary", bus.Reserved.String(): "reserved", bus.Class(7).String(): "class(7)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
