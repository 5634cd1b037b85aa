// Package timed holds the timed policies of the field as tests: seven policies over
// exports, actuators, a building and a lock, each with its published case and with
// 200 generated traces whose right answers come from an oracle written for that
// policy by hand. Package mfotl must give these answers, also on what the traces
// become when they are shifted, renamed, interleaved, split and the like.
//
// The package has tests only.
package timed
