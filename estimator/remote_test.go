package estimator

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// remoteCase is a repository whose code the reference library does not have:
// the config as published, and what its index or the Hub says of the files.
type remoteCase struct {
	repo string

	// bytes is the index's total_size, width that of an element of a parameter,
	// buffers that of an element of a buffer.
	bytes, width, buffers int64

	// elements is the total that the Hub gives where there is no index; apart is
	// what of it is not described, with its reason.
	elements int64
	apart    int64
	why      string

	// others are names in the index that the description leaves to other rules, by
	// their ending, and absent those that it has and the file lacks.
	others []string
	absent []string
}

var remoteCases = []remoteCase{
	{repo: "THUDM__chatglm-6b", bytes: 13744473856, width: 2, buffers: 2},
	{repo: "THUDM__chatglm3-6b", bytes: 12487168064, width: 2, buffers: 2},
	{repo: "YinghaoHu__GLM4-HIPO", bytes: 18799902784, width: 2, buffers: 2},
	{repo: "Qwen__Qwen-7B", bytes: 15442649088, width: 2, elements: 7721324544},
	{repo: "Qwen__Qwen-72B-Chat", bytes: 144575840256, width: 2},
	{repo: "baichuan-inc__Baichuan2-13B-Chat", bytes: 27793336320, width: 2},
	{repo: "internlm__internlm-chat-7b", bytes: 14643904512, width: 2, buffers: 4},
	{repo: "CaasiHUANG__flames-scorer", bytes: 13798854656, width: 2, buffers: 2, apart: 13 * 4096,
		why: "five classifiers of 13 rows together, which are the repository's own", others: []string{"classifiers.*.weight"}, absent: []string{"score.weight"}},
	{repo: "internlm__internlm2-chat-1_8b", bytes: 3778220032, width: 2},
	{repo: "FreedomIntelligence__openPangu-Embedded-7B", bytes: 16061784576, width: 2, buffers: 4},
	{repo: "Tele-AI__telechat-7B", bytes: 14400036864, width: 2},
	{repo: "Tele-AI__TeleChat-12B", bytes: 24772864000, width: 2},
	{repo: "Tele-AI__TeleChat2-115B", bytes: 453131665408, width: 4},
	{repo: "XiaomiMiMo__MiMo-7B-kor", bytes: 15666819072, width: 2},
	{repo: "MiniMaxAI__MiniMax-M1-80k", bytes: 912210767872, width: 2},
	{repo: "microsoft__phi-2-mixformer-sequential", bytes: 11118735360, width: 4},
	{repo: "mosaicml__mpt-7b-instruct", bytes: 13298573312, width: 2},
	{repo: "stabilityai__stable-code-3b", bytes: 5590886400, width: 2},
	{repo: "tiiuae__falcon-40b", bytes: 83671941120, width: 2, apart: 65024 * 8192, why: "the tied head is stored as well",
		others: []string{"lm_head.weight"}},
	{repo: "OpenAssistant__oasst-rm-2.1-pythia-1.4b-epoch-2.5", bytes: 5246377988, width: 4},
	{repo: "microsoft__Phi-mini-MoE-instruct", elements: 7647632704},
	{repo: "microsoft__Phi-3-small-8k-instruct", elements: 7392274432},
	{repo: "nvidia__Llama-3_3-Nemotron-Super-49B-v1", elements: 49867145216},
}

func (c *remoteCase) describe(t *testing.T) *Model {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "remote_code", c.repo, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	config, _, err := hfconfig.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	model, err := Describe(config, "")
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// index returns the names and the total of the repository's index.
func (c *remoteCase) index(t *testing.T) (names []string, total int64) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "remote_code", c.repo, "index.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Metadata struct {
			Total int64 `json:"total_size"`
		} `json:"metadata"`
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	for name := range index.Map {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, index.Metadata.Total
}

// tensors lists what the model's files hold: its own, and those of its sections.
func (c *remoteCase) tensors(model *Model) []Tensor {
	tensors := model.Tensors()
	for _, section := range model.Sections {
		tensors = append(tensors, model.SectionTensors(section)...)
	}
	return slices.DeleteFunc(tensors, func(e Tensor) bool { return e.TiedTo != "" || slices.Contains(c.absent, e.Template) })
}

