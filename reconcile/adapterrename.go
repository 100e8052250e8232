package reconcile

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/adapter"
	"github.com/hf-inspect/hf-inspect/finding"
)

// renameAdapter undoes what stands in an adapter's names and should not: the
// adapter's own name, and other prefixes than peft's.
func (m *adapterMatching) renameAdapter() {
	m.dropAdapterName()
	m.renameAdapterPrefix()
}

// dropAdapterName finds one segment that names of the file have after a method's
// ending, as in lora_A.default.weight. peft takes it out when it saves and looks
// for names without it.
func (m *adapterMatching) dropAdapterName() {
	counts := make(map[string]int64)
	var best string
	m.eachGroup(func(g *group) {
		if name := adapterNameIn(g.name); name != "" {
			counts[name] += int64(len(g.members))
			if counts[name] > counts[best] || best == "" {
				best = name
			}
		}
	})
	if best == "" {
		return
	}
	var about []string
	m.eachGroup(func(g *group) {
		renamed := strings.Replace(g.name, ".modules_to_save."+best+".", ".", 1)
		if adapterNameIn(g.name) == best {
			renamed = dropLast(g.name, best)
		}
		if renamed != g.name {
			g.name = renamed
			about = append(about, namesOf(g.template, g.members))
		}
	})
	m.find(finding.New("HFI604", fmt.Sprintf("names carry the adapter's own name %q", best)).About(about...))
}

// adapterNameIn returns the segment that stands within or after the ending of a
// method's tensor, "" where there is none.
func adapterNameIn(name string) string {
	if _, ending := adapter.Split(name); ending != "" {
		return ""
	}
	segments := strings.Split(name, ".")
	for i := len(segments) - 1; i >= max(len(segments)-2, 1); i-- {
		without := strings.Join(append(append([]string{}, segments[:i]...), segments[i+1:]...), ".")
		if _, ending := adapter.Split(without); ending != "" {
			return segments[i]
		}
	}
	return ""
}

func dropLast(name, segment string) string {
	at := strings.LastIndex(name, "."+segment)
	if at < 0 {
		return name
	}
	return name[:at] + name[at+1+len(segment):]
}

// renameAdapterPrefix finds the one exchange of prefixes under which most names
// are expected ones.
func (m *adapterMatching) renameAdapterPrefix() {
	if len(m.slots.all) == 0 {
		return
	}
	names := m.tally()
	best, bestScore := exchange{}, names.base
	for _, e := range m.prefixPairs(names) {
		if score := names.score(e); score > bestScore {
			best, bestScore = e, score
		}
	}
	if best == (exchange{}) {
		return
	}
	for _, g := range m.groups {
		g.name = best.apply(g.name)
	}
	code := "HFI605"
	if peft := adapter.Prefix(m.config); strings.HasPrefix(best.stored, peft) && strings.HasPrefix(best.expected, peft) {
		code = "HFI614"
	}
	m.find(finding.New(code, fmt.Sprintf("names begin with %q instead of %q", best.stored, best.expected)))
}

// prefixPairs lists what turns a stored name into an expected one with the same
// ending.
func (m *adapterMatching) prefixPairs(stored *tally) []exchange {
	const most = 64
	byEnding := make(map[string][]string)
	for _, s := range m.slots.all {
		key := lastSegments(s.Template)
		byEnding[key] = append(byEnding[key], s.Template)
	}
	seen := make(map[exchange]bool)
	var list []exchange
	for _, name := range stored.names {
		for _, expected := range byEnding[lastSegments(name)] {
			e := differing(name, expected)
			if e != (exchange{}) && !seen[e] {
				seen[e] = true
				list = append(list, e)
			}
			if len(list) >= most {
				return list
			}
		}
	}
	return list
}

// lastSegments returns the end of a name from its last number on.
func lastSegments(name string) string {
	if at := strings.LastIndex(name, "*"); at >= 0 {
		return name[at:]
	}
	_, last := cutLast(name)
	return last
}

func cutLast(name string) (above, last string) {
	at := strings.LastIndexByte(name, '.')
	return name[:max(at, 0)], name[at+1:]
}

// differing strips the common ending of two names, at a dot.
func differing(stored, expected string) exchange {
	for {
		a, lastA := cutLast(stored)
		b, lastB := cutLast(expected)
		if lastA != lastB || a == "" || b == "" {
			break
		}
		stored, expected = a, b
	}
	if stored == expected {
		return exchange{}
	}
	// One name may be the end of the other: then the prefix is all before it.
	if rest, ok := strings.CutSuffix(stored, "."+expected); ok {
		return exchange{rest + ".", ""}
	}
	if rest, ok := strings.CutSuffix(expected, "."+stored); ok {
		return exchange{"", rest + "."}
	}
	return exchange{stored + ".", expected + "."}
}
