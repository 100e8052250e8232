package hfconfig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Quantization is a typed view of a quantization_config, in whichever of its
// many forms the file has it.
type Quantization struct {
	Method   string // quant_method as the libraries write it: gptq, awq, bitsandbytes, …
	Inferred bool   // the config names no method; its fields gave it away
	Path     string // where it stands, such as text_config.quantization_config or quantize_config.json

	Scheme // of every module that no override names

	Version string // layout (awq: gemm, gemv) or version of the library that wrote the file
	Algo    string // modelopt's quant_algo
	Fields  *Config
	Groups  []SchemeGroup // compressed-tensors' and modelopt's config_groups

	DescAct          bool    // gptq: columns are taken in order of activation
	DoubleQuant      bool    // bitsandbytes: scales are quantised themselves
	Storage          string  // bitsandbytes: dtype that holds the packed weights
	ActivationScheme string  // static or dynamic
	ExpertDType      string  // fp8: routed experts packed otherwise, such as fp4
	ScaleFormat      string  // fp8: ue8m0 or float
	Activations      *Scheme // compressed-tensors: quantised inputs, nil where they are not
	KVCache          *Scheme // quantised cache, nil where it is not

	NotConverted []string // modules that are left alone, as the file lists them

	listed     bool // the file has a list, be it empty
	skips      moduleSet
	overrides  []override
	overridden moduleSet // the modules of overrides, in their order
	only       bool      // what no override or group names is left alone
}

// Scheme says how the weights of one module are stored.
type Scheme struct {
	Bits      int64   // per weight; 0 where the config does not say
	Type      string  // int, float, nf4, fp4, affine, mxfp4, …; "" where it does not say
	Format    string  // how it is packed: compressed-tensors' format, gptq's checkpoint_format, …
	Strategy  string  // what shares a scale: tensor, channel, group, tensor_group or block
	GroupSize int64   // weights of a row that share a scale; -1 the whole row, 0 not said
	Block     []int64 // rows and columns that share a scale, nil if none
	Symmetric bool    // no zero points

	DType      string // in which packed weights and those of 8 bits are stored, in torch's words; "" where it does not say
	ScaleDType string // in which scales are stored, likewise
}

// SchemeGroup is a set of modules that share a scheme.
type SchemeGroup struct {
	Name    string
	Targets []string // names, re: patterns, or classes such as Linear
	Scheme
	named moduleSet // the targets that are no classes
}

// Quantization returns the config's quantisation, or nil where it has none
// (absent or null). With an error that is a *FieldError with Usable set, the
// view beside it can be used.
func (c *Config) Quantization() (*Quantization, error) {
	object, path := findQuantization(c.object, "", 0)
	if !object.Exists() {
		return nil, nil
	}
	path = c.path + path
	if !object.IsObject() {
		return nil, &FieldError{Field: path, Reason: "is " + describe(object) + ", want an object"}
	}
	if len(object.Map()) == 0 {
		return nil, &FieldError{Field: path, Usable: true,
			Reason: "is empty; the reference library refuses it, remove it or write null"}
	}
	return readQuantization(object, path)
}

// ParseQuantization reads a quantisation config that stands in a file of its
// own, beside config.json: quantize_config.json, quant_config.json,
// quantization_config.json, hf_quant_config.json or quanto_qmap.json.
func ParseQuantization(file string, data []byte) (*Quantization, []Notice, error) {
	object, notices, err := normalise(data)
	if err != nil {
		return nil, nil, err
	}
	q, err := readQuantization(object, file)
	return q, notices, err
}

// findQuantization looks in the config itself, then in the configs nested in
// it, the text model's first.
func findQuantization(object gjson.Result, path string, depth int) (gjson.Result, string) {
	const deepest = 3
	members := lastMembers(object)
	for _, name := range []string{"quantization_config", "compression_config", "quantization"} {
		if v, ok := members[name]; ok && v.Type != gjson.Null {
			if name == "quantization" && !v.IsObject() {
				continue // some types have a field of this name that says something else
			}
			return v, path + name
		}
	}
	if depth == deepest {
		return gjson.Result{}, ""
	}
	for _, name := range nestedFirst(members) {
		if found, at := findQuantization(members[name], path+name+".", depth+1); found.Exists() {
			return found, at
		}
	}
	return gjson.Result{}, ""
}

