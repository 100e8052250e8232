package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// matchPruned explains experts that are missing whole: the file was pruned and
// its config was not. Routers have as many rows as their layer has experts left.
func (m *matching) matchPruned() {
	layers := m.expertLayers()
	if len(layers) == 0 || !m.in.Checkpoint.Complete {
		return
	}
	var lost int64
	left := make(map[int64][]int64) // experts left → layers
	for _, layer := range layers {
		if layer.kept == 0 || layer.kept == layer.wanted {
			continue
		}
		lost += m.forgiveExperts(layer)
		left[layer.kept] = append(left[layer.kept], int64(layer.number))
	}
	if lost == 0 {
		return
	}
	lost += m.prunedRouters(layers)
	var texts []string
	for _, kept := range slices.Sorted(mapKeys(left)) {
		texts = append(texts, fmt.Sprintf("%d of %d in layers %s", kept, layers[0].wanted, estimator.Only(left[kept]...)))
	}
	m.addRow("experts_missing", "experts that were pruned from the file", strings.Join(texts, "; "), -lost, nil)
	m.find(finding.New("HFI713", fmt.Sprintf("the file holds %s of the config's experts: %s fewer", strings.Join(texts, "; "), finding.Count(lost, "element"))).
		Field("num_experts", "num_local_experts", "n_routed_experts"))
}

func mapKeys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// expertLayer is the experts of one layer.
type expertLayer struct {
	number       int32
	wanted, kept int64
	gone         []int64 // places of experts of which nothing is stored
	slots        []*slot
}

// expertLayers looks through the layers in which experts are missing.
func (m *matching) expertLayers() []*expertLayer {
	byLayer := make(map[int64]*expertLayer)
	var order []int64
	for _, s := range m.slots.all {
		if s.section != "" || s.Role != estimator.RoutedExperts || len(s.Index) != 2 || s.missing() == 0 || s.Copies > mostBits {
			continue
		}
		for rank := range s.Index[0].Len() {
			n := s.Index[0].At(rank)
			if byLayer[n] == nil {
				byLayer[n] = &expertLayer{number: int32(n), wanted: s.Index[1].Len()}
				order = append(order, n)
			}
			byLayer[n].slots = append(byLayer[n].slots, s)
		}
	}
	slices.Sort(order)
	var layers []*expertLayer
	for _, n := range order {
		layer := byLayer[n]
		layer.count()
		layers = append(layers, layer)
	}
	return layers
}

// count finds the experts of which nothing is stored. One of which a part is
// stored is damaged, not pruned.
func (l *expertLayer) count() {
	for e := range l.wanted {
		stored := false
		for _, s := range l.slots {
			stored = stored || s.found.has(l.place(s, e))
		}
		if stored {
			l.kept++
		} else {
			l.gone = append(l.gone, e)
		}
	}
}

func (l *expertLayer) place(s *slot, rank int64) int64 {
	return s.Index[0].Rank(int64(l.number))*s.Index[1].Len() + rank
}

func (m *matching) forgiveExperts(l *expertLayer) (lost int64) {
	for _, s := range l.slots {
		for _, e := range l.gone {
			if s.take(l.place(s, e)) {
				lost += s.Each()
			}
		}
	}
	return lost
}

// prunedRouters claims routers and their biases with a row for each expert that
// is left.
func (m *matching) prunedRouters(layers []*expertLayer) (lost int64) {
	kept := make(map[int32]int64)
	for _, l := range layers {
		kept[l.number] = l.kept
	}
	m.eachGroup(func(g *group) {
		taken := m.claimIf(g, Mismatch, estimator.Router.String(), g.each(), func(one *member) bool {
			s, at := m.slots.forMember(g.name, one)
			if s == nil || s.section != "" || s.Role != estimator.Router || len(g.shape) != len(s.Shape) || len(g.shape) == 0 ||
				!slices.Equal(g.shape[1:], s.Shape[1:]) || g.shape[0] != kept[one.number[0]] || !s.take(at) {
				return false
			}
			if !s.Buffer {
				lost += s.Each() - g.each()
				m.load(s, g.each())
			}
			return true
		})
		if s, _ := m.slots.forMember(g.name, firstOf(taken)); s != nil && s.Buffer {
			m.claims[len(m.claims)-1].Logical = 0
			m.addBuffers(g, taken, "buffers")
		}
	})
	return lost
}

func firstOf(members []member) *member {
	if len(members) == 0 {
		return &member{number: [mostNumbers]int32{-1, -1, -1, -1}}
	}
	return &members[0]
}

// matchExpertsBeyond claims whole experts with numbers after the config's last.
func (m *matching) matchExpertsBeyond() {
	var elements int64
	var about []string
	m.eachGroup(func(g *group) {
		taken := m.claimIf(g, Beyond, estimator.RoutedExperts.String(), g.each(), func(one *member) bool {
			for _, s := range m.slots.byTemplate[g.name] {
				if s.Role != estimator.RoutedExperts || len(s.Index) != 2 || !s.sameShape(g.shape) || s.section != "" {
					continue
				}
				last := s.Index[1].At(s.Index[1].Len() - 1)
				if s.Index[0].Rank(int64(one.number[0])) >= 0 && int64(one.number[1]) > last {
					return true
				}
			}
			return false
		})
		elements += g.each() * int64(len(taken))
		about = append(about, names(taken)...)
	})
	if elements == 0 {
		return
	}
	m.addRow("experts_beyond_config", "experts beyond the config's", "", elements, about)
	m.find(finding.New("HFI714", fmt.Sprintf("%s of experts beyond the config's", finding.Count(elements, "element"))).About(about...).
		Field("num_experts", "num_local_experts", "n_routed_experts"))
}
