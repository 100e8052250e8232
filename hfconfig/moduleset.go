package hfconfig

import "strings"

// moduleSet is a list of matchers that answers fast: real lists have thousands
// of names, and are asked about ten thousands of modules.
type moduleSet struct {
	exact map[string]int // the name itself → its place in the list
	under map[string]int // the name or a module above
	loose map[string]int // transformers' rule for plain names
	rest  []matcher
	place []int // of rest
	count int

	dropped int // matchers beyond mostExpressions
}

func (s *moduleSet) add(m matcher) {
	place := s.count
	s.count++
	switch {
	case len(s.rest) == mostExpressions && (m.re != nil || m.rule == matchInside):
		s.dropped++
	case m.re != nil, m.rule == matchRegexp, m.rule == matchInside, m.text == "":
		s.rest = append(s.rest, m)
		s.place = append(s.place, place)
	case m.rule == matchTarget:
		remember(&s.exact, m.text, place)
	case m.rule == matchConvert:
		remember(&s.loose, m.text, place)
	default:
		remember(&s.under, m.text, place)
	}
}

func remember(m *map[string]int, text string, place int) {
	if *m == nil {
		*m = make(map[string]int)
	}
	if _, known := (*m)[text]; !known {
		(*m)[text] = place
	}
}

// find returns the place of the first matcher that matches.
func (s *moduleSet) find(name string) (place int, ok bool) {
	place = s.count
	take := func(m map[string]int, text string) {
		if at, known := m[text]; known && at < place {
			place = at
		}
	}
	take(s.exact, name)
	if len(s.under) > 0 {
		for end := range ends(name) {
			take(s.under, name[:end])
		}
	}
	if len(s.loose) > 0 {
		for text := range looseTexts(name) {
			take(s.loose, text)
		}
	}
	for i, m := range s.rest {
		if s.place[i] < place && m.matches(name) {
			place = s.place[i]
			break
		}
	}
	return place, place < s.count
}

// ends yields where the module's name and those of the modules above it end.
func ends(name string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < len(name); i++ {
			if name[i] == '.' && !yield(i) {
				return
			}
		}
		yield(len(name))
	}
}

// looseTexts yields every text that a plain entry of transformers' lists could
// have to match the name: any suffix; a prefix up to a dot, with the dot or
// without; and, as version 4 had it, whole segments followed by a dot.
func looseTexts(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range len(name) {
			if !yield(name[i:]) {
				return
			}
		}
		for end := range ends(name) {
			if end == len(name) {
				return
			}
			if !yield(name[:end+1]) {
				return
			}
			for start := 0; start >= 0 && start < end; {
				if !yield(name[start:end]) {
					return
				}
				next := strings.IndexByte(name[start:end], '.')
				if next < 0 {
					break
				}
				start += next + 1
			}
		}
	}
}
