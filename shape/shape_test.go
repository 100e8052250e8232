package shape

import (
	"math"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
)

func unique(t *testing.T, s Sizes) int64 {
	t.Helper()
	m, err := Describe(s)
	if err != nil {
		t.Fatal(err)
	}
	return estimator.Count(m.Tensors()).Unique
}

func pointer(b bool) *bool { return &b }

// TestSmallChecks: vocabulary 1000, d 64, two layers, width 256, no biases, two
// norms of d a layer; the sums leave out the last norm.
func TestSmallChecks(t *testing.T) {
	base := Sizes{Kind: "llama", Hidden: 64, Layers: 2, Heads: 4, Width: 256, Vocabulary: 1000}
	for _, c := range []struct {
		tied, ungated bool
		want          int64
	}{{true, false, 195_328}, {false, false, 259_328}, {true, true, 162_560}} {
		s := base
		s.Tied, s.Ungated = pointer(c.tied), c.ungated
		if got := unique(t, s) - 64; got != c.want {
			t.Errorf("tied %t, ungated %t: %d, want %d", c.tied, c.ungated, got, c.want)
		}
	}
}

// TestFromSizes: models that their sizes alone describe. GPT-3 from its paper's
// table (arXiv:2005.14165, table 2.1: 96 layers, not 120); 175,189,227,392 follows
// from no convention of ties and biases.
func TestFromSizes(t *testing.T) {
	gpt3 := Sizes{Hidden: 12288, Layers: 96, Heads: 96, Vocabulary: 50257, Positions: 2048}
	if got := unique(t, gpt3); got != 174_604_259_328 {
		t.Errorf("GPT-3: %d", got)
	}
	gpt3.Tied = pointer(false)
	untied := unique(t, gpt3)
	if untied != 175_221_817_344 {
		t.Errorf("GPT-3, untied: %d", untied)
	}
	// Without biases: 9d a layer of linears' (3d + d + 4d + d), norms keep theirs.
	if got := untied - 96*9*12288; got != 175_211_200_512 {
		t.Errorf("GPT-3, untied without biases: %d", got)
	}
	// Its embeddings are 0.64 of 174.6 B, not 40.3 B.
	m, err := Describe(gpt3)
	if err != nil {
		t.Fatal(err)
	}
	var embeddings int64
	for _, tensor := range m.Tensors() {
		if tensor.Role == estimator.TokenEmbedding || tensor.Role == estimator.PositionEmbedding {
			embeddings += tensor.Elements()
		}
	}
	if embeddings != 642_723_840 {
		t.Errorf("GPT-3's embeddings: %d", embeddings)
	}
	if got := unique(t, Sizes{Hidden: 1600, Layers: 48, Heads: 25, Vocabulary: 50257}); got != 1_557_611_200 {
		t.Errorf("GPT-2 XL: %d", got)
	}
	for want, s := range map[int64]Sizes{
		8_030_261_248:  {Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Width: 14336, Vocabulary: 128256},
		46_702_792_704: {Hidden: 4096, Layers: 32, Heads: 32, KVHeads: 8, Experts: 8, Used: 2, ExpertWidth: 14336, Vocabulary: 32000},
		671_026_404_352: {Hidden: 7168, Layers: 61, Heads: 128, QueryRank: 1536, KVRank: 512, Width: 18432, Experts: 256, Used: 8,
			ExpertWidth: 2048, SharedExperts: 1, DenseLayers: 3, Vocabulary: 129280},
		12_247_782_400: {Hidden: 5120, Layers: 40, Heads: 32, KVHeads: 8, HeadDim: 128, Width: 14336, Vocabulary: 131072},
	} {
		if got := unique(t, s); got != want {
			t.Errorf("%+v: %d parameters, want %d", s, got, want)
		}
	}
}

