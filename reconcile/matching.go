package reconcile

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// matching is a reconciliation under way. Each step claims members of groups
// and leaves the rest to the next; what no step claims is unexplained.
type matching struct {
	in     Input
	groups []*group
	loose  []*group
	slots  *slots
	unread []*group        // tensors of the model in files that the index does not name
	strays map[string]bool // those files

	claims   []claim
	rows     []Row
	findings []finding.Finding
	found    map[string]int // by code

	unique, nonEmbedding, active int64
	unexplained                  int64
	unexplainedNames             []string
	missing                      []MissingTensor

	quant           *hfconfig.Quantization // what the config says, nil for nothing
	unpacked        []*unpacked
	quantiserBiases []*set
	fused           []string // prefixes of experts whose scales are stacked
	valuesRead      int
	states          map[string]*quantState // by the tensor's name
}

// claim is a Claim with what the ledger needs of it.
type claim struct {
	Claim
	bias   bool
	packed bool // quantised, or a companion of a quantised weight
}

// step is one rule of the second stage.
type step func(*matching)

// steps are the rules in the order in which they are tried.
var steps = []step{
	(*matching).renameModules,
	(*matching).renameOriginal,
	(*matching).renamePrefix,
	(*matching).renameLegacy,
	(*matching).renameInMemory,
	(*matching).renameParts,
	(*matching).setUnreadAside,
	(*matching).unpackQuantised,
	(*matching).matchEqual,
	(*matching).matchTies,
	(*matching).rearrange,
	(*matching).matchParallel,
	(*matching).matchOneRank,
	(*matching).matchVocabulary,
	(*matching).matchOtherHeads,
	(*matching).matchBuffers,
	(*matching).matchSections,
	(*matching).matchPrediction,
	(*matching).matchLayersBeyond,
	(*matching).matchExpertsBeyond,
	(*matching).matchFormerBuffers,
	(*matching).matchBiasesBeyond,
	(*matching).matchAliases,
	(*matching).matchSlices,
	(*matching).matchPruned,
	(*matching).matchUnread,
	(*matching).matchUnindexed,
	(*matching).explainMissing,
	(*matching).listUnexplained,
}

// Reconcile holds a checkpoint against a description, or counts it by roles
// inferred from names where there is none.
func Reconcile(in Input) (*Result, []finding.Finding) {
	m := &matching{in: in, slots: newSlots(), states: make(map[string]*quantState)}
	if in.Model != nil {
		m.slots.add(in.Model.Tensors(), "")
		for _, section := range in.Model.Sections {
			m.slots.add(in.Model.SectionTensors(section), section.Name)
		}
	}
	m.groups, m.loose = foldCheckpoint(in.Checkpoint, m.slots.has)
	totals := in.Checkpoint.Totals()
	m.quant = in.quantization()
	if in.Model == nil {
		m.unpackQuantised()
		m.matchAliases()
		m.inferAll()
	} else {
		for _, apply := range steps {
			apply(m)
		}
	}
	m.checkQuantisation()
	m.checkDTypes()
	return m.result(totals.Elements, totals.Bytes), m.sorted()
}

// mostFindings bounds the findings of one code: a file can hold a million names
// that nothing calls for.
const mostFindings = 200

func (m *matching) find(f finding.Finding) {
	if m.found == nil {
		m.found = make(map[string]int)
	}
	if m.found[f.Code]++; m.found[f.Code] <= mostFindings {
		m.findings = append(m.findings, f)
	}
}

// sorted returns the findings. Those that were too many of one code are summed
// up in one.
func (m *matching) sorted() []finding.Finding {
	for code, n := range m.found {
		if n > mostFindings {
			m.findings = append(m.findings, finding.New(code, fmt.Sprintf("%s of this kind", finding.Count(int64(n-mostFindings), "more finding"))))
		}
	}
	return finding.Sort(m.findings)
}

// claimIf moves the members for which ok holds out of the group into a claim.
// It returns the claim's members, nil if there are none.
func (m *matching) claimIf(g *group, status Status, role string, logicalEach int64, ok func(*member) bool) []member {
	taken := g.split(ok)
	if taken == nil {
		return nil
	}
	c := claim{Claim: Claim{Status: status, Role: role, Template: g.template, Name: g.name, DType: g.dtype,
		Shape: g.shape, Logical: logicalEach * int64(len(taken)), members: taken}}
	if g.packed != nil {
		c.packed, c.Shape = true, g.packed.shape
		if status == Expected {
			c.Status = Quantised
		}
	}
	m.claims = append(m.claims, c)
	return taken
}

// load adds parameters that the architecture loads to the counts by definition.
func (m *matching) load(s *slot, elements int64) {
	m.unique += elements
	m.active += share(elements, s.Active, s.Elements())
	if m.embeds(s) {
		return
	}
	m.nonEmbedding += elements
}

