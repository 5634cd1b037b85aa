package world

// write sets a cell for the event at hand. A value that is there already is left as it is,
// with its origin, unless a call in flight wrote it: then it is the event's from now on.
func (d *draft) write(c cell, im image) {
	old := d.get(c)
	same := old.same(im)
	var key string
	var stack []entry
	if d.flying.stacks.len() > 0 {
		key = d.key(c)
		stack, _ = d.flying.stacks.get(key)
	}
	if same && (len(stack) == 0 || stack[len(stack)-1].call == d.from.Call) {
		return
	}
	im.origin = 0
	if im.present {
		im.origin = d.from.Offset
	}
	d.wrote = true
	if key == "" {
		key = d.key(c)
	}
	switch {
	case d.from.Call != "":
		d.push(key, c, stack, old)
	case len(stack) > 0:
		d.changed = true
		d.overwritten(stack)
		d.flying.stacks.delete(key, d.owner)
	}
	if old != im {
		d.put(key, c, im)
	}
}

// erase makes a cell absent.
func (d *draft) erase(c cell) { d.write(c, image{}) }
