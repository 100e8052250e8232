package estimator

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// passCase is a forward pass of a recurrent or hybrid model, with what the cache
// held after it.
type passCase struct {
	ID     string          `json:"case_id"`
	Class  string          `json:"model_class"`
	Batch  int64           `json:"batch"`
	Seq    int64           `json:"seq"`
	Past   int64           `json:"past"`
	Cached bool            `json:"use_cache"`
	FLOPs  int64           `json:"total_flops"`
	Cache  *int64          `json:"cache_bytes"`
	Config json.RawMessage `json:"config_full"`
}

func TestRecurrentPassesAsMeasured(t *testing.T) {
	cases := 0
	truthtable.Each(t, "testdata/passes.jsonl.gz", func(c *passCase) {
		model := describeForTest(t, c.ID, c.Config, c.Class)
		if model == nil {
			return
		}
		cases++
		p := Pass{Batch: c.Batch, Seq: c.Seq, Past: c.Past, NoCache: !c.Cached}
		if got := Total(model.Forward(p)); got.Cmp(big.NewInt(c.FLOPs)) != 0 {
			t.Errorf("%s: %d FLOPs, measured %d", c.ID, got, c.FLOPs)
		}
		if c.Cache == nil {
			return
		}
		sum := new(big.Rat)
		for _, layer := range model.Cache() {
			sum.Add(sum, layer.Bytes(CacheUse{Batch: c.Batch, Tokens: c.Past + c.Seq, ElementBytes: big.NewRat(4, 1), Convention: Library}))
		}
		if sum.Cmp(big.NewRat(*c.Cache, 1)) != 0 {
			t.Errorf("%s: cache of %s bytes, measured %d", c.ID, sum.RatString(), *c.Cache)
		}
	})
	if cases < 200 {
		t.Errorf("only %d cases", cases)
	}
}
