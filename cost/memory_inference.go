package cost

import (
	"math/big"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// inference adds the cache and the largest set of tensors that lives at once in
// a prefill.
func (p *planned) inference(mem *Memory) {
	mem.KVDType = p.KVType.Name
	mem.KV = p.cache(p.Batch, p.Seq)
	batch, seq := p.pass()
	p.live.Peak = p.model.Peak(estimator.SavingUse{Batch: batch, Seq: seq, EncoderSeq: p.EncoderSeq, Sight: p.Sight, Kernel: p.Kernel})
	peak := &p.live
	tensor, width := big.NewRat(p.Parallel.Tensor, 1), p.activationBytes()
	whole, split, wide := sized(peak.Elements, width), sized(peak.Split, width), sized(peak.Wide, big.NewRat(4, 1))
	whole.Add(whole, split.Quo(split, tensor))
	mem.Activations = ceil(whole.Add(whole, wide.Quo(wide, tensor)))
	mem.ActivationFormula = peak.Elements.Plus(peak.Split).String() + " elements in " + peak.Where
}

// pass is what one pass of a prefill runs: all of it, or at most a chunk.
func (p *planned) pass() (batch, seq int64) {
	if p.Chunk == 0 || p.Batch*p.Seq <= p.Chunk {
		return p.Batch, p.Seq
	}
	return 1, min(p.Chunk, p.Seq)
}

func sized(s estimator.Size, width *big.Rat) *big.Rat {
	bytes := new(big.Rat).SetInt(s.Big())
	return bytes.Mul(bytes, width)
}

// activationBytes of an element: weights of few bits are multiplied in 16.
func (p *planned) activationBytes() *big.Rat {
	if p.DType.Bytes.Cmp(big.NewRat(4, 1)) == 0 {
		return p.DType.Bytes
	}
	return big.NewRat(2, 1)
}

// cache is the device's share: heads are shared out by tensor parallelism, tokens
// by context parallelism, layers by the pipeline. A latent has no heads and is
// kept whole.
func (p *planned) cache(batch, seq int64) *big.Int {
	encoder := p.EncoderSeq
	if encoder == 0 {
		encoder = seq
	}
	opts := p.KV
	use := estimator.CacheUse{Batch: batch, Tokens: seq, EncoderSeq: encoder, ElementBytes: p.KVType.Bytes,
		Expanded: opts.Expanded, Reserved: opts.Reserved}
	if opts.Library {
		use.Convention = estimator.Library
	}
	if opts.Block > 0 {
		use.Tokens = (seq + opts.Block - 1) / opts.Block * opts.Block
	}
	sum := new(big.Rat)
	for _, layer := range p.model.Cache() {
		bytes := layer.Bytes(use)
		if s := layer.Scores; s != nil && (s.Expanded.IsZero() || opts.Expanded) {
			bytes.Quo(bytes, big.NewRat(max(1, min(p.Parallel.Tensor, s.KVHeads.Int())), 1))
		}
		sum.Add(sum, bytes)
	}
	sum.Mul(sum, p.Parallel.layerShare(p.layers))
	return ceil(sum.Quo(sum, big.NewRat(p.Parallel.Context, 1)))
}
