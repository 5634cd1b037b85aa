package world

// owner is who may change a node in place: what one Apply makes is its own until it
// returns, and nobody's after that.
type owner struct{ _ byte }

const (
	fanout  = 32
	shift   = 5
	lowMask = fanout - 1
)

// vec is a persistent vector: a copy of the value is a snapshot, and a write copies the
// leaf, the branch and the root on the way to it, unless they are the writer's own. What
// was never written is zero and takes no memory.
type vec[T any] struct {
	owner *owner // of root
	root  []*branch[T]
}

type branch[T any] struct {
	owner  *owner
	leaves [fanout]*leaf[T]
}

type leaf[T any] struct {
	owner *owner
	vals  [fanout]T
}

// get returns the value at i, zero beyond what was written.
func (v *vec[T]) get(i uint32) (val T) {
	top := i >> (2 * shift)
	if int(top) >= len(v.root) {
		return val
	}
	b := v.root[top]
	if b == nil {
		return val
	}
	l := b.leaves[i>>shift&lowMask]
	if l == nil {
		return val
	}
	return l.vals[i&lowMask]
}

// at returns the place of i, for o to write.
func (v *vec[T]) at(i uint32, o *owner) *T {
	top := int(i >> (2 * shift))
	if v.owner != o {
		root := make([]*branch[T], max(len(v.root), top+1))
		copy(root, v.root)
		v.root, v.owner = root, o
	}
	for len(v.root) <= top {
		v.root = append(v.root, nil)
	}
	b := v.root[top]
	switch {
	case b == nil:
		b = &branch[T]{owner: o}
	case b.owner != o:
		b = &branch[T]{owner: o, leaves: b.leaves}
	}
	v.root[top] = b
	slot := &b.leaves[i>>shift&lowMask]
	l := *slot
	switch {
	case l == nil:
		l = &leaf[T]{owner: o}
	case l.owner != o:
		l = &leaf[T]{owner: o, vals: l.vals}
	}
	*slot = l
	return &l.vals[i&lowMask]
}
