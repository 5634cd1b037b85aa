// Package stats holds the statistics that evaluation tables report: Wilson
// intervals, exact paired tests, quantiles by the exclusive method, and positive
// likelihood ratios. All functions are pure.
package stats
