package hfconfig

import (
	"strings"

	"github.com/tidwall/gjson"
)

// readOverrides collects what the config says of single modules.
func (q *Quantization) readOverrides(f *Config) {
	switch q.Method {
	case "mlx", "metal":
		q.mlxOverrides(f)
	case "gptq", "auto-round":
		q.dynamicOverrides(f)
		q.extraOverrides(f)
	case "hqq":
		q.hqqOverrides(f)
	case "quanto":
		q.quantoOverrides(f)
	case "torchao":
		q.torchAOOverrides(f)
	}
	q.layerOverrides(f)
}

func (q *Quantization) add(m matcher, s Scheme, skip bool) {
	q.overridden.add(m)
	q.overrides = append(q.overrides, override{scheme: s, skip: skip})
}

// mlxOverrides: a module's name beside bits and group_size, with an object, or
// with false where it stays as it is.
func (q *Quantization) mlxOverrides(f *Config) {
	for _, name := range f.order() {
		switch v := f.fields[name]; {
		case v.IsObject() && (v.Get("bits").Exists() || v.Get("group_size").Exists() || v.Get("mode").Exists()):
			s := q.Scheme
			sub := f.Sub(name)
			s.Bits, s.GroupSize = sub.IntOr("bits", s.Bits), sub.IntOr("group_size", s.GroupSize)
			if mode := sub.text("mode"); mode != "" {
				s.Type, s.Symmetric = mode, mode != "affine"
			}
			q.add(matcher{rule: matchTarget, text: name}, s, false)
		case v.Type == gjson.False && strings.Contains(name, "."):
			q.add(matcher{rule: matchTarget, text: name}, Scheme{}, true)
		}
	}
}

// dynamicOverrides: GPTQModel's expressions, "-:" in front of those that are
// left alone, the first that matches counts.
func (q *Quantization) dynamicOverrides(f *Config) {
	if !f.fields["dynamic"].IsObject() {
		return
	}
	dynamic := f.Sub("dynamic")
	for _, key := range dynamic.order() {
		text, skip := strings.CutPrefix(key, "-:")
		m := dynamic.matcher(key, strings.TrimPrefix(text, "+:"), matchRegexp)
		s := q.Scheme
		if v := dynamic.fields[key]; v.IsObject() {
			sub := dynamic.Sub(key)
			s.Bits, s.GroupSize = sub.IntOr("bits", s.Bits), sub.IntOr("group_size", s.GroupSize)
			s.Symmetric = sub.BoolOr("sym", s.Symmetric)
		}
		q.add(m, s, skip)
	}
}

// extraOverrides: auto-round's names or expressions; 16 bits and more mean that
// the module stays as it is.
func (q *Quantization) extraOverrides(f *Config) {
	if !f.fields["extra_config"].IsObject() {
		return
	}
	const asItIs = 16
	extra := f.Sub("extra_config")
	for _, key := range extra.order() {
		if !extra.fields[key].IsObject() {
			continue
		}
		sub := extra.Sub(key)
		s := q.Scheme
		s.Bits, s.GroupSize = sub.IntOr("bits", s.Bits), sub.IntOr("group_size", s.GroupSize)
		s.Symmetric = sub.BoolOr("sym", s.Symmetric)
		rule := matchExact
		if !isPlain(key) {
			rule = matchRegexp
		}
		q.add(extra.matcher(key, key, rule), s, s.Bits >= asItIs)
	}
}

// hqqOverrides: parameters under a module's name without its layer, such as
// self_attn.q_proj; what is not named is left alone then.
func (q *Quantization) hqqOverrides(f *Config) {
	for _, field := range []string{"quant_config", "dynamic_config"} {
		if !f.fields[field].IsObject() {
			continue
		}
		byTag := f.Sub(field)
		for _, tag := range byTag.order() {
			params := byTag.fields[tag]
			if tag == "weight_quant_params" || hasSuffix(tag, "_quant_params") || !params.IsObject() {
				continue
			}
			sub := byTag.Sub(tag)
			if sub.fields["weight_quant_params"].IsObject() {
				sub = sub.Sub("weight_quant_params")
			}
			q.add(matcher{rule: matchConvert, text: "." + tag}, hqqScheme(sub), false)
			q.only = true
		}
	}
}

func hasSuffix(s, suffix string) bool { return strings.HasSuffix(s, suffix) }

// quantoOverrides: quanto_qmap.json is a map from modules to dtypes, and what
// it does not name is left alone.
func (q *Quantization) quantoOverrides(f *Config) {
	if !hasSuffix(q.Path, "quanto_qmap.json") {
		return
	}
	q.only = true
	for i, name := range f.order() {
		weights := f.fields[name].Get("weights")
		s := quantoScheme(weights.String())
		if i == 0 {
			q.Scheme = s
		}
		q.add(matcher{rule: matchTarget, text: name}, s, s.Bits == 0)
	}
}

// torchAOOverrides: a config for each name or re: expression, null where the
// module stays as it is.
func (q *Quantization) torchAOOverrides(f *Config) {
	kind := f.fields["quant_type"].Get("default")
	for _, field := range []string{"module_fqn_to_config", "fqn_to_config"} {
		kind.Get("_data").Get(field).ForEach(func(key, value gjson.Result) bool {
			if key.Str == "_default" {
				q.Scheme = torchAOScheme(value)
				return true
			}
			m := f.matcher("quant_type", key.Str, matchExact)
			q.add(m, torchAOScheme(value), value.Type == gjson.Null)
			return true
		})
	}
}

// layerOverrides: modelopt's quantized_layers name an algorithm for a module or
// for all modules under it.
func (q *Quantization) layerOverrides(f *Config) {
	if !f.fields["quantized_layers"].IsObject() {
		return
	}
	layers := f.Sub("quantized_layers")
	for _, name := range layers.order() {
		if !layers.fields[name].IsObject() {
			continue
		}
		sub := layers.Sub(name)
		s, _ := algoScheme(sub.text("quant_algo"))
		if n, ok := sub.Nullable("group_size"); ok {
			s.GroupSize = n
		}
		q.add(layers.matcher(name, name, matchGlob), s, false)
	}
}