// TestRemoteCodeMeetsRealIndexes holds every name of the real index against the
// description, and the sum of its bytes against the index's own total.
func TestRemoteCodeMeetsRealIndexes(t *testing.T) {
	for _, c := range remoteCases {
		t.Run(c.repo, func(t *testing.T) {
			model := c.describe(t)
			tensors := c.tensors(model)
			var elements, bytes int64
			for i := range tensors {
				elements += tensors[i].Elements()
				bytes += tensors[i].Elements() * c.widthOf(&tensors[i])
			}
			if want := c.elements; want > 0 && elements+c.apart != want {
				t.Errorf("%d elements, the Hub says %d: %d too few", elements+c.apart, want, want-elements-c.apart)
			}
			if c.bytes == 0 {
				return
			}
			names, total := c.index(t)
			if total != c.bytes {
				t.Fatalf("index says %d bytes, want %d", total, c.bytes)
			}
			if bytes += c.apart * c.width; bytes != total {
				t.Errorf("%d bytes, index says %d: %d too few", bytes, total, total-bytes)
			}
			c.compareNames(t, model, tensors, names)
		})
	}
}

func (c *remoteCase) widthOf(e *Tensor) int64 {
	switch {
	case e.Buffer:
		return c.buffers
	case e.DType == "F32":
		return 4
	}
	return c.width
}

func (c *remoteCase) compareNames(t *testing.T, model *Model, tensors []Tensor, names []string) {
	t.Helper()
	expected := make(map[string]bool)
	for i := range tensors {
		for name := range tensors[i].Names {
			expected[name] = true
		}
	}
	// Some files hold the body's names without their prefix.
	stripped := !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, model.Prefix+".") })
	found := 0
	for _, name := range names {
		whole := name
		if stripped && model.Prefix != "" {
			whole = model.Prefix + "." + name
		}
		switch {
		case expected[whole]:
			found++
		case !slices.ContainsFunc(c.others, func(other string) bool { return matches(other, name) }):
			t.Errorf("%s is not expected", name)
		}
	}
	if found != len(expected) {
		t.Errorf("%d of %d expected tensors are in the index", found, len(expected))
	}
}

// matches compares a name with a template.
func matches(template, name string) bool {
	want, got := strings.Split(template, "."), strings.Split(name, ".")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || w == "*" })
}

// TestKimiK2 holds Kimi-K2 against the Hub's totals, with the FP8 scales, one for
// every 128 by 128 elements of each quantised matrix, and without them. Both
// hold the corrections of the routers and 3,416 elements more, 56 a layer, which
// no published list names.
func TestKimiK2(t *testing.T) {
	c := remoteCase{repo: "moonshotai__Kimi-K2-Instruct"}
	model := c.describe(t)
	tensors := model.Tensors()
	counts := Count(tensors)
	const parameters, unscaled, hub, unnamed = 1_026_408_209_408, 1_026_408_235_864, 1_026_470_731_056, 61 * 56
	if counts.Unique != parameters {
		t.Errorf("%d parameters, want %d", counts.Unique, int64(parameters))
	}
	var scales int64
	for i := range tensors {
		e := &tensors[i]
		switch {
		case len(e.Shape) != 2, e.Role == TokenEmbedding, e.Role == Head, e.Role == Router:
			continue
		}
		scales += (e.Shape[0] + 127) / 128 * ((e.Shape[1] + 127) / 128) * e.Copies
	}
	if got := counts.Stored() + unnamed; got != unscaled || got+scales != hub {
		t.Errorf("%d elements and %d scales, the Hub says %d and %d with scales", got, scales, int64(unscaled), int64(hub))
	}
}