// nestedFirst lists the members that are configs of their own, the language
// model's first.
func nestedFirst(members map[string]gjson.Result) []string {
	var names []string
	for _, name := range []string{"text_config", "llm_config", "language_config", "thinker_config"} {
		if members[name].IsObject() {
			names = append(names, name)
		}
	}
	first := len(names)
	for name, v := range members {
		if strings.HasSuffix(name, "_config") && v.IsObject() && !contains(names[:first], name) {
			names = append(names, name)
		}
	}
	sortFrom(names, first)
	return names
}

// lastMembers returns an object's members, of duplicates the last.
func lastMembers(object gjson.Result) map[string]gjson.Result {
	members := make(map[string]gjson.Result)
	if object.IsObject() {
		object.ForEach(func(key, value gjson.Result) bool {
			members[key.String()] = value
			return true
		})
	}
	return members
}

func readQuantization(object gjson.Result, path string) (*Quantization, error) {
	f := newConfig(object, path+".", "", newFaults())
	q := &Quantization{Path: path, Fields: f}
	if inner := f.fields["quantization"]; inner.IsObject() && f.fields["quant_method"].Type == gjson.Null {
		// hf_quant_config.json keeps the producer beside the quantization
		f = newConfig(inner, path+".quantization.", "", f.faults)
		q.Fields = f
	}
	q.Method, q.Inferred = method(f, path)
	if q.Method == "" {
		f.record(&FieldError{Field: path + ".quant_method", Usable: true,
			Reason: "missing, and the other fields do not tell the method; the reference library refuses it"})
	}
	if read, ok := readers()[q.Method]; ok {
		read(q, f)
	} else {
		readCommon(q, f)
	}
	q.readGroups(f)
	q.readSkips(f)
	q.readOverrides(f)
	if dropped := q.skips.dropped + q.overridden.dropped; dropped > 0 {
		f.record(&FieldError{Field: path, Usable: true,
			Reason: fmt.Sprintf("%d expressions beyond the first %d are left out", dropped, mostExpressions)})
	}
	return q, errors.Join(f.Faults()...)
}

// method returns the method's name and whether it had to be inferred.
func method(f *Config, path string) (name string, inferred bool) {
	if f.flag("load_in_4bit") || f.flag("load_in_8bit") {
		return "bitsandbytes", f.fields["quant_method"].Str == ""
	}
	if name := f.String("quant_method"); name != "" {
		return canonicalMethod(strings.ToLower(name)), false
	}
	has := func(field string) bool { v := f.fields[field]; return v.Exists() && v.Type != gjson.Null }
	switch {
	case has("quant_algo"):
		return "modelopt", true
	case has("config_groups"), has("sparsity_config"):
		return "compressed-tensors", true
	case has("w_bit"), has("zero_point") && has("bits"):
		return "awq", true
	case has("desc_act"), has("damp_percent"), has("bits") && has("sym"), has("checkpoint_format"):
		return "gptq", true
	case has("weight_block_size"), has("activation_scheme"):
		return "fp8", true
	case has("weight_quant_params"), has("quant_config"):
		return "hqq", true
	case strings.HasSuffix(path, "quanto_qmap.json"):
		return "quanto", true
	case has("bits") && (has("group_size") || strings.HasSuffix(path, ".quantization") || path == "quantization"):
		return "mlx", true
	}
	return "", true
}

// canonicalMethod resolves the spellings that stand for one method.
func canonicalMethod(name string) string {
	switch name {
	case "bitsandbytes_4bit", "bitsandbytes_8bit", "bnb":
		return "bitsandbytes"
	case "compressed_tensors":
		return "compressed-tensors"
	case "auto_round", "intel/auto-round":
		return "auto-round"
	case "modelopt_fp4", "modelopt_mxfp8", "modelopt_mixed":
		return "modelopt"
	}
	return name
}

// flag reports whether the field is the switch true, without complaint.
func (c *Config) flag(field string) bool { return c.fields[field].Type == gjson.True }

// Known reports whether the method is one that this program can read.
func (q *Quantization) Known() bool {
	_, ok := readers()[q.Method]
	return ok
}

// Raw returns the config's text as it stands in the file.
func (q *Quantization) Raw() string { return q.Fields.JSON() }

// String names the method and its bits in short, such as "gptq 4-bit, groups of 128".
func (q *Quantization) String() string {
	text := q.Method
	if text == "" {
		text = "unnamed method"
	}
	if q.Bits > 0 {
		text += fmt.Sprintf(" %d-bit", q.Bits)
	}
	if q.GroupSize > 0 {
		text += fmt.Sprintf(", groups of %d", q.GroupSize)
	}
	return text
}
