package reconcile

import "slices"

// Grains that occur without being declared.
var (
	groups  = []grain{{1, 128, 2}, {1, 64, 2}, {1, 32, 2}, {1, 16, 2}, {1, 0, 2}, {1, 256, 2}, {1, 512, 2}, {1, 1024, 2}, {1, 8, 2}}
	blocks  = []grain{{128, 128, 2}, {64, 64, 2}, {32, 32, 2}, {256, 256, 2}, {1, 128, 2}}
	channel = []grain{{1, 0, 2}}
	rows1   = []grain{{1, 0, 1}}
	whole   = []grain{{0, 0, 1}, {0, 0, 0}, {0, 0, 2}}
	by16    = []grain{{1, 16, 2}}
	by32    = []grain{{1, 32, 2}}
	any8    = slices.Concat(channel, whole, rows1, groups, blocks)
	fine    = slices.Concat(blocks, whole)
)

// Companions that several schemes have.
func scales(suffix string, t dtypes) part { return part{suffix: suffix, dtypes: t, shape: scale} }
func extra(suffix string, t dtypes, s shaper) part {
	return part{suffix: suffix, dtypes: t, shape: s, optional: true}
}
func (p part) as(kind partKind) part { p.kind = kind; return p }

// staticScales are the scales of activations, one for each module.
func staticScales(s shaper, suffixes ...string) []part {
	var list []part
	for _, suffix := range suffixes {
		list = append(list, extra(suffix, floats, s))
	}
	return list
}

// schemes lists every layout, those that are told apart most surely first.
var schemes = slices.Concat(floatSchemes, intSchemes, bookSchemes)

// suffixes are the endings of companions, each once.
var suffixes = func() []string {
	var list []string
	for i := range schemes {
		for _, p := range schemes[i].parts {
			list = append(list, p.suffix)
		}
		if c := schemes[i].carrier; c != ".weight" && c != "" {
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}()

// allFormats and allNumbers are what configs can say of layouts and numbers that
// schemes stand for: other words tell nothing about them.
var (
	allFormats = vocabulary(func(s *scheme) []string { return s.formats })
	allNumbers = vocabulary(func(s *scheme) []string { return []string{s.numbers} })
)

func vocabulary(of func(*scheme) []string) []string {
	var list []string
	for i := range schemes {
		list = append(list, of(&schemes[i])...)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(word string) bool { return word == "" })
}
