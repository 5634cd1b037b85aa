package policies_test

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// evacuation is the other side of the random test: the clauses of docs/medevac.md, written
// down once more over plain maps, without the monitors, their language or the bundle.
type evacuation struct {
	seq      int // of the call
	now      time.Duration
	holds    map[string]map[string]bool // record: vertices
	phi      map[string]mark            // record
	told     map[string]bool            // record: a text of it has said who somebody is
	parents  map[string]map[string]bool // record: what it was made from, in one step
	fit      map[string]bool            // record: downgraded, and not written since
	feeds    map[[2]string]bool
	reported map[string]bool   // mission
	position map[string]string // mission: as an authority observed it
	cargo    map[string]mark   // mission: the manifest is one of a load that is not medical
	emblem   map[string]bool   // mission: the protective marking was requested
	misused  map[string]mark   // mission: such a load at the request or since

	grants, releases, clearances, authorities, urgent, lowered []said
}

// mark says how certain something is: not at all, by a cue in a text, by a marking or a declared class.
type mark int

const (
	suggested mark = 1
	certain   mark = 2
)

// said is something said once, of a record or mission; domain is that of a grant.
type said struct {
	seq             int
	at              time.Duration
	subject, domain string
}

// action is one call.
type action struct {
	actor, tool                           string
	record, source, dest, label, marking  string
	mission, cell, precedence, cargo, src string
	text                                  string
	cells                                 []string
	at                                    time.Duration
}

func newEvacuation() *evacuation {
	return &evacuation{
		holds: map[string]map[string]bool{}, phi: map[string]mark{}, reported: map[string]bool{}, position: map[string]string{},
		told: map[string]bool{}, parents: map[string]map[string]bool{}, fit: map[string]bool{},
		cargo: map[string]mark{}, emblem: map[string]bool{}, misused: map[string]mark{},
		feeds: map[[2]string]bool{{"med_fwd", "med_rear"}: true, {"med_fwd", "c2_cop"}: true},
	}
}

func (w *evacuation) clone() *evacuation {
	out := *w
	out.holds = map[string]map[string]bool{}
	for r, at := range w.holds {
		out.holds[r] = maps.Clone(at)
	}
	out.parents = map[string]map[string]bool{}
	for r, from := range w.parents {
		out.parents[r] = maps.Clone(from)
	}
	out.told, out.fit = maps.Clone(w.told), maps.Clone(w.fit)
	out.phi, out.feeds, out.reported = maps.Clone(w.phi), maps.Clone(w.feeds), maps.Clone(w.reported)
	out.position, out.cargo = maps.Clone(w.position), maps.Clone(w.cargo)
	out.emblem, out.misused = maps.Clone(w.emblem), maps.Clone(w.misused)
	return &out
}

func domainOf(vertex string) string {
	switch vertex {
	case "med_fwd", "med_rear", "c2_cop":
		return "MED"
	case "partner_med":
		return "MED_COALITION"
	case "coalition_cop":
		return "PARTNER"
	case "log_enclave":
		return "LOG"
	}
	return ""
}

func labelled(vertex, label string) bool {
	return slices.Contains(map[string][]string{
		"med_fwd": {"home", "medical_enclave", "forward"}, "med_rear": {"medical_enclave", "rear"},
		"c2_cop": {"cop"}, "partner_med": {"medical_enclave"}, "coalition_cop": {"cop"},
	}[vertex], label)
}

// domains are those in which vertices lie; one that nobody declared may lie in any.
func domains(vertices map[string]bool) map[string]bool {
	out := map[string]bool{}
	for v := range vertices {
		if d := domainOf(v); d != "" {
			out[d] = true
			continue
		}
		for _, d := range []string{"MED", "MED_COALITION", "PARTNER", "LOG", "?"} {
			out[d] = true
		}
	}
	return out
}

// reached are the vertices to which open feeds lead.
func (w *evacuation) reached(from map[string]bool) map[string]bool {
	out := maps.Clone(from)
	for grew := true; grew; {
		grew = false
		for feed := range w.feeds {
			if out[feed[0]] && !out[feed[1]] {
				out[feed[1]], grew = true, true
			}
		}
	}
	return out
}

// apply returns the theatre after a call that takes effect.
func (w *evacuation) apply(a *action) *evacuation {
	out := w.clone()
	out.seq, out.now = w.seq+1, a.at
	out.documents(a)
	out.flies(a)
	if a.actor != "agent" {
		out.speaks(a)
	}
	return out
}

