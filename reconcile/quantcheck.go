package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// checkQuantisation compares what the tensors are with what the config says,
// and the modules with one another.
func (m *matching) checkQuantisation() {
	m.checkMethod()
	m.checkParams()
	m.checkEven()
	m.checkAlike()
	m.checkModelDType()
	m.checkBiases()
	m.checkPlain()
	m.checkTexts()
	m.checkStates()
	m.checkSubclasses()
	m.checkPlaces()
	m.checkStray()
	m.checkLeftOut()
	m.checkUnread()
	m.checkListedShapes()
	m.checkLost()
	m.checkRefused()
}

// every reports in one finding what is so of some of the bundles.
func (m *matching) every(code, text string, is func(*unpacked) bool, fields ...string) {
	var words, list []string
	for _, u := range m.unpacked {
		if is(u) {
			words = append(words, u.words())
			list = append(list, names(u.carrier.members)...)
		}
	}
	if words != nil {
		m.find(finding.New(code, some(words)+" "+text).About(list...).Field(fields...))
	}
}

// some writes a list, cut after the first few.
func some(words []string) string {
	const most = 3
	if len(words) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
	}
	return strings.Join(words, ", ")
}

// checkStray reports weights as they are with scales beside them: where the
// library expects a packed one, it would multiply the weight by them.
func (m *matching) checkStray() {
	odd := m.packsOddSizes()
	amiss := func(u *unpacked) bool {
		declared, ok := m.schemeFor(u.bundle)
		return u.scheme.stray && ok && m.compressed() && (odd || dividesInto(u.shape, declared))
	}
	m.every("HFI517", "hold weights as they are, the config has them quantised", amiss)
	m.every("HFI514", "hold weights as they are and have scales all the same", func(u *unpacked) bool { return u.scheme.stray && !amiss(u) })
}

// compressed reports whether the config says that weights are stored packed:
// compressed-tensors saves them unpacked too.
func (m *matching) compressed() bool {
	q := m.quant
	return q.Method != "compressed-tensors" || q.Format != "dense" && q.Fields.Raw("quantization_status").Str == "compressed"
}

// packsOddSizes reports whether the writer packs weights that have no whole
// groups or blocks too.
func (m *matching) packsOddSizes() bool {
	return m.quant != nil && m.quant.Method == "compressed-tensors" || slices.ContainsFunc(m.unpacked, func(u *unpacked) bool {
		declared, ok := m.schemeFor(u.bundle)
		return !u.scheme.stray && ok && !dividesInto(u.shape, declared)
	})
}

// checkLeftOut finds packed weights of modules that the config leaves alone.
func (m *matching) checkLeftOut() {
	if m.quant == nil || !m.quant.Known() {
		return
	}
	var list []string
	for _, u := range m.unpacked {
		for i := range u.carrier.members {
			if !u.scheme.stray && m.quant.LeavesOut(u.module(i)) && m.quant.LeavesOut(u.describedModule(i)) {
				list = append(list, u.carrier.members[i].tensor.Name)
			}
		}
	}
	if list != nil {
		m.find(finding.New("HFI516", some(list)+" are quantised, the config leaves them out").About(list...).Field(m.quant.Path))
	}
}

// words names the packed tensors of a bundle.
func (u *unpacked) words() string { return namesOf(u.carrier.template, u.carrier.members) }

// quantised counts the modules that are quantised indeed.
func (m *matching) quantised() (n int64) {
	for _, u := range m.unpacked {
		if !u.scheme.stray {
			n += u.count()
		}
	}
	return n
}

// undeclared reports whether there is a config and it says nothing; what another
// file beside it says, the reference library does not read.
func (m *matching) undeclared() bool {
	if m.in.Config == nil {
		return false
	}
	q, _ := m.in.Config.Quantization()
	return q == nil
}

func (m *matching) checkMethod() {
	n := m.quantised()
	switch {
	case n > 0 && m.undeclared():
		m.find(finding.New("HFI501", fmt.Sprintf("%s quantised as by %s, config.json has no quantization_config", finding.Count(int64(n), "module"), m.unpacked[0].scheme.method)).Field("quantization_config"))
	case n == 0 && m.quant != nil && m.quant.Method != "" && len(m.unpacked) == 0 && len(m.fused) == 0:
		m.find(finding.New("HFI503", fmt.Sprintf("the config declares %s, no tensor of the file is quantised", m.quant)).Field(m.quant.Path))
	}
	if m.quant == nil || !m.quant.Known() {
		return
	}
	for _, u := range m.unpacked {
		if !u.scheme.named(m.quant) {
			m.find(finding.New("HFI502", fmt.Sprintf("the config says %s, %s is stored as by %s", m.quant.Method, u.words(), u.scheme.method)).
				About(names(u.carrier.members)...).Field(m.quant.Path))
		}
	}
}

