package cost

import (
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// TestKorthikantiTable is arXiv:2205.05198's four models at 2,048 tokens and
// eight-way tensor parallelism: MiB a layer with tensor parallelism alone, with
// sequence parallelism, with selective recomputation, with both.
func TestKorthikantiTable(t *testing.T) {
	for _, c := range []struct {
		name                 string
		batch, hidden, heads int64
		want                 [4]float64
	}{
		{"22B", 4, 6144, 64, [4]float64{1264, 844, 624, 204}},
		{"175B", 1, 12288, 96, [4]float64{552, 342, 312, 102}},
		{"530B", 1, 20480, 128, [4]float64{840, 490, 520, 170}},
		{"1T", 1, 25600, 160, [4]float64{1050, 612.5, 650, 212.5}},
	} {
		for i, rule := range []struct {
			sequence  bool
			recompute string
		}{{false, "none"}, {true, "none"}, {false, "selective"}, {true, "selective"}} {
			k := Korthikanti{Seq: 2048, Batch: c.batch, Hidden: c.hidden, Heads: c.heads, Tensor: 8, Sequence: rule.sequence, Recompute: rule.recompute}
			mib, _ := new(big.Rat).Quo(k.LayerBytes(), big.NewRat(1<<20, 1)).Float64()
			if mib != c.want[i] {
				t.Errorf("%s, %s: %g MiB, want %g", c.name, k.Formula(), mib, c.want[i])
			}
		}
	}
}

// TestKorthikantiAlone are the rules without parallelism: 34sbh + 5as²b, and
// 2sbh for full recomputation; the output layer 4sbh(1 + v/h)/t.
func TestKorthikantiAlone(t *testing.T) {
	k := Korthikanti{Seq: 2048, Batch: 1, Hidden: 12288, Heads: 96, Tensor: 1, Recompute: "none"}
	sbh := int64(2048 * 12288)
	if got, want := k.LayerBytes(), big.NewRat(34*sbh+5*96*2048*2048, 1); got.Cmp(want) != 0 {
		t.Errorf("none: %s, want %s", got, want)
	}
	if got := (Korthikanti{Seq: 2048, Batch: 1, Hidden: 12288, Heads: 96, Tensor: 8, Recompute: "full"}).LayerBytes(); got.Cmp(big.NewRat(2*sbh, 1)) != 0 {
		t.Errorf("full: %s", got)
	}
	k.Tensor = 8
	if got, want := k.OutputBytes(51200), big.NewRat(4*(sbh+2048*51200), 8); got.Cmp(want) != 0 {
		t.Errorf("output: %s, want %s", got, want)
	}
}

// TestBERTIsKorthikanti: BERT in 16 bits with dropout is the paper's layer, and
// 8sb for the means and deviations of its two norms beside it, however it is
// shared out.
func TestBERTIsKorthikanti(t *testing.T) {
	m := describe(t, []byte(`{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":1024,"num_hidden_layers":24,
		"num_attention_heads":16,"intermediate_size":4096,"hidden_act":"gelu","vocab_size":30522}`), "")
	use := estimator.SavingUse{Batch: 4, Seq: 512, ElementBytes: 2, Dropout: true, MaskBytes: 1}
	for _, tensor := range []int64{1, 2, 8} {
		for _, sequence := range []bool{false, true} {
			sum := new(big.Rat)
			for _, s := range m.Activations(use).Saved {
				if s.Layers == nil {
					continue
				}
				bytes := new(big.Rat).SetInt(s.Total())
				if s.Split || sequence {
					bytes.Quo(bytes, big.NewRat(tensor, 1))
				}
				sum.Add(sum, bytes)
			}
			want := Korthikanti{Seq: 512, Batch: 4, Hidden: 1024, Heads: 16, Tensor: tensor, Sequence: sequence, Recompute: "none"}.LayerBytes()
			stats := big.NewRat(8*512*4, 1)
			if sequence {
				stats.Quo(stats, big.NewRat(tensor, 1))
			}
			want.Add(want, stats)
			want.Mul(want, big.NewRat(24, 1))
			if sum.Cmp(want) != 0 {
				t.Errorf("t = %d, sequence %t: %s bytes, want %s", tensor, sequence, sum, want)
			}
		}
	}
}
