package inspect

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// mutant is a reconciliation whose tensors can be changed.
type mutant struct {
	input    reconcile.Input
	tensors  []safetensors.Tensor
	metadata map[string]string
	baseline map[string]bool // what is found without a change
}

func newMutant(t testing.TB, c *quantisedCase) *mutant {
	t.Helper()
	ctx, src := context.Background(), c.folder(t)
	files, err := src.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	choice, err := safetensors.Choose(safetensors.Sets(files), safetensors.ChooseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkpoint, err := safetensors.ReadCheckpoint(ctx, src, choice.Set, safetensors.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account := readConfig(ctx, src, "")
	account.describe("", nil)
	m := &mutant{input: reconcile.Input{Config: account.config, Model: account.model, AllValues: true,
		Values: valueReader(ctx, src, checkpoint), Quantization: account.quantisationBeside(ctx, src, "", files)}}
	for _, file := range checkpoint.Files {
		m.tensors = append(m.tensors, file.Header.Tensors...)
		m.metadata = file.Header.Metadata // of sharded ones no case needs it
	}
	m.baseline = make(map[string]bool)
	_, findings := m.run(m.tensors)
	for _, f := range findings {
		m.baseline[f.Code+f.Message] = true
	}
	return m
}

func (m *mutant) run(tensors []safetensors.Tensor) (*reconcile.Result, []finding.Finding) {
	in := m.input
	in.Checkpoint = &safetensors.Checkpoint{Complete: true,
		Files: []*safetensors.File{{Path: "model.safetensors", Header: &safetensors.Header{Length: -1, Metadata: m.metadata, Tensors: tensors}}}}
	return reconcile.Reconcile(in)
}

// clean reports whether nothing is found that was not there before.
func (m *mutant) clean(tensors []safetensors.Tensor) bool {
	result, findings := m.run(tensors)
	if result.Unexplained != 0 || len(result.UnexplainedTensors) > 0 {
		return false
	}
	return !slices.ContainsFunc(findings, func(f finding.Finding) bool { return !m.baseline[f.Code+f.Message] })
}

// silent reports whether nothing is found that is more than a note.
func (m *mutant) silent(tensors []safetensors.Tensor) bool {
	result, findings := m.run(tensors)
	if result.Unexplained != 0 || len(result.UnexplainedTensors) > 0 {
		return false
	}
	return !slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Severity != finding.Note && !m.baseline[f.Code+f.Message] })
}

// otherDType is what a retyped tensor becomes.
func otherDType(d safetensors.DType) safetensors.DType {
	switch d {
	case safetensors.F32, safetensors.F8E4M3, safetensors.I32, safetensors.U32:
		return safetensors.BF16
	case safetensors.U8:
		return safetensors.I8
	case safetensors.I8:
		return safetensors.U8
	case safetensors.I64:
		return safetensors.F32
	}
	return safetensors.F32
}

// mutation is a change of one tensor; what it returns stands in its place.
type mutation struct {
	name  string
	apply func(t safetensors.Tensor) []safetensors.Tensor
}

var mutations = []mutation{
	{"drop", func(safetensors.Tensor) []safetensors.Tensor { return nil }},
	{"double", func(t safetensors.Tensor) []safetensors.Tensor { return []safetensors.Tensor{t, t} }},
	{"rename", func(t safetensors.Tensor) []safetensors.Tensor {
		t.Name += "_2"
		return []safetensors.Tensor{t}
	}},
	{"retype", func(t safetensors.Tensor) []safetensors.Tensor {
		t.DType = otherDType(t.DType)
		return []safetensors.Tensor{t}
	}},
	{"first+1", resized(func(s []int64) { s[0]++ })},
	{"last+1", resized(func(s []int64) { s[len(s)-1]++ })},
	{"first×2", resized(func(s []int64) { s[0] *= 2 })},
	{"last×2", resized(func(s []int64) { s[len(s)-1] *= 2 })},
	{"last/2", resized(func(s []int64) { s[len(s)-1] = max(s[len(s)-1]/2, 1) })},
	{"none", resized(func(s []int64) { s[0] = 0 })},
	{"huge", resized(func(s []int64) { s[len(s)-1] = 1 << 61 / max(slices.Max(s), 1) })},
	{"turn", resized(func(s []int64) { slices.Reverse(s) })},
	{"flatten", func(t safetensors.Tensor) []safetensors.Tensor {
		t.Shape = []int64{t.Elements()}
		return []safetensors.Tensor{t}
	}},
}

// memberMutations are those of quantised weights and their companions: besides,
// every size one more and one less, and every dtype of the same width.
var memberMutations = slices.Concat(mutations, stretched(), retyped())

// everywhereMutations are those that a whole file cannot have rightly: it may have
// scales of another width.
var everywhereMutations = slices.DeleteFunc(slices.Clone(memberMutations), func(m mutation) bool { return m.name == "retype" })

func stretched() (list []mutation) {
	const mostDims = 4 // of AQLM's codebooks
	for at := range mostDims {
		for _, by := range []int64{1, -1} {
			list = append(list, mutation{fmt.Sprintf("dim %d %+d", at, by), resized(func(s []int64) {
				if at < len(s) {
					s[at] += by
				}
			})})
		}
	}
	return list
}

func retyped() (list []mutation) {
	for _, to := range safetensors.DTypes() {
		list = append(list, mutation{"as " + to.String(), func(t safetensors.Tensor) []safetensors.Tensor {
			if t.DType.Bits() == to.Bits() {
				t.DType = to
			}
			return []safetensors.Tensor{t}
		}})
	}
	return list
}

