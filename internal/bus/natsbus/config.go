package natsbus

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// Defaults of Config.
const (
	// DefaultPartitions allows 64 owners per aspect; a partition costs one subject.
	DefaultPartitions = 64
	// MaxPartitions bounds the consumers' filters and the routing tables. Sixteen
	// times the default leaves room; more partitions than owners buy nothing.
	MaxPartitions = 1024
	// DefaultEventsBytes holds some ten million events of ordinary size.
	DefaultEventsBytes = 8 << 30
	// DefaultVerdictsBytes is half of it: verdicts can be computed again.
	DefaultVerdictsBytes = 4 << 30
	// DefaultTimeout is how long an operation waits for the broker. A healthy one
	// answers within milliseconds; the deadline of a pending call is shorter anyway.
	DefaultTimeout = 5 * time.Second
	// DefaultReconnectWait is the pause between attempts to connect again. A restarted
	// server is back in a fraction of a second and calls are refused meanwhile.
	DefaultReconnectWait = 50 * time.Millisecond
	// dedupWindow is how long the broker remembers message ids.
	dedupWindow = 2 * time.Minute
)

// Config says where the broker is and what the log looks like where it does not exist
// yet.
type Config struct {
	// URL is the address of the server, or several separated by commas. Exactly one
	// of URL and InProcess is set.
	URL string
	// InProcess is the embedded server, usually a *Server.
	InProcess nats.InProcessConnProvider
	// Name is the connection's name in the server's monitoring; "aspis" if empty.
	Name string
	// Partitions is the number of partitions of a log that is created now; 0 means
	// DefaultPartitions, or whatever an existing log has. Connecting to a log of
	// another number fails: it cannot be changed.
	Partitions uint32
	// EventsBytes and VerdictsBytes are the capacities of the topics, counting
	// subjects, headers and framing; SnapshotBytes that of the snapshots. 0 means the
	// default (snapshots: no limit), or whatever an existing log has. A value that
	// differs from an existing log's replaces it.
	EventsBytes, VerdictsBytes, SnapshotBytes int64
	// MaxAge is how long records are retained; 0 keeps them, or what an existing log
	// has.
	MaxAge time.Duration
	// Replicas is the number of servers in a cluster that keep a copy, 1 to 5; 0
	// means 1. It applies to streams that are created now.
	Replicas int
	// Timeout bounds every wait for the broker; 0 means DefaultTimeout.
	Timeout time.Duration
	// ReconnectWait is the pause between attempts to connect again; 0 means
	// DefaultReconnectWait.
	ReconnectWait time.Duration
	// Options are further options of the connection: credentials, TLS, inbox prefix.
	Options []nats.Option
	// Logger receives what happens to connections and tails; nil discards it.
	Logger *slog.Logger
}

// withDefaults returns the configuration with what is left out filled in.
func (c Config) withDefaults() Config {
	if c.Name == "" {
		c.Name = "aspis"
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.ReconnectWait == 0 {
		c.ReconnectWait = DefaultReconnectWait
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports every mistake at once.
func (c Config) Validate() error {
	var errs []error
	if (c.URL == "") == (c.InProcess == nil) {
		errs = append(errs, errors.New("set exactly one of URL and InProcess"))
	}
	if c.Partitions > MaxPartitions {
		errs = append(errs, fmt.Errorf("field Partitions is %d, at most %d are possible", c.Partitions, MaxPartitions))
	}
	if c.EventsBytes < 0 || c.VerdictsBytes < 0 || c.SnapshotBytes < 0 {
		errs = append(errs, errors.New("a capacity is negative; 0 takes the default"))
	}
	if c.MaxAge != 0 && c.MaxAge < dedupWindow {
		errs = append(errs, fmt.Errorf("field MaxAge is %v; less than the duplicate window of %v is not possible", c.MaxAge, dedupWindow))
	}
	if c.Replicas < 0 || c.Replicas > 5 {
		errs = append(errs, fmt.Errorf("field Replicas is %d; a stream has 1 to 5", c.Replicas))
	}
	if c.Timeout < 0 || c.ReconnectWait < 0 {
		errs = append(errs, errors.New("a time-out is negative; 0 takes the default"))
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("natsbus: configuration: %w", errors.Join(errs...))
}
