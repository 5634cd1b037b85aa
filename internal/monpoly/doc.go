// Package monpoly reads and writes the texts of MonPoly's command line: signatures,
// logs and answers. With them it runs an evaluator of formulas over a log, so that
// policies and logs move between the two programs unchanged.
//
// # Signatures
//
//	signature = { relation } .
//	relation  = word "(" [ column { "," column } ] ")" .
//	column    = [ name ":" ] ( "int" | "string" | "float" ) .
//
// A column is one word: there is no space at its colon. The relations tp, ts and tpts
// are built in and cannot be declared; none is declared twice.
//
// # Logs
//
//	log   = { point [ ";" ] } .
//	point = "@" word { fact } .
//	fact  = word { tuple } .
//	tuple = "(" [ word { "," word } ] ")" .
//
// The word after "@" is the time stamp, an integer. A fact without a tuple has the
// empty one. A time point ends at a ";", at the next "@", or at the end.
//
// # Words
//
// A word is a run of letters, digits and `_[]/:.!-`, or any bytes in double quotes, in
// which a backslash protects the byte that follows it and stays part of the word:
// `"\"q\""` is the word \"q\" with its two backslashes, and an answer prints it so.
// An `r` before the first quote means nothing. Outside of words spaces, tabs and line
// ends separate, and `#` starts a comment that ends with the line.
//
// # Values
//
// Where a column is an int, the word is a decimal number with an optional sign, or a
// hexadecimal, octal or binary one after 0x, 0o or 0b; the empty word is 0. Integers
// have 64 bits here, and one that needs more is an error. Where a column is a float, the
// word is what package strconv reads, nan and inf included; nan equals itself and is less
// than every other float. Arguments of relations that are not read are held to the syntax
// of words only.
//
// # Reasons
//
// Below the answer of an evaluator that explains stand its reasons, a line for each
// conjunct, indented by two spaces more than what it is a reason of, and never at the
// beginning of the line:
//
//	reason = formula [ "with" values ] [ "for any" names ] [ "at" point ] ":" outcome .
//	point  = "@" time stamp "(time point" index ")" .
//
// Values that a line above gives are not repeated. "for any" names the variables of a
// formula that fails whatever their values are.
//
// # Differences
//
// Commands in the log (`> name <`), facts of built-in relations, regular expressions as
// values, and time stamps beyond 64 bits are errors. Nothing is skipped to recover from
// an error: the answers before it have been given, and it ends the run.
package monpoly