// TestPublishedCounts holds what is described from public facts alone against
// published sizes.
func TestPublishedCounts(t *testing.T) {
	for _, c := range []struct {
		name, config string
		parameters   int64
		confirmed    bool // by files of the same type, or by the library
	}{
		{"deepseek-ai/deepseek-moe-16b-base", `{"model_type": "deepseek", "hidden_size": 2048, "intermediate_size": 10944,
			"moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
			"moe_layer_freq": 1, "num_attention_heads": 16, "num_key_value_heads": 16, "num_hidden_layers": 28, "vocab_size": 102400}`, 16_375_728_128, false},
		{"LGAI-EXAONE/EXAONE-3.0-7.8B-Instruct", `{"model_type": "exaone", "hidden_size": 4096, "intermediate_size": 14336, "num_layers": 32,
			"num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 102400, "tie_word_embeddings": false}`, 7_818_448_896, false},
		{"openbmb/MiniCPM-2B-sft-bf16", `{"model_type": "minicpm", "hidden_size": 2304, "intermediate_size": 5760, "num_hidden_layers": 40,
			"num_attention_heads": 36, "num_key_value_heads": 36, "vocab_size": 122753}`, 2_724_880_896, false},
		{"apple/OpenELM-270M", `{"model_type": "openelm", "model_dim": 1280, "head_dim": 64, "num_transformer_layers": 16, "vocab_size": 32000,
			"num_query_heads": [12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20],
			"num_kv_heads": [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5], "normalize_qk_projections": true, "ffn_dim_divisor": 256,
			"ffn_multipliers": [0.5, 0.73, 0.97, 1.2, 1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07, 3.3, 3.53, 3.77, 4.0]}`, 271_527_168, false},
		{"microsoft/phi-2 in its second form", `{"model_type": "phi-msft", "n_embd": 2560, "n_layer": 32, "n_head": 32, "vocab_size": 51200,
			"tie_word_embeddings": false}`, 2_779_683_840, false},
		{"tiiuae/falcon-7b under its first name", `{"model_type": "RefinedWebModel", "hidden_size": 4544, "n_layer": 32, "n_head": 71,
			"multi_query": true, "parallel_attn": true, "bias": false, "alibi": false, "vocab_size": 65024}`, 6_921_720_704, false},
		{"tiiuae/falcon-rw-1b", `{"model_type": "RefinedWebModel", "hidden_size": 2048, "n_layer": 24, "n_head": 32,
			"multi_query": false, "parallel_attn": false, "bias": true, "alibi": true, "vocab_size": 50304}`, 1_311_625_216, false},
		{"baichuan-inc/Baichuan-7B", `{"model_type": "baichuan", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
			"num_hidden_layers": 32, "vocab_size": 64000}`, 7_000_559_616, true},
		{"internlm/internlm3-8b-instruct", `{"model_type": "internlm3", "head_dim": 128, "hidden_size": 4096, "intermediate_size": 10240,
			"num_attention_heads": 32, "num_hidden_layers": 48, "num_key_value_heads": 2, "qkv_bias": false, "bias": false, "vocab_size": 128512}`, 8_804_241_408, false},
	} {
		config, _, err := hfconfig.Parse([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		model, err := Describe(config, "")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := Count(model.Tensors()).Unique; got != c.parameters {
			t.Errorf("%s: %d parameters, published %d", c.name, got, c.parameters)
		}
		if arch, _ := Lookup(config.ModelType()); arch.Confirmed() != c.confirmed {
			t.Errorf("%s: confirmed %t", config.ModelType(), !c.confirmed)
		}
	}
}

// TestRemoteCodeCost holds the cost of some remote types against the closed
// forms for their kind: 2·b·s·(W + V·D) for W elements of matrices that each
// token meets, and 4·b·s²·D of attention in each layer.
func TestRemoteCodeCost(t *testing.T) {
	for _, repo := range []string{"Qwen__Qwen-7B", "THUDM__chatglm3-6b", "Tele-AI__telechat-7B", "microsoft__phi-2-mixformer-sequential"} {
		model := (&remoteCase{repo: repo}).describe(t)
		var matrices int64
		for _, e := range model.Tensors() {
			if len(e.Shape) == 2 && e.Role != TokenEmbedding {
				matrices += e.Elements()
			}
		}
		const batch, seq = 2, 48
		want := 2*batch*seq*matrices + model.N.Int()*4*batch*seq*seq*model.D.Int()
		if got := Total(model.Forward(Pass{Batch: batch, Seq: seq})); got.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("%s: %d FLOPs, want %d", repo, got, want)
		}
	}
}
