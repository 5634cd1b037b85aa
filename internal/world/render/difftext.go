package render

import (
	"fmt"
	"strings"
)

// Text prints the changes for people: + for what came, - for what went, ~ for what is
// different now.
func (c *Changes) Text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "from %s\nto   %s\n", c.From.Text(), c.To.Text())
	if c.Empty() {
		s.WriteString("nothing changed\n")
		return s.String()
	}
	section(&s, "vertices", c.vertexTable())
	section(&s, "edges", c.edgeTable())
	section(&s, "channels", c.channelTable())
	section(&s, "objects", c.objectTable())
	var facts table
	for i := range c.Added.Attributes {
		facts.row("+", c.Added.Attributes[i].text())
	}
	for i := range c.Removed.Attributes {
		facts.row("-", c.Removed.Attributes[i].text())
	}
	section(&s, "attributes", &facts)
	section(&s, "states", c.stateTable())
	section(&s, "reach", c.reachTable())
	return s.String()
}

func (n *Node) text() string {
	text := n.Sort
	if n.Domain != "" {
		text += ", domain " + Name(n.Domain)
	}
	if len(n.Labels) > 0 {
		text += ", [" + names(n.Labels) + "]"
	}
	return text
}

func (c *Changes) vertexTable() *table {
	var t table
	for i := range c.Added.Nodes {
		t.row("+", Name(c.Added.Nodes[i].Name), c.Added.Nodes[i].text())
	}
	for i := range c.Removed.Nodes {
		t.row("-", Name(c.Removed.Nodes[i].Name), c.Removed.Nodes[i].text())
	}
	for i := range c.Altered {
		a := &c.Altered[i]
		t.row("~", Name(a.After.Name), a.Before.text()+"; now "+a.After.text())
	}
	return &t
}

func (c *Changes) edgeTable() *table {
	var t table
	add := func(sign string, list []Edge) {
		for i := range list {
			t.row(sign, Name(list[i].From), "—", Name(list[i].To), fmt.Sprint(list[i].Distance))
		}
	}
	add("+", c.Added.Edges)
	add("-", c.Removed.Edges)
	for _, w := range c.Reweighted {
		if !w.Channel {
			t.row("~", Name(w.From), "—", Name(w.To), fmt.Sprintf("%d; now %d", w.Before, w.After))
		}
	}
	return &t
}

func (c *Changes) channelTable() *table {
	var t table
	add := func(sign string, list []Channel, note string) {
		for i := range list {
			state := list[i].openness()
			if note != "" {
				state = note
			}
			t.row(sign, Name(list[i].From), "→", Name(list[i].To), fmt.Sprint(list[i].Weight), state)
		}
	}
	add("+", c.Added.Channels, "")
	add("-", c.Removed.Channels, "")
	add("~", c.Opened, "opened")
	add("~", c.Closed, "closed")
	for _, w := range c.Reweighted {
		if w.Channel {
			t.row("~", Name(w.From), "→", Name(w.To), fmt.Sprintf("%d; now %d", w.Before, w.After))
		}
	}
	return &t
}

func (c *Changes) objectTable() *table {
	var t table
	for _, o := range c.Created {
		t.row("+", Name(o), "came into being")
	}
	pairs := func(sign string, list []Pair, relation string) {
		for _, p := range list {
			t.row(sign, Name(p.Object), relation+" "+Name(p.Of))
		}
	}
	pairs("+", c.Added.Replicas, "at")
	pairs("-", c.Removed.Replicas, "at")
	pairs("+", c.Added.Derived, "made from")
	pairs("-", c.Removed.Derived, "made from")
	for _, o := range c.Gone {
		t.row("-", Name(o), "gone: no replica is left")
	}
	return &t
}

func (c *Changes) stateTable() *table {
	var t table
	for i := range c.Added.States {
		strength := ""
		if c.Added.States[i].Presumptive {
			strength = "presumptive"
		}
		t.row("+", c.Added.States[i].key(), strength)
	}
	for i := range c.Removed.States {
		t.row("-", c.Removed.States[i].key())
	}
	for i := range c.Strengthened {
		t.row("~", c.Strengthened[i].key(), "was presumptive; now definite")
	}
	return &t
}

func (c *Changes) reachTable() *table {
	var t table
	for _, r := range c.Reached {
		t.row("+", Name(r.From)+" reaches "+Name(r.To), r.walk())
	}
	for _, p := range c.Unreached {
		t.row("-", Name(p.Object)+" no longer reaches "+Name(p.Of))
	}
	return &t
}
