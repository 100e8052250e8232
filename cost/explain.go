package cost

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// explainFLOPs gives each component in symbols, as far as its work has a closed
// form that agrees with what was counted.
func explainFLOPs(m *estimator.Model, p estimator.Pass, f *FLOPs) []Formula {
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
		figure := polynomial(strings.ReplaceAll(c.Name, "_", " "), sums[c.Name], c.FLOPs, flopsUnit)
		if rest := plain[c.Name]; rest != nil && rest.Sign() > 0 {
			figure.Symbols, figure.Numbers = figure.Symbols+" + work without a closed form", figure.Numbers+" + "+grouped(rest)
		}
		list = append(list, figure)
	}
	pixels := new(big.Int)
	for _, w := range work {
		if w.Pixels {
			pixels.Add(pixels, w.FLOPs)
		}
	}
	return append(list, explainTotals(p, f, pixels)...)
}

const flopsUnit = "flops"

// explainTotals adds up the components; the work on pixels needs no gradient of
// its input.
func explainTotals(p estimator.Pass, f *FLOPs, pixels *big.Int) []Formula {
	list := []Formula{sumOf("forward", "linear part A + attention part B", []*big.Int{f.Linear, f.Attention}, f.Forward, flopsUnit)}
	if p.Past > 0 { // nobody trains on a cache
		return list
	}
	backward := Formula{"backward", "2 · forward", "2 · " + grouped(f.Forward), f.Backward, flopsUnit, nil}
	scores := new(big.Int).Sub(f.Backward, times(f.Forward, big.NewInt(2), 1))
	if pixels.Sign() > 0 {
		scores.Add(scores, pixels)
		backward.Symbols += " − what takes pixels"
		backward.Numbers += " − " + grouped(pixels)
	}
	if scores.Sign() > 0 {
		backward.Symbols += " + ½ · attention part B, whose scores a fused kernel computes anew"
		backward.Numbers += " + " + grouped(scores)
	}
	training, parts := "forward + backward", []*big.Int{f.Forward, f.Backward}
	again := new(big.Int).Sub(f.Training, f.Forward)
	if again.Sub(again, f.Backward).Sign() > 0 {
		training, parts = training+" + layers computed again", append(parts, again)
	}
	return append(list, backward, sumOf("training step", training, parts, f.Training, flopsUnit))
}

// cacheFigure is what layers that keep the same keep together.
type cacheFigure struct {
	where   string // the module, where it is in no layer
	layers  estimator.Indices
	cross   bool // of the encoder's tokens
	symbols string
	letters []estimator.Symbol

	copies int64
	cached int64    // elements a token of one layer
	tokens *big.Rat // that are kept
	states *big.Rat // fixed, of one layer
	bytes  *big.Rat
}

// explainCache gives each kind of layer in symbols.
func explainCache(m *estimator.Model, use estimator.CacheUse, kv *KV) []Formula {
	var figures []cacheFigure
	for _, layer := range m.Cache() {
		f := figureOf(&layer, use)
		at := slices.IndexFunc(figures, func(g cacheFigure) bool {
			return g.where == f.where && g.cross == f.cross && g.symbols == f.symbols && g.cached == f.cached && g.tokens.Cmp(f.tokens) == 0 && g.states.Cmp(f.states) == 0
		})
		switch {
		case f.bytes.Sign() == 0:
		case at < 0:
			figures = append(figures, f)
		default:
			figures[at].copies += f.copies
			figures[at].bytes.Add(figures[at].bytes, f.bytes)
			figures[at].layers = figures[at].layers.Union(f.layers)
		}
	}
	var list []Formula
	var parts []*big.Int
	for _, f := range figures {
		list = append(list, f.formula(use))
		parts = append(parts, ceil(f.bytes))
	}
	if list == nil {
		return []Formula{} // an encoder keeps nothing
	}
	return append(list, sumOf("cache", "sum of the layers", parts, kv.TotalBytes, "bytes"))
}

