package estimator

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Size is a number of elements (or features, rows, layers) together with the
// polynomial over named sizes that it came from: 4·D and 6400 at once. The
// zero Size is the number 0.
type Size struct {
	value   int64
	terms   []term
	over    bool                 // value left the range of int64; it is then saturated
	missing *hfconfig.FieldError // why the size is not known
}

// term is a coefficient times a product of powers of symbols, which stand in
// the order of symbolOrder.
type term struct {
	coefficient int64
	factors     []factor
}

// factor is a power of a symbol. The symbol's value goes with it, so that two
// values of one symbol are noticed instead of merged.
type factor struct {
	symbol string
	value  int64
	power  int
}

// Const returns a plain number.
func Const(n int64) Size {
	if n == 0 {
		return Size{}
	}
	return Size{value: n, terms: []term{{coefficient: n}}}
}

// Named returns a number that formulas show by its symbol.
func Named(symbol string, n int64) Size {
	return Size{value: n, terms: []term{{1, []factor{{symbol, n, 1}}}}}
}

// unknown returns the size that a config field leaves open.
func unknown(symbol string, why *hfconfig.FieldError) Size {
	s := Named(symbol, 0)
	s.missing = why
	return s
}

// Int returns the number.
func (s Size) Int() int64 { return s.value }

// IsZero reports whether the number is 0 and not for want of a config field.
func (s Size) IsZero() bool { return s.value == 0 && s.missing == nil }

// Known reports whether the number could be computed within 64 bits.
func (s Size) Known() bool { return s.missing == nil && !s.over }

// Plus returns s + t.
func (s Size) Plus(t Size) Size {
	sum := s.value + t.value
	over := s.over || t.over || (s.value > 0) == (t.value > 0) && (sum > 0) != (s.value > 0) && s.value != 0
	if over {
		sum = math.MaxInt64
	}
	return Size{sum, mergeTerms(append(slices.Clone(s.terms), t.terms...)), over, cmp.Or(s.missing, t.missing)}
}

// Minus returns s − t.
func (s Size) Minus(t Size) Size { return s.Plus(t.X(-1)) }

// X returns n · s.
func (s Size) X(n int64) Size { return s.Times(Const(n)) }

// Times returns s · t.
func (s Size) Times(t Size) Size {
	value, ok := mul64(s.value, t.value)
	product := Size{value: value, over: s.over || t.over || !ok, missing: cmp.Or(s.missing, t.missing)}
	for _, a := range s.terms {
		for _, b := range t.terms {
			coefficient, _ := mul64(a.coefficient, b.coefficient)
			product.terms = append(product.terms, term{coefficient, mergeFactors(a.factors, b.factors)})
		}
	}
	product.terms = mergeTerms(product.terms)
	return product
}

// As returns the same number under a symbol of its own.
func (s Size) As(symbol string) Size {
	named := Named(symbol, s.value)
	named.over, named.missing = s.over, s.missing
	return named
}

// mul64 multiplies; where the product leaves 64 bits it saturates and says so.
func mul64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	if hi != 0 || lo > math.MaxInt64 {
		if negative {
			return math.MinInt64, false
		}
		return math.MaxInt64, false
	}
	if negative {
		return -int64(lo), true
	}
	return int64(lo), true
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

func mergeFactors(a, b []factor) []factor {
	merged := slices.Clone(a)
	for _, f := range b {
		i := slices.IndexFunc(merged, func(g factor) bool { return g.symbol == f.symbol && g.value == f.value })
		if i >= 0 {
			merged[i].power += f.power
		} else {
			merged = append(merged, f)
		}
	}
	sort.SliceStable(merged, func(i, j int) bool {
		return symbolRank(merged[i].symbol) < symbolRank(merged[j].symbol)
	})
	return merged
}

// symbolOrder is the order in which a product names its symbols: as one would
// on a whiteboard, the hidden size last.
const symbolOrder = "NLEGTVCKAHRQPSFWID"

func symbolRank(symbol string) int {
	if len(symbol) == 1 {
		if i := strings.Index(symbolOrder, symbol); i >= 0 {
			return i * 1000
		}
	}
	rank := 500
	first, _ := utf8.DecodeRuneInString(symbol) // longer symbols stand among the single letters by their first
	if i := strings.IndexRune(symbolOrder, first); i >= 0 {
		rank = i*1000 + 1
	}
	return rank + len(symbol)
}

// mergeTerms adds up equal monomials, drops those that vanish, and sorts the
// rest by degree, highest first. It may reuse its argument.
func mergeTerms(terms []term) []term {
	merged := terms[:0]
	for _, t := range terms {
		i := slices.IndexFunc(merged, func(u term) bool { return slices.Equal(u.factors, t.factors) })
		if i >= 0 {
			merged[i].coefficient += t.coefficient
		} else {
			merged = append(merged, t)
		}
	}
	merged = slices.DeleteFunc(merged, func(t term) bool { return t.coefficient == 0 })
	slices.SortStableFunc(merged, func(a, b term) int { return degree(b) - degree(a) })
	return merged
}

// substitute writes another size for a symbol of that value.
func (s Size) substitute(symbol Symbol, by Size) Size {
	var sum Size
	for _, t := range s.terms {
		product := Const(t.coefficient)
		for _, f := range t.factors {
			power := Size{f.raised(), []term{{1, []factor{f}}}, false, nil}
			if f.symbol == symbol.Name && f.value == symbol.Value {
				power = Const(1)
				for range f.power {
					power = power.Times(by)
				}
			}
			product = product.Times(power)
		}
		sum = sum.Plus(product)
	}
	return sum
}

// raised is the factor's value; beyond 64 bits it saturates.
func (f factor) raised() int64 {
	n := int64(1)
	for range f.power {
		n, _ = mul64(n, f.value)
	}
	return n
}

func degree(t term) int {
	d := 0
	for _, f := range t.factors {
		d += f.power
	}
	return d
}

// String returns the polynomial: "12D² + 13D".
func (s Size) String() string {
	if len(s.terms) == 0 {
		return "0"
	}
	var text strings.Builder
	for i, t := range s.terms {
		coefficient := t.coefficient
		switch {
		case i == 0 && coefficient < 0:
			text.WriteString("−")
		case i > 0 && coefficient < 0:
			text.WriteString(" − ")
		case i > 0:
			text.WriteString(" + ")
		}
		text.WriteString(t.product(int64(magnitude(coefficient))))
	}
	return text.String()
}

func (t term) product(coefficient int64) string {
	joined := joinFactors(t.factors)
	switch {
	case joined == "":
		return thousands(coefficient)
	case coefficient == 1:
		return joined
	}
	return strconv.FormatInt(coefficient, 10) + joined
}

// joinFactors writes a product: symbols of one letter side by side, longer ones
// set apart by dots.
func joinFactors(factors []factor) string {
	separator := ""
	for _, f := range factors {
		if len([]rune(f.symbol)) > 1 && len(factors) > 1 {
			separator = "·"
		}
	}
	parts := make([]string, len(factors))
	for i, f := range factors {
		parts[i] = f.symbol + superscript(f.power)
	}
	return strings.Join(parts, separator)
}

func superscript(power int) string {
	if power == 1 {
		return ""
	}
	var text strings.Builder
	for _, digit := range strconv.Itoa(power) {
		text.WriteRune([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[digit-'0'])
	}
	return text.String()
}

func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
