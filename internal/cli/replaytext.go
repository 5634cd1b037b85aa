package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/replay"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// printLine prints the outcome of one call.
func (e *env) printLine(l *replay.Line) error {
	if e.json {
		return json.NewEncoder(e.out).Encode(l)
	}
	text := fmt.Sprintf("%-8s %-28s %s in %s: %s", decisionText(l), show(l.Tool), show(l.Call), show(short(l.Session)), why(l))
	_, err := fmt.Fprintln(e.out, strings.TrimRight(text, " :"))
	return err
}

// decisionText is the decision, and what became of a permitted call where that is not
// a matter of course.
func decisionText(l *replay.Line) string {
	if l.Decision != verdict.Permit.String() {
		return l.Decision
	}
	switch l.Outcome {
	case replay.OutcomeWithdrawn:
		return "permit (withdrawn: not delivered)"
	case replay.OutcomeUnknown:
		return "permit (outcome unknown)"
	case replay.OutcomeError:
		return "permit (the tool failed)"
	case replay.OutcomePending, replay.OutcomeDone:
	}
	return l.Decision
}

func why(l *replay.Line) string {
	var parts []string
	if l.Reason != "" {
		parts = append(parts, string(l.Reason))
	}
	if l.Clause != "" {
		parts = append(parts, "clause "+l.Clause)
	}
	if l.Detail != "" {
		parts = append(parts, show(l.Detail))
	}
	if p := pathOf(l); p != nil {
		parts = append(parts, "path: "+render.Walk(p.Path, p.Distance))
	}
	if w := evidenceOf(l); w != nil {
		parts = append(parts, "evidence: "+evidenceText(w))
	}
	if len(l.Flags) > 0 {
		parts = append(parts, "flags "+strings.Join(l.Flags, ","))
	}
	if l.Policy != "" {
		parts = append(parts, "decided by the policy sha256:"+l.Policy[:min(len(l.Policy), 12)])
	}
	return strings.Join(parts, "; ")
}

// pathOf is the first path of the clause that decided, or of the first clause where none
// did; nil without paths. `aspis explain` prints all of them.
func pathOf(l *replay.Line) *replay.PathLine {
	for i := range l.Clauses {
		if c := &l.Clauses[i]; (c.ID == l.Clause || l.Clause == "") && len(c.Paths) > 0 {
			return &c.Paths[0]
		}
	}
	return nil
}

// shownSession is how much of a session's id is printed for people: sealed ids are
// long, and their head suffices to tell them apart.
const shownSession = 12

func short(s string) string {
	if r := []rune(s); len(r) > 2*shownSession {
		return string(r[:shownSession]) + "..."
	}
	return s
}

// show prints a foreign string: control and invisible characters as escapes.
func show(s string) string {
	if q := quoted(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// quoted prints a foreign string as show does, always in quotes.
func quoted(s string) string {
	q := strconv.QuoteToASCII(s)
	if len(q) <= maxShown {
		return q
	}
	return cutEscaped(q) + `..."`
}

// maxShown is the length of the longest foreign string that is printed whole.
const maxShown = 80

// cutEscaped shortens a quoted string so that dots and a quote fit behind it, between two
// escapes and not within one.
func cutEscaped(q string) string {
	end := 1
	for end < len(q) {
		_, _, tail, err := strconv.UnquoteChar(q[end:], '"')
		if err != nil || len(q)-len(tail) > maxShown-4 {
			break
		}
		end = len(q) - len(tail)
	}
	return q[:end]
}

// showWhole prints a foreign string on one line, without shortening it.
func showWhole(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(s) {
		return strconv.QuoteToASCII(s)
	}
	return s
}

// summaryText is the end of a replay, for people.
func summaryText(sum *replay.Summary, cmp *replay.Comparison) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d calls: %d permitted, %d refused, %d escalated, %d flagged\n",
		sum.Calls, sum.Permitted, sum.Refused, sum.Escalated, sum.Flagged)
	if sum.Withdrawn > 0 {
		fmt.Fprintf(&s, "%d of the permits were withdrawn: never delivered\n", sum.Withdrawn)
	}
	if cmp == nil {
		return s.String()
	}
	fmt.Fprintf(&s, "%d part verdicts computed, %d equal to the log's, %d not retained; %d decisions redone, %d equal\n",
		cmp.Verdicts, cmp.VerdictsEqual, cmp.VerdictsAbsent, cmp.Decisions, cmp.DecisionsEqual)
	for i := range cmp.Others {
		fmt.Fprintf(&s, "%d decisions not redone: made by %s\n", cmp.Others[i].Decisions, &cmp.Others[i])
	}
	for _, m := range cmp.Mismatches {
		fmt.Fprintf(&s, "differs: %s\n", m)
	}
	return s.String()
}

// warnOthers says before anything else that another policy than the given one decided
// calls of the log: what is computed with the wrong policy explains nothing.
func (e *env) warnOthers(b *policy.Bundle, cmp *replay.Comparison) error {
	if len(cmp.Others) == 0 {
		return nil
	}
	names, n := make([]string, len(cmp.Others)), 0
	for i := range cmp.Others {
		names[i] = cmp.Others[i].String()
		n += cmp.Others[i].Decisions
	}
	given := replay.RefOf(b)
	_, err := fmt.Fprintf(e.err, "aspis: %d of the log's calls were decided by %s, not by the policy given, %s\nhint: %s\n",
		n, strings.Join(names, " and "), &given, "name with --policy the bundle that decided; a bundle's digest changes with every byte of its files")
	return err
}
