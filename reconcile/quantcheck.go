package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
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
