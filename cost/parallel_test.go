package cost

import (
	"math/big"
	"slices"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// Sizes of Llama-3.1-70B: 80 layers, d 8192, 64 and 8 heads of 128, width 28,672,
// vocabulary 128,256.
const (
	layer70B = 2*8192*8192 + 2*8192*1024 + 3*8192*28672 // the matrices of a layer
	norms70B = 2 * 8192                                 // and its norms
	table70B = 128256 * 8192                            // embedding, and the head
)

// TestSharedOut: bytes of weights and cache on a device, in 16 bits. Tensor
// parallelism shares out matrices and heads, not norms (arXiv:1909.08053, section
// 3); the pipeline layers, of which the last stage has the head and the last norm
// besides; context parallelism the tokens alone.
func TestSharedOut(t *testing.T) {
	m := publishedModels(t)["meta-llama/Meta-Llama-3.1-70B"]
	const cache = 80 * 2 * 1024 * 2048 * 2 // layers · K and V · features · tokens · bytes
	for name, c := range map[string]struct {
		parallel    Parallel
		weights, kv int64
	}{
		"alone":           {Parallel{}, 2 * (80*(layer70B+norms70B) + 2*table70B + 8192), cache},
		"tensor 8":        {Parallel{Tensor: 8}, 2 * (80*(layer70B/8+norms70B) + 2*table70B/8 + 8192), cache / 8},
		"tensor 16":       {Parallel{Tensor: 16}, 2 * (80*(layer70B/16+norms70B) + 2*table70B/16 + 8192), cache / 8}, // 8 KV heads
		"pipeline 4":      {Parallel{Pipeline: 4}, 2 * (20*(layer70B+norms70B) + table70B + 8192), cache / 4},
		"pipeline 3":      {Parallel{Pipeline: 3}, 2 * (27*(layer70B+norms70B) + table70B + 8192), cache * 27 / 80}, // 27, 27, 26
		"context 4":       {Parallel{Context: 4}, 2 * (80*(layer70B+norms70B) + 2*table70B + 8192), cache / 4},
		"tensor, context": {Parallel{Tensor: 8, Context: 2}, 2 * (80*(layer70B/8+norms70B) + 2*table70B/8 + 8192), cache / 16},
	} {
		plan := testPlan(t, false)
		plan.Parallel = c.parallel
		mem := memoryOf(t, m, plan)
		if mem.Weights.Int64() != c.weights || mem.KV.Int64() != c.kv {
			t.Errorf("%s: weights %d and cache %d, want %d and %d", name, mem.Weights, mem.KV, c.weights, c.kv)
		}
	}
}

// TestExpertsSharedOut: Mixtral's 8 experts on 4 devices, within the replicas;
// everything else is whole on each.
func TestExpertsSharedOut(t *testing.T) {
	m := publishedModels(t)["mistralai/Mixtral-8x7B-v0.1"]
	const all, experts = 46_702_792_704, 32 * 8 * 3 * 4096 * 14336
	plan := testPlan(t, false)
	plan.Parallel = Parallel{Data: 4, Expert: 4}
	if mem := memoryOf(t, m, plan); mem.Weights.Int64() != 2*(all-experts+experts/4) || mem.Devices != 4 {
		t.Errorf("%d bytes on each of %d", mem.Weights, mem.Devices)
	}
}

// TestMicrobatchesInFlight: under 1F1B the first of 4 stages keeps 4 micro-batches
// of a quarter of the layers; interleaved by v, 1 + (p − 1)/pv times as much
// (arXiv:2205.05198, section 4.2.3). Under GPipe every stage keeps all of a step's,
// and the last one their logits in 32 bits besides, which is more. Recomputed
// layers keep their inputs alone, so that all is countable by hand.
func TestMicrobatchesInFlight(t *testing.T) {
	m := publishedModels(t)["meta-llama/Meta-Llama-3.1-70B"]
	const input, logits = 2048 * 8192 * 2, 2048 * 128256 * 4
	for name, c := range map[string]struct {
		parallel Parallel
		least    int64
	}{
		"1f1b":        {Parallel{Pipeline: 4, Schedule: "1f1b"}, 4 * 20 * input},
		"interleaved": {Parallel{Pipeline: 4, Schedule: "interleaved", Virtual: 5}, 4 * 20 * input * 23 / 20},
		"gpipe of 8":  {Parallel{Pipeline: 4, Schedule: "gpipe", Microbatches: 8}, 8 * (20*input + logits)},
	} {
		plan := testPlan(t, true)
		plan.Recompute, plan.Parallel = estimator.RecomputeLayers, c.parallel
		got := memoryOf(t, m, plan).Activations.Int64()
		if got < c.least || got > c.least+c.least/12 { // embeddings, the last norm
			t.Errorf("%s: %d bytes, want %d and little besides", name, got, c.least)
		}
	}
}

// TestLargest: the largest batch and sequence fit, and one more does not, nor does
// a table of positions have one more.
func TestLargest(t *testing.T) {
	card, err := FindAccelerator("4090")
	if err != nil {
		t.Fatal(err)
	}
	models := publishedModels(t)
	for name, c := range map[string]struct {
		m    *estimator.Model
		most int64 // 0: the memory bounds the sequence
	}{
		"llama":      {models["meta-llama/Llama-3.1-8B"], 0},
		"gpt2":       {models["openai-community/gpt2-xl"], 1024},
		"bert":       {describe(t, []byte(`{"model_type":"bert"}`), "BertForMaskedLM"), 512},
		"modernbert": {describe(t, []byte(`{"model_type":"modernbert"}`), "ModernBertForMaskedLM"), 8192},
	} {
		plan := testPlan(t, false)
		plan.Seq, plan.Accelerators, plan.Overhead = 256, []Accelerator{card}, big.NewInt(1e9)
		fit := memoryOf(t, c.m, plan).Fits[0]
		fits := func(batch, seq int64) bool {
			plan := plan
			plan.Batch, plan.Seq = batch, seq
			return memoryOf(t, c.m, plan).Fits[0].Fits
		}
		if !fits(*fit.LargestB, plan.Seq) || fits(*fit.LargestB+1, plan.Seq) {
			t.Errorf("%s: largest batch %d", name, *fit.LargestB)
		}
		if longest := *fit.LargestS; c.most != 0 && longest != c.most || !fits(plan.Batch, longest) || c.most == 0 && fits(plan.Batch, longest+1) {
			t.Errorf("%s: largest sequence %d", name, longest)
		}
	}
}

// TestLargestOfImages: where images are all that is seen their number is the
// batch, and their size is the config's; images of given sizes are as many as are
// given.
func TestLargestOfImages(t *testing.T) {
	card, err := FindAccelerator("4090")
	if err != nil {
		t.Fatal(err)
	}
	m := describe(t, []byte(`{"model_type":"vit"}`), "ViTForImageClassification")
	plan := testPlan(t, false)
	plan.Accelerators, plan.Overhead = []Accelerator{card}, big.NewInt(1e9)
	fit := memoryOf(t, m, plan).Fits[0]
	fits := func(images int64) bool {
		plan := plan
		plan.Images = images
		return memoryOf(t, m, plan).Fits[0].Fits
	}
	if fit.LargestS != nil || !fits(*fit.LargestB) || fits(*fit.LargestB+1) {
		t.Errorf("%+v", fit)
	}
	plan.Grids = []estimator.Grid{{Frames: 1, Rows: 8, Columns: 12}, {Frames: 1, Rows: 4, Columns: 4}}
	fit = memoryOf(t, describe(t, []byte(`{"model_type":"siglip2_vision_model"}`), ""), plan).Fits[0]
	if fit.LargestS != nil || fit.LargestB != nil {
		t.Errorf("of given sizes: %+v", fit)
	}
}

// TestLogitsAtPeak: a masked language model has logits of every token, 30,522 of
// each beside 768 features, a causal one those of one position, in 32 bits
// besides; an encoder alone has none.
func TestLogitsAtPeak(t *testing.T) {
	const note = "activations: by rule, not measured: the largest set of tensors that lives at once in "
	for _, c := range []struct {
		config, class, note string
		want                int64
	}{
		{`{"model_type":"bert"}`, "BertForMaskedLM", "a forward pass of all sequences at once, logits of every token", 2 * 2 * 512 * (768 + 30522)},
		{`{"model_type":"bert"}`, "BertModel", "a forward pass of all sequences at once", 2 * 2 * 512 * 7 * 768},
		{`{"model_type":"gpt2","vocab_size":10000000}`, "GPT2LMHeadModel", "a prefill of all sequences at once, logits of one position", 2*2*512*768 + (2+4)*2*10000000},
	} {
		plan := testPlan(t, false)
		plan.Batch, plan.Seq = 2, 512
		mem := memoryOf(t, describe(t, []byte(c.config), c.class), plan)
		if mem.Activations.Int64() != c.want || !slices.Contains(mem.Assumptions, note+c.note) {
			t.Errorf("%s: %d bytes, want %d: %q", c.class, mem.Activations, c.want, mem.Assumptions)
		}
	}
}

// TestRoofline: a decode step of Llama-3.1-8B reads every weight but the embedding
// and the cache, and takes two FLOPs for each of the weights and four for each
// cached feature of a query head; an H100's bandwidth of 3.35 TB/s bounds it, its
// peak of 989 TFLOP/s a prefill.
func TestRoofline(t *testing.T) {
	m := publishedModels(t)["meta-llama/Llama-3.1-8B"]
	h100, err := FindAccelerator("H100")
	if err != nil {
		t.Fatal(err)
	}
	plan := testPlan(t, false)
	plan.Accelerators = []Accelerator{h100}
	s := memoryOf(t, m, plan).Fits[0].Speed
	const table, matrices, norms = 128256 * 4096, 32 * (2*4096*4096 + 2*4096*1024 + 3*4096*14336), 65 * 4096
	read := int64(2*(table+matrices+norms) + 32*2*1024*2048*2)
	near(t, "bytes of a step", float(s.DecodeBytes), float64(read), 1e-9)
	if want := int64(2*(table+matrices) + 4*32*4096*2049); s.DecodeFLOPs.Int64() != want {
		t.Errorf("a step takes %d FLOPs, want %d", s.DecodeFLOPs, want)
	}
	near(t, "seconds of a step", s.DecodeSeconds, float64(read)/3.35e12, 1e-9)
	near(t, "tokens per second", s.TokensPerSecond, 3.35e12/float64(read), 1e-9)
	near(t, "ridge", s.Ridge, 989e12/3.35e12, 1e-9)
	near(t, "seconds of a prefill", s.PrefillSeconds, (2*(2048*matrices+table)+4*32*4096*2048*2048)/989e12, 1e-9)
	if s.DecodeBound != "bandwidth" || s.PrefillBound != "compute" {
		t.Errorf("bound by %s and %s", s.DecodeBound, s.PrefillBound)
	}
}

// TestPaged: 1,000 tokens take 63 blocks of 16, and full attention in a window's
// place all of them.
func TestPaged(t *testing.T) {
	m := publishedModels(t)["openai/gpt-oss-20b"] // 12 of 24 layers see 128 tokens, 8 heads of 64
	bf16, _ := ParseElementType("bf16")
	const token = 2 * 8 * 64 * 2
	for _, c := range []struct {
		opts KVOptions
		want int64
	}{
		{KVOptions{}, token * 12 * (1000 + 128)},
		{KVOptions{Block: 16}, token * 12 * (1008 + 128)},
		{KVOptions{Block: 16, Reserved: true}, token * 12 * (1008 + 1008)},
	} {
		if kv := KVCache(m, 1, 1000, 0, bf16, c.opts); kv.TotalBytes.Int64() != c.want {
			t.Errorf("%+v: %d bytes, want %d", c.opts, kv.TotalBytes, c.want)
		}
	}
}