// TestLLaMAByRule: 12lh² + 2vh for LLaMA's four sizes, in 10⁹; and that doubling d
// and the layers makes about eight times as many, not six.
func TestLLaMAByRule(t *testing.T) {
	for _, c := range []struct{ h, l, want float64 }{{4096, 32, 6.70}, {5120, 40, 12.91}, {6656, 60, 32.32}, {8192, 80, 64.95}} {
		if got := (12*c.l*c.h*c.h + 2*32000*c.h) / 1e9; math.Abs(got-c.want) > 0.0051 {
			t.Errorf("h %g, l %g: %.3f, want %.2f", c.h, c.l, got, c.want)
		}
	}
	layers := func(d, n int64) int64 {
		return unique(t, Sizes{Hidden: d, Layers: n, Heads: d / 64, Vocabulary: 50257}) - (50257+1024)*d
	}
	if ratio := float64(layers(4096, 48)) / float64(layers(2048, 24)); math.Abs(ratio-8) > 0.01 {
		t.Errorf("doubled: %g times", ratio)
	}
}

// TestExpertsAreOfLayers: an expert is two or three matrices of each layer, no
// whole model: as many again add layers · experts · (3·d·width + d of the router).
func TestExpertsAreOfLayers(t *testing.T) {
	s := Sizes{Hidden: 2080, Layers: 15, Heads: 32, Vocabulary: 32128, Experts: 1024, Used: 1, ExpertWidth: 6144}
	few := unique(t, s)
	s.Experts *= 2
	if got, want := unique(t, s)-few, int64(15*1024*(3*2080*6144+2080)); got != want {
		t.Errorf("1,024 experts more: %d parameters, want %d", got, want)
	}
}

// TestSearch: what is found is near the target and counted exactly, and a shape
// that exists is found again.
func TestSearch(t *testing.T) {
	found, err := Search(Wish{Parameters: 6_738_415_616, Tolerance: 1e-9, Aspect: 128,
		Sizes: Sizes{Vocabulary: 32000, HeadDim: 128}})
	if err != nil {
		t.Fatal(err)
	}
	if s := found[0].Sizes; s.Hidden != 4096 || s.Layers != 32 || s.Heads != 32 || s.Width != 11008 {
		t.Errorf("LLaMA 7B's count gives %+v", s)
	}
	found, err = Search(Wish{Parameters: 30e9, GQA: 4, Multiple: 8, Sizes: Sizes{Vocabulary: 128000, Experts: 64, Used: 4}})
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(-1)
	for _, f := range found {
		switch {
		case math.Abs(f.Distance) > 0.05, unique(t, f.Sizes) != f.Parameters, f.Score < last:
			t.Errorf("%+v", f)
		case f.Sizes.Heads%8 != 0, f.Sizes.Heads != 4*f.Sizes.KVHeads, f.Sizes.Width%8 != 0:
			t.Errorf("%+v breaks the constraints", f.Sizes)
		}
		last = f.Score
	}
	if _, err := Search(Wish{Parameters: 10, Sizes: Sizes{Vocabulary: 32000}}); err == nil {
		t.Error("a model of ten parameters")
	}
}

func TestRefusals(t *testing.T) {
	for _, s := range []Sizes{
		{},
		{Hidden: 64, Layers: 2, Vocabulary: 10, Heads: 5, KVHeads: 3},
		{Hidden: 64, Layers: 2, Vocabulary: 10, Heads: 4, Experts: 2, Used: 3},
		{Hidden: 64, Layers: 2, Vocabulary: 10, Heads: 100},
		{Hidden: 64, Layers: 2, Vocabulary: 1 << 50, Heads: 4},
		{Kind: "gpt2", Hidden: 64, Layers: 2, Vocabulary: 10, Heads: 4, KVHeads: 2},
		{Kind: "rnn", Hidden: 64, Layers: 2, Vocabulary: 10, Heads: 4},
		{Kind: "moe", Hidden: 64, Layers: 2, Vocabulary: 10, Heads: 4},
	} {
		if _, err := s.Config(); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
