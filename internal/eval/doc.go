// Package eval replays recorded corpora through the monitors that also run online
// and tabulates what they find, beside the published figures where there are any.
//
// In an offline replay of a recorded run every recorded call is adopted, whatever
// the verdict on it: what happened, happened. Evidence is sound and every event
// counts as observed. Facts that need an authority count whoever caused them where
// the bundle accepts that.
package eval
