// Package text reads what people and models write: it finds cues, and takes values out of a
// text.
//
// Cues raise suspicion, so what is looked for is hard to hide. Before anything is compared, a
// text is brought into its matching form: compatibility characters are decomposed (NFKD of
// Unicode Standard Annex 15), marks are dropped, letters of other scripts that look like Latin
// ones become these (Unicode Technical Standard 39), case is folded, decimal digits of all
// scripts become ASCII digits, hidden tag characters become the letters they stand for, and what
// is neither letter nor digit separates words. Characters without width, and controls of the
// direction of writing, are looked over. An Automaton then finds all cues of all lists in one
// pass; see Scan for what is read twice. Han, kana, Hangul, Thai, Lao, Khmer and Myanmar, which
// are written without blanks, are compared letter by letter.
//
// Values may discharge obligations, so nobody may be able to make two of them equal. Fold, Tokens,
// Identifiers and Phrases therefore know canonical equivalence (NFC) and case, and nothing else:
// letters that look alike are different, and nothing is left out of a value.
//
// All functions are pure. An Automaton is immutable and safe for concurrent use.
package text
