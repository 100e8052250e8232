package inspect

import (
	"cmp"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// damage is one thing that is broken.
type damage struct {
	fixture, config string // old, "=>" and new text of the config
	tensor          string
	change          func(*safetensors.Tensor)
	value           string // old, "=>" and new text of the tensor's data
	code            string
	about           string // the tensor that the finding names, where it is another
}

func (d *damage) subject() string { return cmp.Or(d.about, d.tensor) }

// TestQuantisedDamage breaks one thing of a checkpoint, and expects the code and
// the tensor of it.
func TestQuantisedDamage(t *testing.T) {
	const (
		q     = "model.layers.0.self_attn.q_proj"
		state = q + ".weight.quant_state.bitsandbytes__nf4"
	)
	as := func(d safetensors.DType) func(*safetensors.Tensor) {
		return func(t *safetensors.Tensor) { t.DType = d }
	}
	sized := func(shape ...int64) func(*safetensors.Tensor) {
		return func(t *safetensors.Tensor) { t.Shape = shape }
	}
	renamed := func(t *safetensors.Tensor) { t.Name = "other" }
	tests := []damage{
		{fixture: "ct-fp8", tensor: q + ".weight", change: as(safetensors.I8), code: "HFI505"},
		{fixture: "ct-fp8", tensor: q + ".weight", change: as(safetensors.F8E5M2), code: "HFI505"},
		{fixture: "ct-fp8", tensor: q + ".weight", change: as(safetensors.F32), code: "HFI517"},
		{fixture: "ct-w4afp8", tensor: q + ".weight", change: as(safetensors.F8E4M3), code: "HFI505"},
		{fixture: "ct-naive-w4", config: `"naive-quantized"=>"pack-quantized"`, code: "HFI507", about: q + ".weight"},
		{fixture: "ct-w8a8-int-static-asym-odd", tensor: q + ".input_zero_point", change: as(safetensors.U8), code: "HFI505"},
		{fixture: "ct-nvfp4a16", tensor: q + ".weight_scale", change: as(safetensors.U8), code: "HFI505"},
		{fixture: "ct-mxfp4a16", tensor: q + ".weight_scale", change: as(safetensors.F8E8M0), code: "HFI507"},
		{fixture: "ct-fp8", tensor: q + ".weight_scale", change: as(safetensors.F16), code: "HFI508"},
		{fixture: "ct-fp8", config: `"ignore": [=>"ignore": ["re:.*q_proj", `, code: "HFI516", about: q + ".weight"},
		{fixture: "ct-w4a16-sym-g128", config: `"Linear"=>"re:.*mlp.*"`, code: "HFI516", about: q + ".weight_packed"},
		{fixture: "ct094-w3a16-sym-g128", tensor: "model.layers.0.self_attn.k_proj.weight_packed", change: sized(64, 12), code: "HFI508"},
		{fixture: "ct-fp8", tensor: q + ".input_scale", change: renamed, code: "HFI504", about: q + ".weight"},
		{fixture: "quanto-int2", tensor: q + ".input_scale", change: renamed, code: "HFI504", about: q + ".weight._data._data"},
		{fixture: "gptq-4bit-g128", tensor: q + ".qzeros", change: renamed, code: "HFI504", about: q + ".qzeros"},
		{fixture: "fp8-block-128", tensor: q + ".weight", change: as(safetensors.U8), code: "HFI505"},
		{fixture: "fp8-block-128", tensor: q + ".weight", change: as(safetensors.F32), code: "HFI517"},
		{fixture: "fp8-block-128", tensor: q + ".weight_scale_inv", change: as(safetensors.I32), code: "HFI509"},
		{fixture: "fp8-block-128", tensor: q + ".weight_scale_inv", change: as(safetensors.U8), code: "HFI507"},
		{fixture: "gptq-4bit-g128", tensor: q + ".qzeros", change: as(safetensors.F32), code: "HFI505"},
		{fixture: "gptq-4bit-g128", tensor: q + ".g_idx", change: as(safetensors.F32), code: "HFI505"},
		{fixture: "awq-gemm-g128", tensor: q + ".scales", change: as(safetensors.I16), code: "HFI505"},
		{fixture: "awq-gemm-g128", config: `"version": "gemm"=>"version": "gemv"`, code: "HFI507", about: q + ".qweight"},
		{fixture: "torchao-fp8wo", tensor: q + "._weight_qdata", change: as(safetensors.I8), code: "HFI505"},
		{fixture: "torchao-int8dyn", tensor: q + "._weight_qdata", change: as(safetensors.F8E4M3), code: "HFI505"},
		{fixture: "aqlm-1x8", tensor: q + ".codebooks", change: sized(1, 128, 1, 8), code: "HFI507"},
		{fixture: "aqlm-1x8", config: `"nbits_per_codebook": 8=>"nbits_per_codebook": 7`, code: "HFI507", about: q + ".codebooks"},
		{fixture: "spqr-3bit", code: "HFI515", about: q + ".dense_weights"},
		{fixture: "spqr-3bit", config: `"shapes": {=>"shapes": {"` + q + `.col_vals.shape": 9`, code: "HFI507", about: q + ".dense_weights"},
		{fixture: "gptq-4bit-g128-extra-zero-bias", tensor: q + ".bias", value: "=>\x00\x3c", code: "HFI417"},

		{fixture: "bnb-nf4", tensor: state, change: sized(0), code: "HFI505"},
		{fixture: "bnb-nf4", tensor: state, change: sized(160), code: "HFI505"},
		{fixture: "bnb-nf4", tensor: state, value: `{=>[`, code: "HFI506"},
		{fixture: "bnb-nf4", tensor: state, value: `"shape"=>"shapf"`, code: "HFI506"},
		{fixture: "bnb-nf4", tensor: state, value: `[128, 128]=>[128, 256]`, code: "HFI506"},
		{fixture: "bnb-nf4", tensor: state, value: `[128, 128]=>[ 64, 256]`, code: "HFI506"},
		{fixture: "bnb-nf4", tensor: state, value: `"nf4"=>"fp4"`, code: "HFI506"},
		{fixture: "bnb-nf4", tensor: state, value: `bfloat16=>bfloat17`, code: "HFI506"},
		{fixture: "bnb-nf4", tensor: state, value: `64=>32`, code: "HFI506"},
		{fixture: "bnb-nf4-dq-odd", tensor: state, value: `"nested_blocksize": 256=>"nested_blocksize": 128`, code: "HFI506"},
		{fixture: "bnb-nf4-dq-odd", tensor: state, value: `"nested_dtype": "float32"=>"nested_dtype": "float99"`, code: "HFI506"},
		{fixture: "bnb-nf4-dq-odd", tensor: q + ".weight.absmax", change: sized(75), code: "HFI505"},
		{fixture: "bnb-nf4-dq-odd", tensor: q + ".weight.nested_absmax", change: sized(2), code: "HFI505"},
		{fixture: "bnb-nf4-dq-odd", tensor: q + ".weight.quant_map", change: sized(17), code: "HFI505"},
		{fixture: "bnb-nf4", config: `"bnb_4bit_quant_type": "nf4"=>"bnb_4bit_quant_type": "fp4"`, code: "HFI507", about: q + ".weight"},
	}
	cases := readQuantised(t)
	for _, test := range tests {
		t.Run(test.fixture+" "+test.code, func(t *testing.T) {
			i := slices.IndexFunc(cases, func(c quantisedCase) bool { return c.Name == test.fixture })
			c := cases[i]
			if before := newMutant(t, &c); test.config+test.value+test.tensor != "" && says(before, before.tensors, test.code, test.subject()) {
				t.Fatal("found without the damage")
			}
			c.Files = map[string]string{"config.json": exchange(t, c.Files["config.json"], test.config)}
			for file, w := range c.Weights {
				data, err := base64.StdEncoding.DecodeString(w.Values[test.tensor])
				if err != nil {
					t.Fatal(err)
				}
				w.Values = maps.Clone(w.Values)
				if test.value != "" {
					w.Values[test.tensor] = base64.StdEncoding.EncodeToString([]byte(exchange(t, string(data), test.value)))
				}
				c.Weights = maps.Clone(c.Weights)
				c.Weights[file] = w
			}
			m := newMutant(t, &c)
			tensors := slices.Clone(m.tensors)
			for i := range tensors {
				if tensors[i].Name == test.tensor && test.change != nil {
					test.change(&tensors[i])
				}
			}
			if !says(m, tensors, test.code, test.subject()) {
				_, findings := m.run(tensors)
				t.Errorf("no %s about %s: %v", test.code, test.subject(), findings)
			}
		})
	}
}

// exchange replaces the first occurrence of what stands before "=>".
func exchange(t *testing.T, text, change string) string {
	t.Helper()
	from, to, ok := strings.Cut(change, "=>")
	if !ok {
		return text
	}
	if !strings.Contains(text, from) {
		t.Fatalf("%q is not in %q", from, text)
	}
	return strings.Replace(text, from, to, 1)
}

func says(m *mutant, tensors []safetensors.Tensor, code, about string) bool {
	_, findings := m.run(tensors)
	return slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Code == code && slices.Contains(f.Tensors, about) })
}

// TestValuesUnread: where values cannot be read, it is said, and nothing is
// concluded from zeros.
func TestValuesUnread(t *testing.T) {
	cases := readQuantised(t)
	for fixture, code := range map[string]string{"bnb-nf4": "HFI518", "ct-w4a16-sym-g128": "HFI518", "gptq-4bit-g128-extra-zero-bias": "HFI511"} {
		c := cases[slices.IndexFunc(cases, func(c quantisedCase) bool { return c.Name == fixture })]
		for file, w := range c.Weights {
			w.Values = nil
			c.Weights[file] = w
		}
		in, err := Inspect(context.Background(), unrecorded{c.folder(t)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(in.Findings, func(f finding.Finding) bool { return f.Code == code })
		if at < 0 || !strings.Contains(in.Findings[at].Message, "not read") {
			t.Errorf("%s: no %s of values: %v", fixture, code, in.Findings)
		}
		for _, f := range in.Findings {
			if f.Severity != finding.Note {
				t.Errorf("%s: %s %s", fixture, f.Code, f.Message)
			}
		}
	}
}
