package cost

import (
	"fmt"
	"math/big"
	"strings"
)

// WeightFormat is how quantised matrices are stored: so many bytes an element,
// scales included. Embeddings, head, norms and biases stay in 16 bits.
type WeightFormat struct {
	Name   string
	Bytes  *big.Rat // of an element of a matrix
	Remark string
}

func weightFormats() []WeightFormat {
	return []WeightFormat{
		{"nf4", big.NewRat(2113, 4096), "4 bits, an 8-bit scale for each 64 and a 32-bit one for each 256 of those (QLoRA, arXiv:2305.14314: 0.127 bits a parameter)"},
		{"nf4-single", big.NewRat(9, 16), "4 bits and a 32-bit scale for each 64"},
		{"int4-g128", big.NewRat(133, 256), "4 bits, a 16-bit scale and a 4-bit zero for each 128 (GPTQ, AWQ)"},
		{"int8-row", big.NewRat(1, 1), "one byte; the scales of rows are not counted"},
		{"fp8-block", big.NewRat(4097, 4096), "one byte, a 32-bit scale for each block of 128 by 128"},
	}
}

// FindWeightFormat looks a format up by name.
func FindWeightFormat(name string) (WeightFormat, error) {
	var names []string
	for _, f := range weightFormats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return WeightFormat{}, fmt.Errorf("quantisation %q is not one of %s", name, strings.Join(names, ", "))
}

// weightBytes are those of parameters as they lie on one device: matrices in the
// format, everything else in the dtype.
func weightBytes(list []parameter, dtype *big.Rat, format *WeightFormat, share func(*parameter) *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i := range list {
		p := &list[i]
		bytes := dtype
		if format != nil && p.matrix() {
			bytes = format.Bytes
		}
		part := new(big.Rat).SetInt(p.elements())
		sum.Add(sum, part.Mul(part, bytes).Mul(part, share(p)))
	}
	return sum
}