func (w *evacuation) put(record, vertex string) {
	if w.holds[record] == nil {
		w.holds[record] = map[string]bool{}
	}
	w.holds[record][vertex] = true
}

func (w *evacuation) documents(a *action) {
	switch a.tool {
	case "create_9line", "summarise_record":
		w.put(a.record, a.dest)
		w.reads(a)
	case "stage_record", "replicate_record", "release_record":
		w.put(a.record, a.dest)
	case "purge_replicas":
		maps.DeleteFunc(w.holds[a.record], func(v string, _ bool) bool { return labelled(v, a.label) })
	case "open_feed":
		w.feeds[[2]string{a.src, a.dest}] = true
	case "close_feed":
		delete(w.feeds, [2]string{a.src, a.dest})
	}
}

// reads takes what a record that is written is marked as, and what its text says.
func (w *evacuation) reads(a *action) {
	w.fit[a.record] = false
	if a.tool == "summarise_record" {
		if w.parents[a.record] == nil {
			w.parents[a.record] = map[string]bool{}
		}
		w.parents[a.record][a.source] = true
	}
	switch {
	case a.marking == "PHI":
		w.phi[a.record] = certain
	case says(a.text, "patient", "svc no"):
		w.phi[a.record] = max(w.phi[a.record], suggested)
	}
	w.told[a.record] = w.told[a.record] || says(a.text, "svc no", "rank")
}

// says tells whether a text has one of some words, which stand in the texts of the test as they
// are, and also as parts of others.
func says(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(" "+text+" ", " "+w+" ") {
			return true
		}
	}
	return false
}

// made are the records from which one was made, in however many steps.
func (w *evacuation) made(record string) map[string]bool {
	out := maps.Clone(w.parents[record])
	for grew := true; grew; {
		grew = false
		for from := range out {
			for further := range w.parents[from] {
				if !out[further] {
					out[further], grew = true, true
				}
			}
		}
	}
	return out
}

func (w *evacuation) flies(a *action) {
	m := a.mission
	switch a.tool {
	case "casualty_report":
		w.reported[m] = true
		if a.precedence == "urgent" {
			w.urgent = append(slices.Clone(w.urgent), said{w.seq, w.now, m, ""})
		}
	case "request_protected_marking":
		w.emblem[m] = true
		w.misused[m] = max(w.misused[m], w.cargo[m])
	case "amend_manifest":
		w.cargo[m] = 0
		if says(a.text, "rounds") {
			w.cargo[m] = suggested
		}
		if a.cargo == "non_medical" {
			w.cargo[m] = certain
		}
		if w.emblem[m] {
			w.misused[m] = max(w.misused[m], w.cargo[m])
		}
	}
}

// speaks takes what counts from an authority only.
func (w *evacuation) speaks(a *action) {
	say := func(list *[]said, subject, domain string) {
		*list = append(slices.Clone(*list), said{w.seq, w.now, subject, domain})
	}
	switch a.tool {
	case "grant_pii_release":
		say(&w.grants, a.record, domainOf(a.dest))
	case "downgrade_record":
		w.fit[a.record] = true
	case "retention_release":
		say(&w.releases, a.record, "")
	case "aeromedical_clearance":
		say(&w.clearances, a.mission, "")
	case "launch_authority":
		say(&w.authorities, a.mission, "")
	case "lower_precedence":
		say(&w.lowered, a.mission, "")
	case "observe_position":
		w.position[a.mission] = a.cell
	}
}

// fresh reports whether something was said of a subject at most so long ago; "" is any.
func (w *evacuation) fresh(list []said, age time.Duration, subject, domain string) bool {
	return slices.ContainsFunc(list, func(s said) bool {
		return w.now-s.at <= age && (subject == "" || s.subject == subject) && s.domain == domain
	})
}

func (w *evacuation) retained(record string) bool {
	return w.fresh(w.releases, 24*time.Hour, record, "") || w.fresh(w.releases, 24*time.Hour, "*", "")
}

// ruling gathers the clauses that fire, with how certain their firings are; refuses is set by a
// firing that is not about what the call documents.
type ruling struct {
	clauses map[string]mark
	refuses bool
}

func (r *ruling) fire(clause string, m mark, documents bool) {
	r.clauses[clause] = max(r.clauses[clause], m)
	r.refuses = r.refuses || !documents
}

