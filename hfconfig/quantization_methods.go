package hfconfig

import (
	"strings"

	"github.com/tidwall/gjson"
)

// readers has for every method how its own fields are read.
func readers() map[string]func(q *Quantization, f *Config) {
	return map[string]func(q *Quantization, f *Config){
		"aqlm":       readAQLM,
		"auto-round": readGPTQ,
		"awq":        readAWQ,
		"bitnet": func(q *Quantization, f *Config) {
			q.Scheme = Scheme{Bits: 2, Type: "ternary", Strategy: "tensor", Symmetric: true}
		},
		"bitsandbytes":       readBitsAndBytes,
		"compressed-tensors": readCompressedTensors,
		"eetq": func(q *Quantization, f *Config) {
			q.Scheme = Scheme{Bits: 8, Type: "int", Strategy: "channel", Symmetric: true}
		},
		"fbgemm_fp8": func(q *Quantization, f *Config) {
			q.Scheme = Scheme{Bits: 8, Type: "float", Strategy: "channel", Symmetric: true}
		},
		"fp8":      readFP8,
		"gemma":    func(q *Quantization, f *Config) { readCommon(q, f); q.Strategy = "channel" },
		"gptq":     readGPTQ,
		"higgs":    func(q *Quantization, f *Config) { readCommon(q, f); q.Type = "grid" },
		"hqq":      readHQQ,
		"metal":    readMLX,
		"mlx":      readMLX,
		"modelopt": readModelOpt,
		"mxfp4": func(q *Quantization, f *Config) {
			q.Scheme = Scheme{Bits: 4, Type: "float", Strategy: "group", GroupSize: 32, Symmetric: true}
		},
		"mxfp8":   readFP8,
		"quanto":  readQuanto,
		"quark":   readQuark,
		"spqr":    readCommon,
		"torchao": readTorchAO,
		"vptq":    readCommon,
	}
}

// readCommon reads the names that most methods use.
func readCommon(q *Quantization, f *Config) {
	if n, ok := f.FirstInt("bits", "num_bits", "nbits", "w_bit", "wbits"); ok {
		q.Bits = n
	}
	if n, ok := f.FirstInt("group_size", "q_group_size"); ok {
		q.GroupSize = n
		q.Strategy = "group"
	}
	q.Type = "int"
}

func readGPTQ(q *Quantization, f *Config) {
	readCommon(q, f)
	q.Symmetric = f.BoolOr("sym", true)
	q.DescAct = f.Bool("desc_act")
	q.Version = f.text("version")
	for _, field := range []string{"checkpoint_format", "packing_format", "format"} {
		if q.Format == "" {
			q.Format = f.text(field)
		}
	}
}

func readAWQ(q *Quantization, f *Config) {
	readCommon(q, f)
	q.Symmetric = !f.BoolOr("zero_point", true)
	q.Version = strings.ToLower(f.text("version"))
	if q.Version == "" {
		q.Version = "gemm"
	}
	q.Format = q.Version
}

func readBitsAndBytes(q *Quantization, f *Config) {
	if f.flag("load_in_8bit") && !f.flag("load_in_4bit") {
		q.Scheme = Scheme{Bits: 8, Type: "int", Strategy: "channel", Symmetric: true}
		return
	}
	q.Scheme = Scheme{Bits: 4, Type: f.text("bnb_4bit_quant_type"), Strategy: "group", GroupSize: 64, Symmetric: true}
	if q.Type == "" {
		q.Type = "fp4"
	}
	q.DoubleQuant = f.Bool("bnb_4bit_use_double_quant")
	if q.Storage = f.text("bnb_4bit_quant_storage"); q.Storage == "" {
		q.Storage = "uint8"
	}
	q.DType = q.Storage
}

func readFP8(q *Quantization, f *Config) {
	q.Scheme = Scheme{Bits: 8, Type: "float", Symmetric: true, Strategy: "block"}
	switch block := f.fields["weight_block_size"]; {
	case !block.Exists() && q.Method == "mxfp8":
		q.Block = []int64{1, 32}
	case !block.Exists():
		q.Block = []int64{128, 128}
	case block.Type == gjson.Null:
		q.Strategy = "tensor"
	default:
		q.Block = f.blockSize("weight_block_size")
	}
	q.ActivationScheme = f.text("activation_scheme")
	q.ExpertDType = f.text("expert_dtype")
	q.ScaleFormat = f.text("scale_fmt")
	if f.text("fmt") == "e4m3" {
		q.DType = "float8_e4m3fn"
	}
	q.Algo = f.text("quant_algo")
}

