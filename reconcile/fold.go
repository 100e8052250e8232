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

// split moves the members for which ok holds out of the group and returns them.
func (g *group) split(ok func(*member) bool) []member {
	first := 0
	for first < len(g.members) && ok(&g.members[first]) {
		first++
	}
	if first == len(g.members) { // all of them, which is the usual case
		all := g.members
		g.members = nil
		return all[:first:first]
	}
	var taken []member // nil where there is none
	taken = append(taken, g.members[:first]...)
	rest := []member{g.members[first]}
	for i := first + 1; i < len(g.members); i++ {
		if ok(&g.members[i]) {
			taken = append(taken, g.members[i])
		} else {
			rest = append(rest, g.members[i])
		}
	}
	g.members = rest
	return taken
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
	last      *template
	scratch   []byte
}

// foldCheckpoint sorts the tensors of a checkpoint into groups, in the order in
// which they first occur. All members stand in one array.
func foldCheckpoint(checkpoint *safetensors.Checkpoint) []*group {
	f := &folder{templates: make(map[string]*template), last: new(template)}
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
	for _, g := range f.groups {
		g.members = sorted[at : at : at+g.size]
		at += g.size
	}
	i := 0
	for file, tensor := range checkpoint.All() {
		g := groupOf[i]
		g.members = append(g.members, member{tensor, file, numbers[i]})
		i++
	}
	return f.groups
}

// templateOf finds the template of a name and takes the numbers out of it.
func (f *folder) templateOf(name string, numbers *[mostNumbers]int32) *template {
	if next := f.last.next; next != nil && next.bears(name, numbers) {
		f.last = next
		return next
	}
	f.scratch, *numbers = foldName(f.scratch[:0], name)
	t := f.templates[string(f.scratch)]
	if t == nil {
		t = newTemplate(string(f.scratch))
		f.templates[t.text] = t
	}
	f.last.next, f.last = t, t
	return t
}

func (f *folder) groupOf(tensor *safetensors.Tensor, t *template) *group {
	for _, g := range t.groups {
		if g.dtype == tensor.DType && slices.Equal(g.shape, tensor.Shape) {
			return g
		}
	}
	g := &group{template: t.text, name: t.text, dtype: tensor.DType, shape: tensor.Shape}
	t.groups = append(t.groups, g)
	f.groups = append(f.groups, g)
	return g
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
