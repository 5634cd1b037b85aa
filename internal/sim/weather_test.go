package sim

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// fate is what happens to one record on its way.
type fate struct {
	fail    bool // not written, and reported
	loseAck bool // written, and reported as failed
	double  bool // written, or read, twice
	full    bool // refused as to a full log, if ordinary
	delay   time.Duration
}

// rule is one line of the fault language:
//
//	fail|lose-ack|double|full|delay=D|lag=D|repeat [of=KIND] [from=ROLE] [p=P] [times=N]
//
// The first five concern appends, lag and repeat what a role reads. KIND is a kind of
// event, "expired", "verdict" or "snapshot"; ROLE is a name or the beginning of one.
type rule struct {
	what  string
	delay time.Duration
	of    string
	from  string
	p     float64
	times int // 0: no bound
	hits  int
	seen  map[string]int // records seen, by identity
}

func parseRule(words []string) (*rule, error) {
	r := &rule{p: 1, seen: map[string]int{}}
	for i, w := range words {
		name, value, _ := strings.Cut(w, "=")
		var err error
		switch {
		case i == 0:
			r.what = name
			if name == "delay" || name == "lag" {
				r.delay, err = time.ParseDuration(value)
			}
		case name == "of":
			r.of = value
		case name == "from":
			r.from = value
		case name == "p":
			r.p, err = strconv.ParseFloat(value, 64)
		case name == "times":
			r.times, err = strconv.Atoi(value)
		default:
			return nil, fmt.Errorf("%q is no word of a fault", w)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", w, err)
		}
	}
	switch r.what {
	case "fail", "lose-ack", "double", "full", "delay", "lag", "repeat":
		return r, nil
	}
	return nil, fmt.Errorf("%q is no fault", r.what)
}

// weather holds the faults in force. Safe for concurrent use.
type weather struct {
	seed uint64
	mu   struct {
		sync.Mutex
		rules []*rule
	}
}

func (w *weather) add(r *rule) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.rules = append(w.mu.rules, r)
}

func (w *weather) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.rules = nil
}

func (w *weather) calm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.mu.rules) == 0
}

// appending is the fate of a record that role appends.
func (w *weather) appending(role string, m bus.Message) fate {
	if w.calm() {
		return fate{}
	}
	kind, id := identity(m.Topic, m.Data)
	return w.fate(role, kind, id)
}

// reading is the fate of a record on its way to a reader.
func (w *weather) reading(role string, t bus.Topic, rec *bus.Record) fate {
	if w.calm() {
		return fate{}
	}
	kind, id := identity(t, rec.Data)
	return w.draw(role, kind, id, true)
}

func (w *weather) fate(role, kind, id string) fate { return w.draw(role, kind, id, false) }

func (w *weather) draw(role, kind, id string, reading bool) fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	var f fate
	for n, r := range w.mu.rules {
		if reads := r.what == "lag" || r.what == "repeat"; reads != reading || !strings.HasPrefix(role, r.from) {
			continue
		}
		if r.of != "" && r.of != kind && (kind != "expired" || r.of != "resolution") {
			continue
		}
		key := role + "/" + kind + "/" + id
		r.seen[key]++
		if r.times > 0 && r.hits >= r.times || !r.chance(w.seed, n, key) {
			continue
		}
		r.hits++
		switch r.what {
		case "fail":
			f.fail = true
		case "lose-ack":
			f.loseAck = true
		case "double", "repeat":
			f.double = true
		case "full":
			f.full = true
		case "delay", "lag":
			f.delay += r.delay
		}
	}
	return f
}

// chance depends on the seed, the rule and the identity of the record alone, so that
// a run with the same seed meets the same faults whatever the scheduling.
func (r *rule) chance(seed uint64, n int, key string) bool {
	if r.p >= 1 {
		return true
	}
	h := fnv.New64a()
	var buf [8]byte
	for _, v := range []uint64{seed, uint64(n), uint64(r.seen[key])} { //nolint:gosec // small counts
		binary.BigEndian.PutUint64(buf[:], v)
		_, _ = h.Write(buf[:])
	}
	_, _ = h.Write([]byte(key))
	x := h.Sum64()
	x ^= x >> 33 // FNV's high bits mix badly for short inputs
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11)/(1<<53) < r.p
}

// identity names a record by what does not change from run to run.
func identity(t bus.Topic, data []byte) (kind, id string) {
	if t == bus.Verdicts {
		v, err := schema.DecodeVerdict(data)
		if err != nil {
			return "undecodable", ""
		}
		return "verdict", v.Trace[:min(2, len(v.Trace))]
	}
	ev, err := schema.DecodeEvent(data)
	if err != nil {
		return "undecodable", ""
	}
	kind = ev.Kind.String()
	switch ev.Kind {
	case schema.KindTick:
		return kind, strconv.FormatUint(ev.Tick.N, 10)
	case schema.KindResolution:
		if ev.Resolution.Outcome == schema.SettledExpired {
			kind = "expired"
		}
		return kind, ev.CallID
	case schema.KindCall, schema.KindResult, schema.KindMessage, schema.KindGrant, schema.KindObservation,
		schema.KindPolicy, schema.KindSession, schema.KindWithdrawn:
	}
	return kind, ev.CallID + ev.Actor.ID
}
