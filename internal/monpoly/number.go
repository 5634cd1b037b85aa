package monpoly

import (
	"errors"
	"strconv"
	"unsafe"
)

// The ways in which a word is no number.
var (
	errNoNumber = errors.New("no number")
	errTooLarge = errors.New("needs more than 64 bits")
)

// text is the string of a word, without a copy: it is valid as long as the word is.
func text(word []byte) string {
	return unsafe.String(unsafe.SliceData(word), len(word))
}

// plainDigits is the number of decimal digits that fit 64 bits whatever they are.
const plainDigits = 18

// parseInt reads an integer.
func parseInt(word []byte) (int64, error) {
	digits := word
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > plainDigits {
		return parseAnyInt(word)
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return parseAnyInt(word)
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(word) {
		n = -n
	}
	return n, nil
}

// parseAnyInt reads an integer of any form.
func parseAnyInt(word []byte) (int64, error) {
	if len(word) == 0 {
		return 0, nil // as MonPoly
	}
	sign, digits := "", word
	if word[0] == '-' || word[0] == '+' {
		sign, digits = string(word[:1]), word[1:]
	}
	base := 10
	if len(digits) > 2 && digits[0] == '0' {
		base = baseOf(digits[1])
	}
	if base != 10 {
		digits = digits[2:]
	}
	if len(digits) == 0 || digits[0] == '-' || digits[0] == '+' {
		return 0, errNoNumber
	}
	n, err := strconv.ParseInt(sign+string(digits), base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errTooLarge
	case err != nil:
		return 0, errNoNumber
	}
	return n, nil
}

// baseOf is the base that the letter after a leading 0 stands for.
func baseOf(letter byte) int {
	switch letter {
	case 'x', 'X':
		return 16
	case 'o', 'O':
		return 8
	case 'b', 'B':
		return 2
	}
	return 10
}

// parseFloat reads a float.
func parseFloat(word []byte) (float64, error) {
	x, err := strconv.ParseFloat(text(word), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errTooLarge
	case err != nil:
		return 0, errNoNumber
	}
	return x, nil
}
