package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// breakdown sums the stored tensors by role, layer and shard.
func (in *Inspection) breakdown(c *safetensors.Checkpoint) {
	in.ByRole, in.ByLayer, in.ByShard = []RoleSum{}, []LayerSum{}, []ShardSum{}
	in.byRole()
	in.byLayer()
	for _, f := range c.Files {
		sum := ShardSum{File: f.Path, Unavailable: f.Header == nil}
		if f.Size >= 0 {
			sum.FileBytes = &f.Size
		}
		if f.Header != nil {
			t := f.Header.Totals()
			sum.Tensors, sum.Elements, sum.Bytes = t.Tensors, t.Elements, t.Bytes
			sum.HeaderBytes = max(f.Header.Length, 0)
		}
		in.ByShard = append(in.ByShard, sum)
	}
}

func (in *Inspection) byRole() {
	for i := range in.Result.Claims {
		claim := &in.Result.Claims[i]
		inferred := claim.Status == reconcile.Inferred || claim.Status == reconcile.Unexpected
		at := slices.IndexFunc(in.ByRole, func(r RoleSum) bool { return r.Role == claim.Role && r.Inferred == inferred })
		if at < 0 {
			at = len(in.ByRole)
			in.ByRole = append(in.ByRole, RoleSum{Role: claim.Role, Inferred: inferred})
		}
		sum := &in.ByRole[at]
		for m := range claim.Members() {
			sum.Tensors++
			sum.Elements += m.Tensor.Elements()
			sum.Bytes += m.Tensor.Bytes()
		}
	}
	slices.SortStableFunc(in.ByRole, func(a, b RoleSum) int { return cmp.Compare(b.Elements, a.Elements) })
}

// byLayer sums by the first number in a name: the layer of its stack. Modules
// stand in the order of the description, buffers last.
func (in *Inspection) byLayer() {
	type key struct {
		stack string
		layer int64
	}
	places := make(map[key]int)
	for _, i := range in.claimOrder() {
		claim := &in.Result.Claims[i]
		for m := range claim.Members() {
			stack, layer, module, ok := splitLayer(m.Tensor.Name)
			if !ok {
				continue
			}
			if claim.Role == companions {
				module = companions // of a module there can be twenty
			}
			at, known := places[key{stack, layer}]
			if !known {
				at = len(in.ByLayer)
				places[key{stack, layer}] = at
				in.ByLayer = append(in.ByLayer, LayerSum{Stack: stack, Layer: layer})
			}
			in.ByLayer[at].add(module, m.Tensor, claim.Parameters(m))
		}
	}
	slices.SortStableFunc(in.ByLayer, func(a, b LayerSum) int {
		return cmp.Or(cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.Layer, b.Layer))
	})
}

// claimOrder returns the claims in the order in which the description has their
// tensors; what it does not have comes last, in the order of the files.
func (in *Inspection) claimOrder() []int {
	rank := make(map[string]int)
	if in.Described != nil {
		for i, t := range in.Described.Tensors() {
			rank[ending(t.Template)] = i - 1<<20
		}
	}
	order := make([]int, len(in.Result.Claims))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return rank[ending(in.Result.Claims[a].Name)] - rank[ending(in.Result.Claims[b].Name)]
	})
	return order
}

// ending is the part of a folded name from its first number on: whatever
// prefix the file has, it is the same.
func ending(template string) string {
	if i := strings.IndexByte(template, '*'); i >= 0 {
		return template[i:]
	}
	return template
}

// companions is the role of what belongs to quantised weights.
const companions = "quantisation"

// add counts a tensor of so many parameters, 0 for buffers and bookkeeping.
func (l *LayerSum) add(module string, t *safetensors.Tensor, parameters int64) {
	n, apart := t.Elements(), parameters == 0
	l.Elements += n
	l.Bytes += t.Bytes()
	if !apart {
		l.Parameters += parameters
		n = parameters
	} else if i := strings.LastIndexByte(t.Name, '.'); i >= 0 && module != companions {
		module = strings.TrimPrefix(module+t.Name[i:], ".")
	}
	i := slices.IndexFunc(l.Modules, func(m ModuleSum) bool { return m.Module == module && m.Apart == apart })
	if i < 0 {
		l.Modules = append(l.Modules, ModuleSum{Module: module, Apart: apart})
		i = len(l.Modules) - 1
	}
	l.Modules[i].Elements += n
}

// splitLayer takes a name apart at its first number: h, 0 and attn.c_attn of
// h.0.attn.c_attn.weight. Numbers further in become "*", so that experts add up.
func splitLayer(name string) (stack string, layer int64, module string, ok bool) {
	start := 0
	for segment := range strings.SplitSeq(name, ".") {
		end := start + len(segment)
		if n, isNumber := layerNumber(segment); isNumber && start > 0 && end < len(name) {
			return name[:start-1], n, moduleOf(name[end+1:]), true
		}
		start = end + 1
	}
	return "", 0, "", false
}

// layerNumber reads a segment of digits. It is asked for every segment of every
// name, and strconv makes an error for each that is none.
func layerNumber(segment string) (int64, bool) {
	if segment == "" || segment[0] < '0' || segment[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(segment, 10, 32)
	return n, err == nil
}

// moduleOf is what follows the layer, weight and bias of a module together.
func moduleOf(inner string) string {
	if i := strings.LastIndexByte(inner, '.'); i >= 0 {
		inner = inner[:i]
	}
	if !strings.ContainsAny(inner, "0123456789") {
		return inner
	}
	segments := strings.Split(inner, ".")
	for i, s := range segments {
		if _, isNumber := layerNumber(s); isNumber {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, ".")
}