// checkParams compares bits, groups and blocks with the config, and where it
// does not say with the other modules.
func (m *matching) checkParams() {
	for _, u := range m.unpacked {
		declared, ok := m.schemeFor(u.bundle)
		if !ok || !u.scheme.named(m.quant) {
			continue
		}
		if word := u.scheme.against(m.quant, declared); word != "" {
			m.find(finding.New("HFI507", fmt.Sprintf("%s is stored as %s, the config says %s", u.words(), u.family(), word)).
				About(names(u.carrier.members)...).Field(m.quant.Path))
		}
		m.checkDTypeWords(u, declared)
		m.checkBooks(u)
		if u.scheme.bits != nil && declared.Bits > 0 && declared.Bits != u.params.bits {
			m.find(finding.New("HFI507", fmt.Sprintf("%s is in %s, the config says %d", u.words(), finding.Count(int64(u.params.bits), "bit"), declared.Bits)).
				About(names(u.carrier.members)...).Field(m.quant.Path))
		}
		if p := u.params; p.rank == 1 && p.rows == 1 && m.quant.Method == "compressed-tensors" {
			m.find(finding.New("HFI507", fmt.Sprintf("%s has scales in one dimension, its writer has them in two", u.words())).About(names(u.carrier.members)...))
		}
		if g, ok := m.declaredGrain(declared); ok && u.scheme.grains != nil && u.scheme.form != packedExperts && !u.hasGrain(g) {
			m.find(finding.New("HFI507", fmt.Sprintf("%s has a scale for each %s, the config says for each %s", u.words(), grainText(u.params.grain), grainText(g))).
				About(names(u.carrier.members)...).Field(m.quant.Path))
		}
	}
	m.checkUniform()
	m.checkForms()
}

// hasGrain reports whether the bundle's scales are those of the grain: of a
// weight as small as a group, one and the other are the same.
func (u *unpacked) hasGrain(g grain) bool {
	w := newWeight(u.shape, params{grain: g}, 0)
	v := newWeight(u.shape, u.params, 0)
	if u.scheme.grains[0].rank == 1 { // the weight is taken as one row
		return w.span() == v.span()
	}
	return w.down() == v.down() && w.across() == v.across()
}

func grainText(g grain) string {
	switch {
	case g.rows == 0 && g.cols == 0:
		return "tensor"
	case g.rows == 1 && g.cols == 0:
		return "row"
	case g.rows == 1:
		return fmt.Sprintf("group of %d", g.cols)
	}
	return fmt.Sprintf("block of %d×%d", g.rows, g.cols)
}

// checkUniform finds modules that differ from most others of their method in
// bits or grain without a word in the config.
func (m *matching) checkUniform() {
	votes := make(map[string]map[params]int64)
	for _, u := range m.unpacked {
		if votes[u.family()] == nil {
			votes[u.family()] = make(map[params]int64)
		}
		for _, p := range u.fits() {
			votes[u.family()][p] += u.count()
		}
	}
	for _, u := range m.unpacked {
		if m.declaredFor(u) || u.scheme.tune != nil {
			continue
		}
		best := m.mostVoted(u, votes[u.family()])
		if !slices.Contains(u.fits(), best) {
			m.find(finding.New("HFI508", fmt.Sprintf("%s has a scale for each %s%s, most others for each %s%s", u.words(),
				grainText(u.params.grain), bitsText(u.params.bits), grainText(best.grain), bitsText(best.bits))).About(names(u.carrier.members)...))
		}
	}
}

