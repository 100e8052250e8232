package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// explainMissing names the cause of expected tensors that were not found, where
// the file itself shows one.
func (m *matching) explainMissing() {
	m.missingComputed()
	m.listMissing()
	m.missingEntries()
	if !m.in.Checkpoint.Complete {
		m.missingShards()
		return
	}
	m.missingLayers()
	m.missingHead()
}

// missingComputed accounts for parameters that the library computes and leaves out
// of the checkpoints that it writes.
func (m *matching) missingComputed() {
	var elements int64
	var tensors []string
	for _, s := range m.slots.all {
		if s.section == "" && s.Unsaved && s.missing() > 0 {
			elements += s.Each() * s.missing()
			tensors = append(tensors, s.Folded())
			s.count = s.Copies
		}
	}
	if elements > 0 {
		m.addRow("unsaved_parameters", "parameters that are computed and not saved", "", -elements, tensors)
	}
}

// listMissing keeps the names of what was not found, whatever the cause.
func (m *matching) listMissing() {
	for _, s := range m.slots.all {
		if s.section != "" || s.TiedTo != "" || s.missing() == 0 {
			continue
		}
		for _, name := range s.missingNames(mostMissing - len(m.missing)) {
			m.missing = append(m.missing, MissingTensor{name, s.Shape, s.Each(), RoleName(s.Tensor)})
		}
	}
}

// missingEntries puts what was not found to the account of entries of a header that
// cannot be counted: the header is refused for them.
func (m *matching) missingEntries() {
	var elements int64
	var tensors []string
	for _, file := range m.in.Checkpoint.Files {
		if file.Header == nil {
			continue
		}
		for i := range file.Header.Excluded {
			name := file.Header.Excluded[i].Name
			template, numbers := foldName(nil, name)
			s, at := m.slots.forMember(string(template), &member{number: numbers})
			if s == nil || s.section != "" || s.TiedTo != "" || s.Buffer || !s.take(at) {
				continue
			}
			elements += s.Each()
			tensors = append(tensors, name)
		}
	}
	if elements > 0 {
		m.addRow("unreadable_entries", "tensors whose entries in the header cannot be read", "", -elements, tensors)
	}
}

// missingShards puts what was not found to the account of the shards that could
// not be read.
func (m *matching) missingShards() {
	var elements int64
	var tensors []string
	for _, s := range m.slots.all {
		if s.section != "" || s.TiedTo != "" || s.Buffer || s.missing() == 0 {
			continue
		}
		elements += s.Each() * s.missing()
		tensors = append(tensors, s.Folded())
		s.count = s.Copies
	}
	if elements > 0 {
		m.addRow("unavailable_shards", "tensors of shards that could not be read", "", -elements, tensors)
	}
}

// missingLayers finds layers of which nothing is in the file.
func (m *matching) missingLayers() {
	if !slices.ContainsFunc(m.slots.all, func(s *slot) bool {
		return s.section == "" && s.TiedTo == "" && !s.Buffer && s.missing() > 0
	}) {
		return
	}
	present := make(map[int64]bool)
	absent := make(map[int64]int64) // layer → elements
	for _, s := range m.slots.all {
		if s.section != "" || s.TiedTo != "" || s.Buffer || len(s.Index) == 0 {
			continue
		}
		inner := s.Copies / s.Index[0].Len()
		for at := range s.Copies {
			layer := s.Index[0].At(at / inner)
			if s.found.has(at) {
				present[layer] = true
			} else {
				absent[layer] += s.Each()
			}
			if len(absent) > 1<<16 {
				return
			}
		}
	}
	var elements int64
	var numbers []int64
	for layer, n := range absent {
		if !present[layer] {
			elements += n
			numbers = append(numbers, layer)
		}
	}
	if len(numbers) == 0 || len(present) == 0 {
		return
	}
	for _, s := range m.slots.all {
		if s.section == "" && s.TiedTo == "" && !s.Buffer && len(s.Index) > 0 {
			forgive(s, estimator.Only(numbers...))
		}
	}
	layers := estimator.Only(numbers...).String()
	m.addRow("layers_missing", "layers that are not in the file", "layers "+layers, -elements, nil)
	m.find(finding.New("HFI416", fmt.Sprintf("layers %s of the config are not in the file: %s", layers, finding.Count(elements, "element"))).
		Field("num_hidden_layers"))
}

