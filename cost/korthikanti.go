package cost

import "math/big"

// Korthikanti is the activation memory of a layer by "Reducing Activation
// Recomputation in Large Transformer Models" (arXiv:2205.05198): 16-bit
// activations, dropout, a GELU kernel, a feed-forward width of 4h.
type Korthikanti struct {
	Seq, Batch, Hidden, Heads int64
	Tensor                    int64 // size of the tensor-parallel group, from 1
	Sequence                  bool  // norms and dropout are shared out in the same group
	Recompute                 string
}

// LayerBytes returns the bytes of one layer on each device: table 2.
//
//	none       sbh(10 + 24/t + 5as/ht), with sequence parallelism sbh(34 + 5as/h)/t
//	selective  the same without 5as/h
//	full       2sbh
func (k Korthikanti) LayerBytes() *big.Rat {
	sbh := new(big.Rat).SetInt(product(k.Seq, k.Batch, k.Hidden))
	t := big.NewRat(max(1, k.Tensor), 1)
	if k.Recompute == "full" {
		return sbh.Mul(sbh, big.NewRat(2, 1))
	}
	whole, split := big.NewRat(10, 1), big.NewRat(24, 1)
	if k.Sequence {
		whole, split = new(big.Rat), big.NewRat(34, 1)
	}
	if k.Recompute != "selective" {
		split.Add(split, new(big.Rat).SetFrac(product(5, k.Heads, k.Seq), big.NewInt(k.Hidden)))
	}
	return sbh.Mul(sbh, whole.Add(whole, split.Quo(split, t)))
}

// OutputBytes returns the bytes beside the layers, on the device of the last
// stage: the last norm, the output projection's input and the logits,
// 4sbh(1 + v/h)/t (section 4.3).
func (k Korthikanti) OutputBytes(vocabulary int64) *big.Rat {
	sbh := new(big.Rat).SetInt(product(4, k.Seq, k.Batch, k.Hidden))
	one := big.NewRat(1, 1)
	one.Add(one, big.NewRat(vocabulary, max(1, k.Hidden)))
	return sbh.Mul(sbh, one).Quo(sbh, big.NewRat(max(1, k.Tensor), 1))
}

// Formula returns the rule in symbols.
func (k Korthikanti) Formula() string {
	switch {
	case k.Recompute == "full":
		return "2sbh a layer"
	case k.Recompute == "selective" && k.Sequence:
		return "34sbh/t a layer"
	case k.Recompute == "selective":
		return "sbh(10 + 24/t) a layer"
	case k.Sequence:
		return "sbh(34 + 5as/h)/t a layer"
	}
	return "sbh(10 + 24/t + 5as/ht) a layer"
}
