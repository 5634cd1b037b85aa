//go:build race

package model

// raced: the race detector makes the search ten times slower and has nothing to find
// in it, since one goroutine does all; a part of it is run.
const raced = true
