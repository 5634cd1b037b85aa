package world

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func (d *Delta) touchedHolds() [][2]string {
	var list [][2]string
	for _, r := range d.replicas {
		c := cell{kind: replicaCell, x: r.object, y: uint32(r.vertex)}
		if d.before.get(c).present != d.after.get(c).present {
			list = append(list, [2]string{d.after.Name(r.vertex), d.after.object(r.object).name})
		}
	}
	return list
}

// touchedObjects lists the objects of which something began or ceased to be true.
func (d *Delta) touchedObjects(is func(*object) bool) []string {
	var names []string
	add := func(id uint32) {
		if o := d.after.object(id); is(o) != is(d.before.object(id)) {
			names = append(names, o.name)
		}
	}
	for _, id := range d.objects {
		add(id)
	}
	for _, r := range d.replicas {
		add(r.object)
	}
	return names
}

func (d *Delta) touchedDerived() [][2]string {
	var list [][2]string
	seen := map[uint32]bool{}
	differ := func(id uint32) {
		if seen[id] {
			return
		}
		seen[id] = true
		before, after := d.before.closure(id, (*object).sources), d.after.closure(id, (*object).sources)
		list = d.appendSources(list, id, before, after)
		list = d.appendSources(list, id, after, before)
	}
	for _, l := range d.links {
		differ(l[0])
		for _, w := range []*World{d.before, d.after} {
			for _, id := range w.closure(l[0], (*object).children) {
				differ(id)
			}
		}
	}
	return list
}

// appendSources appends the sources of an object that are in one list and not in the other.
func (d *Delta) appendSources(list [][2]string, id uint32, in, out []uint32) [][2]string {
	for _, source := range in {
		if !slices.Contains(out, source) {
			list = append(list, [2]string{d.after.object(id).name, d.after.object(source).name})
		}
	}
	return list
}

func (d *Delta) touchedTuples(table string, yield func([]schema.Value) bool) {
	prefix := string(tuplePrefix(table))
	keys := slices.Clone(d.tuples)
	slices.Sort(keys)
	buf := make([]schema.Value, 0, 4)
	for _, key := range slices.Compact(keys) {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		before, _ := d.before.things.tuples.get(key)
		after, _ := d.after.things.tuples.get(key)
		if before.image.same(after.image) {
			continue
		}
		_, args, _ := cutTuple(key, buf)
		if !yield(args) {
			return
		}
	}
}
