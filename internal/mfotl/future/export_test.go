package future

import (
	"fmt"
	"strconv"
	"strings"
)

// Audit counts anew what waits, and reports where a count that is kept is wrong, or a
// tuple that nothing holds is still there.
func (r *Run) Audit() error {
	n := 0
	for i := range r.log.facts.len() {
		n += len(*r.log.facts.at(r.log.facts.first + uint64(i)))
	}
	for _, v := range r.virtual {
		for i := range v.kept.len() {
			n += len(v.kept.at(v.kept.first + uint64(i)).facts)
		}
		switch op := v.op.(type) {
		case *next:
			for i := range op.waiting.len() {
				n += len(*op.waiting.at(op.waiting.first + uint64(i)))
			}
		case *until:
			waiting, err := op.audit()
			if err != nil {
				return err
			}
			n += waiting
		}
	}
	if n != r.tally {
		return fmt.Errorf("%d tuples wait, counted are %d", n, r.tally)
	}
	return nil
}

func (u *until) audit() (int, error) {
	n, begun := 0, 0
	for i := range u.turns.len() {
		t := u.turns.at(u.turns.first + uint64(i))
		n += len(t.end)
		begun += len(t.begin)
	}
	all, open := 0, 0
	for _, s := range u.spans {
		all += int(s.all)
		open += int(s.open)
	}
	if all != n || open != n-begun {
		return 0, fmt.Errorf("%d spans of which %d have begun, counted are %d and %d", n, n-begun, all, open)
	}
	tuples := map[int32]bool{}
	for i := range u.turns.len() {
		for _, slot := range u.turns.at(u.turns.first + uint64(i)).end {
			tuples[slot] = true
		}
	}
	if len(tuples) != len(u.set.slots) {
		return 0, fmt.Errorf("%d tuples have spans, %d are kept", len(tuples), len(u.set.slots))
	}
	for i := range u.right.len() {
		n += len(*u.right.at(u.right.first + uint64(i)))
	}
	for i := range u.left.len() {
		n += len(*u.left.at(u.left.first + uint64(i)))
	}
	if u.held == nil {
		return n, nil
	}
	clear(tuples)
	for i := range u.held.lists.len() {
		list := *u.held.lists.at(u.held.lists.first + uint64(i))
		n += len(list)
		for _, slot := range list {
			tuples[slot] = true
		}
	}
	if len(tuples) != len(u.held.set.slots) {
		return 0, fmt.Errorf("%d tuples of a left operand are needed, %d are kept", len(tuples), len(u.held.set.slots))
	}
	return n, nil
}

// Shape prints the stages: the relations each reads, `!` after a guarded one, and in
// brackets the operands it feeds.
func (p *Plan) Shape() string {
	var b strings.Builder
	for _, s := range p.stages {
		for _, in := range s.reads {
			b.WriteString(strconv.Itoa(in.relation))
			if in.guards != nil {
				b.WriteByte('!')
			}
		}
		b.WriteByte('[')
		for _, f := range s.feeds {
			b.WriteByte(' ')
			switch {
			case f.relation < 0:
				b.WriteString("verdict")
			case f.side == left:
				b.WriteString(strconv.Itoa(f.relation) + "left")
			default:
				b.WriteString(strconv.Itoa(f.relation))
			}
		}
		b.WriteString(" ]")
	}
	return b.String()
}