// blockSize reads two positive numbers.
func (c *Config) blockSize(field string) []int64 {
	block := c.Ints(field)
	if block == nil {
		return nil
	}
	if len(block) != 2 || block[0] < 1 || block[1] < 1 {
		c.fault(field, "is %s, want two positive numbers", shorten(c.fields[field].Raw))
		return nil
	}
	return block
}

func readAQLM(q *Quantization, f *Config) {
	q.Type = "codebook"
	q.Bits, _ = f.Nullable("nbits_per_codebook")
}

func readHQQ(q *Quantization, f *Config) {
	inner := f
	if f.fields["quant_config"].IsObject() {
		inner = f.Sub("quant_config")
	}
	if inner.fields["weight_quant_params"].IsObject() {
		q.Scheme = hqqScheme(inner.Sub("weight_quant_params"))
		return
	}
	readCommon(q, inner)
}

func hqqScheme(params *Config) Scheme {
	s := Scheme{Type: "int", Strategy: "group"}
	s.Bits, _ = params.Nullable("nbits")
	if n, ok := params.Nullable("group_size"); ok {
		s.GroupSize = n
	} else {
		s.GroupSize = -1
	}
	return s
}

func readMLX(q *Quantization, f *Config) { q.Scheme = mlxScheme(f) }

func mlxScheme(f *Config) Scheme {
	s := Scheme{Type: f.text("mode"), Strategy: "group"}
	if s.Type == "" {
		s.Type = "affine"
	}
	s.Symmetric = s.Type != "affine"
	s.Bits, s.GroupSize = f.IntOr("bits", 4), f.IntOr("group_size", 64)
	return s
}

func readQuanto(q *Quantization, f *Config) { q.Scheme = quantoScheme(f.text("weights")) }

// quantoScheme reads int8, qint4, qfloat8_e4m3fn and the like.
func quantoScheme(weights string) Scheme {
	switch name := strings.TrimPrefix(weights, "q"); {
	case strings.HasPrefix(name, "float8_"):
		return Scheme{Bits: 8, Type: "float", Symmetric: true, DType: name}
	case strings.HasPrefix(name, "int2"):
		return Scheme{Bits: 2, Type: "int"}
	case strings.HasPrefix(name, "int4"):
		return Scheme{Bits: 4, Type: "int"}
	case strings.HasPrefix(name, "int8"):
		return Scheme{Bits: 8, Type: "int", Symmetric: true}
	case strings.HasPrefix(name, "float8"):
		return Scheme{Bits: 8, Type: "float", Symmetric: true}
	}
	return Scheme{}
}

func readQuark(q *Quantization, f *Config) {
	weight := f.fields["global_quant_config"].Get("weight")
	if weight.IsArray() { // two stages of one weight: the first is what is stored
		weight = weight.Get("0")
	}
	if !weight.IsObject() {
		return
	}
	w := newConfig(weight, f.path+"global_quant_config.weight.", "", f.faults)
	q.Scheme = dtypeScheme(w.text("dtype"))
	if n, ok := w.Nullable("group_size"); ok && n > 0 {
		q.GroupSize, q.Strategy = n, "group"
	}
}

// dtypeScheme reads the bits and the kind out of a dtype's name.
func dtypeScheme(dtype string) Scheme {
	s := Scheme{Symmetric: true, Type: "int"}
	if strings.Contains(dtype, "fp") || strings.Contains(dtype, "float") {
		s.Type = "float"
	}
	for i := 0; i < len(dtype); i++ {
		if n := digits(dtype[i:]); n > 0 {
			for _, c := range dtype[i : i+min(n, 2)] {
				s.Bits = 10*s.Bits + int64(c-'0')
			}
			break
		}
	}
	return s
}

// text returns a text, or "" where the field is anything else: for fields whose
// other forms are no concern of ours.
func (c *Config) text(field string) string {
	if v := c.fields[field]; v.Type == gjson.String {
		return v.Str
	}
	return ""
}
