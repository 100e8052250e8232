package hfconfig

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// number reads a number, -Infinity included.
func (s *scanner) number() error {
	begin := s.at
	i := begin
	if s.text[i] == '-' {
		i++
	}
	if strings.HasPrefix(s.text[i:], "Infinity") {
		return s.nonFinite("-Infinity")
	}
	whole := digits(s.text[i:])
	switch {
	case whole == 0:
		return s.fail(begin, "minus sign without a number")
	case whole > 1 && s.text[i] == '0':
		return s.fail(begin, "number with a leading zero")
	}
	i += whole
	if i < len(s.text) && s.text[i] == '.' {
		fraction := digits(s.text[i+1:])
		if fraction == 0 {
			return s.fail(begin, "number without a digit after its point")
		}
		i += 1 + fraction
	}
	if i < len(s.text) && (s.text[i] == 'e' || s.text[i] == 'E') {
		i++
		if i < len(s.text) && (s.text[i] == '+' || s.text[i] == '-') {
			i++
		}
		exponent := digits(s.text[i:])
		if exponent == 0 {
			return s.fail(begin, "number without a digit in its exponent")
		}
		i += exponent
	}
	s.at = i
	return nil
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// word reads true, false, null and the two words that only Python reads.
func (s *scanner) word() error {
	word := s.text[s.at : s.at+letters(s.text[s.at:])]
	switch word {
	case "true", "false", "null":
		s.at += len(word)
		return nil
	case "NaN", "Infinity":
		return s.nonFinite(word)
	case "True", "False", "None":
		return s.fail(s.at, "%s is Python, JSON wants %s", word,
			map[string]string{"True": "true", "False": "false", "None": "null"}[word])
	}
	return s.fail(s.at, "%s, want a value", s.found())
}

func letters(s string) int {
	n := 0
	for n < len(s) && (s[n]|0x20) >= 'a' && (s[n]|0x20) <= 'z' {
		n++
	}
	return n
}

func (s *scanner) nonFinite(word string) error {
	s.notice(NonFinite, s.at, word+" is no JSON and only Python reads it", false)
	s.at += len(word)
	return nil
}

// ends is the error of a text that stops too early.
func (s *scanner) ends() error {
	if len(s.stack) == 0 {
		return s.fail(len(s.text), "file ends before any value")
	}
	f := s.stack[len(s.stack)-1]
	what := "list"
	if f.object > 0 {
		what = "object"
	}
	line, _ := place(s.text, f.opened)
	return s.fail(len(s.text), "file ends inside the %s that begins in line %d; it was cut off", what, line)
}

// found describes the text at hand for an error.
func (s *scanner) found() string {
	rest := s.text[s.at:]
	if n := letters(rest); n > 0 {
		return "the word " + shorten(rest[:n])
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"), r == '#':
		return "a comment, which JSON does not have"
	case r == '\'':
		return "a single quote"
	case r == '"':
		return "a text"
	case r < ' ' || !unicode.IsPrint(r):
		return "an unprintable character"
	}
	return string(r)
}
