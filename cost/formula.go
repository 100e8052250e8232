package cost

import (
	"math/big"
	"strings"
)

// Formula is a figure as a reader can check it: in symbols, in numbers, as a
// result.
type Formula struct {
	Name    string `json:"name"`
	Symbols string `json:"symbols"`
	Numbers string `json:"numbers"`
	Result  any    `json:"result"` // *big.Int, or float64
	Unit    string `json:"unit"`   // bytes, flops, seconds
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
