package estimator

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// switchCase is a small model with randomised switches: what it is made of, and
// what a pass through it costs.
type switchCase struct {
	truthCase
	Measured *struct {
		Batch      int64  `json:"batch"`
		Seq        int64  `json:"seq"`
		EncoderSeq int64  `json:"encoder_seq"`
		FLOPs      int64  `json:"flops"`
		CacheBytes *int64 `json:"cache_bytes"` // null where nothing is cached
	} `json:"measured"`
}

// TestSwitchesOfEncodersAndCrossAttention flips what the published configs of
// these families leave alone: cross-attention, adapters, untied halves, prompts,
// prediction streams, sparse keys, and the switches of towers.
func TestSwitchesOfEncodersAndCrossAttention(t *testing.T) {
	cases := 0
	truthtable.Each(t, "testdata/switches.jsonl.gz", func(c *switchCase) {
		cases++
		for _, raw := range []json.RawMessage{c.Config, withNested(t, c.Changed, c.Config)} {
			config, err := hfconfig.New(raw, c.ModelType)
			if err != nil {
				t.Fatal(err)
			}
			faults := compareCase(t, &c.truthCase, config)
			if len(faults) == 0 && c.Measured != nil {
				faults = c.compareCosts(t, config)
			}
			if len(faults) > 0 {
				t.Errorf("%s (changed: %s):\n  %s", c.name(), c.Changed, strings.Join(faults[:min(8, len(faults))], "\n  "))
			}
		}
	})
	if cases < 300 {
		t.Errorf("only %d cases", cases)
	}
}

func (c *switchCase) compareCosts(t *testing.T, config *hfconfig.Config) (faults []string) {
	t.Helper()
	model, err := Describe(config, c.Class)
	if err != nil {
		return []string{err.Error()}
	}
	m := c.Measured
	if got := Total(model.Forward(Pass{Batch: m.Batch, Seq: m.Seq, EncoderSeq: m.EncoderSeq})); got.Cmp(big.NewInt(m.FLOPs)) != 0 {
		faults = append(faults, got.String()+" FLOPs, measured "+big.NewInt(m.FLOPs).String())
	}
	if m.CacheBytes == nil {
		return faults
	}
	sum, use := new(big.Rat), CacheUse{Batch: m.Batch, Tokens: m.Seq, EncoderSeq: m.EncoderSeq, ElementBytes: big.NewRat(4, 1), Convention: Library}
	for _, layer := range model.Cache() {
		sum.Add(sum, layer.Bytes(use))
	}
	if sum.Cmp(big.NewRat(*m.CacheBytes, 1)) != 0 {
		faults = append(faults, sum.RatString()+" bytes of cache, measured "+big.NewInt(*m.CacheBytes).String())
	}
	return faults
}
