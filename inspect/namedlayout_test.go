package inspect

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
	"github.com/hf-inspect/hf-inspect/source"
)

// layout is a named case at work.
type layout struct {
	namedCase
	index struct {
		Metadata struct {
			Total float64 `json:"total_size"`
		} `json:"metadata"`
		Map map[string]string `json:"weight_map"`
	}
	order    []string // as in the index, and so in the files
	expected map[string]*estimator.Tensor
	settings map[string]setting // of modules with one of their own
}

// setting is what an MLX config says of one module.
type setting struct {
	Bits  int64 `json:"bits"`
	Group int64 `json:"group_size"`
}

func newLayout(t testing.TB, c namedCase, r *repo) *layout {
	t.Helper()
	l := &layout{namedCase: c, expected: make(map[string]*estimator.Tensor), settings: make(map[string]setting)}
	if err := json.Unmarshal([]byte(r.Index), &l.index); err != nil {
		t.Fatal(err)
	}
	gjson.Get(r.Index, "weight_map").ForEach(func(name, _ gjson.Result) bool {
		if c.text == "" || !visual.MatchString(name.String()) {
			l.order = append(l.order, name.String())
		}
		return true
	})
	gjson.Get(r.Config, "quantization").ForEach(func(module, value gjson.Result) bool {
		var own setting
		if value.IsObject() && json.Unmarshal([]byte(value.Raw), &own) == nil {
			l.settings[module.String()] = own
		}
		return true
	})
	config, _, err := hfconfig.Parse(l.config(r))
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimator.Describe(config, "")
	if err != nil {
		t.Fatal(err)
	}
	tensors := model.Tensors()
	for _, s := range model.Sections {
		tensors = append(tensors, model.SectionTensors(s)...)
	}
	for i := range tensors {
		for name := range tensors[i].Names {
			l.expected[name] = &tensors[i]
		}
	}
	return l
}

// visual are the names of what stands beside a language model.
var visual = regexp.MustCompile(`(^|\.)(visual|vision_tower)\.`)

// config returns the config.json of a case: that of the language model with the
// whole's quantisation, where the case is of it alone.
func (l *layout) config(r *repo) []byte {
	if l.text == "" {
		return []byte(r.Config)
	}
	whole := gjson.Parse(r.Config)
	text := strings.TrimSpace(whole.Get("text_config").Raw)
	text = text[:len(text)-1] + `,"architectures":["` + l.text + `"]}`
	for _, field := range []string{"quantization", "quantization_config"} {
		if q := whole.Get(field); q.Exists() {
			text = text[:len(text)-1] + `,"` + field + `":` + q.Raw + "}"
		}
	}
	return []byte(text)
}

// indexFile returns the index of a case, without the names that it leaves out.
func (l *layout) indexFile(r *repo) []byte {
	if l.text == "" {
		return []byte(shardName(r.Index))
	}
	kept := make(map[string]string)
	for _, name := range l.order {
		kept[name] = l.index.Map[name]
	}
	return safetensorstest.Index(fmt.Sprint(int64(l.index.Metadata.Total)-l.towers), kept)
}

// described returns the description's name for a stored one.
func (l *layout) described(name string) string {
	for _, r := range l.rename {
		if rest, ok := strings.CutPrefix(name, r[0]); ok {
			return r[1] + rest
		}
	}
	return name
}

// weight returns the shape and dtype of a weight before it is quantised.
func (l *layout) weight(name string) (typed, bool) {
	for ending, one := range l.shapes {
		if strings.HasSuffix(name, ending) {
			return one, true
		}
	}
	one := typed{dtype: l.dtype}
	known := l.described(name)
	switch e := l.expected[known]; {
	case e != nil:
		one.shape = e.Shape
		if e.DType != "" {
			one.dtype = e.DType
		}
	default:
		if one.shape = l.expert(known); one.shape == nil {
			one.shape = l.stack(known)
		}
	}
	for _, ending := range l.single {
		if strings.HasSuffix(name, ending) {
			one.dtype = "F32"
		}
	}
	return one, one.shape != nil
}

var oneExpert = regexp.MustCompile(`(.*\.experts)\.\d+\.(gate|up|down)_proj\.weight$`)

// expert returns the shape of a matrix that the description has in a stack of
// all experts.
func (l *layout) expert(name string) []int64 {
	parts := oneExpert.FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	if parts[2] == "down" {
		if e := l.expected[parts[1]+".down_proj"]; e != nil {
			return e.Shape[1:]
		}
	} else if e := l.expected[parts[1]+".gate_up_proj"]; e != nil {
		return []int64{e.Shape[1] / 2, e.Shape[2]}
	}
	return nil
}

// stack returns the shape of all experts' matrices, which the description has
// one by one, or both halves in one.
func (l *layout) stack(name string) []int64 {
	above, matrix, ok := strings.Cut(name, ".switch_mlp.")
	if !ok {
		return nil
	}
	one := l.expert(above + ".experts.0." + matrix)
	if e := l.expected[above+".experts.down_proj"]; e != nil && one != nil {
		return append([]int64{e.Shape[0]}, one...)
	}
	return nil
}

