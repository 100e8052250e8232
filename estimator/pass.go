package estimator

import "math/big"

// Pass is one run of a model.
type Pass struct {
	Batch        int64 // sequences
	Seq          int64 // new tokens of each
	Past         int64 // cached tokens of each
	LogitsToKeep int64 // positions that get logits; 0 is all new ones
	EncoderSeq   int64 // tokens of the encoder
	NoCache      bool  // nothing is kept for a next step
	Sight

	seen bool // by a tower: its sequences are images
	grid Grid // of patches, by a tower
}

// rows returns how often a linear map runs.
func (p Pass) rows(r Rows) int64 {
	switch r {
	case PerLogit:
		if p.LogitsToKeep > 0 {
			return p.Batch * min(p.LogitsToKeep, p.Seq)
		}
	case PerPosition:
		return p.Seq
	case PerModel:
		return 1
	case PerSequence:
		return p.Batch
	case PerCrossed:
		if p.EncoderSeq == 0 {
			return 0
		}
	case Elsewhere:
		return 0
	case PerKey:
		return p.Batch * (p.Seq + p.Past)
	case PerMemory:
		if p.Past > 0 {
			return 0
		}
		return p.Batch * p.EncoderSeq
	}
	return p.Batch * p.Seq
}

// keys returns how many keys each query is multiplied with. Masks save nothing:
// the products are computed and then masked. A window shortens the cache, which
// keeps window−1 tokens beside the new ones, as the reference library has it.
func (p Pass) keys(s *Scores) int64 {
	switch {
	case s.Cross, s.Memory:
		return p.EncoderSeq
	case s.Window > 0 && !s.Masked && p.Past > 0:
		return min(p.Past, s.Window-1) + p.Seq
	case s.Stride > 0:
		return (p.Seq + p.Past) / s.Stride
	}
	return p.Seq + p.Past
}

// queries returns how many queries each sequence has: those of an encoder run in
// the first step only.
func (p Pass) queries(s *Scores) int64 {
	switch {
	case s.Memory && p.Past > 0:
		return 0
	case s.Memory:
		return p.EncoderSeq
	}
	return p.Seq
}

// pairs returns how many pairs of query and key each head of a sequence
// multiplies, and how many of weight and value.
func (p Pass) pairs(s *Scores) (scores, values *big.Int) {
	if s.Sparse.Local > 0 {
		return s.Sparse.local(p.queries(s))
	}
	pairs := p.chosen(s)
	return pairs, pairs
}

func (s Sparse) local(tokens int64) (scores, values *big.Int) {
	own := tokens - s.Global
	blocks := (own + s.Local - 1) / s.Local
	if s.Pairs {
		return product(max(0, blocks-1), 4, s.Local, s.Local), product(blocks, 3, s.Local, s.Local)
	}
	keys := s.Local*(1+s.Beside) + s.Global
	if s.Summary > 0 {
		keys += own / s.Summary
	}
	pairs := product(blocks, s.Local, keys)
	pairs.Add(pairs, product(s.Global, tokens))
	return pairs, pairs
}

func (p Pass) chosen(s *Scores) *big.Int {
	queries, block, random := p.queries(s), s.Sparse.Block, s.Sparse.Random
	if block <= 0 || queries <= (5+2*random)*block {
		return product(queries, p.keys(s))
	}
	blocks := (queries + block - 1) / block
	seen := product(2, blocks)                  // by the first and the last
	seen.Add(seen, product(2, 4+random))        // by their neighbours
	seen.Add(seen, product(blocks-4, 5+random)) // by the others
	return seen.Mul(seen, product(block, block))
}

// convolved returns over how many positions a causal convolution of the given
// kernel runs: the sequence padded on both sides as the reference library does
// it, two positions where one new token meets the cached ones, or the cached
// ones and the new with padding.
func (p Pass) convolved(kernel int64) int64 {
	switch {
	case p.step():
		return 2
	case p.Past > 0:
		return p.Seq + 2*kernel - 1
	case p.NoCache:
		return p.Seq + kernel - 1
	}
	return max(p.Seq, kernel) + kernel - 1
}
