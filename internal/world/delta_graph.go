package world

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func (d *Delta) touchedVertices() []string {
	var names []string
	for _, v := range d.vertices {
		if (d.before.Sort(v) == Unknown) != (d.after.Sort(v) == Unknown) {
			names = append(names, d.after.Name(v))
		}
	}
	return names
}

func (d *Delta) touchedChannels() [][2]string {
	var list [][2]string
	for _, c := range d.channels {
		cell := cell{kind: channelCell, x: uint32(c[0]), y: uint32(c[1])}
		if d.before.get(cell).open != d.after.get(cell).open {
			list = append(list, [2]string{d.after.Name(c[0]), d.after.Name(c[1])})
		}
	}
	return list
}

// met lists the unknown vertices that began or ceased to occur, or to be unknown.
func (d *Delta) met() []V {
	var list []V
	add := func(v V) {
		before := d.before.Sort(v) == Unknown && d.before.occurs(v)
		after := d.after.Sort(v) == Unknown && d.after.occurs(v)
		if before != after {
			list = append(list, v)
		}
	}
	for _, r := range d.replicas {
		add(r.vertex)
	}
	for _, v := range d.walked {
		add(v)
	}
	for _, v := range d.vertices {
		add(v)
	}
	return list
}

// touchedLabels lists the labels that came or went; see assumed for those of unknown vertices.
func (d *Delta) touchedLabels() [][2]string {
	var list [][2]string
	for _, v := range d.vertices {
		before, after := d.before.Labels(v), d.after.Labels(v)
		list = d.appendMissing(list, v, before, after)
		list = d.appendMissing(list, v, after, before)
	}
	return list
}

// appendMissing appends the labels of v that are in one sorted list and not in the other.
func (d *Delta) appendMissing(list [][2]string, v V, in, out []string) [][2]string {
	for _, name := range in {
		if _, found := slices.BinarySearch(out, name); !found {
			list = append(list, [2]string{d.after.Name(v), name})
		}
	}
	return list
}

// touchedDomains is touchedLabels for domains.
func (d *Delta) touchedDomains() [][2]string {
	var list [][2]string
	for _, v := range d.vertices {
		before, after := d.before.Domain(v), d.after.Domain(v)
		if before == after {
			continue
		}
		for _, name := range []string{before, after} {
			if name != "" {
				list = append(list, [2]string{d.after.Name(v), name})
			}
		}
	}
	for _, v := range d.met() {
		list = append(list, [2]string{d.after.Name(v), UnknownDomain})
	}
	for _, v := range d.vertices {
		if (d.before.Sort(v) == Unknown) != (d.after.Sort(v) == Unknown) {
			list = append(list, [2]string{d.after.Name(v), UnknownDomain})
		}
	}
	return list
}

// assumed yields what unknown vertices are assumed to have under Unsafe and were or will not,
// but for what is listed: of all of them if the known groups changed, else of those that began
// or ceased to be unknown.
func (d *Delta) assumed(listed [][2]string, all bool, before, after groups, yield func([]schema.Value) bool) {
	vertices := d.met()
	for _, v := range d.vertices {
		if (d.before.Sort(v) == Unknown) != (d.after.Sort(v) == Unknown) {
			vertices = append(vertices, v)
		}
	}
	if all {
		for _, w := range []*World{d.before, d.after} {
			w.Unknowns(func(v V) bool {
				vertices = append(vertices, v)
				return true
			})
		}
	}
	if len(vertices) == 0 {
		return
	}
	var names []string
	for _, gs := range []groups{before, after} {
		gs.known(func(_ uint32, name string) bool {
			names = append(names, name)
			return true
		})
	}
	slices.Sort(names)
	names = slices.Compact(names)
	ends := d.vertexNames(distinct(vertices))
	slices.Sort(ends)
	var args [2]schema.Value
	for _, vertex := range ends {
		args[0] = schema.StringValue(vertex)
		for _, name := range names {
			if _, found := slices.BinarySearchFunc(listed, [2]string{vertex, name}, comparePairs); found {
				continue
			}
			args[1] = schema.StringValue(name)
			if !yield(args[:]) {
				return
			}
		}
	}
}
