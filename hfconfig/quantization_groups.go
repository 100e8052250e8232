package hfconfig

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

func readCompressedTensors(q *Quantization, f *Config) {
	q.Version = f.text("version")
	q.Format = f.text("format")
	if f.fields["sparsity_config"].IsObject() && q.Format == "" { // pruned only: stored as it is, without the zeros
		sparsity := f.Sub("sparsity_config")
		q.Format = sparsity.text("format")
		for _, text := range sparsity.list("ignore") {
			q.NotConverted = append(q.NotConverted, text)
			q.skips.add(sparsity.matcher("ignore", text, matchTarget))
		}
	}
	q.KVCache = f.scheme("kv_cache_scheme")
}

// scheme reads the scheme of a field, nil where it is null or absent or a mere
// name.
func (c *Config) scheme(field string) *Scheme {
	v := c.fields[field]
	if v.Type == gjson.String {
		return algoSchemeOrNil(v.Str)
	}
	if !v.IsObject() {
		return nil
	}
	s := c.Sub(field).argsScheme()
	return &s
}

// argsScheme reads the object that compressed-tensors calls quantisation
// arguments.
func (c *Config) argsScheme() Scheme {
	s := Scheme{Type: c.text("type"), Strategy: c.text("strategy"), Symmetric: c.BoolOr("symmetric", true)}
	s.ScaleDType = strings.TrimPrefix(c.text("scale_dtype"), "torch.")
	if s.Type == "" {
		s.Type = "int"
	}
	s.Bits = c.IntOr("num_bits", 8)
	if n, ok := c.Nullable("group_size"); ok {
		s.GroupSize = n
		if s.Strategy == "" {
			s.Strategy = "group"
			if n == -1 {
				s.Strategy = "channel"
			}
		}
	}
	if block := c.fields["block_structure"]; block.IsArray() {
		s.Block = c.blockSize("block_structure")
	}
	if s.Strategy == "" {
		s.Strategy = "tensor"
	}
	return s
}

// readGroups reads config_groups; the first group's scheme is the one of the
// whole, where the method's own fields left it open.
func (q *Quantization) readGroups(f *Config) {
	if !f.fields["config_groups"].IsObject() {
		return
	}
	groups := f.Sub("config_groups")
	for _, name := range groups.order() {
		if group := groups.fields[name]; !group.IsObject() { // a preset's name stands for the targets, as in {"W8A8": ["Linear"]}
			continue
		}
		q.Groups = append(q.Groups, readGroup(q, groups.Sub(name), name))
	}
	if len(q.Groups) == 0 {
		return
	}
	if q.Method == "compressed-tensors" || q.Method == "modelopt" && q.Bits == 0 {
		q.Scheme = q.Groups[0].Scheme
	}
	q.only = q.only || q.Method == "compressed-tensors"
}

func readGroup(q *Quantization, f *Config, name string) SchemeGroup {
	g := SchemeGroup{Name: name}
	if targets := f.fields["targets"]; targets.Type != gjson.Null {
		g.Targets = f.list("targets")
	} else {
		g.Targets = []string{"Linear"}
	}
	if weights := f.scheme("weights"); weights != nil {
		g.Scheme = *weights
	}
	g.Format = f.text("format")
	if g.Format == "" {
		g.Format = q.Format
	}
	if inputs := f.scheme("input_activations"); inputs != nil {
		q.Activations = inputs
		if q.ActivationScheme == "" {
			q.ActivationScheme = activationScheme(f.fields["input_activations"].Get("dynamic"))
		}
	}
	for _, target := range g.Targets {
		if !isClass(target) {
			g.named.add(f.matcher("targets", target, matchTarget))
		}
	}
	return g
}

func activationScheme(dynamic gjson.Result) string {
	if dynamic.Type == gjson.True || dynamic.Type == gjson.String { // "local": dynamic within a static global scale
		return "dynamic"
	}
	return "static"
}

// isClass reports whether a target names a class of modules, such as Linear.
func isClass(target string) bool {
	return target != "" && target[0] >= 'A' && target[0] <= 'Z' && !strings.Contains(target, ".")
}

// TargetsClass reports whether modules of a class (Linear, Embedding) are
// quantised where no list leaves them alone.
func (q *Quantization) TargetsClass(class string) bool {
	for _, g := range q.Groups {
		if slices.Contains(g.Targets, class) {
			return true
		}
	}
	if len(q.Groups) > 0 && q.Method == "compressed-tensors" {
		return false
	}
	return class == "Linear" || class == "Embedding" && q.Method == "mlx"
}

