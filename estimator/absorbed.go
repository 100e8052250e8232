package estimator

import "math/big"

// DecodeFLOPs is the work of one step of decoding. Absorbed says that queries
// meet the cached latent itself, as engines do it, instead of keys and values
// that are rebuilt from it for every cached token, as the reference library does:
// the matrices that would rebuild them run once for each new token, and each head
// multiplies latents and rotary keys (DeepSeek-V2, arXiv:2405.04434, section
// 2.1.2).
func (m *Model) DecodeFLOPs(p Pass, absorbed bool) *big.Int {
	total := Total(m.Forward(p))
	if !absorbed {
		return total
	}
	m.walk(func(l *leaf) {
		if l.block.Kind == LinearKind && l.block.Rows == PerKey && latent(l.within) {
			rebuilt := product(2, l.rows(p)-p.Batch*p.Seq, l.block.In.Int(), l.block.Out.Int(), l.used.Int())
			total.Sub(total, rebuilt)
		}
		if s := l.block.Scores; s != nil && !s.Latent.IsZero() {
			pairs := product(2, l.used.Int(), p.Batch, p.Seq, p.keys(s), s.Heads.Int())
			wider := s.Cached.Int() + s.Latent.Int() - s.KeyDim.Int() - s.ValueDim.Int()
			total.Add(total, pairs.Mul(pairs, big.NewInt(wider)))
		}
	})
	return total
}

func latent(groups []*Block) bool {
	for _, g := range groups {
		if g.Scores != nil && !g.Scores.Latent.IsZero() {
			return true
		}
	}
	return false
}
