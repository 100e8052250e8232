package cost

import (
	"math"
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// near reports whether two numbers agree to so many significant digits.
func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// TestPublishedRuns holds the rules against runs that were published, rounded as
// their sources round.
func TestPublishedRuns(t *testing.T) {
	// 7·10⁹ parameters, 10¹² tokens: 4.2·10²²; 1000 devices of 312 TFLOP/s at 35 %.
	run, err := Train(Budget{Parameters: 7e9, Total: 7e9, Tokens: 1e12, Peak: 312e12, Devices: 1000, Efficiency: 0.35})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "FLOPs", run.FLOPs, 4.2e22, 1e-9)
	near(t, "days", run.Days, 4.45, 2e-3)

	// GPT-3 175B: 300·10⁹ tokens on 384 A100 at 153 TFLOP/s (arXiv:2104.04473, section 5.1: 84 days).
	const gpt3 = 174_604_259_328
	run, err = Train(Budget{Parameters: gpt3, Total: gpt3, Tokens: 300e9, Peak: 153e12, Devices: 384, Efficiency: 1})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "GPT-3 by 6PT, days", run.Days, 62.1, 6e-3)
	megatron, _ := new(big.Float).SetInt(Transformer{Layers: 96, Hidden: 12288, Vocabulary: 50257}.Megatron(1, 2048, true)).Float64()
	run, err = Train(Budget{Parameters: gpt3, Total: gpt3, Tokens: 300e9, FLOPsAToken: megatron / 2048, Peak: 153e12, Devices: 384, Efficiency: 1})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "GPT-3 by Megatron, days", run.Days, 84.7, 6e-3)

	// LLaMA (arXiv:2302.13971, tables 2 and 15): A100-hours, tokens, and the share
	// of the peak that 6PT makes of them.
	for _, llama := range []struct {
		parameters, tokens, hours, mfu float64
	}{
		{6_738_415_616, 1.0e12, 82_432, 0.437},
		{13_015_864_320, 1.0e12, 135_168, 0.514},
		{32_528_943_616, 1.4e12, 530_432, 0.459},
		{65_285_660_672, 1.4e12, 1_022_362, 0.478},
	} {
		near(t, "LLaMA MFU", MFU(6*llama.parameters*llama.tokens, llama.hours, 312e12), llama.mfu, 2e-3)
	}
}

// TestPaLM is the example of arXiv:2204.02311, appendix B: 540.35 B parameters,
// 118 layers, 48 heads of 256, 2048 tokens, 6144 chips of 275 TFLOP/s, 238,300
// tokens a second: 46.2 %.
func TestPaLM(t *testing.T) {
	const n = 540.35e9
	run, err := Train(Budget{Parameters: n, Total: n, Tokens: 780e9, Peak: 275e12, Devices: 6144, Measured: 238_300,
		MFUAToken: 6*n + 12*118*48*256*2048})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "MFU", *run.MFU, 0.462, 1e-3)
}

// TestChinchillaTableA4 reproduces the FLOPs of arXiv:2203.15556, appendix F,
// embeddings and logits left out, and their ratio to 6ND.
func TestChinchillaTableA4(t *testing.T) {
	for _, c := range []struct {
		d, layers, heads, key, params, want int64
		ratio                               float64
	}{
		{640, 10, 10, 64, 73_825_280, 929_877_196_800, 1.025},
		{1024, 20, 16, 64, 305_707_008, 4_135_248_199_680, 1.101},
		{1280, 24, 10, 128, 552_604_160, 7_353_453_772_800, 1.083},
		{1792, 26, 14, 128, 1_143_453_696, 14_670_316_437_504, 1.044},
		{2048, 28, 16, 128, 1_593_126_912, 20_220_437_594_112, 1.033},
		{3584, 40, 28, 128, 6_796_274_688, 83_021_046_743_040, 0.994},
	} {
		shape := Transformer{Layers: c.layers, Hidden: c.d, Heads: c.heads, KeySize: c.key, Width: 4 * c.d, Vocabulary: 32000}
		got := shape.Chinchilla(2048, false)
		if got.Cmp(big.NewInt(c.want)) != 0 {
			t.Errorf("d = %d: %d FLOPs, want %d", c.d, got, c.want)
		}
		f, _ := new(big.Float).SetInt(got).Float64()
		near(t, "ratio to 6ND", f/(6*float64(c.params)*2048), c.ratio, 6e-4)
		// N: the head; a layer's matrices 12d², biases and norms 13d, relative
		// positions d² + 2d; the last norm.
		if n := 32000*c.d + c.layers*(13*c.d*c.d+15*c.d) + 2*c.d; n != c.params {
			t.Errorf("d = %d: N %d, want %d", c.d, n, c.params)
		}
	}
}

// TestNanoGPT is a GPT-2 without biases as its author counts it: 124,337,664
// parameters, a training step of 1024 tokens.
func TestNanoGPT(t *testing.T) {
	shape := Transformer{Layers: 12, Hidden: 768, Heads: 12, KeySize: 64, Width: 3072, Vocabulary: 50257}
	m := describe(t, []byte(`{"model_type":"gpt2"}`), "") // biases are in no matrix product
	f := ForwardFLOPs(m, estimator.Pass{Batch: 1, Seq: 1024}, Options{})
	forward := f.Forward
	if forward.Int64() != 291_648_307_200 || f.Training.Int64() != 874_944_921_600 {
		t.Errorf("forward %d, training step %d", forward, f.Training)
	}
	biases := int64(12*(9+2)*768 + 768) // of linears and of norms
	if got := estimator.Count(m.Tensors()).Unique - biases; got != 124_337_664 {
		t.Errorf("%d parameters", got)
	}
	const n = 123_551_232 // positions left out
	palm := product(1024, 6*n+12*12*12*64*1024)
	if palm.Int64() != 875_062_886_400 {
		t.Errorf("PaLM's count %d", palm)
	}
	if shape.Megatron(1, 1024, false).Cmp(new(big.Int).Mul(forward, big.NewInt(3))) != 0 {
		t.Errorf("Megatron without recomputation %d, three forward passes %d", shape.Megatron(1, 1024, false), forward)
	}
}
