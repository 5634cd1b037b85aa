//go:build race

package policy

// raced: the race detector has pools drop what they are given, at random.
const raced = true
