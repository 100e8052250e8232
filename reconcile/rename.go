package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// wrappers are prefixes that training wrappers leave on names. The reference
// library does not strip them.
var wrappers = []string{"module.", "_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.", "base_model.model.", "base_model."}

// renamePrefix finds the one exchange of prefixes under which most stored names
// are expected ones, and applies it to the whole checkpoint.
func (m *matching) renamePrefix() {
	names := m.tally()
	best, bestScore := exchange{}, names.base
	for _, e := range m.exchanges(names) {
		if score := names.score(e); score > bestScore {
			best, bestScore = e, score
		}
	}
	if best == (exchange{}) || bestScore < 2*names.base {
		return // a prefix of the whole file; names that stand alone with one are not mended
	}
	for _, g := range m.groups {
		if best.stored != "" || m.slots.byTemplate[g.name] == nil {
			g.name = best.apply(g.name)
		}
	}
	m.find(m.prefixFinding(best))
}

// exchange is a prefix that stored names carry and the one that they should.
type exchange struct{ stored, expected string }

func (e exchange) apply(name string) string {
	if rest, ok := strings.CutPrefix(name, e.stored); ok && (e.stored != "" || !strings.HasPrefix(name, e.expected)) {
		return e.expected + rest
	}
	return name
}

// tally is the stored names, sorted, with how many tensors have each: exchanges
// of prefixes are tried on those that have the prefix.
type tally struct {
	m       *matching
	names   []string
	weights map[string]int64
	base    int64 // tensors whose names are expected as they are
}

func (m *matching) tally() *tally {
	t := &tally{m: m, weights: make(map[string]int64)}
	for _, g := range m.groups {
		t.weights[g.name] += int64(len(g.members))
	}
	t.names = slices.Sorted(maps.Keys(t.weights))
	for _, name := range t.names {
		if m.expects(name) {
			t.base += t.weights[name]
		}
	}
	return t
}

// expects reports whether a folded name is an expected one, as it is or without
// a legacy ending.
func (m *matching) expects(name string) bool {
	return m.slots.byTemplate[name] != nil || m.slots.byTemplate[modernName(name)] != nil
}

// score counts the stored tensors whose names are expected under the exchange.
func (t *tally) score(e exchange) int64 {
	score := t.base
	first, _ := slices.BinarySearch(t.names, e.stored)
	for _, name := range t.names[first:] {
		if !strings.HasPrefix(name, e.stored) {
			break
		}
		if e.stored == "" && e.expected != "" && t.m.slots.byTemplate[name] != nil {
			continue // a name that needs no prefix keeps its own: lm_head.weight
		}
		if t.m.expects(name) {
			score -= t.weights[name]
		}
		if t.m.expects(e.apply(name)) {
			score += t.weights[name]
		}
	}
	return score
}

// deepestPrefix is how many segments a prefix may have.
const deepestPrefix = 16

// exchanges lists the prefixes worth trying: wrappers stripped, the base prefix
// added or dropped, and whatever turns a stored name into an expected one with
// the same ending.
func (m *matching) exchanges(stored *tally) []exchange {
	seen := make(map[exchange]bool)
	var list []exchange
	add := func(e exchange) {
		if e.stored != e.expected && !seen[e] {
			seen[e] = true
			list = append(list, e)
		}
	}
	for _, name := range stored.names {
		for stored, depth := name, 0; depth < deepestPrefix; depth++ {
			head, rest, ok := strings.Cut(stored, ".")
			if !ok || head == "*" {
				break
			}
			stored = rest
			prefix := strings.TrimSuffix(name, rest)
			add(exchange{prefix, ""})
			if m.in.Model.Prefix != "" {
				add(exchange{prefix, m.in.Model.Prefix + "."})
			}
		}
		if m.in.Model.Prefix != "" {
			add(exchange{"", m.in.Model.Prefix + "."})
		}
		if len(list) > 200 {
			break
		}
	}
	return list
}

// wrapperText says what a wrapper has left on the names.
func wrapperText(e exchange) string {
	text := fmt.Sprintf("names begin with %q", e.stored)
	if e.expected != "" {
		text += fmt.Sprintf(" instead of %q", e.expected)
	}
	return text + ", the prefix of a wrapper that was around the model when it was saved"
}

func (m *matching) prefixFinding(e exchange) finding.Finding {
	for _, w := range wrappers {
		if strings.Contains(e.stored, w) && !strings.Contains(e.expected, w) {
			return finding.New("HFI409", wrapperText(e))
		}
	}
	if e.stored == "" {
		return finding.New("HFI407", fmt.Sprintf("names lack the prefix %q", e.expected))
	}
	return finding.New("HFI408", fmt.Sprintf("names begin with %q instead of %q", e.stored, e.expected))
}

// modernName exchanges the legacy endings of TensorFlow's layer norms.
func modernName(name string) string {
	if rest, ok := strings.CutSuffix(name, ".gamma"); ok {
		return rest + ".weight"
	}
	if rest, ok := strings.CutSuffix(name, ".beta"); ok {
		return rest + ".bias"
	}
	return name
}

// renameLegacy exchanges legacy endings where the modern name is expected.
func (m *matching) renameLegacy() {
	var renamed []string
	for _, g := range m.groups {
		modern := modernName(g.name)
		if modern != g.name && m.slots.byTemplate[g.name] == nil && m.slots.byTemplate[modern] != nil {
			g.name = modern
			renamed = append(renamed, namesOf(g.template, g.members))
		}
	}
	if renamed != nil {
		m.find(finding.New("HFI410", "layer norms are named gamma and beta instead of weight and bias").About(renamed...))
	}
}
