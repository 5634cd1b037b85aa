// Package archtest holds the tests of the code's shape: who imports whom, which
// packages are pure, where goroutines start, what the public API is, and whether
// the documents name what exists. They read the source and run with `go test`.
//
// Each of them fails when it found nothing to check.
package archtest