// checkForms finds modules that are packed in another way than most others of the
// same numbers and bits.
func (m *matching) checkForms() {
	type packing struct {
		method, carrier, numbers string
		bits                     int64
	}
	of := func(u *unpacked) packing {
		return packing{u.scheme.method, u.carrier.suffix, u.scheme.numbers, u.params.bits}
	}
	count := make(map[packing]map[string]int64)
	for _, u := range m.unpacked {
		if count[of(u)] == nil {
			count[of(u)] = make(map[string]int64)
		}
		count[of(u)][u.scheme.form] += u.count()
	}
	for _, u := range m.unpacked {
		if u.params.bits == 0 || u.scheme.lossy {
			continue
		}
		for _, other := range schemes {
			if form := other.form; !other.lossy && other.method == u.scheme.method && count[of(u)][form] > count[of(u)][u.scheme.form] {
				m.find(finding.New("HFI508", fmt.Sprintf("%s is stored as %s, most others as %s", u.words(), u.scheme.form, form)).About(names(u.carrier.members)...))
				break
			}
		}
	}
}

// mostVoted returns the parameters under which most modules of the method fit,
// of equals one of the bundle's own.
func (m *matching) mostVoted(u *unpacked, votes map[params]int64) params {
	best := u.params
	for _, p := range u.fits() {
		if votes[p] > votes[best] {
			best = p
		}
	}
	for _, other := range m.unpacked {
		if p := other.params; other.family() == u.family() && votes[p] > votes[best] {
			best = p
		}
	}
	return best
}

func bitsText(bits int64) string {
	if bits == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d bits", bits)
}

// fits lists the parameters under which the bundle is as predicted.
func (u *unpacked) fits() []params { return append([]params{u.params}, u.others...) }

// declaredFor reports whether the config itself says what shares a scale, so
// that modules may differ.
func (m *matching) declaredFor(u *unpacked) bool {
	if m.quant == nil {
		return false
	}
	declared, ok := m.schemeFor(u.bundle)
	_, known := m.declaredGrain(declared)
	return ok && known || len(m.quant.Groups) > 1
}

// family names the modules that should be alike: a file may hold several layouts
// of one method. What was left unconverted counts with what was not.
func (u *unpacked) family() string {
	if u.scheme.stray && u.scheme.method == "fp8" {
		return u.scheme.method
	}
	return strings.TrimSpace(u.scheme.method + " " + u.scheme.form)
}

// checkEven finds optional companions that some modules have and others lack.
func (m *matching) checkEven() {
	if m.quant != nil && (len(m.quant.Groups) > 1 || strings.EqualFold(m.quant.Algo, "mixed_precision")) || !m.in.Checkpoint.Complete {
		return
	}
	has := make(map[[2]string]bool) // family and ending
	for _, u := range m.unpacked {
		for _, s := range u.parts {
			if s.suffix != biasSuffix {
				has[[2]string{u.family(), s.suffix}] = true
			}
		}
	}
	for _, u := range m.unpacked {
		for i := range u.scheme.parts {
			p := &u.scheme.parts[i]
			lacks := u.part(p.suffix) == nil && has[[2]string{u.family(), p.suffix}]
			if lacks && (p.optional || p.sparse && takesPreScale(u.stem)) {
				m.find(finding.New("HFI504", fmt.Sprintf("%s has no %s, other modules have one", u.words(), p.suffix[1:])).About(names(u.carrier.members)...))
			} else if why := m.needed(u, p); u.part(p.suffix) == nil && p.optional && why != "" {
				m.find(finding.New("HFI504", fmt.Sprintf("%s has no %s, %s", u.words(), p.suffix[1:], why)).About(names(u.carrier.members)...))
			}
		}
	}
}

// takesPreScale reports whether AWQ's scale of the inputs cannot go into the norm
// before: behind attention and behind an activation there is none.
func takesPreScale(stem string) bool {
	last := stem[strings.LastIndexByte(stem, '.')+1:]
	return slices.Contains([]string{"o_proj", "down_proj", "out_proj", "dense_4h_to_h", "w2", "fc2", "c_proj"}, last)
}

// checkBiases reports biases that the quantiser added, and modules that lack
// theirs.
func (m *matching) checkBiases() {
	if m.quantiserBiases == nil {
		return
	}
	var list []string
	var elements int64
	for _, s := range m.quantiserBiases {
		list = append(list, names(s.members)...)
		elements += s.each() * int64(len(s.members))
	}
	zero, filled := m.biasValues()
	m.find(finding.New("HFI511", fmt.Sprintf("%s of biases that the config does not call for, %s", finding.Count(elements, "element"), zero)).About(list...))
	if filled != nil {
		m.find(finding.New("HFI417", some(filled)+" are not zero and not loaded").About(filled...))
	}
	for _, u := range m.unpacked {
		if u.scheme.addsBias() && u.part(biasSuffix) == nil && !m.described(u.stem+biasSuffix) && strings.Contains(u.stem, "*") {
			m.find(finding.New("HFI508", fmt.Sprintf("%s has no bias, other modules have one from the quantiser", u.words())).About(names(u.carrier.members)...))
		}
	}
}

