package future

import "github.com/aspis-rv/aspis/pkg/schema"

// next evaluates NEXT: the operand's tuples at a time point are those of the one
// before it, if their distance lies in the interval.
type next struct {
	spec    *relation
	tally   *int
	made    uint64          // time points whose relation was made
	waiting series[[]tuple] // of the operand, where they count
}

func (n *next) read(l *log, _ side, tuples []tuple) {
	j := n.waiting.end()
	if j <= n.made || !n.fits(l, j) {
		tuples = nil // nobody looks here
	}
	n.waiting.push(copied(tuples))
	*n.tally += len(tuples)
}

// fits reports whether the distance from the time point before j lies in the interval.
func (n *next) fits(l *log, j uint64) bool {
	d := l.age(j, j-1)
	return n.spec.lo <= d && d <= n.spec.hi
}

func (n *next) known(l *log) bool {
	j := n.made + 1
	if j == l.end() {
		return l.ended
	}
	return j < n.waiting.end() || !n.fits(l, j)
}

func (n *next) advance() {
	n.made++
	for n.waiting.first < n.made && n.waiting.len() > 0 {
		*n.tally -= len(*n.waiting.at(n.waiting.first))
		n.waiting.drop()
	}
}

func (n *next) tuples(dst []schema.Fact) []schema.Fact {
	if n.made >= n.waiting.end() {
		return dst
	}
	for _, t := range *n.waiting.at(n.made) {
		dst = append(dst, schema.Fact{Name: n.spec.name, Args: t})
	}
	return dst
}
