// Package corpus opens recorded corpora: it finds the files of one or several
// folders and tar archives in a deterministic order, without unpacking an archive
// and without holding a corpus in memory, and runs a decoder over them on several
// cores with the results in the files' order.
//
// The importers of the foreign formats are its sub-packages.
package corpus
