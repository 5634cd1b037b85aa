package verdict

import "fmt"

// OffReading says how a guard is read when the aspect that owns it is switched
// off by configuration. An aspect that is down is not off; it is Unavailable.
type OffReading uint8

// The readings. The zero value is UnknownGuard, the default.
const (
	UnknownGuard    OffReading = iota // arms presumptively
	LooseGuard                        // the guard is evaluated all the same
	StrictReference                   // disarms: parity with a published table only
)

// String returns the reading's name on the command line.
func (r OffReading) String() string {
	switch r {
	case UnknownGuard:
		return "unknown"
	case LooseGuard:
		return "loose"
	case StrictReference:
		return "reference-strict"
	}
	return fmt.Sprintf("OffReading(%d)", uint8(r))
}

// ParseOffReading reads a reading as String prints it.
func ParseOffReading(s string) (OffReading, error) {
	for r := UnknownGuard; r <= StrictReference; r++ {
		if r.String() == s {
			return r, nil
		}
	}
	return UnknownGuard, fmt.Errorf("verdict: %q is not a guard reading; want unknown, loose or reference-strict", s)
}

// OffValue is the value that stands for a guard whose aspect is off. It is not
// called for LooseGuard, where the guard is evaluated.
func (r OffReading) OffValue() Value {
	if r == StrictReference {
		return T
	}
	return Fp
}

// Arm applies guards to the mark of a firing. A guard's mark reads like a
// derivation of its condition: F holds definitely, T does not hold at all. Every
// guard must hold for the firing to count. Only a guard that definitely does not
// hold (mark T) disarms; one that is in doubt either way (Fp, Tp) turns a definite
// firing into a presumptive one.
func Arm(firing Value, guards ...Value) Value {
	for _, g := range guards {
		if g == Tp {
			g = Fp
		}
		firing = Meet(firing, g)
	}
	return firing
}