func resized(change func([]int64)) func(safetensors.Tensor) []safetensors.Tensor {
	return func(t safetensors.Tensor) []safetensors.Tensor {
		t.Shape = slices.Clone(t.Shape)
		if len(t.Shape) == 0 {
			t.Shape = []int64{2}
		} else {
			change(t.Shape)
		}
		return []safetensors.Tensor{t}
	}
}

// allMutations runs every mutation, which takes minutes; else one in so many.
var allMutations = flag.Bool("mutations", false, "run every mutation of quantised checkpoints")

const oneIn = 67

// TestMutations changes each tensor, alone and with its like in all layers: the
// ledger must never stay clean.
func TestMutations(t *testing.T) {
	for number, c := range readQuantised(t) {
		t.Run(c.Name, func(t *testing.T) {
			m := newMutant(t, &c)
			result, _ := m.run(m.tensors)
			members := membersOf(result)
			for i, target := range m.targets() {
				try, clean := mutations, m.clean
				switch {
				case strings.HasPrefix(target.name, "*."):
					try, clean = everywhereMutations, m.silent
				case slices.ContainsFunc(members, target.is):
					try, clean = memberMutations, m.silent
				}
				for j, change := range try {
					if !*allMutations && (number+i*len(try)+j)%oneIn != 0 {
						continue
					}
					if tensors, differs := m.mutate(target, change.apply); differs && clean(tensors) && !free(c.Name, target.name, change.name) {
						t.Errorf("%s %s: clean", change.name, target.name)
					}
				}
			}
		})
	}
}

// membersOf names the quantised weights and their companions.
func membersOf(r *reconcile.Result) (names []string) {
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Status == reconcile.Quantised || c.Status == reconcile.Quantisation {
			for one := range c.Members() {
				names = append(names, one.Tensor.Name)
			}
		}
	}
	return names
}

// undetected are changes that leave a sound file, or one that nothing in it tells
// from one.
var undetected = []struct {
	fixtures, tensor, change, why string // expressions
}{
	{"spqr", `col_vals$`, `[+×/-]|none`, "a derived file with empty offsets does not tell how many outliers it keeps"},
	{"aqlm|awq|gptq|hqq|higgs|vptq", `^\*\.(scales?|zero|codebooks|tables2?|(res_)?centroids\.weight|weight_(scale|bias))$`, `as B?F16`, "these writers have scales of either dtype, whatever the model's"},
	{"gptq", `^\*\.g_idx$`, `drop`, "without desc_act the order is that of the columns"},
	{"fp8-block-128$", `self_attn\.[kv]_proj\.weight_scale_inv$`, `drop`, "these weights were not converted, their scales have no effect"},
	{"fp8-pertensor|modelopt-fp8", `^\*\.weight_scale(_inv)?$`, `flatten`, "one number, in as many dimensions as one likes"},
	{"modelopt-int4-awq", `^\*\.pre_quant_scale$`, `drop`, "the writer may have folded it into what comes before"},
	{"uncompressed", `^\*\.weight_zero_point$`, `drop`, "symmetric weights have no use for zero points"},
	{"bnb-int8", `^\*\.weight_format$`, `drop`, "the library takes rows for the format"},
}

func free(fixture, tensor, change string) bool {
	for _, u := range undetected {
		if regexp.MustCompile(u.fixtures).MatchString(fixture) && regexp.MustCompile(u.tensor).MatchString(tensor) && regexp.MustCompile(u.change).MatchString(change) {
			return true
		}
	}
	return false
}

// target is one tensor, or all of a name in all layers.
type target struct {
	name string
	is   func(name string) bool
}

func (m *mutant) targets() []target {
	var list []target
	seen := make(map[string]bool)
	for i := range m.tensors {
		name := m.tensors[i].Name
		list = append(list, target{name, func(other string) bool { return other == name }})
		if folded := withoutLayer(name); folded != name && !seen[folded] {
			seen[folded] = true
			list = append(list, target{folded, func(other string) bool { return withoutLayer(other) == folded }})
		}
	}
	for _, ending := range endings {
		list = append(list, target{"*." + ending, func(other string) bool {
			return strings.HasSuffix(other, "_proj."+ending)
		}})
	}
	return list
}

// endings of the members of quantised linears: one of these changed in the whole
// file leaves no sibling to differ from.
var endings = []string{"weight", "weight_scale", "weight_packed", "weight_shape", "weight_scale_inv", "weight_zero_point", "weight_global_scale", "weight_scale_2",
	"weight_scales", "input_scale", "input_zero_point", "activation_scale", "pre_quant_scale", "qweight", "qzeros", "scales", "g_idx", "biases", "qbiases", "SCB",
	"weight.absmax", "weight.quant_map", "weight.nested_absmax", "weight.nested_quant_map", "weight_format", "_weight_qdata", "_weight_scale", "_weight_zero_point",
	"W_q", "scale", "zero", "shape", "nbits", "weight._data", "weight._data._data", "weight._scale", "weight._shift", "codes", "codebooks", "indices",
	"centroids.weight", "res_centroids.weight", "perm", "dense_weights", "row_offsets", "in_perm", "tables", "tables2", "compressed", "bitmask", "row_offsets"}

func withoutLayer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, ".0.", ".N."), ".1.", ".N.")
}

func (m *mutant) mutate(target target, apply func(safetensors.Tensor) []safetensors.Tensor) (tensors []safetensors.Tensor, differs bool) {
	for _, one := range m.tensors {
		if !target.is(one.Name) {
			tensors = append(tensors, one)
			continue
		}
		changed := apply(one)
		differs = differs || fmt.Sprint(changed) != fmt.Sprint([]safetensors.Tensor{one})
		tensors = append(tensors, changed...)
	}
	return tensors, differs
}
