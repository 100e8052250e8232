package inspect

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
)

// namedCase is a real repository of which only the names are known: shapes are
// those that its config and its quantiser's scheme call for, and the index's own
// total says whether they are right.
type namedCase struct {
	folder string
	dtype  string   // of what nothing fixes
	single []string // endings of what is kept in F32
	scheme storage

	// rename gives the description's prefixes for those of the file.
	rename [][2]string
	// shapes are those that differ from the description's: buffers, stacks.
	shapes map[string]typed

	// text says that the description is of the language model alone, and towers
	// what the total has beside it.
	text   string // its class
	towers int64

	// states is the number of texts whose lengths no shape tells to the byte: the
	// total must leave each of them one that its writer can have.
	states int64
	// apart is by how much the total exceeds what the files hold, and cause what
	// the finding says of it.
	apart int64
	cause string

	// errors are the codes of findings that the layout deserves.
	errors []string
}

// storage is a quantiser's scheme with its settings.
type storage struct {
	method, form string
	bits, group  int64
}

type typed struct {
	dtype string
	shape []int64
}

// TestNamedRepositories inspects real repositories whose tensors are known by
// name alone: each name is expected or explained, and the total is met or its
// difference named.
func TestNamedRepositories(t *testing.T) {
	repos := make(map[string]*repo)
	for _, r := range readRepos(t) {
		repos[r.Folder] = &r
	}
	for _, c := range namedCases {
		t.Run(c.folder, func(t *testing.T) {
			l := newLayout(t, c, repos[c.folder])
			in, err := Inspect(context.Background(), l.folder(t, repos[c.folder]), Options{})
			if err != nil {
				t.Fatal(err)
			}
			l.check(t, in)
		})
	}
}

// check holds an inspection against what is known of the case.
func (l *layout) check(t *testing.T, in *Inspection) {
	t.Helper()
	if *in.Ledger.Unexplained != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
		t.Errorf("unexplained %d: %v", *in.Ledger.Unexplained, finding.Names(in.Ledger.UnexplainedTensors))
	}
	if e, u := in.Counts.EstimatedParameters, in.Counts.UniqueParameters; e == nil || u == nil || *e != *u {
		t.Errorf("estimated %v, loads %v", e, u)
	}
	named := false
	for _, f := range in.Findings {
		if f.Severity == finding.Error && !slices.Contains(l.errors, f.Code) {
			t.Errorf("%s: %s", f.Code, f.Message)
		}
		if f.Code == "HFI211" {
			t.Error(f.Message) // the index's own shards are no other weights
		}
		named = named || f.Code == "HFI206" && strings.Contains(f.Message, l.cause)
	}
	if named != (l.apart != 0) {
		t.Errorf("the total differs by %d, named %t", l.apart, named)
	}
}

var namedCases = []namedCase{
	{folder: "IrfanUruchi__Llama-2-13B-bnb-nf4", dtype: "F16", scheme: storage{"bitsandbytes", "nf4, double", 4, 64}, states: 280},
	{folder: "diffusers-internal-dev__test-dummy-3-t5-bnb-nf4", dtype: "BF16", single: []string{"DenseReluDense.wo.weight"},
		scheme: storage{"bitsandbytes", "nf4", 4, 64}, states: 144},
	{folder: "Qwen__Qwen-7B-Chat-Int4", dtype: "F16", scheme: storage{"gptq", "", 4, 128}, shapes: map[string]typed{ // biases that the quantiser adds
		"attn.c_proj.bias": {"F16", []int64{4096}}, "mlp.c_proj.bias": {"F16", []int64{4096}}, "w1.bias": {"F16", []int64{11008}}, "w2.bias": {"F16", []int64{11008}}}},
	{folder: "openai__gpt-oss-20b", dtype: "BF16", scheme: storage{"mxfp4", "", 4, 32}},
	{folder: "lmstudio-community__Qwen3-14B-MLX-4bit", dtype: "BF16", scheme: storage{"mlx", "affine", 4, 64}},
	{folder: "roshinpv__qwen2-mlx", dtype: "BF16", scheme: storage{"mlx", "affine", 3, 64}},
	{folder: "mlx__Mistral-Small-4-119B-mlx", text: "Mistral4ForCausalLM", dtype: "BF16", scheme: storage{"mlx", "affine", 4, 64},
		rename: [][2]string{{"language_model.", ""}}, errors: []string{"HFI702"},
		shapes: map[string]typed{"embed_q.weight": {"BF16", []int64{32, 256, 64}}, "unembed_out.weight": {"BF16", []int64{32, 128, 256}}}},
	{folder: "Arp1tMoga__fast_qwen", text: "Qwen3_5ForCausalLM", dtype: "BF16", scheme: storage{"mlx", "affine", 4, 32}, towers: 921460192,
		rename: [][2]string{{"language_model.", ""}}, errors: []string{"HFI716"},
		shapes: map[string]typed{"conv1d.weight": {"BF16", []int64{10240, 4, 1}}}},
	{folder: "Qwen__Qwen3.5-9B-masidyai", dtype: "BF16", single: []string{"A_log", "linear_attn.norm.weight"}},
	{folder: "bryce-hoehn__Qwen3.5-18B-REAP-A3B-Coding", dtype: "F16"},
	{folder: "bryce-hoehn__Qwen3.5-25B-REAP-A3B-Coding", dtype: "F16"},
	{folder: "lizpreciatior__lzlv_70b_fp16_hf", dtype: "F16"}, // no total
	{folder: "tiiuae__falcon-180B-chat", dtype: "BF16"},

	// Masks are BOOL: the total is a fraction before it is rounded.
	{folder: "togethercomputer__RedPajama-INCITE-7B-Base__bin", dtype: "F16", apart: -32 * 2048 * 2048 * 7 / 8, cause: "BOOL elements as bits",
		shapes: map[string]typed{"attention.bias": {"BOOL", []int64{1, 1, 2048, 2048}}, "masked_bias": {"F16", nil}, "inv_freq": {"F16", []int64{64}}}},
	{folder: "Orenguteng__Lexi-Llama-3-8B-Uncensored", dtype: "BF16", apart: 32 * 2 * (4096 - 1024) * 4096 * 2, cause: "keys and values for every query head"},
	// 131 bytes a tensor are beyond the data: about what headers take.
	{folder: "Ade7121976__gemma4-compressed-tensors-split", dtype: "BF16", scheme: storage{"compressed-tensors", "pack-quantized", 4, 32},
		apart: 4681016, cause: "the headers sum to", errors: []string{"HFI705"}},
}
