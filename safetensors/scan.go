package safetensors

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// maxDepth is how deep JSON may nest: the reference refuses the 128th level.
const maxDepth = 127

// scanner walks over JSON. Its methods take the position to start from and
// return the position after what they read; reading past the end gives 0, which
// is no valid byte of JSON outside a string.
type scanner struct {
	b    []byte
	text string // the same bytes, for names to alias
	base int64  // offset of b[0] in the file, for errors

	// nonASCII is set where a string holds bytes over 0x7f: only then is the
	// whole checked for UTF-8.
	nonASCII bool

	// lenient accepts NaN and Infinity, which Python's json module writes.
	lenient bool
}

// aliasOf is b as a string without a copy. It is the one use of unsafe here, and
// worth it: the copy would be a seventh of the time of parsing a header, and
// another 60 MB for the largest known index. It holds as long as nobody writes to
// b, which the exported functions ask for.
func aliasOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// at is the byte at i, 0 beyond the end.
func (s *scanner) at(i int) byte {
	if i < len(s.b) {
		return s.b[i]
	}
	return 0
}

// space skips white space.
func (s *scanner) space(i int) int {
	for i < len(s.b) && (s.b[i] == ' ' || s.b[i] == '\n' || s.b[i] == '\r' || s.b[i] == '\t') {
		i++
	}
	return i
}

// fail is a syntax error at i.
func (s *scanner) fail(i int, detail string) *Error {
	if i >= len(s.b) {
		i, detail = len(s.b), detail+", but the header ends here"
	}
	return &Error{Kind: KindJSON, Offset: s.base + int64(i), Detail: "header is not valid JSON: " + detail}
}

// after expects byte c at i, with white space before and after.
func (s *scanner) after(i int, c byte) (int, *Error) {
	i = s.space(i)
	if s.at(i) != c {
		return i, s.fail(i, "expected "+strconv.QuoteRune(rune(c)))
	}
	return s.space(i + 1), nil
}

// Masks for looking at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special finds the first byte from i on that ends the plain part of a string:
// a quote, a backslash, a control character, or a byte over 0x7f.
func special(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		// Of each term the lowest set bit is exact; higher ones may be false.
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w | w) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' || c > 0x7e {
			break
		}
	}
	return i
}

// str reads a string whose opening quote is at i. The value aliases the text
// unless it holds escapes.
func (s *scanner) str(i int) (string, int, *Error) {
	if s.at(i) != '"' {
		return "", i, s.fail(i, "expected a string")
	}
	start := i + 1
	for i = special(s.b, start); i < len(s.b); i = special(s.b, i+1) {
		switch c := s.b[i]; {
		case c == '"':
			return s.text[start:i], i + 1, nil
		case c == '\\':
			return s.escaped(start, i)
		case c < ' ':
			return "", i, s.fail(i, "control character in a string")
		case c > 0x7f:
			s.nonASCII = true
		}
	}
	return "", i, s.fail(i, "unclosed string")
}

// uint reads an unsigned 64-bit integer. ok is false where the value at i is
// something else, which may be valid JSON all the same: skip it.
func (s *scanner) uint(i int) (v uint64, next int, ok bool) {
	start := i
	for ; i < len(s.b); i++ {
		digit := uint64(s.b[i]) - '0'
		if digit > 9 {
			break
		}
		if i-start >= 19 && (v > math.MaxUint64/10 || v*10 > math.MaxUint64-digit) {
			return 0, start, false
		}
		v = v*10 + digit
	}
	if i == start || i > start+1 && s.b[start] == '0' {
		return 0, start, false
	}
	if c := s.at(i); c == '.' || c == 'e' || c == 'E' {
		return 0, start, false
	}
	return v, i, true
}

// number checks the syntax of a number of any kind.
func (s *scanner) number(i int) (int, *Error) {
	start := i
	if s.at(i) == '-' {
		i++
	}
	first := i
	i = s.digits(i)
	if i == first || i > first+1 && s.b[first] == '0' {
		return first, s.fail(first, "invalid number")
	}
	plain := true
	if s.at(i) == '.' {
		plain = false
		fraction := i + 1
		if i = s.digits(fraction); i == fraction {
			return i, s.fail(i, "invalid number")
		}
	}
	if c := s.at(i); c == 'e' || c == 'E' {
		plain = false
		i++
		if c := s.at(i); c == '+' || c == '-' {
			i++
		}
		exponent := i
		if i = s.digits(i); i == exponent {
			return i, s.fail(i, "invalid number")
		}
	}
	if plain && i-start < 300 {
		return i, nil
	}
	if _, err := strconv.ParseFloat(s.text[start:i], 64); err != nil && !s.lenient {
		return start, s.fail(start, "number out of range")
	}
	return i, nil
}

func (s *scanner) digits(i int) int {
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	return i
}
