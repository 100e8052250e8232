package report

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/hf-inspect/hf-inspect/finding"
)

// Thousands writes a whole number with separators: 1,557,611,200.
func Thousands(n int64) string { return finding.Number(n) }

// Bytes writes a size in decimal units: 6.43 GB is 6,430,000,000 bytes.
func Bytes(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	value, unit := float64(n), 0
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d %s", n, units[0])
	}
	digits := 2
	if value >= 100 {
		digits = 0
	} else if value >= 10 {
		digits = 1
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + " " + units[unit]
}

// exactBytes writes a size to the byte, and in decimal units where it is large.
func exactBytes(n int64) string {
	if n < 1000 {
		return Bytes(n)
	}
	return Thousands(n) + " bytes = " + Bytes(n)
}

// plainFloat writes a number for a sheet: all its digits, no exponent below 10¹⁵.
func plainFloat(f float64) string {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// rounded writes a number to four digits, from 1,000 on whole and with
// separators.
func rounded(f float64) string {
	if math.Abs(f) >= 1000 && math.Abs(f) < 1e18 {
		return Thousands(int64(math.Round(f)))
	}
	return fmt.Sprintf("%.4g", f)
}

// duration writes a time in milliseconds, from ten seconds on in seconds.
func duration(seconds float64) string {
	if seconds >= 10 {
		return rounded(seconds) + " s"
	}
	return rounded(1e3*seconds) + " ms"
}

// tenPower writes a large number as 1.858e18.
func tenPower(f float64) string {
	return strings.Replace(fmt.Sprintf("%.4g", f), "e+", "e", 1)
}

// spoken writes a count with the suffix that people say: 7 B.
func spoken(f float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}} {
		if f >= unit.size {
			return fmt.Sprintf("%.4g %s", f/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.4g", f)
}

// Safe returns text that a terminal shows as it is: control characters, escape
// sequences and marks that change the direction of writing are spelled out.
func Safe(text string) string {
	harmless := func(r rune) bool { return r == ' ' || unicode.IsPrint(r) && r != unicode.ReplacementChar }
	if strings.IndexFunc(text, func(r rune) bool { return !harmless(r) }) < 0 {
		return text
	}
	var safe strings.Builder
	for _, r := range text {
		if harmless(r) {
			safe.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			safe.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return safe.String()
}

// ShapeText writes a shape: [1600,4800].
func ShapeText(shape []int64) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.FormatInt(d, 10)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// plural writes a number of things.
func plural(n int64, thing string) string {
	return finding.Count(n, thing)
}

// orUnknown writes a count that may not be known.
func orUnknown(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return Thousands(*n)
}

// Big writes a large whole number with separators.
func Big(n *big.Int) string {
	digits := n.String()
	first := 0
	if n.Sign() < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func bigShare(part, whole *big.Int) string {
	if whole.Sign() == 0 {
		return ""
	}
	f, _ := new(big.Rat).SetFrac(part, whole).Float64()
	return percent(f)
}

// scientific writes a count of FLOPs with its usual prefix.
func scientific(n *big.Int) string {
	f, _ := new(big.Float).SetInt(n).Float64()
	units := []string{"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP", "YFLOP"}
	i := 0
	for f >= 1000 && i < len(units)-1 {
		f /= 1000
		i++
	}
	return fmt.Sprintf("%.4g %s", f, units[i])
}

// BinaryBytes writes a size in binary units: GiB is 2³⁰ bytes.
func BinaryBytes(n *big.Int) string {
	f, _ := new(big.Float).SetInt(n).Float64()
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%.0f bytes", f)
	}
	return fmt.Sprintf("%.2f %s", f, units[i])
}

func bigOrNone(n *big.Int) string {
	if n == nil {
		return ""
	}
	return Big(n)
}

// BothBytes writes a size in decimal and in binary units.
func BothBytes(n *big.Int) string {
	if !n.IsInt64() {
		return BinaryBytes(n)
	}
	return Bytes(n.Int64()) + " = " + BinaryBytes(n)
}
