package safetensors

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escaped reads the rest of a string that holds escapes, from the first one at
// i on; start is the first byte of the string.
func (s *scanner) escaped(start, i int) (string, int, *Error) {
	value := append([]byte(nil), s.b[start:i]...)
	for i < len(s.b) {
		next := special(s.b, i)
		value = append(value, s.b[i:next]...)
		i = next
		switch c := s.at(i); {
		case i >= len(s.b):
		case c == '"':
			return string(value), i + 1, nil
		case c == '\\':
			var err *Error
			if value, i, err = s.escape(value, i); err != nil {
				return "", i, err
			}
		case c < ' ':
			return "", i, s.fail(i, "control character in a string")
		default:
			s.nonASCII = s.nonASCII || c > 0x7f
			value = append(value, c)
			i++
		}
	}
	return "", i, s.fail(i, "unclosed string")
}

// escape appends the character of the escape sequence at i.
func (s *scanner) escape(value []byte, i int) ([]byte, int, *Error) {
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := s.at(i + 1)
	if at := strings.IndexByte(from, c); at >= 0 {
		return append(value, to[at]), i + 2, nil
	}
	if c != 'u' {
		return value, i, s.fail(i, "invalid escape")
	}
	r, ok := s.hex(i + 2)
	if !ok || r >= 0xdc00 && r < 0xe000 {
		return value, i, s.fail(i, "invalid \\u escape")
	}
	if r < 0xd800 || r >= 0xe000 {
		return utf8.AppendRune(value, r), i + 6, nil
	}
	low, ok := s.hex(i + 8)
	if !ok || s.b[i+6] != '\\' || s.b[i+7] != 'u' || low < 0xdc00 || low >= 0xe000 {
		return value, i, s.fail(i, "half of a surrogate pair")
	}
	return utf8.AppendRune(value, (r-0xd800)<<10+(low-0xdc00)+0x10000), i + 12, nil
}

// hex reads the four hexadecimal digits at i.
func (s *scanner) hex(i int) (rune, bool) {
	if i+4 > len(s.b) {
		return 0, false
	}
	v, err := strconv.ParseUint(s.text[i:i+4], 16, 16)
	return rune(v), err == nil
}

// skip checks the syntax of any value, which stands depth levels deep. It needs
// no stack, whatever the input.
func (s *scanner) skip(i, depth int) (int, *Error) {
	var open []byte // closing brackets that are due
	for {
		var err *Error
		closed := false
		switch c := s.at(i); c {
		case '{', '[':
			if depth+len(open) >= maxDepth {
				return i, &Error{Kind: KindTooDeep, Offset: s.base + int64(i), Detail: "JSON is nested deeper than 127 levels"}
			}
			open = append(open, c+2) // ']' is '['+2, '}' is '{'+2
			if i = s.space(i + 1); s.at(i) == c+2 {
				open, closed = open[:len(open)-1], true
				i++
			}
		default:
			i, err = s.scalar(i)
			closed = true
		}
		if closed && err == nil {
			i, open, err = s.close(i, open)
			if len(open) == 0 {
				return i, err
			}
		}
		if err == nil && open[len(open)-1] == '}' {
			i, err = s.key(i)
		}
		if err != nil {
			return i, err
		}
	}
}

// close goes on after a value: over closing brackets to the comma before the
// next value, or to the end of the outermost one.
func (s *scanner) close(i int, open []byte) (int, []byte, *Error) {
	for len(open) > 0 {
		i = s.space(i)
		switch c := s.at(i); c {
		case ',':
			return s.space(i + 1), open, nil
		case open[len(open)-1]:
			open = open[:len(open)-1]
			i++
		default:
			return i, nil, s.fail(i, "expected ',' or "+strconv.QuoteRune(rune(open[len(open)-1])))
		}
	}
	return i, nil, nil
}

// key reads a key and its colon.
func (s *scanner) key(i int) (int, *Error) {
	_, i, err := s.str(i)
	if err != nil {
		return i, err
	}
	return s.after(i, ':')
}

// scalar checks the syntax of a value without parts.
func (s *scanner) scalar(i int) (int, *Error) {
	words := []string{"true", "false", "null"}
	switch c := s.at(i); {
	case c == '"':
		_, i, err := s.str(i)
		return i, err
	case c-'0' <= 9 || c == '-' && !(s.lenient && s.at(i+1) == 'I'):
		return s.number(i)
	case s.lenient:
		words = []string{"true", "false", "null", "NaN", "Infinity", "-Infinity"}
	}
	for _, word := range words {
		if strings.HasPrefix(s.text[min(i, len(s.text)):], word) {
			return i + len(word), nil
		}
	}
	return i, s.fail(i, "expected a value")
}

// excerpt is the beginning of the value at i, whose syntax is known to be right,
// for a message.
func (s *scanner) excerpt(i int) string {
	if c := s.at(i); c == '{' || c == '[' {
		return s.kind(i)
	}
	end, err := s.skip(i, 0)
	if err != nil || end-i > 24 {
		return s.kind(i)
	}
	return printable(s.text[i:end])
}

// kind names the type of the value at i for a message.
func (s *scanner) kind(i int) string {
	switch c := s.at(i); c {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
