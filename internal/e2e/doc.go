// Package e2e tests the binaries: it builds them, runs them as processes on the
// loopback interface, plays recorded and generated sessions against them over HTTP
// while it kills and pauses them, and compares what was refused with an offline
// replay of the same sessions. It has no code outside its tests.
//
// Tests that need the recorded corpus run where ASPIS_SHARED names the shared folder,
// and otherwise on generated sessions. What is random takes a seed, which is printed
// and can be given back in ASPIS_E2E_SEED; ASPIS_E2E_ROUNDS raises the number of
// rounds of the test under load.
package e2e
