package estimator

import "math/big"

// CacheLayer is what one layer (or several equal ones) keeps between the steps
// of a generation.
type CacheLayer struct {
	Template string  // of the module
	Layers   Indices // which layers; nil for a module outside layers
	Copies   int64   // how many modules are summed here
	Scores   *Scores // keys and values, nil where there are none
	States   []State // fixed states
}

// Cache returns what the model keeps, in the order of its layers.
func (m *Model) Cache() []CacheLayer {
	var layers []CacheLayer
	m.walk(func(l *leaf) {
		s := l.block.Scores
		if s != nil && (s.Borrowed || s.Bidirected) {
			s = nil
		}
		if s == nil && len(l.block.States) == 0 || l.used.Int() == 0 {
			return
		}
		layers = append(layers, CacheLayer{l.template(Param{}), l.layer, l.used.Int(), s, l.block.States})
	})
	return layers
}

// CacheUse says how a cache is filled and kept.
type CacheUse struct {
	Batch        int64
	Tokens       int64 // cached tokens of each sequence
	EncoderSeq   int64 // encoder tokens that cross-attention keeps
	ElementBytes *big.Rat
	Convention   Convention
	Expanded     bool // latents as full keys and values
	Reserved     bool // windows take as much room as full attention
}

// Convention says whose cache is meant.
type Convention uint8

// The conventions: what serving engines store, and what the reference library's
// cache holds.
const (
	Engine Convention = iota
	Library
)

// Bytes returns the bytes that all copies of the layer keep.
func (l *CacheLayer) Bytes(use CacheUse) *big.Rat {
	sum := l.StateBytes(use)
	if l.Scores == nil {
		return sum
	}
	elements := product(l.Copies, use.Batch, l.tokens(use), l.perToken(use))
	return sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetInt(elements), use.ElementBytes))
}

// StateBytes returns the bytes of the fixed states of all copies.
func (l *CacheLayer) StateBytes(use CacheUse) *big.Rat {
	sum := new(big.Rat)
	for _, s := range l.States {
		size := use.ElementBytes
		if s.Bytes > 0 {
			size = big.NewRat(s.Bytes, 1)
		}
		state := new(big.Rat).SetInt(product(l.Copies, use.Batch, s.Elements.Int()))
		sum.Add(sum, state.Mul(state, size))
	}
	return sum
}

// PerToken returns the bytes that one more token of one sequence takes in all
// copies of the layer while no window is full.
func (l *CacheLayer) PerToken(use CacheUse) *big.Rat {
	if l.Scores == nil || l.Scores.Cross {
		return new(big.Rat)
	}
	per := new(big.Rat).Mul(new(big.Rat).SetInt(product(l.Copies, l.perToken(use))), use.ElementBytes)
	if l.Scores.Stride > 0 {
		per.Quo(per, big.NewRat(l.Scores.Stride, 1))
	}
	return per
}

func (l *CacheLayer) tokens(use CacheUse) int64 {
	switch s := l.Scores; {
	case s.Cross:
		return use.EncoderSeq
	case s.Stride > 0:
		return use.Tokens / s.Stride
	case s.Masked && use.Convention == Library:
		return use.Tokens
	case s.Window > 0 && use.Convention == Library:
		return min(use.Tokens, s.Window-1)
	case s.Window > 0 && !use.Reserved:
		return min(use.Tokens, s.Window)
	}
	return use.Tokens
}

func (l *CacheLayer) perToken(use CacheUse) int64 {
	switch s := l.Scores; {
	case use.Expanded && !s.Expanded.IsZero():
		return s.Expanded.Int()
	case use.Convention == Library:
		return s.CachedLibrary.Int()
	default:
		return s.Cached.Int()
	}
}
