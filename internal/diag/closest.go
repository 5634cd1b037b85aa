package diag

import (
	"slices"
	"strings"
)

// maxNameRunes bounds the names that Closest compares: longer ones are data, not
// names, and the comparison is quadratic.
const maxNameRunes = 64

// Closest returns the candidate that name is most likely a misspelling of, or ""
// when none is near: at most one edit (insertion, deletion, replacement, swap of
// neighbours) for every three letters, at least one; a difference in case alone
// counts as none. Ties go to the first in byte order. Where none is near, it is the only
// candidate that begins with a name of four letters or more. It takes time proportional
// to the total length of the candidates times that of the name.
func Closest(name string, candidates []string) string {
	n := []rune(strings.ToLower(name))
	if len(n) == 0 || len(n) > maxNameRunes {
		return ""
	}
	best, limit := "", max(1, len(n)/3)
	sorted := slices.Sorted(slices.Values(candidates))
	for _, c := range sorted {
		r := []rune(strings.ToLower(c))
		if c == name || len(r) > maxNameRunes || abs(len(r)-len(n)) > limit {
			continue
		}
		d := distance(n, r)
		if d >= max(len(n), len(r)) { // nothing in common
			continue
		}
		if d < limit || (d == limit && best == "") {
			best, limit = c, d
		}
	}
	if best == "" {
		return begun(n, sorted)
	}
	return best
}

// begun returns the only candidate that a name of at least four runes begins, or "".
func begun(name []rune, candidates []string) string {
	found := ""
	for _, c := range candidates {
		if len(name) < 4 || c == found || len(c) == len(string(name)) || !strings.HasPrefix(strings.ToLower(c), string(name)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = c
	}
	return found
}

// distance is the optimal string alignment distance.
func distance(a, b []rune) int {
	two, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, prev, row = prev, row, two
	}
	return prev[len(b)]
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
