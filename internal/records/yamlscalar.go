package records

import (
	"math/big"
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// A plain scalar of YAML 1.1, one without quotes, is a text unless it looks like
// something else. What it looks like is decided here as PyYAML decides it; the types
// are those of https://yaml.org/type. Readers of YAML 1.2 see more texts, PyYAML
// itself quotes each text that looks like another type when it prints.

// yamlType is what a plain scalar is to a reader of YAML 1.1.
type yamlType uint8

const (
	yamlText yamlType = iota
	yamlNull
	yamlBool
	yamlInt
	yamlFloat
	yamlDate
	yamlMerge   // <<, the key that merges another map
	yamlDefault // =, the key of a default value
)

// resolve says what a plain scalar is.
func resolve(s string) yamlType {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return yamlNull
	case "yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false", "False", "FALSE",
		"on", "On", "ON", "off", "Off", "OFF":
		return yamlBool
	case "<<":
		return yamlMerge
	case "=":
		return yamlDefault
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '+', c == '-', c == '.':
	default:
		return yamlText
	}
	switch {
	case isYAMLFloat(s):
		return yamlFloat
	case isYAMLInt(s):
		return yamlInt
	case isYAMLDate(s):
		return yamlDate
	}
	return yamlText
}

// yamlTruth is the value of a scalar that is a yamlBool.
func yamlTruth(s string) bool {
	switch strings.ToLower(s) {
	case "yes", "true", "on":
		return true
	}
	return false
}

func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

// span is the length of the longest prefix of characters of set.
func span(s, set string) int { return len(s) - len(strings.TrimLeft(s, set)) }

const (
	digits      = "0123456789"
	digitsUnder = digits + "_"
)

// made reports whether s is not empty and of characters of set.
func made(s, set string) bool { return s != "" && span(s, set) == len(s) }

// isYAMLInt accepts 12, +1_000, 0b11, 017, 0x1f and 1:30:00, which is base 60.
func isYAMLInt(s string) bool {
	s = unsigned(s)
	switch {
	case s == "0":
		return true
	case strings.HasPrefix(s, "0b"):
		return made(s[2:], "01_")
	case strings.HasPrefix(s, "0x"):
		return made(s[2:], "0123456789abcdefABCDEF_")
	case strings.HasPrefix(s, "0"):
		return made(s[1:], "01234567_")
	case s == "" || s[0] == '_':
		return false
	}
	rest := s[span(s, digitsUnder):]
	return len(rest) < len(s) && (rest == "" || isBase60(rest))
}

// isBase60 accepts one or more of a colon and a number below 60.
func isBase60(s string) bool {
	for s != "" {
		n := 0
		if s[0] == ':' {
			n = span(s[1:], digits)
		}
		if n == 0 || n > 2 || n == 2 && s[1] > '5' {
			return false
		}
		s = s[1+n:]
	}
	return true
}

// isYAMLFloat accepts 1.5, 1., .5, 1.0e+3, 1:30.5 (base 60), .inf and .nan. An
// exponent needs its sign, and the number its point: 1e3 is a text.
func isYAMLFloat(s string) bool {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return true
	}
	if strings.HasPrefix(s, ".") && len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
		return isYAMLExponent(s[1+span(s[1:], digitsUnder):])
	}
	s = unsigned(s)
	switch s {
	case ".inf", ".Inf", ".INF":
		return true
	}
	if s == "" || s[0] < '0' || s[0] > '9' {
		return false
	}
	whole, fraction, pointed := strings.Cut(s, ".")
	if !pointed {
		return false
	}
	rest := fraction[span(fraction, digitsUnder):]
	if made(whole, digitsUnder) {
		return isYAMLExponent(rest)
	}
	return rest == "" && isBase60(whole[span(whole, digitsUnder):])
}

func isYAMLExponent(s string) bool {
	return s == "" || len(s) > 2 && (s[0] == 'e' || s[0] == 'E') && (s[1] == '-' || s[1] == '+') && made(s[2:], digits)
}

