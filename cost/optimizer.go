package cost

import (
	"fmt"
	"math/big"
	"strings"
)

// Optimizer is a rule for the states that an optimizer keeps of its parameters.
type Optimizer struct {
	Name    string
	Formula string // bytes, for P parameters of e bytes in m tensors
	Note    string
	state   func(list []parameter, bytes int64) *big.Int
}

// optimizers: measured after one step with torch 2.15 and transformers 5.23,
// except where it says otherwise. States have the dtype of what is updated.
var optimizers = []Optimizer{
	{"adamw", "2Pe + 4m", "two moments in the dtype of what is updated, a step counter a tensor", momentsOf(2)},
	{"amsgrad", "3Pe + 4m", "AdamW with the largest second moment besides", momentsOf(3)},
	{"sgd", "0", "without momentum", func([]parameter, int64) *big.Int { return new(big.Int) }},
	{"momentum", "Pe", "SGD with momentum", func(list []parameter, bytes int64) *big.Int { return bytesOf(list, bytes) }},
	{"adafactor", "Σ 4(n/last + n/second last) + Σ 4n of vectors + 4m", "factored second moments in 32 bits, no first moment (arXiv:1804.04235)", adafactor},
	{"adam8bit", "2(P + 4⌈P/256⌉) + 4m", "two moments of 8 bits with a 32-bit scale for each 256, vectors and tensors below 4,096 elements in 32 bits (bitsandbytes, by rule, not measured)", adam8bit},
}

// FindOptimizer looks a rule up by name.
func FindOptimizer(name string) (Optimizer, error) {
	var names []string
	for _, o := range optimizers {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return Optimizer{}, fmt.Errorf("optimizer %q is not one of %s", name, strings.Join(names, ", "))
}

// steps are the counters that most optimizers keep, 32 bits a tensor.
func steps(list []parameter) *big.Int {
	sum := new(big.Int)
	for i := range list {
		sum.Add(sum, product(4, list[i].copies))
	}
	return sum
}

func bytesOf(list []parameter, bytes int64) *big.Int {
	return times(sumElements(list, nil), big.NewInt(bytes), 1)
}

func momentsOf(n int64) func([]parameter, int64) *big.Int {
	return func(list []parameter, bytes int64) *big.Int {
		sum := bytesOf(list, n*bytes)
		return sum.Add(sum, steps(list))
	}
}

// adafactor keeps a row and a column of each matrix.
func adafactor(list []parameter, _ int64) *big.Int {
	sum := steps(list)
	for i := range list {
		p := &list[i]
		n, last := p.elements(), len(p.shape)-1
		if last < 1 {
			sum.Add(sum, n.Mul(n, big.NewInt(4)))
			continue
		}
		for _, d := range []int64{p.shape[last], p.shape[last-1]} {
			if d > 0 {
				part := new(big.Int).Div(n, big.NewInt(d))
				sum.Add(sum, part.Mul(part, big.NewInt(4)))
			}
		}
	}
	return sum
}

// adam8bit quantises in blocks of 256 and leaves small tensors alone.
func adam8bit(list []parameter, _ int64) *big.Int {
	sum := steps(list)
	for i := range list {
		p := &list[i]
		n := p.each()
		each := new(big.Int).Mul(n, big.NewInt(8))
		if n.Cmp(big.NewInt(4096)) >= 0 {
			blocks := new(big.Int).Add(n, big.NewInt(255))
			blocks.Div(blocks, big.NewInt(256))
			each.Add(times(n, big.NewInt(2), 1), times(blocks, big.NewInt(8), 1))
		}
		sum.Add(sum, each.Mul(each, big.NewInt(p.copies)))
	}
	return sum
}