// forgive marks the copies of whole layers as accounted for.
func forgive(s *slot, layers estimator.Indices) {
	inner := s.Copies / s.Index[0].Len()
	for at := range s.Copies {
		if layers.Rank(s.Index[0].At(at/inner)) >= 0 {
			s.take(at)
		}
	}
}

// missingHead names an output head, or another task's head, that was not saved
// with the body.
func (m *matching) missingHead() {
	var elements int64
	var tensors []string
	for _, s := range m.slots.all {
		switch s.Role {
		case estimator.Head, estimator.HeadLayers, estimator.Classifier, estimator.Pooler:
		default:
			continue
		}
		if s.section != "" || s.TiedTo != "" || s.Buffer || s.count > 0 {
			continue
		}
		elements += s.Elements()
		tensors = append(tensors, s.Folded())
		s.count = s.Copies
	}
	if elements == 0 {
		return
	}
	m.addRow("head_missing", "head that is not in the file", "", -elements, tensors)
	m.find(finding.New("HFI421", fmt.Sprintf("%s has a head of %s that is not in the file", m.in.Model.Class, finding.Count(elements, "element"))).
		About(tensors...).Field("architectures", "tie_word_embeddings"))
}

// listUnexplained puts what is left on the list: nothing explains it.
func (m *matching) listUnexplained() {
	m.eachGroup(m.leftover)
	m.claimLoose(Unexpected)
	for _, s := range m.slots.all {
		if s.section != "" || s.TiedTo != "" || s.Buffer || s.missing() <= 0 {
			continue
		}
		n := s.missing()
		m.unexplained -= s.Each() * n
		listed := s.missingNames(finding.MostNames)
		m.unexplainedNames = append(m.unexplainedNames, listed...)
		m.find(finding.New("HFI401", fmt.Sprintf("%s %s of the config: %d not in the file, %s elements",
			s.Folded(), shapeText(s.Shape), n, finding.Number(s.Each()*n))).About(listed...))
	}
}

// leftover lists the members of a group that no step has claimed: of another
// shape than expected, stored twice, or unknown.
func (m *matching) leftover(g *group) {
	m.leave(g, Mismatch, func(one *member) bool {
		s, _ := m.slots.forMember(g.name, one)
		return s != nil && !s.sameShape(g.shape)
	})
	m.leave(g, Duplicate, func(one *member) bool {
		s, _ := m.slots.forMember(g.name, one)
		return s != nil
	})
	m.leave(g, Unexpected, func(*member) bool { return true })
}

func (m *matching) leave(g *group, status Status, ok func(*member) bool) {
	if len(g.members) == 0 {
		return
	}
	taken := m.claimIf(g, status, inferRole(g.name), g.each(), ok)
	if taken == nil {
		return
	}
	elements := g.each() * int64(len(taken))
	m.unexplained += elements
	m.unexplainedNames = append(m.unexplainedNames, names(taken)...)
	folded := fmt.Sprintf("%s %s %s", namesOf(g.template, taken), g.dtype, shapeText(g.shape))
	switch {
	case status == Mismatch:
		s, _ := m.slots.forMember(g.name, &taken[0])
		for i := range taken { // the slot is filled, if wrongly: it is not missing as well
			if t, at := m.slots.forMember(g.name, &taken[i]); t.section == "" && t.TiedTo == "" && !t.Buffer && t.take(at) {
				m.unexplained -= t.Each()
				m.load(t, g.each())
			}
		}
		m.find(finding.New("HFI403", fmt.Sprintf("%s instead of %s", folded, shapeText(s.Shape))).About(names(taken)...))
	case status == Duplicate:
		m.find(finding.New("HFI208", folded+" is stored more than once").About(names(taken)...))
	case strings.Contains(g.name, "flat_param"):
		m.find(finding.New("HFI715", folded+" is a flat parameter").About(names(taken)...))
	default:
		m.find(finding.New("HFI402", folded+" is not of this architecture").About(names(taken)...))
	}
}
