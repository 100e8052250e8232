package safetensors

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
)

// Declared is a number that a file states about the checkpoint, kept as it is
// spelled because it may be anything: 13504, 13504.0, "13504", "not-a-number".
type Declared struct {
	Raw string // raw JSON; empty when absent
}

// Present reports whether the file states the number at all.
func (d Declared) Present() bool { return d.Raw != "" }

// IsNumber reports whether it is a JSON number, not a string or anything else.
func (d Declared) IsNumber() bool {
	return d.Raw != "" && (d.Raw[0] == '-' || d.Raw[0]-'0' <= 9)
}

// Int64 is the value, where the spelling amounts to a whole number of 63 bits:
// as an integer, a float without a fraction, or either in a string.
func (d Declared) Int64() (int64, bool) {
	text := d.Raw
	if strings.HasPrefix(text, `"`) {
		if json.Unmarshal([]byte(text), &text) != nil {
			return 0, false
		}
		text = strings.TrimSpace(text)
	}
	// The longest sensible spelling is short; an exponent must not grow a number.
	if text == "" || len(text) > 40 || strings.ContainsAny(text, "pPxX_/") {
		return 0, false
	}
	f, _, err := big.ParseFloat(text, 10, 128, big.ToNearestEven)
	if err != nil || !f.IsInt() || f.Sign() < 0 {
		return 0, false
	}
	v, accuracy := f.Int64()
	return v, accuracy == big.Exact && v < math.MaxInt64
}
