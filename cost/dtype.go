package cost

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// ElementType is a dtype in which numbers are kept, with its bytes: those of the
// scales of quantised ones included.
type ElementType struct {
	Name    string
	Bytes   *big.Rat // of one element
	Remark  string
	aliases []string
}

// elementTypes are the dtypes that can be asked for. Quantised caches carry one
// fp16 scale and one fp16 zero for each group of 64 elements.
func elementTypes() []ElementType {
	return []ElementType{
		{Name: "fp32", Bytes: big.NewRat(4, 1), aliases: []string{"float32", "f32"}},
		{Name: "fp16", Bytes: big.NewRat(2, 1), aliases: []string{"float16", "f16", "half"}},
		{Name: "bf16", Bytes: big.NewRat(2, 1), aliases: []string{"bfloat16"}},
		{Name: "fp8", Bytes: big.NewRat(1, 1), aliases: []string{"float8", "f8_e4m3", "fp8_e4m3", "fp8_e5m2"}},
		{Name: "int8", Bytes: big.NewRat(1, 1), aliases: []string{"i8"}},
		{Name: "int4", Bytes: big.NewRat(9, 16), Remark: "4 bits, and an fp16 scale and zero for each 64 elements", aliases: []string{"i4"}},
	}
}

// ParseElementType finds a dtype by name.
func ParseElementType(name string) (ElementType, error) {
	var names []string
	for _, t := range elementTypes() {
		if strings.EqualFold(t.Name, name) || slices.ContainsFunc(t.aliases, func(a string) bool { return strings.EqualFold(a, name) }) {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return ElementType{}, fmt.Errorf("dtype %q is not one of %s", name, strings.Join(names, ", "))
}

func sortLayers(layers []KVLayer) {
	slices.SortStableFunc(layers, func(a, b KVLayer) int { return cmp.Compare(a.Layer, b.Layer) })
}

// ParseElementTypes finds the dtypes of a list: bf16,fp8.
func ParseElementTypes(names string) ([]ElementType, error) {
	var list []ElementType
	for name := range strings.SplitSeq(names, ",") {
		t, err := ParseElementType(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}