func figureOf(layer *estimator.CacheLayer, use estimator.CacheUse) cacheFigure {
	copies := big.NewRat(layer.Copies, 1)
	f := cacheFigure{where: moduleOf(layer), layers: layer.Layers, copies: layer.Copies, tokens: new(big.Rat), bytes: layer.Bytes(use),
		states: new(big.Rat).Quo(layer.StateBytes(use), copies)}
	s := layer.Scores
	if s == nil {
		return f
	}
	f.cross = s.Cross
	cached := s.Cached
	switch {
	case use.Expanded && !s.Expanded.IsZero():
		cached = s.Expanded
	case use.Convention == estimator.Library:
		cached = s.CachedLibrary
	}
	f.symbols, f.letters, f.cached = cached.String(), cached.Symbols(), cached.Int()
	kept := new(big.Rat).Sub(f.bytes, layer.StateBytes(use))
	each := new(big.Rat).SetInt(product(layer.Copies, use.Batch, f.cached))
	if each.Mul(each, use.ElementBytes).Sign() > 0 {
		f.tokens.Quo(kept, each)
	}
	return f
}

// moduleOf names what is in no layer.
func moduleOf(layer *estimator.CacheLayer) string {
	if layer.Layers != nil {
		return ""
	}
	return layer.Template
}

func (f *cacheFigure) formula(use estimator.CacheUse) Formula {
	symbols, numbers := "", ""
	if f.tokens.Sign() > 0 {
		symbols = "layers · b · tokens kept · (" + f.symbols + ") · bytes of an element"
		numbers = fmt.Sprintf("%d · %d · %s · %d · %s", f.copies, use.Batch, decimal(f.tokens), f.cached, decimal(use.ElementBytes))
	}
	if f.states.Sign() > 0 {
		symbols, numbers = joined(symbols, "layers · fixed states"), joined(numbers, fmt.Sprintf("%d · %s", f.copies, decimal(f.states)))
	}
	letters := append([]estimator.Symbol{{Name: "b", Value: use.Batch}}, f.letters...)
	where := f.where
	if f.layers != nil {
		where = "layers " + f.layers.String()
	}
	if f.cross {
		where += ", cross attention"
	}
	return Formula{"cache of " + where, symbols, numbers, ceil(f.bytes), "bytes", letters}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + " + " + b
}

// explain gives the figures of a training run.
func (t *Training) explain(b *Budget) {
	add := func(name, symbols, numbers string, result float64, unit string) {
		t.Formulas = append(t.Formulas, Formula{name, symbols, numbers, result, unit, nil})
	}
	if t.OptimalTokens != nil {
		add("compute-optimal tokens", "20 · all parameters", fmt.Sprintf("20 · %d", b.Total), *t.OptimalTokens, "tokens")
	}
	if b.FLOPsAToken == 0 {
		add("training FLOPs", t.Rule, fmt.Sprintf("6 · %d · %.6g", b.Parameters, t.Tokens), t.FLOPs, flopsUnit)
	} else {
		add("training FLOPs", "FLOPs a token · tokens, by "+t.Rule, fmt.Sprintf("%.6g · %.6g", b.FLOPsAToken, t.Tokens), t.FLOPs, flopsUnit)
	}
	if t.Seconds == 0 {
		return
	}
	peak := fmt.Sprintf("(%g · %.6g)", t.Devices, t.PeakFLOPs)
	if t.MFU != nil {
		add("MFU", "tokens per second · (6N + 12·L·H·Q·T) / (devices · peak)", fmt.Sprintf("%.6g · %.6g / %s", t.TokensASec, b.MFUAToken, peak), *t.MFU, "of the peak")
		add("efficiency", "tokens per second · training FLOPs a token / (devices · peak)", fmt.Sprintf("%.6g · %.6g / %s", t.TokensASec, t.FLOPs/t.Tokens, peak), t.Efficiency, "of the peak")
		add("time", "tokens / tokens per second", fmt.Sprintf("%.6g / %.6g", t.Tokens, t.TokensASec), t.Seconds, "seconds")
	} else {
		add("time", "FLOPs / (devices · peak · efficiency)", fmt.Sprintf("%.6g / (%g · %.6g · %g)", t.FLOPs, t.Devices, t.PeakFLOPs, t.Efficiency), t.Seconds, "seconds")
		add("tokens per second", "tokens / time", fmt.Sprintf("%.6g / %.6g", t.Tokens, t.Seconds), t.TokensASec, "tokens a second")
	}
	add("device-hours", "devices · seconds / 3600", fmt.Sprintf("%g · %.6g / 3600", t.Devices, t.Seconds), t.DeviceHours, "hours")
	if t.Cost != nil {
		add("price", "device-hours · rate", fmt.Sprintf("%.6g · %g", t.DeviceHours, t.Rate), *t.Cost, "in the currency of the rate")
	}
}
