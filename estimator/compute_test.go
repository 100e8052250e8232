package estimator

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// flopsCase is a forward pass that the framework's counter measured.
type flopsCase struct {
	ID      string          `json:"case_id"`
	Family  string          `json:"family"`
	Class   string          `json:"model_class"`
	Mode    string          `json:"mode"`
	Batch   int64           `json:"batch"`
	Seq     int64           `json:"seq"`
	Past    int64           `json:"past"`
	Keep    int64           `json:"logits_to_keep"`
	Cached  *bool           `json:"use_cache"`
	Experts string          `json:"experts_implementation"`
	Eager   *int64          `json:"eager_formula_flops"`
	Total   int64           `json:"total_flops"`
	Config  json.RawMessage `json:"config_full"`

	EncoderSeq int64 `json:"enc_seq"`
	DecoderSeq int64 `json:"dec_seq"`

	BatchText  int64      `json:"batch_text"`
	BatchImage int64      `json:"batch_image"`
	Images     int64      `json:"images"`
	ImageSide  int64      `json:"image_size"`
	Grids      [][3]int64 `json:"image_grid_thw"`
}

// pass is what was run.
func (c *flopsCase) pass() Pass {
	p := Pass{Batch: c.Batch + c.BatchText, Seq: c.Seq + c.DecoderSeq, Past: c.Past, LogitsToKeep: c.Keep, EncoderSeq: c.EncoderSeq,
		NoCache: c.Cached != nil && !*c.Cached, Sight: Sight{Images: c.Images + c.BatchImage, ImageSide: c.ImageSide}}
	for _, g := range c.Grids {
		p.Grids = append(p.Grids, Grid{g[0], g[1], g[2]})
	}
	return p
}

func describeForTest(t *testing.T, id string, raw json.RawMessage, class string) *Model {
	t.Helper()
	config, err := hfconfig.New(raw, "")
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	model, err := Describe(config, class)
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return nil
	}
	return model
}

func TestForwardFLOPsAsMeasured(t *testing.T) {
	cases := 0
	truthtable.Each(t, "testdata/flops*.jsonl.gz", func(c *flopsCase) {
		if c.Mode == "forward_backward" || c.Experts == "grouped_mm" {
			return // a training step, and a kernel that the counter does not see: other tests
		}
		model := describeForTest(t, c.ID, c.Config, c.Class)
		if model == nil {
			return
		}
		cases++
		if got := Total(model.Forward(c.pass())); got.Cmp(big.NewInt(c.Total)) != 0 {
			t.Errorf("%s: %d FLOPs, measured %d", c.ID, got, c.Total)
		}
	})
	t.Logf("%d cases", cases)
	if cases < 100 {
		t.Errorf("only %d cases", cases)
	}
}

// kvCase is a cache that the reference library filled.
type kvCase struct {
	ID      string          `json:"case_id"`
	Family  string          `json:"family"`
	Class   string          `json:"model_class"`
	DType   string          `json:"dtype"`
	Batch   int64           `json:"batch"`
	Tokens  int64           `json:"total_tokens"`
	Encoder int64           `json:"encoder_tokens"`
	Total   int64           `json:"total_cache_bytes"`
	Config  json.RawMessage `json:"config_full"`
}

func TestCacheBytesAsMeasured(t *testing.T) {
	widths := map[string]int64{"float32": 4, "bfloat16": 2, "float16": 2}
	cases := 0
	truthtable.Each(t, "testdata/kv.jsonl.gz", func(c *kvCase) {
		model := describeForTest(t, c.ID, c.Config, c.Class)
		if model == nil {
			return
		}
		width, ok := widths[c.DType]
		if !ok {
			t.Fatalf("%s: dtype %s", c.ID, c.DType)
		}
		cases++
		sum := new(big.Rat)
		for _, layer := range model.Cache() {
			sum.Add(sum, layer.Bytes(CacheUse{Batch: c.Batch, Tokens: c.Tokens, EncoderSeq: c.Encoder,
				ElementBytes: big.NewRat(width, 1), Convention: Library}))
		}
		if sum.Cmp(big.NewRat(c.Total, 1)) != 0 {
			t.Errorf("%s: %s bytes, measured %d", c.ID, sum.RatString(), c.Total)
		}
	})
	t.Logf("%d cases", cases)
	if cases < 100 {
		t.Errorf("only %d cases", cases)
	}
}
