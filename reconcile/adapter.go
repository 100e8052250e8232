package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/adapter"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// AdapterInput is the two accounts of an adapter.
type AdapterInput struct {
	Config     *hfconfig.Adapter // nil where there is none
	Base       *estimator.Model  // nil where it is not known
	Checkpoint *safetensors.Checkpoint
}

// AdapterResult is what the reconciliation of an adapter finds.
type AdapterResult struct {
	*Result
	Plan *adapter.Plan // what was expected; nil without a config or a described method
	// Described is false where the plan was read off the file itself: it shows
	// whether the tensors fit together, not whether they are all there.
	Described bool
	Trainable *int64 // nil where it cannot be told
}

// adapterMatching is the reconciliation of an adapter under way.
type adapterMatching struct {
	matching
	config *hfconfig.Adapter
	base   *slots
	plan   *adapter.Plan
	kinds  map[*slot]*adapter.Tensor
}

// ReconcileAdapter holds an adapter's file against what its config and its base
// call for.
func ReconcileAdapter(in AdapterInput) (*AdapterResult, []finding.Finding) {
	m := &adapterMatching{config: in.Config, kinds: make(map[*slot]*adapter.Tensor)}
	m.matching = matching{in: Input{Checkpoint: in.Checkpoint}, slots: newSlots()}
	m.groups, m.loose = foldCheckpoint(in.Checkpoint, m.slots.has)
	if in.Base != nil {
		m.base = newSlots()
		m.base.add(in.Base.Tensors(), "")
	}
	described := m.describe(in)
	m.renameAdapter()
	if !described && m.config != nil && m.plan == nil {
		m.infer()
	}
	m.matchAdapter()
	m.matchBaseCopies()
	if m.plan == nil {
		m.inferKinds()
	}
	m.closeAdapter()
	m.checkDTypes()
	return m.adapterResult(described), m.sorted()
}

// describe predicts the file from config and base.
func (m *adapterMatching) describe(in AdapterInput) bool {
	if in.Config == nil {
		return false
	}
	plan, err := adapter.Describe(in.Config, in.Base)
	var size *adapter.SizeError
	var method *adapter.MethodError
	switch {
	case err == nil && len(plan.Tensors) == 0:
		m.find(finding.New("HFI607", "no module of the base is among the adapter's targets").Field("target_modules"))
		return false
	case err == nil:
		m.expect(plan)
		return true
	case errors.As(err, &method):
		m.find(finding.New("HFI603", err.Error()).Field("peft_type"))
	case errors.Is(err, adapter.ErrNoBase):
	case errors.As(err, &size):
		m.find(finding.New("HFI606", err.Error()))
	default:
		m.find(finding.New("HFI606", err.Error()))
	}
	return false
}

// expect makes slots of a plan's tensors.
func (m *adapterMatching) expect(plan *adapter.Plan) {
	m.plan = plan
	for i := range plan.Tensors {
		t := &plan.Tensors[i]
		t.Tensor.Active = t.Tensor.Elements()
		one := &slot{Tensor: &t.Tensor}
		m.kinds[one] = t
		m.slots.all = append(m.slots.all, one)
		m.slots.byTemplate[one.Template] = append(m.slots.byTemplate[one.Template], one)
	}
}

// infer predicts the file from its own tensors.
func (m *adapterMatching) infer() {
	var stored []adapter.Stored
	m.eachGroup(func(g *group) {
		for i := range g.members {
			stored = append(stored, adapter.Stored{Name: g.nameOf(&g.members[i]), Shape: g.shape})
		}
	})
	plan := adapter.Infer(m.config, stored)
	folded := *plan
	folded.Tensors = nil
	for i := range plan.Tensors {
		t := plan.Tensors[i]
		template, numbers := foldName(nil, t.Template)
		t.Template, t.Index = string(template), make([]estimator.Indices, min(places(string(template)), mostNumbers))
		for at := range t.Index {
			t.Index[at] = estimator.Only(int64(numbers[at]))
		}
		folded.Tensors = append(folded.Tensors, t)
	}
	m.expect(&folded)
}

