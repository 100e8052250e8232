package cost

import (
	"encoding/json"
	"maps"
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// published returns the model of a published config.
func publishedModels(t *testing.T) map[string]*estimator.Model {
	t.Helper()
	models := make(map[string]*estimator.Model)
	truthtable.Each(t, "testdata/configs.jsonl.gz", func(c *struct {
		Repo   string          `json:"repo"`
		Class  string          `json:"class"`
		Config json.RawMessage `json:"config"`
	}) {
		models[c.Repo] = describe(t, c.Config, c.Class)
	})
	return models
}

// Shapes that are public without a config at hand: layers, key and value heads,
// head dim and hidden size from the models' own cards.
var publicShapes = map[string]string{
	"microsoft/Phi-4-mini-instruct": `{"model_type":"phi3","hidden_size":3072,"num_hidden_layers":32,"num_attention_heads":24,
		"num_key_value_heads":8,"intermediate_size":8192,"vocab_size":200064}`,
	"mistralai/Ministral-3-8B": `{"model_type":"ministral3","hidden_size":4096,"num_hidden_layers":34,"num_attention_heads":32,
		"num_key_value_heads":8,"head_dim":128,"intermediate_size":14336,"vocab_size":131072}`,
	"Qwen/Qwen3-Coder-30B-A3B-Instruct": `{"model_type":"qwen3_moe","hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,
		"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,"vocab_size":151936}`,
}

// TestPublishedCounts: exact unique parameters. Sources: the Hub's headers
// (models' pages, safetensors metadata); for the arithmetic of GPT-2 XL see
// TestBlockOfGPT2XL.
func TestPublishedCounts(t *testing.T) {
	models := publishedModels(t)
	for repo, want := range map[string]int64{
		"openai-community/gpt2-xl":             1_557_611_200, // not 1,558,481,344
		"openai-community/gpt2":                124_439_808,
		"meta-llama/Llama-2-7b-hf":             6_738_415_616,
		"meta-llama/Llama-3.1-8B":              8_030_261_248,
		"meta-llama/Meta-Llama-3.1-70B":        70_553_706_496,
		"mistralai/Mistral-Nemo-Instruct-2407": 12_247_782_400, // head dim 128, not D/A: not 12,772,070,400
		"Qwen/Qwen3-4B":                        4_022_468_096,
		"tiiuae/falcon-7b":                     6_921_720_704, // one key and value head: not 8,224,576,384
		"google/gemma-2-9b":                    9_241_705_984,
		"bigscience/bloom":                     176_247_271_424,
		"mistralai/Mixtral-8x7B-v0.1":          46_702_792_704,
		"deepseek-ai/DeepSeek-V3":              671_026_404_352,
	} {
		if got := estimator.Count(models[repo].Tensors()).Unique; got != want {
			t.Errorf("%s: %d parameters, want %d", repo, got, want)
		}
	}
	truthtable.Each(t, "testdata/configs.jsonl.gz", func(c *struct {
		Repo   string          `json:"repo"`
		Config json.RawMessage `json:"config"`
	}) {
		if c.Repo != "google-bert/bert-base-uncased" {
			return
		}
		if got := estimator.Count(describe(t, c.Config, "BertModel").Tensors()).Unique; got != 109_482_240 {
			t.Errorf("BertModel: %d parameters", got)
		}
		// The transform, its norm, the decoder's bias and the next-sentence head besides.
		if got := estimator.Count(describe(t, c.Config, "BertForPreTraining").Tensors()).Unique; got != 109_482_240+590_592+1536+30_522+1538 {
			t.Errorf("BertForPreTraining: %d parameters", got)
		}
	})
}

// TestNaiveCounts: what comes of D/A for a head dim that the config names, and of
// the query heads for key and value heads that multi_query makes one.
func TestNaiveCounts(t *testing.T) {
	for repo, naive := range map[string]struct {
		change map[string]any
		want   int64
	}{
		"mistralai/Mistral-Nemo-Instruct-2407": {map[string]any{"head_dim": 5120 / 32}, 12_772_070_400},
		"tiiuae/falcon-7b":                     {map[string]any{"multi_query": false}, 8_224_576_384},
	} {
		truthtable.Each(t, "testdata/configs.jsonl.gz", func(c *struct {
			Repo   string         `json:"repo"`
			Class  string         `json:"class"`
			Config map[string]any `json:"config"`
		}) {
			if c.Repo != repo {
				return
			}
			maps.Copy(c.Config, naive.change)
			raw, err := json.Marshal(c.Config)
			if err != nil {
				t.Fatal(err)
			}
			if got := estimator.Count(describe(t, raw, c.Class).Tensors()).Unique; got != naive.want {
				t.Errorf("%s with %v: %d parameters, want %d", repo, naive.change, got, naive.want)
			}
		})
	}
}

// TestBlockOfGPT2XL: one block part by part, the textbook's count, and the gap to
// the exact one. A LayerNorm has 2d parameters, not 4d; attention and
// feed-forward block together are 12d² + 13d, neither counted twice.
func TestBlockOfGPT2XL(t *testing.T) {
	want := map[string]int64{"ln_1": 3_200, "attn.c_attn": 7_684_800, "attn.c_proj": 2_561_600, "ln_2": 3_200,
		"mlp.c_fc": 10_246_400, "mlp.c_proj": 10_241_600}
	got := make(map[string]int64)
	var block int64
	for _, tensor := range publishedModels(t)["openai-community/gpt2-xl"].Tensors() {
		for part := range want {
			if name := "transformer.h.*." + part; tensor.Template == name+".weight" || tensor.Template == name+".bias" {
				got[part] += tensor.Each()
				block += tensor.Each()
			}
		}
	}
	for part, n := range want {
		if got[part] != n {
			t.Errorf("%s: %d, want %d", part, got[part], n)
		}
	}
	const d, layers, v = 1600, 48, 50257
	if byFormula := int64(12*d*d + 13*d); block != 30_740_800 || block != byFormula {
		t.Errorf("a block has %d parameters", block)
	}
	// 2·L·d·(d + d_ff) is no count of attention and feed-forward block: it has two
	// of attention's four matrices.
	if short := 2 * layers * d * (d + 4*d); 12*layers*d*d-short != 2*layers*d*d {
		t.Errorf("2·L·d·(d + d_ff) = %d", short)
	}
	if textbook := 12*layers*d*d + v*d; textbook != 1_554_971_200 || 1_557_611_200-textbook != 1_638_400+998_400+3_200 {
		t.Errorf("textbook %d", textbook)
	}
}

// TestKVBytesAToken: 16-bit bytes of one token of one sequence, as engines store
// them. Sources: layers · 2 · KV heads · head dim · 2 by the configs.
func TestKVBytesAToken(t *testing.T) {
	models := publishedModels(t)
	for name, config := range publicShapes {
		models[name] = describe(t, []byte(config), "")
	}
	fp16, _ := ParseElementType("fp16")
	for repo, want := range map[string]int64{
		"microsoft/Phi-4-mini-instruct":     131_072,
		"tiiuae/falcon-7b":                  8_192,
		"mistralai/Ministral-3-8B":          139_264,
		"Qwen/Qwen3-Coder-30B-A3B-Instruct": 98_304,
		"Qwen/Qwen3-8B":                     147_456,
		"meta-llama/Llama-3.1-8B":           131_072,
		"deepseek-ai/DeepSeek-V3":           70_272, // 61 · 576 · 2, the compressed latent
		"AnonymousNomad/lfm2-jedi_v5":       12_288, // 6 of 16 layers
		"openai/gpt-oss-120b":               73_728,
	} {
		kv := KVCache(models[repo], 1, 8192, 0, fp16, KVOptions{})
		if kv.BytesPerToken.Int64() != want {
			t.Errorf("%s: %d bytes a token, want %d", repo, kv.BytesPerToken, want)
		}
	}
}

// TestKVTotals: whole caches, in GiB of 2³⁰ bytes as their sources print them.
func TestKVTotals(t *testing.T) {
	models := publishedModels(t)
	fp16, _ := ParseElementType("fp16")
	fp8, _ := ParseElementType("fp8")
	gib := func(n *big.Int) float64 { return float(n) / (1 << 30) }
	for _, c := range []struct {
		repo          string
		batch, tokens int64
		opts          KVOptions
		want          float64
	}{
		{"meta-llama/Llama-3.1-8B", 1, 131_072, KVOptions{}, 16.00},
		{"openai/gpt-oss-20b", 32, 8_192, KVOptions{}, 6.09},
		{"openai/gpt-oss-20b", 32, 8_192, KVOptions{Reserved: true}, 12.00},
		{"google/gemma-3-27b-it", 1, 131_072, KVOptions{}, 10.41},
		{"Qwen/Qwen3-0.6B", 1, 40_960, KVOptions{}, 4.375},
	} {
		kv := KVCache(models[c.repo], c.batch, c.tokens, 0, fp16, c.opts)
		near(t, c.repo, gib(kv.TotalBytes), c.want, 8e-4)
	}
	if kv := KVCache(models["MiniMaxAI/MiniMax-M2.5"], 1, 196_608, 0, fp8, KVOptions{}); kv.TotalBytes.Int64() != 24_964_497_408 {
		t.Errorf("MiniMax-M2: %d bytes", kv.TotalBytes)
	}
}

// TestSharesOfGPT2: part A 2n(12Nd² + Vd), part B 4Nn²d, and B's share at 1,024
// and 16,384 tokens; GPT-2 XL takes 3.507 TFLOP at 1,024.
func TestSharesOfGPT2(t *testing.T) {
	models := publishedModels(t)
	for repo, want := range map[string][2]float64{
		"openai-community/gpt2":        {0.133, 0.710},
		"openai-community/gpt2-medium": {0.125, 0.695},
		"openai-community/gpt2-large":  {0.109, 0.662},
		"openai-community/gpt2-xl":     {0.092, 0.618},
	} {
		for i, n := range []int64{1024, 16384} {
			f := ForwardFLOPs(models[repo], estimator.Pass{Batch: 1, Seq: n}, Options{})
			near(t, repo, f.AttentionShare, want[i], 5.5e-3)
			m := models[repo]
			a := product(2*n, 12*m.N.Int()*m.D.Int()*m.D.Int()+m.V.Int()*m.D.Int())
			if f.Linear.Cmp(a) != 0 || f.Attention.Cmp(product(4, m.N.Int(), n, n, m.D.Int())) != 0 {
				t.Errorf("%s: A %d, B %d", repo, f.Linear, f.Attention)
			}
		}
	}
	f := ForwardFLOPs(models["openai-community/gpt2-xl"], estimator.Pass{Batch: 1, Seq: 1024}, Options{})
	if f.Forward.Int64() != 3_506_703_564_800 {
		t.Errorf("GPT-2 XL: %d FLOPs", f.Forward)
	}
	small := ForwardFLOPs(models["openai-community/gpt2"], estimator.Pass{Batch: 1, Seq: 1024}, Options{})
	if got, want := named(&small, "4svh + 24slh² + 4s²lh"), int64(4*1024*50257*768+24*1024*12*768*768+4*1024*1024*12*768); got.Int64() != want {
		t.Errorf("with an embedding product: %d FLOPs, want %d", got, want)
	}
	llama := ForwardFLOPs(models["meta-llama/Llama-2-7b-hf"], estimator.Pass{Batch: 1, Seq: 128}, Options{})
	near(t, "Llama-7B at 128 tokens", float(llama.Forward), 1_700.0e9, 5e-5)
}

// TestPeaks: dense bf16 TFLOP/s by the vendors' data sheets.
func TestPeaks(t *testing.T) {
	for name, want := range map[string]float64{"A100": 312, "H100-SXM": 989, "H100-NVL": 835, "H100-PCIe": 756, "H200": 989,
		"B200": 2250, "GB200": 2500, "MI300X": 1300} {
		a, err := FindAccelerator(name)
		if err != nil {
			t.Fatal(err)
		}
		if a.BF16 != want {
			t.Errorf("%s: %g TFLOP/s, want %g", name, a.BF16, want)
		}
	}
}

// TestProducts: every peak says of what it is; those of 32-bit matrices are TF32's
// where the bf16 ones are twice them, as tensor cores are built.
func TestProducts(t *testing.T) {
	for _, a := range Accelerators() {
		switch {
		case (a.FP32 > 0) != (a.FP32As == "tf32" || a.FP32As == "fp32"), a.BF16As != "bf16" && a.BF16As != "fp16":
			t.Errorf("%s: %q, %q", a.Name, a.FP32As, a.BF16As)
		case a.FP32 > 0 && (a.FP32As == "tf32") != (a.BF16/a.FP32 < 2.1):
			t.Errorf("%s: %s at %g TFLOP/s beside %g", a.Name, a.FP32As, a.FP32, a.BF16)
		}
	}
}

// TestMiniMaxM2Weights: fp8 blocks with 32-bit scales, 16 bits for embeddings,
// head and norms, 32 for routers and their correction buffers make the
// 230,121,630,720 bytes of the index's total_size.
func TestMiniMaxM2Weights(t *testing.T) {
	m := publishedModels(t)["MiniMaxAI/MiniMax-M2.5"]
	format, err := FindWeightFormat("fp8-block")
	if err != nil {
		t.Fatal(err)
	}
	params := parametersOf(m)
	whole := func(*parameter) *big.Rat { return big.NewRat(1, 1) }
	bytes := ceil(weightBytes(params, big.NewRat(2, 1), &format, whole))
	routers := sumElements(params, func(p *parameter) bool { return p.role == estimator.Router })
	bytes.Add(bytes, times(routers, big.NewInt(2), 1))
	bytes.Add(bytes, product(4, estimator.Count(m.Tensors()).Buffers))
	if bytes.Int64() != 230_121_630_720 {
		t.Errorf("%d bytes", bytes)
	}
}

// plan is one of inference in 16 bits, or of training with AdamW.
func testPlan(t *testing.T, train bool) MemoryPlan {
	t.Helper()
	bf16, err := ParseElementType("bf16")
	if err != nil {
		t.Fatal(err)
	}
	adamw, err := FindOptimizer("adamw")
	if err != nil {
		t.Fatal(err)
	}
	return MemoryPlan{Train: train, Batch: 1, Seq: 2048, DType: bf16, KVType: bf16, Optimizer: adamw, Master: true, Kernel: estimator.Fused}
}

func memoryOf(t *testing.T, m *estimator.Model, plan MemoryPlan) *Memory {
	t.Helper()
	mem, err := MemoryOf(m, plan)
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

// TestSixteenBytesAParameter: mixed-precision Adam takes 2 bytes of weights, 2 of
// gradients and 12 of 32-bit weights and moments (ZeRO, arXiv:1910.02054,
// section 3.1), and 4 bytes a tensor of torch's counters; with 32-bit gradients
// 18 (Megatron-LM), with a distributed optimizer 6 + 12/DP. ZeRO's stages share
// out optimizer, then gradients, then weights.
func TestSixteenBytesAParameter(t *testing.T) {
	m := publishedModels(t)["meta-llama/Llama-2-7b-hf"]
	const p, tensors = 6_738_415_616, 4 * 291
	sum := func(plan MemoryPlan) int64 {
		mem := memoryOf(t, m, plan)
		return mem.Weights.Int64() + mem.Gradients.Int64() + mem.Optimizer.Int64()
	}
	plan := testPlan(t, true)
	if got := sum(plan); got != 16*p+tensors {
		t.Errorf("mixed precision: %d bytes, want 16 a parameter", got)
	}
	plan.GradientBytes = 4
	if got := sum(plan); got != 18*p+tensors {
		t.Errorf("32-bit gradients: %d bytes, want 18 a parameter", got)
	}
	plan.Parallel = Parallel{Data: 8, Zero: 1}
	if got, want := sum(plan), 6*int64(p)+(12*int64(p)+tensors+7)/8; got != want {
		t.Errorf("distributed optimizer: %d bytes, want %d", got, want)
	}
	plan.GradientBytes = 0
	for zero, want := range []float64{16, 4 + 12.0/8, 2 + 14.0/8, 16.0 / 8} {
		plan.Parallel = Parallel{Data: 8, Zero: int64(zero)}
		near(t, "ZeRO, bytes a parameter", float64(sum(plan))/p, want, 1e-6)
	}
}

// TestWhatFitsWhere: claims that circulate, and what is so.
func TestWhatFitsWhere(t *testing.T) {
	models := publishedModels(t)
	a100, err := FindAccelerator("A100-SXM-80GB")
	if err != nil {
		t.Fatal(err)
	}
	m := models["meta-llama/Meta-Llama-3.1-70B"]
	plan := testPlan(t, false)
	plan.Accelerators = []Accelerator{a100}
	plan.DType, _ = ParseElementType("int8")
	if mem := memoryOf(t, m, plan); mem.Weights.Int64() != 70_553_706_496 { // not 21.55 GB
		t.Errorf("70B in 8 bits: %d bytes", mem.Weights)
	}
	plan.DType, _ = ParseElementType("fp16")
	mem := memoryOf(t, m, plan)
	if mem.Weights.Int64() != 141_107_412_992 || mem.Fits[0].Fits || *mem.Fits[0].Devices != 2 {
		t.Errorf("70B in 16 bits: %d bytes, fits %t", mem.Weights, mem.Fits[0].Fits)
	}
	// 1.12 TB of states are beyond 8 cards of 80 GB.
	plan = testPlan(t, true)
	plan.Recompute = estimator.RecomputeLayers
	plan.Accelerators = []Accelerator{a100}
	if mem = memoryOf(t, m, plan); *mem.Fits[0].Devices != 14 { // of 80 · 2³⁰ bytes
		t.Errorf("training a 70B on %d cards", *mem.Fits[0].Devices)
	}
	// 87.5 GB are beyond one of them.
	card := new(big.Int).SetInt64(87_500_000_000)
	if fits := card.Cmp(mem.Fits[0].MemoryBytes) <= 0; fits {
		t.Error("87.5 GB on one card of 80 GB")
	}
	// A 70B's cache at 8,192 tokens: 10.74·10⁹ elements without grouped heads are
	// 21.47 GB in 16 bits, and 2.68 GB with 8 of 64.
	for heads, want := range map[string]int64{"64": 21_474_836_480, "8": 2_684_354_560} {
		shape := describe(t, []byte(`{"model_type":"llama","hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,
			"num_key_value_heads":`+heads+`,"intermediate_size":28672,"vocab_size":32000}`), "")
		fp16, _ := ParseElementType("fp16")
		if kv := KVCache(shape, 1, 8192, 0, fp16, KVOptions{}); kv.TotalBytes.Int64() != want {
			t.Errorf("%s KV heads: %d bytes, want %d", heads, kv.TotalBytes, want)
		}
	}
}
