package policy

import (
	"strings"
	"time"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The deadline of a call: its default and its bounds.
const (
	defaultDeadline = 2 * time.Second
	minDeadline     = 10 * time.Millisecond
	maxDeadline     = 24 * time.Hour // the longest an event may carry
)

// head reads what a policy says about itself and about every call.
func (l *loader) head(root *source.Node) {
	b := l.b
	b.Trace, b.Unmapped, b.Blocking, b.Deadline = TraceSession, UnmappedRefuse, verdict.DefaultSet, defaultDeadline
	b.Engine = EngineAspis
	if n := root.Get("policy"); n == nil {
		l.report(root, missingKey("policy", "the bundle", "give it a name: `policy: NAME`"))
	} else if s, ok := l.text(n, "policy"); ok {
		if !isID(s) {
			l.report(n, badName("a policy", s, "a name is a letter followed by letters, digits, _, - and ."))
		}
		b.Name = s
	}
	l.revision(root)
	if n := root.Get("trace"); n != nil && (n.Kind != source.Scalar || strings.HasPrefix(n.Value, "labels.")) {
		l.report(n, notYet("a trace keyed by a field"))
	} else if s, ok := l.choice(n, "trace", string(TraceSession), string(TraceAgent), string(TraceTenant)); ok {
		b.Trace = TraceKey(s)
	}
	if s, ok := l.choice(root.Get("unmapped"), "unmapped", string(UnmappedRefuse), string(UnmappedEscalate), string(UnmappedFlag), string(UnmappedPermit)); ok {
		b.Unmapped = UnmappedRule(s)
	}
	if s, ok := l.choice(root.Get("engine"), "engine", string(EngineAspis), string(EngineMonPoly)); ok {
		b.Engine = EngineName(s)
	}
	if s, ok := l.choice(root.Get("escape"), "escape", "restricted", "unrestricted"); ok {
		l.restricted = s == "restricted"
	}
	l.blocking(root.Get("blocking"))
	l.deadline(root.Get("deadline"))
	l.textLimit(root.Get("text_limit"))
	l.authorities(root.Get("authorities"))
	l.accept(root.Get("accept"))
}

func (l *loader) revision(root *source.Node) {
	n := root.Get("revision")
	if n == nil {
		l.report(root, missingKey("revision", "the bundle", "number its revisions from 1: `revision: 1`"))
		return
	}
	i, ok := l.integer(n, "revision")
	if ok && i < 1 {
		l.report(n, badValue("revision", n.Value, "is below 1", "revisions count from 1 and only grow"))
	}
	l.b.Revision = i
}

// blocking reads a named set, "{F, Fp}" in quotes, or a list of values.
func (l *loader) blocking(n *source.Node) {
	if n == nil {
		return
	}
	text := n.Value
	switch n.Kind {
	case source.Scalar:
	case source.List:
		var names []string
		for _, item := range n.Items {
			if s, ok := l.text(item, "a blocking value"); ok {
				names = append(names, s)
			}
		}
		text = "{" + strings.Join(names, ",") + "}"
	case source.Map:
		l.report(n, wrongType("blocking", "default, precautionary or a list such as [F, Fp]", n.Describe()))
		return
	}
	set, err := verdict.ParseBlockingSet(text)
	if err != nil || text == "" || text == "{}" {
		l.report(n, badValue("blocking", text, "is no blocking set", "write default, precautionary or a list such as [F, Fp]"))
		return
	}
	if !set.Enforces() {
		l.report(n, caution(CodeObserves, "add F", "a blocking set without F refuses nothing: the bundle only observes"))
	}
	l.b.Blocking = set
}

func (l *loader) deadline(n *source.Node) {
	s, ok := l.text(n, "deadline")
	if !ok {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < minDeadline || d > maxDeadline {
		l.report(n, badValue("deadline", s, "is no time between 10ms and 24h", "write a number with a unit, for example 2s or 500ms"))
		return
	}
	l.b.Deadline = d
}

func (l *loader) authorities(n *source.Node) {
	for _, item := range l.listOf(n) {
		var allowed []string
		for _, c := range schema.ActorClasses() {
			if c != schema.ClassAgent {
				allowed = append(allowed, string(c))
			}
		}
		if s, ok := l.text(item, "an authority"); ok && s == string(schema.ClassAgent) {
			l.report(item, fault(CodeValue, "name the principals that decide for it, for example user", "the monitored agent is never an authority"))
		} else if s, ok = l.choice(item, "an authority", allowed...); ok {
			l.b.Authorities = append(l.b.Authorities, schema.ActorClass(s))
		}
	}
}

func (l *loader) accept(n *source.Node) {
	fields := l.mapOf(n, "accept")
	if len(fields) == 0 {
		return
	}
	l.keys(n, "accept", []string{"self-authority"}, nil)
	if s, ok := l.text(n.Get("self-authority"), "the reason for accepting self-authority"); ok {
		l.b.SelfAuthority = s
	}
}
