package syntax

// kind is the kind of a token.
type kind uint8

const (
	tokEOF      kind = iota
	tokBad           // reported by the scanner
	tokIdent         // x, place_bid; in MonPoly mode also x-1 and 2b
	tokKeyword       // AND, ONCE, …
	tokInt           // 12
	tokFloat         // 1.5
	tokDuration      // 12h; also 12w, whose unit is unknown
	tokString        // "a"; text is the decoded value
	tokRegexp        // r"a.*"
	tokHere          // @l
	tokPunct         // ( ) [ ] , . ; = < <= > >= <- + - * / and foreign operators
)

// token is a piece of the source: src[start:end].
type token struct {
	kind       kind
	text       string
	start, end int
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

func (t token) punct(text string) bool { return t.is(tokPunct, text) }

func (t token) keyword(text string) bool { return t.is(tokKeyword, text) }

// describe names the token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "the end of the formula"
	case tokString:
		return "a string"
	case tokRegexp:
		return "a regular expression"
	case tokBad, tokIdent, tokKeyword, tokInt, tokFloat, tokDuration, tokHere, tokPunct:
		return "`" + shorten(t.text) + "`"
	}
	return "?"
}

// wordClass says what role a reserved word plays.
type wordClass uint8

const (
	wordNone        wordClass = iota
	wordConstant              // TRUE, FALSE
	wordNot                   // NOT
	wordQuantifier            // EXISTS, FORALL
	wordTemporal              // a temporal prefix operator
	wordLet                   // LET
	wordAggregate             // CNT, SUM, …
	wordConversion            // i2f, …
	wordTermOp                // MOD
	wordRelationOp            // SUBSTRING, MATCHES
	wordNew                   // NEW, in bundles
	wordAt                    // AT, in bundles
	wordSpatial               // a spatial prefix operator, in bundles
	wordOther                 // reserved, and no part of the language: LETPAST, …
	wordConnective            // AND, OR, IMPLIES, EQUIV, SINCE, UNTIL; in bundles REACH, SURROUND
	wordPunctuation           // IN; in bundles VIA
)

// classify returns the role of a reserved word in the given mode, or wordNone.
func classify(word string, mode Mode) wordClass {
	switch word {
	case "TRUE", "FALSE":
		return wordConstant
	case "NOT":
		return wordNot
	case "EXISTS", "FORALL":
		return wordQuantifier
	case "PREV", "PREVIOUS", "ONCE", "HISTORICALLY", "PAST_ALWAYS", "NEXT", "EVENTUALLY", "SOMETIMES", "ALWAYS":
		return wordTemporal
	case "AND", "OR", "IMPLIES", "EQUIV", "SINCE", "UNTIL":
		return wordConnective
	case "LET":
		return wordLet
	case "IN":
		return wordPunctuation
	case "CNT", "SUM", "MIN", "MAX", "AVG", "MED":
		return wordAggregate
	case "i2f", "f2i", "i2s", "s2i", "f2s", "s2f":
		return wordConversion
	case "MOD":
		return wordTermOp
	case "SUBSTRING", "MATCHES":
		return wordRelationOp
	case "MATCHP", "MATCHF", "LETPAST":
		return wordOther
	}
	return bundleWord(word, mode)
}

// bundleWord classifies the words that are reserved in bundles alone.
func bundleWord(word string, mode Mode) wordClass {
	if mode != Bundle {
		return wordNone
	}
	switch word {
	case "NEW":
		return wordNew
	case "AT":
		return wordAt
	case "SOMEWHERE", "EVERYWHERE", "ESCAPE":
		return wordSpatial
	case "REACH", "SURROUND":
		return wordConnective
	case "VIA":
		return wordPunctuation
	}
	return wordNone
}

// keywords lists the words a misspelling may have meant.
func keywords(mode Mode) []string {
	words := []string{
		"TRUE", "FALSE", "NOT", "AND", "OR", "IMPLIES", "EQUIV", "EXISTS", "FORALL",
		"PREVIOUS", "ONCE", "HISTORICALLY", "SINCE", "NEXT", "EVENTUALLY", "ALWAYS", "UNTIL", "LET", "IN",
		"SUBSTRING", "MATCHES",
	}
	if mode == Bundle {
		words = append(words, "SOMEWHERE", "EVERYWHERE", "ESCAPE", "REACH", "SURROUND", "VIA")
	}
	return words
}

// prefixKeywords lists the words that stand before a formula.
func prefixKeywords(mode Mode) []string {
	words := []string{
		"NOT", "EXISTS", "FORALL", "PREVIOUS", "PREV", "ONCE", "HISTORICALLY", "PAST_ALWAYS",
		"NEXT", "EVENTUALLY", "SOMETIMES", "ALWAYS", "LET",
	}
	if mode == Bundle {
		words = append(words, "SOMEWHERE", "EVERYWHERE", "ESCAPE")
	}
	return words
}

// shorten cuts a text for a message.
func shorten(s string) string {
	const limit = 40
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
