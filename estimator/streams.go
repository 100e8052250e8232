package estimator

import "math/big"

// hyper is the linear map by which a hyper-connection makes its weights of all
// streams, with their biases and scales; the prefix is that of the three names.
// Three kinds of weights, one a matrix that mixes the streams, or two.
func (c *Config) hyper(prefix string, kinds int64) Block {
	n := c.Size("n", "hc_mult")
	out := n.X(kinds)
	if kinds == 3 {
		out = n.Times(n).Plus(n.X(2))
	}
	b := Module("", Other, Linear(prefix+"fn", n.Times(c.D), out).Bare(), Raw(prefix+"base", Other, out), Raw(prefix+"scale", Other, Const(kinds)))
	if kinds == 3 {
		b.Extra = &Extra{Name: "mixing", Sizes: []Size{n, c.D}, FLOPs: func(p Pass) *big.Int {
			return product(2, p.Batch, p.Seq, n.Int(), n.Int(), c.D.Int())
		}}
	}
	return b
}
