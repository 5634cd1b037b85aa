// Package httpapi is the HTTP/JSON surface of a gate: what an agent's harness, an
// authority and an operator speak. It authenticates, decodes strictly, asks the gate
// and writes the answer; it decides nothing.
//
// Every answer to a proposed call is a decision object, also when the request was
// refused before the gate saw it, so that a client that reads `decision` alone fails
// closed. Status codes keep "refused" and "broken" apart: see docs/http.md, which a
// test holds against the code.
//
// A Server is an http.Handler; Serve runs it on a listener with its time-outs and an
// orderly end.
package httpapi
