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
	tokRegexp        // r"a.*", MonPoly mode
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
	case tokBad, tokIdent, tokKeyword, tokInt, tokFloat, tokDuration, tokPunct:
		return "`" + shorten(t.text) + "`"
	}
	return "?"
}

// wordClass says what role a reserved word plays.
type wordClass uint8

const (
	wordNone        wordClass = iota
	wordCore                  // part of the past-time core
	wordFuturePre             // a future prefix operator: parsed, then refused
	wordFutureIn              // UNTIL: parsed, then refused
	wordLet                   // LET and what else binds to its right
	wordAggregate             // CNT, SUM, …
	wordConversion            // i2f, …
	wordTermOp                // MOD
	wordRelationOp            // SUBSTRING, MATCHES
	wordRegexpOp              // MATCHP, MATCHF
	wordBundleOnly            // NEW, AT: reserved in bundles alone
	wordConnective            // AND, OR, IMPLIES, EQUIV, SINCE
	wordPunctuation           // IN
)

// classify returns the role of a reserved word in the given mode, or wordNone.
func classify(word string, mode Mode) wordClass {
	switch word {
	case "TRUE", "FALSE", "NOT", "EXISTS", "FORALL", "PREV", "PREVIOUS", "ONCE", "HISTORICALLY", "PAST_ALWAYS":
		return wordCore
	case "AND", "OR", "IMPLIES", "EQUIV", "SINCE":
		return wordConnective
	case "NEXT", "EVENTUALLY", "SOMETIMES", "ALWAYS":
		return wordFuturePre
	case "UNTIL":
		return wordFutureIn
	case "LET", "LETPAST":
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
	case "MATCHP", "MATCHF":
		return wordRegexpOp
	case "NEW", "AT":
		if mode == Bundle {
			return wordBundleOnly
		}
	}
	return wordNone
}

// keywords lists the words a misspelling may have meant.
func keywords() []string {
	return []string{
		"TRUE", "FALSE", "NOT", "AND", "OR", "IMPLIES", "EQUIV", "EXISTS", "FORALL",
		"PREVIOUS", "ONCE", "HISTORICALLY", "SINCE",
	}
}

// shorten cuts a text for a message.
func shorten(s string) string {
	const limit = 40
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
