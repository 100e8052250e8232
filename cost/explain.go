package cost

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// explainFLOPs gives each component in symbols, as far as its work has a closed
// form that agrees with what was counted.
func explainFLOPs(m *estimator.Model, p estimator.Pass, opts Options, f *FLOPs) []Formula {
	symbols := make(map[string]estimator.Size)
	for _, s := range m.Symbolic(p) {
		key := s.Template + "|" + s.Kind
		symbols[key] = symbols[key].Plus(s.FLOPs)
	}
	sums, plain := make(map[string]estimator.Size), make(map[string]*big.Int)
	counted := make(map[string]*big.Int)
	work := m.Forward(p)
	for _, w := range work {
		key := w.Template + "|" + w.Kind
		if counted[key] == nil {
			counted[key] = new(big.Int)
		}
		counted[key].Add(counted[key], w.FLOPs)
	}
	for _, w := range work {
		key, name := w.Template+"|"+w.Kind, componentOf(w)
		flops, ok := counted[key]
		if !ok {
			continue // of an earlier line
		}
		delete(counted, key)
		if plain[name] == nil {
			plain[name] = new(big.Int)
		}
		if size, closed := symbols[key]; closed && size.Big().Cmp(flops) == 0 {
			sums[name] = sums[name].Plus(size)
		} else {
			plain[name].Add(plain[name], flops)
		}
	}
	var list []Formula
	for _, c := range f.Components {
		if c.FLOPs.Sign() == 0 {
			continue
		}
		symbolic, numbers := sums[c.Name].String(), sums[c.Name].Numbers()
		if rest := plain[c.Name]; rest != nil && rest.Sign() > 0 {
			symbolic, numbers = symbolic+" + scans and convolutions", numbers+" + "+rest.String()
		}
		list = append(list, Formula{c.Name, symbolic, numbers, c.FLOPs, "flops"})
	}
	pixels := slices.ContainsFunc(work, func(w estimator.Work) bool { return w.Pixels })
	return append(list, explainTotals(f, opts, pixels)...)
}

func explainTotals(f *FLOPs, opts Options, pixels bool) []Formula {
	backward, training := "2 · forward", "forward + backward"
	if pixels {
		backward += ", once for what takes pixels"
	}
	if opts.Fused {
		backward += " + ½ · attention where a fused kernel computes the scores anew"
	}
	if opts.Recompute {
		training += " + layers computed again"
	}
	return []Formula{
		{"forward", "sum of the components", fmt.Sprintf("%d + %d", f.Linear, f.Attention), f.Forward, "flops"},
		{"backward", backward, fmt.Sprintf("from %d and %d", f.Forward, f.Attention), f.Backward, "flops"},
		{"training step", training, fmt.Sprintf("%d + %d", f.Forward, f.Backward), f.Training, "flops"},
	}
}

// explainCache gives each kind of layer in symbols.
func explainCache(m *estimator.Model, use estimator.CacheUse, kv *KV) []Formula {
	var list []Formula
	for _, layer := range m.Cache() {
		bytes := layer.Bytes(use)
		if bytes.Sign() == 0 {
			continue
		}
		name := layer.Template
		symbols, numbers := "", ""
		if s := layer.Scores; s != nil {
			cached := s.Cached
			switch {
			case use.Expanded && !s.Expanded.IsZero():
				cached = s.Expanded
			case use.Convention == estimator.Library:
				cached = s.CachedLibrary
			}
			tokens := new(big.Rat).Sub(bytes, layer.StateBytes(use))
			each := new(big.Rat).SetInt(product(layer.Copies, use.Batch, max(1, cached.Int())))
			tokens.Quo(tokens, each.Mul(each, use.ElementBytes))
			symbols = "L · b · t · (" + cached.String() + ") · e"
			numbers = fmt.Sprintf("%d · %d · %s · %d · %s", layer.Copies, use.Batch, decimal(tokens), cached.Int(), decimal(use.ElementBytes))
		}
		if states := layer.StateBytes(use); states.Sign() > 0 {
			symbols, numbers = joined(symbols, "b · fixed states"), joined(numbers, ceil(states).String())
		}
		list = append(list, Formula{name, symbols, numbers, ceil(bytes), "bytes"})
	}
	return append(list, Formula{"total", "sum of the layers", kv.TotalBytes.String(), kv.TotalBytes, "bytes"})
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + " + " + b
}

// explain gives the figures of a training run.
func (t *Training) explain() {
	perToken := t.FLOPs / t.Tokens
	t.Formulas = []Formula{{"training FLOPs", t.Rule, fmt.Sprintf("%.6g FLOPs a token · %.6g tokens", perToken, t.Tokens), t.FLOPs, "flops"}}
	if t.Seconds == 0 {
		return
	}
	if t.MFU != nil {
		t.Formulas = append(t.Formulas,
			Formula{"MFU", t.MFURule, fmt.Sprintf("%.6g tokens/s on %g devices of %.6g FLOP/s", t.TokensASec, t.Devices, t.PeakFLOPs), *t.MFU, "of the peak"},
			Formula{"time", "T / tokens per second", fmt.Sprintf("%.6g / %.6g", t.Tokens, t.TokensASec), t.Seconds, "seconds"})
	} else {
		t.Formulas = append(t.Formulas, Formula{"time", "FLOPs / (devices · peak · efficiency)",
			fmt.Sprintf("%.6g / (%g · %.6g · %g)", t.FLOPs, t.Devices, t.PeakFLOPs, t.Efficiency), t.Seconds, "seconds"})
	}
	t.Formulas = append(t.Formulas, Formula{"device-hours", "devices · seconds / 3600", fmt.Sprintf("%g · %.6g / 3600", t.Devices, t.Seconds), t.DeviceHours, "hours"})
}
