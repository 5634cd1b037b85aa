package world

import (
	"maps"
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

// touchedDerived yields the pairs that a link which was written joins, now or before: what was
// made from its output, and the output, with what its source was made from, and the source.
func (d *Delta) touchedDerived(yield func([]schema.Value) bool) {
	joined := map[uint32][]int{} // the links by which an object may have other sources
	for i, l := range d.links {
		for _, id := range d.around(l[0], (*object).children) {
			joined[id] = append(joined[id], i)
		}
	}
	sources := map[int][]uint32{} // of a link
	var args [2]schema.Value
	for _, id := range d.after.sortObjects(slices.Collect(maps.Keys(joined))) {
		var list []uint32
		for _, i := range joined[id] {
			if sources[i] == nil {
				sources[i] = d.after.sortObjects(d.around(d.links[i][1], (*object).sources))
			}
			list = append(list, sources[i]...)
		}
		if len(joined[id]) > 1 {
			list = slices.Compact(d.after.sortObjects(list))
		}
		args[0] = schema.StringValue(d.after.object(id).name)
		for _, source := range list {
			args[1] = schema.StringValue(d.after.object(source).name)
			if !yield(args[:]) {
				return
			}
		}
	}
}

// around lists an object and what comes after it, now or before.
func (d *Delta) around(id uint32, after func(*object, func(uint32))) []uint32 {
	ids := append(d.before.closure(id, after), d.after.closure(id, after)...)
	ids = append(ids, id)
	slices.Sort(ids)
	return slices.Compact(ids)
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
		if before.image.alike(after.image) {
			continue
		}
		_, args, _ := cutTuple(key, buf)
		if !yield(args) {
			return
		}
	}
}
