package schema

import (
	"bytes"
	"fmt"
	"strconv"
)

// Thresholds of the layout of a number; see appendNumber.
const (
	plainPoint  = 21  // of ECMAScript: at most so many places before the point
	plainZeros  = -6  // of ECMAScript: at most 6 zeros behind the point
	doubleCarry = 17  // significant digits that a double can carry
	plainDigits = 128 // places before the point written out for numbers beyond doubles
)

// decimal is the exact value of a JSON number: ± 0.d₁d₂…dₖ × 10^point with d₁ and
// dₖ not zero. It is zero when there are no digits.
type decimal struct {
	negative bool
	digits   []byte
	point    int
}

// appendNumber appends the canonical text of the JSON number lit, which must be
// well-formed. Equal decimal values have equal texts; no value is rounded. What a
// double can carry is laid out as RFC 8785 does (ECMAScript's Number::toString):
// 1.50 becomes 1.5, 1e3 becomes 1000, 1e21 becomes 1e+21, -0 becomes 0. A number
// with more significant digits is written without exponent up to 128 places before
// the point, because readers that keep long integers exact take an exponent for a
// double. problem is empty on success.
func appendNumber(dst, lit []byte) (out []byte, problem string) {
	var buf [64]byte
	d, problem := parseDecimal(buf[:0], lit)
	if problem != "" {
		return dst, problem
	}
	k, n := len(d.digits), d.point
	if k == 0 {
		return append(dst, '0'), ""
	}
	if k > MaxNumberDigits {
		return dst, fmt.Sprintf("the number has %d significant digits, the limit is %d", k, MaxNumberDigits)
	}
	if n-1 > MaxNumberExponent || n-1 < -MaxNumberExponent {
		return dst, fmt.Sprintf("the number's exponent is beyond ±%d", MaxNumberExponent)
	}
	if d.negative {
		dst = append(dst, '-')
	}
	most := plainPoint
	if k > doubleCarry {
		most = plainDigits
	}
	switch {
	case n > 0 && n <= most && k <= n:
		dst = append(dst, d.digits...)
		return append(dst, bytes.Repeat([]byte{'0'}, n-k)...), ""
	case n > 0 && n <= most:
		dst = append(dst, d.digits[:n]...)
		return append(append(dst, '.'), d.digits[n:]...), ""
	case n <= 0 && n > plainZeros:
		dst = append(dst, "0.000000"[:2-n]...)
		return append(dst, d.digits...), ""
	}
	dst = append(dst, d.digits[0])
	if k > 1 {
		dst = append(append(dst, '.'), d.digits[1:]...)
	}
	dst = append(dst, 'e')
	if n-1 > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(n-1), 10), ""
}

// parseDecimal reads a well-formed JSON number. The digits are appended to buf.
func parseDecimal(buf, lit []byte) (d decimal, problem string) {
	mantissa, exponent := lit, []byte(nil)
	if e := bytes.IndexAny(lit, "eE"); e >= 0 {
		mantissa, exponent = lit[:e], lit[e+1:]
	}
	if mantissa[0] == '-' {
		d.negative, mantissa = true, mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := append(append(buf, whole...), fraction...)
	significant := bytes.TrimLeft(digits, "0")
	leading := len(digits) - len(significant)
	significant = bytes.TrimRight(significant, "0")
	if len(significant) == 0 {
		return decimal{}, "" // whatever the exponent
	}
	shift, ok := smallExponent(exponent)
	if !ok {
		return d, fmt.Sprintf("the number's exponent is beyond ±%d", MaxNumberExponent)
	}
	d.digits, d.point = significant, len(whole)-leading+shift
	return d, ""
}

// smallExponent reads an exponent without its letter, empty for none. It fails for
// one so large that no number of digits within MaxJSON brings the value in range.
func smallExponent(text []byte) (int, bool) {
	negative := false
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		negative, text = text[0] == '-', text[1:]
	}
	text = bytes.TrimLeft(text, "0")
	if len(text) > 8 {
		return 0, false
	}
	n := 0
	for _, c := range text {
		n = n*10 + int(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
