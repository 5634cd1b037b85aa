package agentdojo

import (
	"path"
	"strings"
)

const (
	userPrefix      = "user_task_"
	injectionPrefix = "injection_task_"
	none            = "none"
)

func isUserTask(task string) bool { return strings.HasPrefix(task, userPrefix) }

// place is what a file's path says about its run.
type place struct {
	model, suite, task, attack, injection string
}

// id joins the parts that name a run.
func (p place) id() string {
	return path.Join(or(p.model, "model"), p.suite, p.task, or(p.attack, none), or(p.injection, none))
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// IsRunFile reports whether a slash-separated path has the layout of a run's file:
// …/<suite>/<task>/<attack|none>/<injection|none>.json. It is the filter by which
// runs are told from other files in a folder with several corpora.
func IsRunFile(name string) bool {
	_, ok := placeOf(name)
	return ok
}

// placeOf reads the last four or five parts of a path.
func placeOf(name string) (place, bool) {
	base, isJSON := strings.CutSuffix(path.Base(name), ".json")
	parts := strings.Split(path.Dir(name), "/")
	if !isJSON || len(parts) < 3 || (base != none && !strings.HasPrefix(base, injectionPrefix)) {
		return place{}, false
	}
	n := len(parts)
	p := place{suite: parts[n-3], task: parts[n-2], attack: parts[n-1], injection: base}
	if !isUserTask(p.task) && !strings.HasPrefix(p.task, injectionPrefix) {
		return place{}, false
	}
	if n > 3 && parts[n-4] != "." && parts[n-4] != ".." {
		p.model = parts[n-4]
	}
	return p, p.suite != "" && p.suite != "." && p.suite != ".."
}
