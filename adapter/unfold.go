package adapter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// planner is a description under way.
type planner struct {
	config  *hfconfig.Adapter
	modules []module
	params  []param
	plan    *Plan
	adapted map[string]bool // modules that carry an adapter
	saved   map[string]bool // full names of tensors that are stored whole

	pieces []piece
}

// module is one module of the base under its full name.
type module struct {
	*estimator.NamedModule
	name    string
	numbers []int64
}

// param is a parameter that can be adapted by its own name.
type param struct {
	module  string // that holds it
	within  string // the module's template
	name    string // below the module
	numbers []int64
	count   int64 // experts
	in, out int64
}

// piece is one tensor of the file.
type piece struct {
	template string
	numbers  []int64
	shape    []int64
	kind     Kind
	also     []int64
	anyRows  bool
	optional bool
}

// unfold lists the base's modules one by one: configs name them by their full
// names, or by patterns over these.
func (p *planner) unfold(base *estimator.Model) error {
	list := base.Modules()
	var total int64
	for i := range list {
		if n := list[i].Copies(); n > mostModules || total+n > mostModules {
			return fmt.Errorf("the base has more than %d modules", mostModules)
		}
		total += list[i].Copies()
	}
	for i := range list {
		eachCopy(list[i].Index, func(numbers []int64) {
			name := estimator.Fill(list[i].Template, func(at int) string { return fmt.Sprint(numbers[at]) })
			p.modules = append(p.modules, module{&list[i], name, numbers})
		})
	}
	if p.config.TargetParameters != nil {
		p.listParams(list)
	}
	return nil
}

// eachCopy calls use with the numbers of each copy.
func eachCopy(index []estimator.Indices, use func([]int64)) {
	numbers := make([]int64, len(index))
	var descend func(int)
	descend = func(place int) {
		if place == len(index) {
			use(slices.Clone(numbers))
			return
		}
		for _, r := range index[place] {
			for n := r.First; n <= r.Last; n++ {
				numbers[place] = n
				descend(place + 1)
			}
		}
	}
	descend(0)
}

// listParams lists parameters as the library holds them in memory: experts that
// files store one by one are two stacked parameters there.
func (p *planner) listParams(list []estimator.NamedModule) {
	for i := range list {
		m := &list[i]
		w := m.Weight()
		if w == nil {
			continue
		}
		if m.Kind == estimator.StackedKind && len(w.Shape) == 3 {
			p.addParams(m, join(inMemory(m.Template), w.Name), w.Shape[0], m.In, m.Out, len(m.Index))
			continue
		}
		if len(w.Shape) == 2 {
			p.addParams(m, inMemory(m.Template)+"."+or(w.Name, "weight"), 1, w.Shape[1], w.Shape[0], len(m.Index))
		}
	}
	p.stackExperts(list)
}

func or(name, usual string) string {
	if name == "" {
		return usual
	}
	return name
}

func join(names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return s == "" }), ".")
}

// addParams adds the copies of a parameter over the first places of its
// module's numbers.
func (p *planner) addParams(m *estimator.NamedModule, full string, count, in, out int64, places int) {
	within, name := cut(full)
	eachCopy(m.Index[:places], func(numbers []int64) {
		holder := estimator.Fill(within, func(at int) string { return fmt.Sprint(numbers[at]) })
		p.params = append(p.params, param{module: holder, within: within, name: name, numbers: numbers, count: count, in: in, out: out})
	})
}

// cut takes the last segment off a name.
func cut(name string) (above, last string) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return "", name
	}
	return name[:at], name[at+1:]
}

// expertMatrices are the names of an expert's matrices in files, in order: gate,
// up, down.
var expertMatrices = [][3]string{{"gate_proj", "up_proj", "down_proj"}, {"w1", "w3", "w2"}}

// stackExperts adds the two parameters that the library makes of a list of
// experts, under the names that it gives them in memory.
func (p *planner) stackExperts(list []estimator.NamedModule) {
	for i := range list {
		gate := &list[i]
		for _, names := range expertMatrices {
			stem, ok := strings.CutSuffix(gate.Template, ".*."+names[0])
			if !ok || gate.Kind != estimator.LinearKind {
				continue
			}
			down := slices.IndexFunc(list, func(m estimator.NamedModule) bool {
				return m.Template == stem+".*."+names[2] && slices.EqualFunc(m.Index, gate.Index, slices.Equal)
			})
			if down < 0 {
				continue
			}
			places := len(gate.Index) - 1
			count := gate.Index[places].Len()
			stem = inMemory(stem)
			p.addParams(gate, stem+".gate_up_proj", count, gate.In, 2*gate.Out, places)
			p.addParams(&list[down], stem+".down_proj", count, list[down].In, list[down].Out, places)
		}
	}
}

// inMemory turns the name of a sparse block in files into the library's.
func inMemory(name string) string { return strings.Replace(name, "block_sparse_moe", "mlp", 1) }

// add appends a tensor below a module.
func (p *planner) add(template string, numbers []int64, kind Kind, shape ...int64) *piece {
	p.pieces = append(p.pieces, piece{template: template, numbers: numbers, kind: kind, shape: shape})
	return &p.pieces[len(p.pieces)-1]
}

// finish folds the pieces and sums them up.
func (p *planner) finish() *Plan {
	p.plan.Tensors = foldPieces(p.pieces)
	slices.Sort(p.plan.Names)
	p.plan.Names = slices.Compact(p.plan.Names)
	slices.Sort(p.plan.Ranks)
	p.plan.Ranks = slices.Compact(p.plan.Ranks)
	if p.plan.Trainable == 0 {
		p.plan.Trainable = p.plan.Own()
	}
	return p.plan
}

// foldPieces joins pieces that differ only in the numbers of their names. Sets
// of numbers that are no product of sets stay several entries.
func foldPieces(pieces []piece) []Tensor {
	byKey := make(map[string][]int)
	var order []string
	for i := range pieces {
		one := &pieces[i]
		key := fmt.Sprint(one.template, one.shape, one.kind, one.also)
		if byKey[key] == nil {
			order = append(order, key)
		}
		byKey[key] = append(byKey[key], i)
	}
	var list []Tensor
	for _, key := range order {
		var rows [][]int64
		for _, i := range byKey[key] {
			rows = append(rows, pieces[i].numbers)
		}
		one := &pieces[byKey[key][0]]
		for _, index := range products(rows) {
			t := Tensor{Tensor: estimator.Tensor{Template: one.template, Index: index, Shape: one.shape, Copies: 1},
				Kind: one.kind, Also: one.also, AnyRows: one.anyRows, Optional: one.optional}
			for _, set := range index {
				t.Copies *= set.Len()
			}
			list = append(list, t)
		}
	}
	return list
}

// products writes rows of numbers as products of sets.
func products(rows [][]int64) [][]estimator.Indices {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return [][]estimator.Indices{nil}
	}
	rest := make(map[int64][][]int64)
	for _, row := range rows {
		rest[row[0]] = append(rest[row[0]], row[1:])
	}
	heads := make(map[string][]int64)
	tails := make(map[string][][]estimator.Indices)
	for n, below := range rest {
		tail := products(below)
		key := fmt.Sprint(tail)
		heads[key], tails[key] = append(heads[key], n), tail
	}
	var list [][]estimator.Indices
	for key, numbers := range heads {
		for _, tail := range tails[key] {
			list = append(list, append([]estimator.Indices{estimator.Only(numbers...)}, tail...))
		}
	}
	slices.SortFunc(list, func(a, b []estimator.Indices) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}
