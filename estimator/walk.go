package estimator

import (
	"strconv"
	"strings"
)

// leaf is a block that holds tensors or work, with where it stands.
type leaf struct {
	block  *Block
	path   []string  // segments; "*" where a number stands
	index  []Indices // one for each "*"
	copies Size      // how many of it are stored
	used   Size      // how many of it run for each token
	tower  string
	spans  []*Span  // outermost first
	view   *View    // how it sees images; nil: it runs on tokens
	shared bool     // stored elsewhere
	number Indices  // the layers of a scattered stack, for its parts' names
	within []*Block // the groups around it, outermost first
	layer  Indices  // numbers of the outermost list in which it stands; nil outside
}

// walk visits every block that has parameters or work of its own, in order.
func (m *Model) walk(visit func(*leaf)) { walkBlocks(m.parts(), visit) }

func walkBlocks(blocks []Block, visit func(*leaf)) {
	root := leaf{copies: Const(1), used: Const(1)}
	for i := range blocks {
		root.descend(&blocks[i], visit)
	}
}

func (l leaf) descend(b *Block, visit func(*leaf)) {
	here := l
	here.block = b
	here.path, here.index = l.path[:len(l.path):len(l.path)], l.index[:len(l.index):len(l.index)]
	if b.Name != Scattered {
		here.extend(b.Name)
	}
	if b.Tower != "" {
		here.tower = b.Tower
	}
	if b.View != nil {
		here.view = b.View
	}
	if b.Span != nil {
		here.spans = append(l.spans[:len(l.spans):len(l.spans)], b.Span)
	}
	here.shared = l.shared || b.Shared
	if b.Index != nil {
		if within := len(l.within); within > 0 && l.within[within-1].Name == Scattered {
			here.number = b.Index
		} else {
			here.path = append(here.path, "*")
			here.index = append(here.index, b.Index)
		}
		here.copies = l.copies.Times(b.Count)
		used := b.Count
		if b.Kind == ExpertsKind {
			used = b.Used
		}
		here.used = l.used.Times(used)
		if l.layer == nil {
			here.layer = b.Index
		}
	}
	if b.Idle {
		here.used = Size{}
	}
	if len(b.Params) > 0 || b.Kind == LinearKind || b.Scores != nil || b.Extra != nil || len(b.States) > 0 {
		visit(&here)
	}
	if len(b.Sub) == 0 || b.Kind == ExpertsKind && b.Count.IsZero() {
		return
	}
	here.within = append(l.within[:len(l.within):len(l.within)], b)
	for i := range b.Sub {
		here.descend(&b.Sub[i], visit)
	}
}

// extend adds a dotted name to the path. A segment of digits is a number like
// any other: names are folded the same way whether written out or counted.
func (l *leaf) extend(name string) {
	if name == "" {
		return
	}
	for segment := range strings.SplitSeq(name, ".") {
		n, err := strconv.ParseInt(segment, 10, 64)
		switch {
		case segment == Scattered:
			l.path, l.index = append(l.path, "*"), append(l.index, l.number)
		case err == nil && n >= 0:
			l.path, l.index = append(l.path, "*"), append(l.index, Only(n))
		default:
			l.path = append(l.path, segment)
		}
	}
}

// template returns the folded name of one of the leaf's tensors.
func (l *leaf) template(p Param) string {
	name := strings.Join(l.path, ".")
	switch {
	case p.Name == "":
		return name
	case name == "":
		return p.Name
	}
	return name + "." + p.Name
}

// elements returns the number of elements of all copies of the parameter.
func (l *leaf) elements(p Param) Size {
	n := l.copies
	for _, d := range p.Shape {
		n = n.Times(d)
	}
	return n
}
