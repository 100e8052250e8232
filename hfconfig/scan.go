package hfconfig

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// mostNotices bounds what a hostile file can make us say.
const mostNotices = 50

// scanner checks a JSON text in one pass with its own bounded stack, so that no
// nesting can overflow the machine's.
type scanner struct {
	text  string
	at    int
	start int // where the document's value begins
	stack []frame
	// keys that were seen, by object and name: one map for all objects.
	keys    map[member]struct{}
	objects int
	deep    bool // noticed
	notices []Notice
	omitted int
}

// frame is one open object or list.
type frame struct {
	object int    // number of the object, 0 for a list
	key    string // the member at hand
	index  int    // the item at hand
	opened int    // offset
}

type member struct {
	object int
	key    string
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (s *scanner) space() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func (s *scanner) fail(offset int, format string, args ...any) error {
	return parseErrorAt(s.text, offset, fmt.Sprintf(format, args...))
}

// document reads one value and the end of the text.
func (s *scanner) document() error {
	s.keys = make(map[member]struct{})
	s.space()
	s.start = s.at
	for {
		done, err := s.value()
		if err != nil {
			return err
		}
		for done && len(s.stack) > 0 {
			if done, err = s.next(); err != nil {
				return err
			}
		}
		if done {
			break
		}
	}
	s.space()
	if s.at < len(s.text) {
		return s.fail(s.at, "%s after the end of the value", s.found())
	}
	return nil
}

// value reads a whole value, or opens an object or list that is not empty and
// stops before its first value.
func (s *scanner) value() (done bool, err error) {
	s.space()
	if s.at == len(s.text) {
		return false, s.ends()
	}
	switch c := s.text[s.at]; {
	case c == '{' || c == '[':
		return s.open(c)
	case c == '"':
		_, err = s.str()
		return true, err
	case c == '-' || c >= '0' && c <= '9':
		return true, s.number()
	}
	return true, s.word()
}

func (s *scanner) open(bracket byte) (done bool, err error) {
	if len(s.stack) == maxDepth {
		return false, s.fail(s.at, "nested more than %d deep", maxDepth)
	}
	if len(s.stack) == pythonDepth && !s.deep {
		s.deep = true
		s.notice(DeepNesting, s.at, fmt.Sprintf("nested more than %d deep, which the reference library refuses", pythonDepth), true)
	}
	f := frame{opened: s.at}
	if bracket == '{' {
		s.objects++
		f.object = s.objects
	}
	s.at++
	s.space()
	if s.at < len(s.text) && s.text[s.at] == bracket+2 { // '}' and ']' stand two after their openers
		s.at++
		return true, nil
	}
	s.stack = append(s.stack, f)
	if bracket == '{' {
		return false, s.key()
	}
	return false, nil
}

// next reads what follows a value inside an object or list: a comma and what
// introduces the next value, or the end (done).
func (s *scanner) next() (done bool, err error) {
	f := &s.stack[len(s.stack)-1]
	s.space()
	if s.at == len(s.text) {
		return false, s.ends()
	}
	closer, what := byte(']'), "list"
	if f.object > 0 {
		closer, what = '}', "object"
	}
	switch s.text[s.at] {
	case closer:
		s.at++
		s.stack = s.stack[:len(s.stack)-1]
		return true, nil
	case ',':
	default:
		return false, s.fail(s.at, "%s, want a comma or the end of the %s", s.found(), what)
	}
	comma := s.at
	s.at++
	s.space()
	if s.at < len(s.text) && s.text[s.at] == closer {
		return false, s.fail(comma, "comma before the end of the %s", what)
	}
	if f.object > 0 {
		return false, s.key()
	}
	f.index++
	return false, nil
}

// key reads a member's name and its colon.
func (s *scanner) key() error {
	s.space()
	if s.at == len(s.text) {
		return s.ends()
	}
	begin := s.at
	if s.text[begin] != '"' {
		return s.fail(begin, "%s, want a name in double quotes", s.found())
	}
	name, err := s.str()
	if err != nil {
		return err
	}
	s.space()
	if s.at == len(s.text) {
		return s.ends()
	}
	if s.text[s.at] != ':' {
		return s.fail(s.at, "%s, want a colon after the name %q", s.found(), shorten(name))
	}
	s.at++
	f := &s.stack[len(s.stack)-1]
	f.key = name
	id := member{f.object, name}
	if _, twice := s.keys[id]; twice {
		s.notice(DuplicateKey, begin, "given more than once; the last value counts", false)
	}
	if len(s.keys) == mostMembers {
		return s.fail(begin, "more than %d members, and no config has so many", mostMembers)
	}
	s.keys[id] = struct{}{}
	return nil
}

// str reads a string and returns its value.
func (s *scanner) str() (string, error) {
	begin := s.at
	escaped := false
	for i := begin + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			if escaped {
				return gjson.Parse(s.text[begin:s.at]).Str, nil
			}
			return s.text[begin+1 : i], nil
		case c == '\\':
			size := escapeSize(s.text[i:])
			if size == 0 {
				return "", s.fail(i, "not an escape that JSON knows")
			}
			escaped = true
			i += size - 1
		case c < ' ':
			return "", s.fail(i, "control character 0x%02x inside a text", c)
		}
	}
	return "", s.fail(begin, "the text that begins here has no end; the file was cut off or a quote is missing")
}

// escapeSize returns the length of the escape at the start of s, 0 if it is none.
func escapeSize(s string) int {
	if len(s) < 2 {
		return 0
	}
	if strings.IndexByte(`"\/bfnrt`, s[1]) >= 0 {
		return 2
	}
	if s[1] != 'u' || len(s) < 6 {
		return 0
	}
	for _, c := range []byte(s[2:6]) {
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return 0
		}
	}
	return 6
}

// path names the value at hand, such as text_config.layers[3].
func (s *scanner) path() string {
	var path strings.Builder
	for _, f := range s.stack {
		if f.object == 0 {
			path.WriteString("[" + strconv.Itoa(f.index) + "]")
			continue
		}
		if path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(f.key)
	}
	const most = 80
	if path.Len() > most {
		return path.String()[:most] + "…"
	}
	return path.String()
}

func (s *scanner) notice(kind NoticeKind, offset int, message string, refused bool) {
	if len(s.notices) == mostNotices {
		s.omitted++
		return
	}
	line, column := place(s.text, offset)
	s.notices = append(s.notices, Notice{Kind: kind, Field: s.path(), Message: message,
		Line: line, Column: column, Refused: refused})
}

func (s *scanner) allNotices() []Notice {
	if s.omitted == 0 {
		return s.notices
	}
	return append(s.notices, Notice{Kind: MoreNotices, Message: fmt.Sprintf("further notices left out: %d", s.omitted)})
}
