// Package records reads what tools print as structured records. A result is text to
// the agent; where a value came from is known only if the text is read as what the
// tool printed, field by field. A line that somebody planted inside a text field then
// comes back as part of that field and nothing else.
//
//	format   what is read                            who prints it
//	json     one JSON value under schema.Canonical   τ-bench (json.dumps), most tool servers
//	yaml     one YAML 1.1 document as safe_dump      AgentDojo: a model, a list of models,
//	         prints it, see below                    of texts or of ints
//	python   one literal as repr prints it           AgentDojo: a dict; SOPBench: everything,
//	                                                 such as (True, {'balance': 6.0})
//	lines    a text per line, nothing is quoted      lists of names with no one else's text
//	text     the text itself                         files, pages, prose
//
// Reading is strict and bounded: all of the text is one value, each key occurs once,
// and what a reader could take in two ways is refused. A text that is refused makes
// facts uncertain, never false.
//
// # Scalars
//
// A string is exactly what the programme held: an IBAN, 007 and 1e3 in quotes stay as
// they are. A number keeps its printed text, and is compared as a decimal number. Dates
// are texts in the form in which Python's str prints them.
//
// YAML scalars are those of YAML 1.1 as PyYAML reads them: yes is true, 0x10 is 16, 010
// is 8, 12:30:00 is 45000 and 1e3 is a text. safe_dump never prints such forms for
// numbers and quotes texts that look like them, so they come only from other writers.
// Refused are anchors, aliases, tags, merge keys, comments, directives, a second
// document, infinities, and line ends other than \n, about which readers of YAML 1.1 and
// 1.2 disagree.
//
// Python literals are None, bools, ints, floats, strings (in pieces too, as pprint
// prints long ones), tuples, lists, dicts, sets, datetime.date and datetime.datetime
// without a time zone or in UTC. The recorded corpora print nothing else, and no dates.
// Refused are bytes, other calls, enum members and objects: their repr is whatever
// their class makes of it. A key that is no text counts by its text: 1 and '1' are the
// same key.
//
// Lines and text have no quotes. A tool whose values somebody else can choose should
// not be read as lines: a value with a line end in it is two.
//
// # Concurrency
//
// Everything here is a pure function. Values and paths are immutable.
package records