// nameOf is a member's name after the renames of its group.
func (g *group) nameOf(one *member) string {
	return estimator.Fill(g.name, func(place int) string {
		if place < mostNumbers {
			return fmt.Sprint(one.number[place])
		}
		return "*"
	})
}

// matchAdapter claims what was expected.
func (m *adapterMatching) matchAdapter() {
	m.eachGroup(func(g *group) {
		for {
			var current *slot
			m.claimIf(g, Expected, "", g.each(), func(one *member) bool {
				s, at := m.slots.forMember(g.name, one)
				if s == nil || current != nil && s != current || !m.fits(s, g.shape) || !s.take(at) {
					return false
				}
				current = s
				return true
			})
			if current == nil {
				return
			}
			m.settleKind(current, g)
		}
	})
}

// fits compares shapes where the config leaves a choice.
func (m *adapterMatching) fits(s *slot, shape []int64) bool {
	t := m.kinds[s]
	return s.sameShape(shape) || t.Also != nil && slices.Equal(t.Also, shape) ||
		t.AnyRows && len(shape) == len(s.Shape) && len(shape) > 0 && slices.Equal(shape[1:], s.Shape[1:])
}

// settleKind counts the claim just made. A shape that the config leaves open is
// a difference of its own.
func (m *adapterMatching) settleKind(s *slot, g *group) {
	c := &m.claims[len(m.claims)-1]
	kind := m.kinds[s].Kind
	c.Role = string(kind)
	n := g.each() * int64(len(c.members))
	if kind.Counted() {
		m.load(s, n)
	}
	if more := n - s.Each()*int64(len(c.members)); more != 0 {
		m.addRow("adapter_shape", "sizes that the adapter's config leaves open", productText(g, c.members), more, names(c.members))
	}
	if m.kinds[s].Optional {
		m.addRow(string(kind), "tensors of the base that need not be stored", productText(g, c.members), n, names(c.members))
	}
	switch kind {
	case adapter.BaseCopy:
		m.find(finding.New("HFI609", fmt.Sprintf("%s is a copy of the base's table: %s", namesOf(g.template, c.members), finding.Count(n, "element"))).
			About(names(c.members)...))
	case adapter.SavedModule:
		m.find(finding.New("HFI610", fmt.Sprintf("%s is stored whole: %s", namesOf(g.template, c.members), finding.Count(n, "element"))).
			About(names(c.members)...).Field("modules_to_save"))
	}
}

// matchBaseCopies claims tensors of the base that the adapter's config does not
// ask for: a whole embedding beside a resized vocabulary, for one.
func (m *adapterMatching) matchBaseCopies() {
	if m.base == nil {
		return
	}
	m.eachGroup(func(g *group) {
		bare := baseName(g.name)
		taken := m.claimIf(g, Duplicate, string(adapter.BaseCopy), g.each(), func(one *member) bool {
			if s, _ := m.slots.forMember(g.name, one); s != nil {
				return false
			}
			s, _ := m.base.forMember(bare, one)
			return s != nil && (s.sameShape(g.shape) || vocabularyShaped(s, g.shape))
		})
		if taken == nil {
			return
		}
		n := g.each() * int64(len(taken))
		m.addRow("base_copies", "copies of the base's tensors", productText(g, taken), n, names(taken))
		m.find(finding.New("HFI611", fmt.Sprintf("%s %s is a tensor of the base, stored whole: %s", namesOf(g.template, taken), shapeText(g.shape), finding.Count(n, "element"))).
			About(names(taken)...))
	})
}

// baseName is the name that a tensor below peft's wrappers has in the base.
func baseName(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "base_model."), "model.")
	for _, wrapper := range []string{".base_layer", ".original_module", ".modules_to_save"} {
		name = strings.ReplaceAll(name, wrapper, "")
	}
	return name
}

