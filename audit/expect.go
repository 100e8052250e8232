package audit

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
)

// Expectation is a number of unique parameters: a whole one, or one rounded to
// as many digits as are written, 7.6B.
type Expectation struct {
	Text      string
	low, high *big.Int // inclusive
}

var units = map[string]int64{"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}

// Expect reads a number such as 7615616512, 7,615,616,512 or 7.6B.
func Expect(text string) (*Expectation, error) {
	wrong := fmt.Errorf("%q is no number of parameters such as 7615616512 or 7.6B", text)
	digits, unit := strings.ToUpper(strings.NewReplacer(",", "", "_", "").Replace(strings.TrimSpace(text))), int64(0)
	for suffix, size := range units {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			digits, unit = rest, size
		}
	}
	whole, decimals, _ := strings.Cut(digits, ".")
	if strings.Trim(whole+decimals, "0123456789") != "" || whole == "" || len(digits) > 20 || unit == 0 && strings.Contains(digits, ".") {
		return nil, wrong
	}
	value, _ := new(big.Rat).SetString(digits)
	if value == nil {
		return nil, wrong
	}
	if unit == 0 {
		return &Expectation{text, value.Num(), value.Num()}, nil
	}
	step := big.NewRat(unit, 1) // of the last digit
	for range decimals {
		step.Quo(step, big.NewRat(10, 1))
	}
	value.Mul(value, big.NewRat(unit, 1))
	half := new(big.Rat).Quo(step, big.NewRat(2, 1))
	low, high := new(big.Rat).Sub(value, half), new(big.Rat).Add(value, half)
	return &Expectation{text, ceil(low), floor(high)}, nil
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func ceil(r *big.Rat) *big.Int { return new(big.Int).Neg(floor(new(big.Rat).Neg(r))) }

// hold compares the expectation with the unique parameters, or with the logical
// ones where nothing says what is unique.
func (e *Expectation) hold(c *inspect.Counts) []finding.Finding {
	count, what := c.UniqueParameters, "unique parameters"
	if count == nil {
		count, what = c.LogicalParameters, "logical parameters, since the unique ones are not known"
	}
	if count == nil {
		return []finding.Finding{finding.New("HFI801", fmt.Sprintf("%s parameters were expected, and how many there are is not known", e.Text))}
	}
	n := big.NewInt(*count)
	if n.Cmp(e.low) >= 0 && n.Cmp(e.high) <= 0 {
		return nil
	}
	return []finding.Finding{finding.New("HFI801", fmt.Sprintf("%s %s, expected %s", finding.Number(*count), what, e.Text))}
}
