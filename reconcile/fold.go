package reconcile

import (
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

// mostNumbers is how many numbers of one name are taken out; further ones stay
// as they are, in names as in descriptions.
const mostNumbers = 4

// longestName is the length beyond which a name is taken as it is: no model has
// names of that length, and looking into them could take for ever.
const longestName = 1 << 12

// mostGroups and mostShapes bound the groups of a checkpoint, and those of one
// folded name: no model has as many. What is beyond is loose.
const (
	mostGroups = 1 << 16
	mostShapes = 1 << 8
)

// group is all stored tensors that differ only in the numbers of their names.
type group struct {
	template string // name with "*" where a number stands, as the file spells it
	name     string // the same after the renames that the checkpoint as a whole calls for
	dtype    safetensors.DType
	shape    []int64
	members  []member // not yet claimed
	size     int      // of all members
	packed   *packing // nil where the tensors hold the weights as they are
	claimed  int64    // scales of a cache, once claimed
}

// member is one tensor of a group.
type member struct {
	tensor *safetensors.Tensor
	file   *safetensors.File
	number [mostNumbers]int32
}

// each returns the elements of one member.
func (g *group) each() int64 {
	n := int64(1)
	for _, d := range g.shape {
		n *= d
	}
	return n
}

// split moves the members for which ok holds out of the group and returns them,
// nil for none. It asks once for each member, in order, and copies nothing where
// all have one answer, which is the usual case.
func (g *group) split(ok func(*member) bool) []member {
	all := g.members
	if len(all) == 0 {
		return nil
	}
	first, run := ok(&all[0]), 1
	for run < len(all) && ok(&all[run]) == first {
		run++
	}
	switch {
	case run == len(all) && !first:
		return nil
	case run == len(all):
		g.members = nil
		return all[:run:run]
	}
	same, other := slices.Clone(all[:run]), []member{all[run]}
	for i := run + 1; i < len(all); i++ {
		if ok(&all[i]) == first {
			same = append(same, all[i])
		} else {
			other = append(other, all[i])
		}
	}
	if first {
		g.members = other
		return same
	}
	g.members = same
	return other
}

// template is a folded name, with the groups that bear it and the template that
// followed it last: names come in an order that repeats from layer to layer.
type template struct {
	text   string
	parts  []string // what stands before, between and after the numbers
	groups []*group
	next   *template
}

// folder sorts tensors into groups.
type folder struct {
	templates map[string]*template
	groups    []*group
	loose     []*group // by dtype
	known     func(name string) bool
	last      *template
	scratch   []byte
}

// foldCheckpoint sorts the tensors of a checkpoint into groups, in the order in
// which they first occur. All members stand in one array. A file can have a
// million names: those beyond the bounds that are not known are loose, one group
// for each dtype, without a name or a shape.
func foldCheckpoint(checkpoint *safetensors.Checkpoint, known func(name string) bool) (groups, loose []*group) {
	f := &folder{templates: make(map[string]*template), known: known, last: new(template)}
	total := 0
	for _, file := range checkpoint.Files {
		if file.Header != nil {
			total += len(file.Header.Tensors)
		}
	}
	numbers := make([][mostNumbers]int32, total)
	groupOf := make([]*group, 0, total)
	for _, tensor := range checkpoint.All() {
		g := f.groupOf(tensor, f.templateOf(tensor.Name, &numbers[len(groupOf)]))
		g.size++
		groupOf = append(groupOf, g)
	}
	sorted := make([]member, total)
	at := 0
	for _, g := range slices.Concat(f.groups, f.loose) {
		g.members = sorted[at : at : at+g.size]
		at += g.size
	}
	i := 0
	for file, tensor := range checkpoint.All() {
		g := groupOf[i]
		g.members = append(g.members, member{tensor, file, numbers[i]})
		i++
	}
	return f.groups, f.loose
}

// templateOf finds the template of a name and takes the numbers out of it; nil
// for a name beyond the bounds.
func (f *folder) templateOf(name string, numbers *[mostNumbers]int32) *template {
	if next := f.last.next; next != nil && next.bears(name, numbers) {
		f.last = next
		return next
	}
	f.scratch, *numbers = foldName(f.scratch[:0], name)
	t := f.templates[string(f.scratch)]
	if t == nil {
		text := string(f.scratch)
		if len(f.templates) >= mostGroups && !f.known(text) {
			return nil
		}
		t = newTemplate(text)
		f.templates[text] = t
	}
	f.last.next, f.last = t, t
	return t
}

func (f *folder) groupOf(tensor *safetensors.Tensor, t *template) *group {
	if t == nil {
		return f.looseOf(tensor.DType)
	}
	for _, g := range t.groups {
		if g.dtype == tensor.DType && slices.Equal(g.shape, tensor.Shape) {
			return g
		}
	}
	if len(t.groups) >= mostShapes || len(f.groups) >= mostGroups && !f.known(t.text) {
		return f.looseOf(tensor.DType)
	}
	g := &group{template: t.text, name: t.text, dtype: tensor.DType, shape: tensor.Shape}
	t.groups = append(t.groups, g)
	f.groups = append(f.groups, g)
	return g
}

func (f *folder) looseOf(d safetensors.DType) *group {
	for _, g := range f.loose {
		if g.dtype == d {
			return g
		}
	}
	f.loose = append(f.loose, &group{dtype: d})
	return f.loose[len(f.loose)-1]
}

// bears reports whether the template is the name's, and if so takes the numbers
// out of the name. It agrees with foldName and costs no look-up.
func (t *template) bears(name string, numbers *[mostNumbers]int32) bool {
	*numbers = [mostNumbers]int32{}
	at := 0
	for i, part := range t.parts {
		if !strings.HasPrefix(name[at:], part) {
			return false
		}
		if at += len(part); i == len(t.parts)-1 {
			break
		}
		end := at
		for end < len(name) && name[end] != '.' {
			end++
		}
		n, ok := smallNumber(name[at:end])
		if !ok {
			return false
		}
		numbers[i], at = n, end
	}
	return at == len(name)
}

// newTemplate takes a folded name apart at its numbers.
func newTemplate(text string) *template {
	t := &template{text: text}
	if len(text) > longestName {
		t.parts = []string{text}
		return t
	}
	part := ""
	for i, segment := range strings.Split(text, ".") {
		if i > 0 {
			part += "."
		}
		if segment == "*" && len(t.parts) < mostNumbers {
			t.parts = append(t.parts, part)
			part = ""
		} else {
			part += segment
		}
	}
	t.parts = append(t.parts, part)
	return t
}

// foldName appends the name to buffer with "*" for each segment that is a
// number in its usual spelling, and returns the numbers.
func foldName(buffer []byte, name string) ([]byte, [mostNumbers]int32) {
	var numbers [mostNumbers]int32
	if len(name) > longestName {
		return append(buffer, name...), numbers
	}
	found, start := 0, 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' {
			continue
		}
		segment := name[start:i]
		if n, ok := smallNumber(segment); ok && found < mostNumbers {
			numbers[found] = n
			found++
			buffer = append(buffer, '*')
		} else if segment == "*" {
			buffer = append(buffer, `\*`...) // no place for a number, whatever it looks like
		} else {
			buffer = append(buffer, segment...)
		}
		if i < len(name) {
			buffer = append(buffer, '.')
		}
		start = i + 1
	}
	return buffer, numbers
}

// smallNumber reads a segment of up to nine digits without leading zeros.
func smallNumber(s string) (int32, bool) {
	if len(s) == 0 || len(s) > 9 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	var n int32
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int32(s[i]-'0')
	}
	return n, true
}

// places counts the numbers that a template takes.
func places(template string) int {
	n := 0
	for segment := range strings.SplitSeq(template, ".") {
		if segment == "*" {
			n++
		}
	}
	return n
}