// isYAMLDate accepts 2001-12-14 and 2001-12-14 21:59:43.10 -05:30 with its variants.
func isYAMLDate(s string) bool {
	if len(s) == 10 && s[4] == '-' && s[7] == '-' {
		return made(s[:4]+s[5:7]+s[8:], digits)
	}
	t := dateScanner{rest: s}
	t.number(4, 4)
	t.one("-")
	t.number(1, 2)
	t.one("-")
	t.number(1, 2)
	if blanks := t.blanks(); blanks == 0 {
		t.one("Tt")
	}
	t.number(1, 2)
	t.one(":")
	t.number(2, 2)
	t.one(":")
	t.number(2, 2)
	if strings.HasPrefix(t.rest, ".") {
		t.one(".")
		t.rest = t.rest[span(t.rest, digits):]
	}
	t.zone()
	return !t.failed && t.rest == ""
}

// dateScanner takes a date apart. After a failure it stays failed.
type dateScanner struct {
	rest   string
	failed bool
}

// number takes least to most digits, as many as there are.
func (t *dateScanner) number(least, most int) {
	n := min(span(t.rest, digits), most)
	t.failed = t.failed || n < least
	t.rest = t.rest[n:]
}

// one takes one character of set.
func (t *dateScanner) one(set string) {
	if t.rest == "" || !strings.Contains(set, t.rest[:1]) {
		t.failed = true
		return
	}
	t.rest = t.rest[1:]
}

func (t *dateScanner) blanks() int {
	n := span(t.rest, " \t")
	t.rest = t.rest[n:]
	return n
}

// zone takes an optional time zone with blanks before it.
func (t *dateScanner) zone() {
	if t.rest == "" {
		return
	}
	t.blanks()
	if t.rest == "Z" {
		t.rest = ""
		return
	}
	t.one("+-")
	t.number(1, 2)
	if t.rest != "" {
		t.one(":")
		t.number(2, 2)
	}
}

// maxLiteral bounds the length of a number's text: the digits that schema allows,
// with room for blanks between them.
const maxLiteral = 2 * schema.MaxNumberDigits

// yamlInteger is the decimal text of a scalar that is a yamlInt, or "".
func yamlInteger(s string) string {
	if len(s) > maxLiteral {
		return ""
	}
	s = strings.ReplaceAll(s, "_", "")
	negative := strings.HasPrefix(s, "-")
	s = unsigned(s)
	base := 10
	switch {
	case strings.HasPrefix(s, "0b"):
		s, base = s[2:], 2
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case strings.HasPrefix(s, "0") && len(s) > 1:
		s, base = s[1:], 8
	case strings.Contains(s, ":"):
		return signed(negative, base60(s))
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok {
		return ""
	}
	return signed(negative, n.String())
}

func signed(negative bool, digits string) string {
	if negative && digits != "0" {
		return "-" + digits
	}
	return digits
}

func base60(s string) string {
	sum, sixty := new(big.Int), big.NewInt(60)
	for part := range strings.SplitSeq(s, ":") {
		n, ok := new(big.Int).SetString(part, 10)
		if !ok {
			return ""
		}
		sum.Add(sum.Mul(sum, sixty), n)
	}
	return sum.String()
}

// yamlDecimal is a scalar that is a yamlFloat as a JSON number, or "" when JSON has no
// such number or it is in base 60.
func yamlDecimal(s string) string {
	s = strings.ReplaceAll(s, "_", "")
	negative := strings.HasPrefix(s, "-")
	s = unsigned(s)
	if strings.Contains(s, ":") || len(s) > maxLiteral {
		return ""
	}
	mantissa, exponent := s, ""
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		mantissa, exponent = s[:e], s[e:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction == "" {
		fraction = "0"
	}
	if !made(whole+fraction, digits) {
		return "" // .inf, .nan
	}
	out := whole + "." + fraction + exponent
	if negative {
		out = "-" + out
	}
	return out
}