// biasValues says of the quantiser's biases whether they are zero, and names
// those that are not.
func (m *matching) biasValues() (words string, filled []string) {
	if m.in.Values == nil || !m.in.AllValues {
		return "their values not read", nil
	}
	unread := 0
	for _, s := range m.quantiserBiases {
		for i := range s.members {
			switch data := m.values(s, i); {
			case data == nil:
				unread++
			case !zeroFloats(data, s.dtype):
				filled = append(filled, s.members[i].tensor.Name)
			}
		}
	}
	switch {
	case unread > 0:
		return fmt.Sprintf("the values of %d not read", unread), filled
	case filled != nil:
		return fmt.Sprintf("%d of them not zero", len(filled)), filled
	}
	return "all zero", nil
}

// checkPlain looks at the weights that no scheme explains: those in eight bits
// lack their scales, and the config may have others quantised.
func (m *matching) checkPlain() {
	var bare, plain, bareNames, plainNames []string
	for i := range m.claims {
		c := &m.claims[i]
		switch {
		case c.packed || c.Logical == 0 || m.hasFused(c):
		case fp8.has(c.DType):
			bare, bareNames = append(bare, namesOf(c.Template, c.members)), append(bareNames, names(c.members)...)
		case m.quant != nil && m.quantised() > 0 && m.shouldBe(c):
			plain, plainNames = append(plain, namesOf(c.Template, c.members)), append(plainNames, names(c.members)...)
		}
	}
	m.checkAmongPacked()
	if bare != nil {
		m.find(finding.New("HFI510", some(bare)+" are F8 and have no scales").About(bareNames...))
	}
	if plain != nil {
		m.find(finding.New("HFI512", some(plain)+" are not quantised, the config does not leave them out").About(plainNames...).Field(m.quant.Path))
	}
}

// checkAmongPacked finds plain weights of which the other layers' are packed,
// though the config makes no difference.
func (m *matching) checkAmongPacked() {
	packed := make(map[string]bool)
	for _, u := range m.unpacked {
		if !u.scheme.stray {
			packed[u.stem+u.scheme.logical] = true
		}
	}
	for i := range m.claims {
		if c := &m.claims[i]; !c.packed && packed[c.Name] && m.quant != nil && m.shouldBe(c) {
			m.find(finding.New("HFI508", fmt.Sprintf("%s is not quantised, in other layers it is", namesOf(c.Template, c.members))).About(names(c.members)...))
		}
	}
}

// hasFused reports whether a weight's scales are stacked with those of other
// experts.
func (m *matching) hasFused(c *claim) bool {
	return slices.ContainsFunc(m.fused, func(prefix string) bool { return strings.HasPrefix(c.Name, prefix) })
}

// shouldBe reports whether the config has a plain weight quantised: a linear of
// the layers whose rows can be divided into groups.
func (m *matching) shouldBe(c *claim) bool {
	if c.Status != Expected || len(c.Shape) != 2 || c.bias || !strings.Contains(c.Template, "*") || !strings.HasSuffix(c.Name, ".weight") {
		return false
	}
	if !slices.Contains([]string{"attention", "mlp", "routed_experts", "shared_experts"}, c.Role) {
		return false
	}
	for _, u := range m.unpacked {
		if u.scheme.stray && slices.ContainsFunc(u.carrier.members, func(one member) bool { return one.tensor == c.members[0].tensor }) {
			return false // said already
		}
	}
	s, ok := m.quant.For(strings.TrimSuffix(c.members[0].tensor.Name, ".weight"))
	return ok && dividesInto(c.Shape, s)
}

// dividesInto reports whether a weight has whole groups or blocks: writers leave
// others as they are.
func dividesInto(shape []int64, s hfconfig.Scheme) bool {
	w := newWeight(shape, params{}, 0)
	if len(s.Block) == 2 {
		return w.o%s.Block[0] == 0 && w.i%s.Block[1] == 0
	}
	return s.GroupSize <= 0 || w.i%s.GroupSize == 0
}