// inferKinds counts what is left by the ends of the names: nothing says what
// should be there.
func (m *adapterMatching) inferKinds() {
	sums := make(map[string]int64)
	examples := make(map[string][]string)
	var order []string
	m.eachGroup(func(g *group) {
		_, kind := adapter.Split(g.name)
		kind, _, _ = strings.Cut(kind, ".")
		switch {
		case strings.Contains(g.name, ".base_layer."):
			kind = string(adapter.BaseCopy)
		case strings.HasSuffix(g.name, ".vera_A") || strings.HasSuffix(g.name, ".vera_B"):
			kind = string(adapter.Projection)
		case kind == "":
			kind = inferRole(g.name)
		}
		taken := m.claimIf(g, Inferred, kind, g.each(), func(*member) bool { return true })
		if _, known := sums[kind]; !known {
			order = append(order, kind)
		}
		n := g.each() * int64(len(taken))
		sums[kind] += n
		examples[kind] = append(examples[kind], namesOf(g.template, taken))
		if adapter.Kind(kind).Counted() {
			m.unique += n
		}
	})
	for _, kind := range order {
		m.addRow(kind, "inferred from names", "", sums[kind], examples[kind])
	}
}

// closeAdapter lists what is missing and what is left.
func (m *adapterMatching) closeAdapter() {
	for s, t := range m.kinds {
		if t.Optional {
			s.count = s.Copies
		}
	}
	m.listMissing()
	for i := range m.missing {
		m.missing[i].Role = "adapter"
	}
	if !m.in.Checkpoint.Complete {
		m.missingShards()
	}
	m.listUnexplained()
}

func (m *adapterMatching) adapterResult(described bool) *AdapterResult {
	totals := m.in.Checkpoint.Totals()
	r := &AdapterResult{Result: m.result(totals.Elements, totals.Bytes), Plan: m.plan, Described: described}
	r.Known = m.in.Checkpoint.Complete
	r.Unique = m.unique
	switch {
	case described:
		r.Unexplained -= m.plan.Stored()
		n := m.plan.Trainable
		if n == m.plan.Own() { // as stored, where the config leaves sizes open
			n = m.unique
		}
		r.Trainable = &n
	case m.plan != nil:
		m.rowsOfKinds(r)
	}
	if r.Trainable == nil && r.Known && (m.plan != nil || m.config == nil) {
		r.Trainable = &m.unique
	}
	return r
}

// rowsOfKinds writes the ledger of an adapter whose base is not known: it starts
// at 0, and its rows are the kinds of tensors.
func (m *adapterMatching) rowsOfKinds(r *AdapterResult) {
	for i := range m.claims {
		c := &m.claims[i]
		if c.Status != Expected {
			continue
		}
		n := int64(0)
		for j := range c.members {
			n += c.members[j].tensor.Elements()
		}
		r.Rows = append(r.Rows, Row{Stage: EstimateStage, Code: c.Role, Reason: KindWords(c.Role), Elements: n,
			Tensors: []string{namesOf(c.Template, c.members)}})
		r.Unexplained -= n
	}
	r.Rows = mergeRows(r.Rows)
}

// KindWords are the ledger's words for a kind of adapter tensor.
func KindWords(kind string) string {
	if words, ok := kindWords[adapter.Kind(kind)]; ok {
		return words
	}
	return kind + " matrices of the adapter"
}

var kindWords = map[adapter.Kind]string{
	adapter.SavedModule: "modules that are trained and stored whole",
	adapter.BaseCopy:    "copies of the base's tables below adapted embeddings",
	adapter.TiedCopy:    "tied modules that are stored again",
	adapter.Projection:  "random matrices that all layers share",
	adapter.Bias:        "biases of the base, trained",
	adapter.TokenRows:   "trained rows of embeddings",
	adapter.Prompt:      "virtual tokens",
}
