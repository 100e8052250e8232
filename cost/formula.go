package cost

import (
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// Formula is a figure as a reader can check it: in symbols, in numbers, as a
// result.
type Formula struct {
	Name    string `json:"name"`
	Symbols string `json:"symbols"`
	Numbers string `json:"numbers"`
	Result  any    `json:"result"` // *big.Int, or float64
	Unit    string `json:"unit"`   // bytes, flops, seconds, "" of a plain number

	Letters []estimator.Symbol `json:"letters,omitempty"` // of Symbols, with their values
}

// polynomial is a figure that a closed form gives.
func polynomial(name string, s estimator.Size, result *big.Int, unit string) Formula {
	return Formula{name, s.String(), s.Numbers(), result, unit, s.Symbols()}
}

// sumOf is a figure that others add up to.
func sumOf(name, symbols string, parts []*big.Int, result *big.Int, unit string) Formula {
	var numbers []string
	for _, p := range parts {
		numbers = append(numbers, grouped(p))
	}
	return Formula{Name: name, Symbols: symbols, Numbers: strings.Join(numbers, " + "), Result: result, Unit: unit}
}

// grouped writes a whole number for a reader: 12,879,925,248.
func grouped(n *big.Int) string {
	digits := n.String()
	var text strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			text.WriteByte(',')
		}
		text.WriteRune(d)
	}
	return text.String()
}

func groupedInt(n int64) string { return grouped(big.NewInt(n)) }
