package hfconfig

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// mostPattern bounds the length of a regular expression that we compile. Real
// ones that list every module of a model stay below.
const mostPattern = 64 << 10

// mostExpressions bounds how many entries of one list are compiled: every
// module is held against each. Real lists have up to some hundreds.
const mostExpressions = 1000

// pattern is a regular expression as Python matches it. Go's expressions have
// no look-ahead, which configs use in one place only: at the very start, to
// leave out a tower, as in ^(?!.*vision).*q_proj. That form is read.
type pattern struct {
	text  string
	ahead []lookahead
	body  string
	match *regexp.Regexp // from the start, Python's re.match
	full  *regexp.Regexp // the whole text, Python's re.fullmatch
}

type lookahead struct {
	wanted bool
	re     *regexp.Regexp
}

func compilePattern(text string) (*pattern, error) {
	if len(text) > mostPattern {
		return nil, fmt.Errorf("pattern of %d bytes is longer than %d", len(text), mostPattern)
	}
	p := &pattern{text: text}
	rest := text
	for {
		trimmed := strings.TrimPrefix(rest, "^")
		inner, after, wanted, ok := leadingLookahead(trimmed)
		if !ok {
			break
		}
		re, err := compileRegexp("^(?:" + inner + ")")
		if err != nil {
			return nil, err
		}
		p.ahead = append(p.ahead, lookahead{wanted, re})
		rest = after
	}
	p.body = strings.ReplaceAll(rest, `\Z`, `\z`)
	var err error
	if p.match, err = compileRegexp("^(?:" + p.body + ")"); err != nil {
		return nil, err
	}
	if p.full, err = compileRegexp("^(?:" + p.body + ")$"); err != nil {
		return nil, err
	}
	return p, nil
}

func compileRegexp(text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	if err == nil {
		return re, nil
	}
	reason := err.Error()
	if e, ok := err.(*syntax.Error); ok {
		reason = e.Code.String()
	}
	return nil, fmt.Errorf("pattern %q cannot be read: %s", shorten(text), reason)
}

// leadingLookahead splits (?!inner)after or (?=inner)after.
func leadingLookahead(s string) (inner, after string, wanted, ok bool) {
	if !hasPrefix(s, "(?!", "(?=") {
		return "", "", false, false
	}
	depth, class := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return s[3:i], s[i+1:], s[2] == '=', true
			}
		}
	}
	return "", "", false, false
}

func (p *pattern) looksAhead(name string) bool {
	for _, l := range p.ahead {
		if l.re.MatchString(name) != l.wanted {
			return false
		}
	}
	return true
}

// matches is Python's re.match: from the start, to anywhere.
func (p *pattern) matches(name string) bool {
	return p.looksAhead(name) && p.match.MatchString(name)
}

// fullMatches is Python's re.fullmatch.
func (p *pattern) fullMatches(name string) bool {
	return p.looksAhead(name) && p.full.MatchString(name)
}

// compileGlob reads a shell pattern as Python's fnmatch does: * and ? cross
// dots.
func compileGlob(glob string) (*pattern, error) {
	var re strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			re.WriteString(".*")
		case '?':
			re.WriteString(".")
		case '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end <= 0 {
				re.WriteString(`\[`)
				continue
			}
			class := strings.ReplaceAll(glob[i+1:i+1+end], `\`, `\\`)
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			re.WriteString("[" + class + "]")
			i += 1 + end
		default:
			re.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return compilePattern(re.String())
}

// isPlain reports whether the text means itself as a regular expression, a dot
// being a dot.
func isPlain(text string) bool { return !strings.ContainsAny(text, `\+*?()|[]{}^$`) }
