package main

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// lengths is a flag of whole numbers of tokens or sequences: 8192,128Ki. Empty
// means that the command chooses.
type lengths []int64

func (l *lengths) Type() string { return "ints" }

func (l *lengths) String() string {
	if l == nil {
		return ""
	}
	parts := make([]string, len(*l))
	for i, n := range *l {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(parts, ",")
}

func (l *lengths) Set(text string) error {
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := wholeNumber(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		*l = append(*l, n)
	}
	return nil
}

// or returns the numbers, or the one that stands for none.
func (l *lengths) or(otherwise int64) []int64 {
	if len(*l) == 0 {
		return []int64{otherwise}
	}
	return *l
}

// length is a flag of one such number.
type length int64

func (l *length) Type() string   { return "int" }
func (l *length) String() string { return strconv.FormatInt(int64(*l), 10) }

func (l *length) Set(text string) error {
	n, err := wholeNumber(text)
	*l = length(n)
	return err
}

func wholeNumber(text string) (int64, error) {
	clean, scale := strings.ReplaceAll(text, "_", ""), int64(1)
	for _, unit := range []struct {
		suffix string
		size   int64
	}{{"Ki", 1 << 10}, {"Mi", 1 << 20}} {
		if rest, ok := strings.CutSuffix(clean, unit.suffix); ok {
			clean, scale = rest, unit.size
		}
	}
	n, err := strconv.ParseInt(clean, 10, 64)
	if err == nil && (n > math.MaxInt64/scale || n < -math.MaxInt64/scale) {
		err = strconv.ErrRange
	}
	if err == nil {
		return n * scale, nil
	}
	if rest := strings.TrimRight(clean, "kKmM"); scale == 1 && rest != clean {
		if n, err := strconv.ParseInt(rest, 10, 32); err == nil {
			letter := strings.ToUpper(clean[len(rest):][:1])
			return 0, fmt.Errorf("%q can be read in two ways: write %d%si, or all its digits", text, n, letter)
		}
	}
	return 0, fmt.Errorf("%q is no whole number such as 8192, 8Ki (8,192) or 128Ki", text)
}

// count is a flag of tokens, parameters or FLOPs: 1.4e12, 300B. Unset is 0.
type count struct{ n float64 }

func (c *count) Type() string { return "count" }

func (c *count) String() string {
	if c == nil || c.n == 0 {
		return ""
	}
	return strconv.FormatFloat(c.n, 'g', -1, 64)
}

func (c *count) Set(text string) (err error) {
	c.n, err = number(text)
	return err
}

// number reads a count such as 1.4e12, 300B or 1_000_000.
func number(text string) (float64, error) {
	clean := strings.ToUpper(strings.NewReplacer("_", "", ",", "").Replace(text))
	scale := 1.0
	if at := strings.IndexByte("KMBT", lastByte(clean)); at >= 0 {
		clean, scale = clean[:len(clean)-1], math.Pow(1000, float64(at+1))
	}
	n, err := strconv.ParseFloat(clean, 64)
	if err != nil || !(n > 0) || n*scale > 1e30 {
		return 0, fmt.Errorf("%q is no positive number such as 1.4e12, 300B or 7B (K, M, B, T: thousand to 10¹²)", text)
	}
	return n * scale, nil
}

func lastByte(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

// size is a flag of bytes: 24GB, 24GiB, 24e9.
type size struct {
	bytes *big.Int // nil: unset
	text  string
}

func (s *size) Type() string   { return "size" }
func (s *size) String() string { return s.text }

func (s *size) Set(text string) error {
	clean, scale := strings.ToLower(strings.NewReplacer("_", "", ",", "", " ", "").Replace(text)), 1.0
	for i, prefix := range []string{"k", "m", "g", "t"} {
		for unit, base := range map[string]float64{prefix + "b": 1000, prefix + "ib": 1024} {
			if rest, ok := strings.CutSuffix(clean, unit); ok {
				clean, scale = rest, math.Pow(base, float64(i+1))
			}
		}
	}
	n, err := strconv.ParseFloat(clean, 64)
	if err != nil || !(n >= 0) || n*scale > 1e30 {
		return fmt.Errorf("%q is no size such as 24GB (10⁹ bytes), 24GiB (2³⁰ bytes) or 24e9", text)
	}
	s.text = text
	s.bytes, _ = big.NewFloat(n * scale).Int(nil)
	return nil
}

// usualSeq is how many tokens are meant where --seq is not given: those of the
// config where it has fewer positions than usual.
func usualSeq(m *estimator.Model, usual int64) int64 {
	if m.Positions > 0 {
		return min(usual, m.Positions)
	}
	return usual
}

// usualTokens is the usual number for caches, memory and training.
const usualTokens = 4096