// share returns n·part/whole without leaving 64 bits on the way.
func share(n, part, whole int64) int64 {
	if part == whole || whole == 0 {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	if hi >= uint64(whole) {
		return n
	}
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(quotient)
}

// embeds reports whether a slot is left out of the count without embeddings.
func (m *matching) embeds(s *slot) bool {
	switch s.Role {
	case estimator.TokenEmbedding, estimator.PositionEmbedding, estimator.TypeEmbedding:
		return true
	case estimator.Head:
		return !m.headIsTied()
	}
	return false
}

func (m *matching) headIsTied() bool {
	return slices.ContainsFunc(m.slots.all, func(s *slot) bool {
		return s.Role == estimator.Head && !s.Bias && s.TiedTo != "" && s.section == ""
	})
}

// numbersAt returns the numbers that the members have at one place of their
// names.
func numbersAt(members []member, place int) estimator.Indices {
	const few = 1 << 16
	var seen []bool
	var list []int64
	for i := range members {
		n := members[i].number[place]
		if n >= few {
			list = append(list, int64(n))
			continue
		}
		if int(n) >= len(seen) {
			seen = append(seen, make([]bool, int(n)+1-len(seen))...)
		}
		seen[n] = true
	}
	for n, there := range seen {
		if there {
			list = append(list, int64(n))
		}
	}
	return estimator.Only(list...)
}

// addRow adds a row of the second stage.
func (m *matching) addRow(code, reason, formula string, elements int64, tensors []string) {
	m.rows = append(m.rows, Row{Stage: EstimateStage, Code: code, Reason: reason, Formula: formula,
		Elements: elements, Tensors: finding.Names(tensors)})
}

// eachGroup calls use for the groups that still have members.
func (m *matching) eachGroup(use func(*group)) {
	for _, g := range m.groups {
		if len(g.members) > 0 {
			use(g)
		}
	}
}

// matchEqual claims what has the expected name and shape, slot by slot: the same
// name can have another meaning in other layers.
func (m *matching) matchEqual() {
	m.eachGroup(func(g *group) {
		for _, s := range m.slots.byTemplate[g.name] {
			if s.section != "" || s.TiedTo != "" || s.Buffer || !s.sameShape(g.shape) {
				continue
			}
			taken := m.claimIf(g, Expected, "", g.each(), func(one *member) bool {
				at := s.place(one)
				return at >= 0 && s.take(at)
			})
			if taken != nil {
				m.settle(s, g)
			}
		}
	})
}

// settle gives the claim just made the role of its slot and counts it.
func (m *matching) settle(s *slot, g *group) {
	c := &m.claims[len(m.claims)-1]
	c.Role, c.bias = RoleName(s.Tensor), s.Bias
	m.load(s, g.each()*int64(len(c.members)))
}

// RoleName is a role as results spell it: buffers and the biases of linears stand
// apart, as in the ledger.
func RoleName(t *estimator.Tensor) string {
	switch {
	case t.Buffer:
		return "buffer"
	case t.Bias && t.Role != estimator.Head && t.Role != estimator.Classifier && t.Role != estimator.Pooler:
		return "bias"
	}
	return t.Role.String()
}

// namesOf returns the folded name of a group's members: h.{0..47}.attn.bias.
func namesOf(g string, members []member) string {
	n := places(g)
	if n == 0 {
		return g
	}
	folded := make([]string, min(n, mostNumbers))
	for p := range folded {
		folded[p] = numbersAt(members, p).String()
	}
	return estimator.Fill(g, func(i int) string {
		if i < len(folded) {
			return folded[i]
		}
		return "*"
	})
}

// product writes "48 × h.{0..47}.attn.bias [1,1,1024,1024]".
func productText(g *group, members []member) string {
	text := fmt.Sprintf("%s %s", namesOf(g.template, members), shapeText(g.shape))
	if len(members) > 1 {
		return fmt.Sprintf("%d × %s", len(members), text)
	}
	return text
}

func shapeText(shape []int64) string {
	const most = 12 // no real tensor has more; the rest is counted
	var text strings.Builder
	text.WriteByte('[')
	for i, d := range shape {
		if i == most {
			fmt.Fprintf(&text, ",… %d dimensions", len(shape))
			break
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(strconv.FormatInt(d, 10))
	}
	text.WriteByte(']')
	return text.String()
}

func names(members []member) []string {
	list := make([]string, 0, min(len(members), finding.MostNames))
	for i := range members {
		if len(list) == cap(list) {
			break
		}
		list = append(list, finding.Shorten(members[i].tensor.Name, finding.LongestName))
	}
	return list
}