// order lists the object's members as the file has them.
func (c *Config) order() []string {
	var names []string
	seen := make(map[string]bool)
	c.object.ForEach(func(key, _ gjson.Result) bool {
		if name := key.String(); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
		return true
	})
	return names
}

// list reads a list of texts, or a single text, which some writers leave bare.
func (c *Config) list(field string) []string {
	if v := c.fields[field]; v.Type == gjson.String {
		return []string{v.Str}
	}
	return c.Strings(field)
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func sortFrom(list []string, first int) { slices.Sort(list[first:]) }

// algoScheme reads modelopt's names of schemes.
func algoScheme(name string) (Scheme, bool) {
	switch strings.ToUpper(name) {
	case "FP8":
		return Scheme{Bits: 8, Type: "float", Strategy: "tensor", Symmetric: true}, true
	case "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PC_PT":
		return Scheme{Bits: 8, Type: "float", Strategy: "channel", Symmetric: true}, true
	case "FP8_PB_WO", "FP8_PB_REAL":
		return Scheme{Bits: 8, Type: "float", Strategy: "block", Block: []int64{128, 128}, Symmetric: true}, true
	case "MXFP8":
		return Scheme{Bits: 8, Type: "float", Strategy: "group", GroupSize: 32, Symmetric: true}, true
	case "NVFP4", "W4A16_NVFP4", "NVFP4_AWQ", "NVFP4_SVDQUANT", "W4A8_NVFP4_FP8":
		return Scheme{Bits: 4, Type: "float", Strategy: "tensor_group", GroupSize: 16, Symmetric: true}, true
	case "MXFP4", "W4A8_MXFP4_FP8":
		return Scheme{Bits: 4, Type: "float", Strategy: "group", GroupSize: 32, Symmetric: true}, true
	case "W4A16_AWQ", "W4A8_AWQ", "W4A16", "INT4_AWQ":
		return Scheme{Bits: 4, Type: "int", Strategy: "group", GroupSize: 128, Symmetric: true}, true
	case "W8A8_SQ_PER_CHANNEL", "W8A16", "INT8_SQ", "INT8":
		return Scheme{Bits: 8, Type: "int", Strategy: "channel", Symmetric: true}, true
	}
	return Scheme{}, false
}

func algoSchemeOrNil(name string) *Scheme {
	if s, ok := algoScheme(name); ok {
		return &s
	}
	return nil
}

func readModelOpt(q *Quantization, f *Config) {
	q.Algo = f.text("quant_algo")
	q.Scheme, _ = algoScheme(q.Algo)
	if n, ok := f.Nullable("group_size"); ok && q.GroupSize > 0 {
		q.GroupSize = n
	}
	q.KVCache = f.scheme("kv_cache_scheme")
	if algo := f.text("kv_cache_quant_algo"); q.KVCache == nil && algo != "" {
		q.KVCache = algoSchemeOrNil(algo)
	}
	q.Version = f.fields["producer"].Get("version").String()
	q.only = strings.EqualFold(q.Algo, "MIXED_PRECISION")
}

func readTorchAO(q *Quantization, f *Config) {
	kind := f.fields["quant_type"]
	if d := kind.Get("default"); d.Exists() {
		kind = d
	}
	q.Scheme = torchAOScheme(kind)
}

// torchAOScheme reads a serialised torchao config, or one of its old names.
func torchAOScheme(kind gjson.Result) Scheme {
	name := kind.Get("_type").String()
	if kind.Type == gjson.String {
		name = kind.Str
	}
	s := Scheme{Format: name, Symmetric: true}
	data := kind.Get("_data")
	lower := strings.ToLower(name)
	switch dtype := data.Get("weight_dtype._data").String(); {
	case dtype != "":
		d := dtypeScheme(dtype)
		s.Bits, s.Type, s.DType = d.Bits, d.Type, dtype
	case hasPrefix(lower, "int4"):
		s.Bits, s.Type = 4, "int"
	case hasPrefix(lower, "int8"):
		s.Bits, s.Type = 8, "int"
	case hasPrefix(lower, "float8", "fp8"):
		s.Bits, s.Type = 8, "float"
	case hasPrefix(lower, "nvfp4", "mxfp4"):
		s.Bits, s.Type = 4, "float"
	}
	s.Strategy = "channel"
	for _, at := range []string{"weight_granularity._data.group_size", "granularity._data.group_size", "group_size"} {
		if n := data.Get(at); n.Type == gjson.Number {
			s.GroupSize, s.Strategy = n.Int(), "group"
			break
		}
	}
	return s
}