// schemeOf is the scheme of a tensor: that of all, with the config's setting for
// its module where it has one.
func (l *layout) schemeOf(name string) storage {
	s := l.scheme
	module := name[:max(strings.LastIndex(name, "."), 0)]
	if own, ok := l.settings[module]; ok {
		s.bits, s.group = own.Bits, own.Group
	}
	return s
}

// tensor gives a stored name its shape and dtype.
func (l *layout) tensor(name string) (safetensorstest.Tensor, bool) {
	s := l.schemeOf(name)
	for _, part := range reconcile.Predict(s.method, s.form, s.bits, s.group, []int64{1 << 10, 1 << 10}) {
		module, ok := strings.CutSuffix(name, part.Suffix)
		if !ok {
			continue
		}
		whole, known := l.weight(module + ".weight")
		if !known {
			whole, known = l.weight(module) // stacked experts have no ending
		}
		parts := reconcile.Predict(s.method, s.form, s.bits, s.group, whole.shape)
		if !known || part.Carrier && !l.companied(module, parts) {
			continue
		}
		for _, one := range parts {
			if one.Suffix == part.Suffix {
				return l.part(name, one), true
			}
		}
	}
	one, known := l.weight(name)
	return safetensorstest.T(name, one.dtype, one.shape...), known
}

// companied reports whether what belongs to a packed weight is in the index.
func (l *layout) companied(module string, parts []reconcile.StoredPart) bool {
	return !slices.ContainsFunc(parts, func(p reconcile.StoredPart) bool { return l.index.Map[module+p.Suffix] == "" && !p.Maybe })
}

func (l *layout) part(name string, p reconcile.StoredPart) safetensorstest.Tensor {
	dtype := l.dtype
	if !slices.ContainsFunc(p.DTypes, func(d safetensors.DType) bool { return d.String() == dtype }) || p.Carrier {
		dtype = p.DTypes[0].String()
	}
	return safetensorstest.T(name, dtype, p.Shape...)
}

// folder lays the files out. Texts share what the total leaves for them beyond
// the least that each takes.
func (l *layout) folder(t testing.TB, r *repo) source.Source {
	t.Helper()
	shards := make(map[string][]safetensorstest.Tensor)
	var texts []safetensorstest.Tensor
	var held, most int64
	for _, name := range l.order {
		one, known := l.tensor(name)
		if !known {
			t.Errorf("%s is not predicted", name)
			continue
		}
		held += sizeOf(one)
		if strings.Contains(name, ".quant_state.") {
			texts = append(texts, one)
			most += l.most(name) - one.Shape[0]
			continue
		}
		shards[l.index.Map[name]] = append(shards[l.index.Map[name]], one)
	}
	left := int64(l.index.Metadata.Total) - l.towers - l.apart - held
	if l.states > 0 && (int64(len(texts)) != l.states || left < 0 || left > most) {
		t.Errorf("the total leaves %d bytes more than the least of %d texts, want at most %d", left, len(texts), most)
	}
	for i, one := range texts {
		more := left / int64(len(texts)-i)
		left -= more
		one.Shape[0] += more
		shards[l.index.Map[one.Name]] = append(shards[l.index.Map[one.Name]], one)
	}
	if left != 0 && l.index.Metadata.Total != 0 {
		t.Errorf("the index says %.0f bytes, the predictions hold %d: %d too few", l.index.Metadata.Total-float64(l.apart), held, left)
	}
	files := map[string]safetensorstest.Blob{
		"config.json":                  safetensorstest.Whole(l.config(r)),
		"model.safetensors.index.json": safetensorstest.Whole(l.indexFile(r)),
	}
	for shard, tensors := range shards {
		files[shardName(shard)] = withFormat(tensors)
	}
	return unrecorded{safetensorstest.NewFolder(files)}
}

// most is the greatest length of a text.
func (l *layout) most(name string) int64 {
	s := l.schemeOf(name)
	module, _, _ := strings.Cut(name, ".weight.quant_state.")
	whole, _ := l.weight(module + ".weight")
	for _, part := range reconcile.Predict(s.method, s.form, s.bits, s.group, whole.shape) {
		if module+part.Suffix == name {
			return part.Most
		}
	}
	return 0
}

// shardName gives shards of .bin files the names of safetensors.
func shardName(text string) string {
	return strings.NewReplacer(".bin", ".safetensors", "pytorch_model-", "model-").Replace(text)
}

// withFormat is a file as torch's users write it.
func withFormat(tensors []safetensorstest.Tensor) safetensorstest.Blob {
	header, data := safetensorstest.Header(map[string]string{"format": "pt"}, tensors...)
	head := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	return safetensorstest.Blob{Head: head, Size: int64(len(head)) + data}
}

func sizeOf(one safetensorstest.Tensor) int64 {
	_, bytes := safetensorstest.Header(nil, one)
	return bytes
}