// judge says what a call that leads from w to after violates.
func (w *evacuation) judge(a *action, after *evacuation) ruling {
	out := ruling{clauses: map[string]mark{}}
	for r := range after.phi {
		w.record(a, after, r, &out)
	}
	for r := range after.parents {
		w.laundered(after, r, &out)
	}
	for r, at := range after.holds {
		if len(at) == 0 && len(w.holds[r]) > 0 && !after.retained(r) {
			out.fire("T3", certain, false)
		}
	}
	if d := domainOf(a.src); a.tool == "open_feed" && (d == "MED" || d == "MED_COALITION") {
		for _, v := range []string{"med_fwd", "med_rear", "c2_cop", "partner_med"} {
			from := map[string]bool{v: true}
			before := domains(w.reached(from))
			for d := range domains(after.reached(from)) {
				if !before[d] {
					after.exposes(d, "", certain, false, &out)
				}
			}
		}
	}
	after.mission(a, &out)
	return out
}

// exposes fires for a domain to which a record comes; "" is what will be written behind a feed.
func (w *evacuation) exposes(domain, record string, m mark, documents bool, out *ruling) {
	if domain != "MED" && domain != "MED_COALITION" {
		out.fire("S1", m, documents)
	}
	if domain != "MED" && !w.fresh(w.grants, 12*time.Hour, record, domain) {
		out.fire("T1", m, documents)
	}
}

// looks are the two ways in which a record is in a domain: put there, and where it comes to.
func looks(r string) []func(*evacuation) map[string]bool {
	return []func(*evacuation) map[string]bool{
		func(x *evacuation) map[string]bool { return domains(x.holds[r]) },
		func(x *evacuation) map[string]bool { return domains(x.reached(x.holds[r])) },
	}
}

// record judges what became of a record that is marked PHI now. What was presumably so before
// and is certain now is nothing new.
func (w *evacuation) record(a *action, after *evacuation, r string, out *ruling) {
	m := after.phi[r]
	documents := a.tool == "create_9line" && w.holds[r] == nil
	put := domains(after.holds[r]) // where it comes to by no channel of somebody else's
	for _, look := range looks(r) {
		before := look(w)
		for d := range look(after) {
			if !before[d] || w.phi[r] == 0 {
				after.exposes(d, r, m, documents && !put[d], out)
			}
		}
	}
	lost := func(x *evacuation) bool {
		for v := range x.holds[r] {
			if labelled(v, "medical_enclave") {
				return false
			}
		}
		return x.phi[r] > 0 && x.holds[r] != nil
	}
	if lost(after) && !lost(w) && !after.retained(r) {
		out.fire("S3", m, documents)
	}
}

// laundered judges what became of a record that was made from others: what it says is known by
// cues alone, so that nothing about it is certain.
func (w *evacuation) laundered(after *evacuation, r string, out *ruling) {
	if !after.told[r] || after.fit[r] {
		return
	}
	before := w.made(r)
	for _, look := range looks(r) {
		was := look(w)
		for d := range look(after) {
			for from := range after.made(r) {
				fresh := !was[d] || !w.told[r] || !before[from]
				if d != "MED" && after.phi[from] > 0 && fresh {
					out.fire("Sigma2", suggested, false)
				}
			}
		}
	}
	for d := range domains(after.reached(after.holds[r])) {
		for from := range after.made(r) {
			if d != "MED" && after.phi[from] > 0 && w.phi[from] == 0 {
				out.fire("Sigma2-marked", suggested, true)
			}
		}
	}
}

// mission judges calls about missions.
func (w *evacuation) mission(a *action, out *ruling) {
	m := a.mission
	switch a.tool {
	case "designate_lz":
		if !slices.Contains([]string{"alpha", "charlie", "open_1", "ridge", "wp_1", "wp_2", "wp_3", "fires_box"}, a.cell) {
			out.fire("S2", certain, false)
		}
	case "plan_route":
		for _, c := range a.cells {
			if slices.Contains([]string{"fires_box", "wp_2", "nowhere", "med_rear"}, c) {
				out.fire("S4", certain, false)
			}
		}
	case "launch_mission":
		late := slices.ContainsFunc(w.urgent, func(u said) bool {
			return u.subject == m && w.now-u.at > time.Hour &&
				!slices.ContainsFunc(w.lowered, func(l said) bool { return l.subject == m && l.seq > u.seq })
		})
		if late || !w.reported[m] || !w.fresh(w.clearances, 6*time.Hour, m, "") || !w.fresh(w.authorities, 6*time.Hour, m, "") {
			out.fire("T2", certain, false)
		}
	case "cross_flot":
		behind := slices.Contains([]string{"alpha", "bravo", "charlie", "wp_1", "wp_2"}, w.position[m])
		if w.emblem[m] && w.misused[m] > 0 && !behind {
			out.fire("T4", w.misused[m], false)
		}
	}
}
