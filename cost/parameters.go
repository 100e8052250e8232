package cost

import (
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// parameter is a parameter tensor as it lies in memory while the model runs:
// once where it is tied, all experts of a layer in one tensor.
type parameter struct {
	shape   []int64
	copies  int64 // layers that have one
	role    estimator.Role
	layered bool
	split   bool // shared out by tensor parallelism
}

func (p *parameter) each() *big.Int { return product(p.shape...) }

// elements returns those of all copies.
func (p *parameter) elements() *big.Int {
	n := p.each()
	return n.Mul(n, big.NewInt(p.copies))
}

// matrix reports whether it is a linear's weight within the layers: what LoRA
// adds to and what quantisation packs.
func (p *parameter) matrix() bool {
	return p.layered && len(p.shape) >= 2 && splitRole(p.role) && p.role != estimator.Convolution
}

// parametersOf lists the model's parameters.
func parametersOf(m *estimator.Model) []parameter {
	var list []parameter
	experts := make(map[string][]int) // module → places of its experts' matrices
	for _, t := range m.Tensors() {
		if t.Buffer || t.TiedTo != "" {
			continue
		}
		p := parameter{shape: t.Shape, copies: t.Copies, role: t.Role, layered: len(t.Index) > 0, split: splitRole(t.Role) && len(t.Shape) > 1}
		if module, count, ok := expertList(&t); ok {
			p.copies /= count
			p.shape = append([]int64{count}, t.Shape...)
			if at := experts[module]; len(at) == 1 && sameMatrix(list[at[0]], p) { // gate and up are one tensor
				list[at[0]].shape[1] += t.Shape[0]
				experts[module] = append(at, -1)
				continue
			}
			experts[module] = append(experts[module], len(list))
		}
		list = append(list, p)
	}
	return list
}

// expertList returns the module of a list of experts to which a matrix belongs
// and how many there are.
func expertList(t *estimator.Tensor) (module string, count int64, ok bool) {
	if t.Role != estimator.RoutedExperts || len(t.Index) < 2 || len(t.Shape) != 2 {
		return "", 0, false
	}
	at := strings.LastIndex(t.Template, ".*.")
	return t.Template[:at] + t.Index[0].String(), t.Index[len(t.Index)-1].Len(), true
}

func sameMatrix(p, q parameter) bool {
	return len(p.shape) == 3 && p.shape[0] == q.shape[0] && p.shape[1] == q.shape[1] && p.shape[2] == q.shape[2] && p.copies == q.copies
}

func splitRole(r estimator.Role) bool {
	switch r {
	case estimator.TokenEmbedding, estimator.Head, estimator.Attention, estimator.MLP, estimator.SharedExperts,
		estimator.RoutedExperts, estimator.StateSpace, estimator.Convolution:
		return true
	}
	return false
}

// sumElements adds up the elements of those that are wanted.
func sumElements(list []parameter, want func(*parameter) bool) *big.Int {
	sum := new(big.Int)
	for i := range list {
		if want == nil || want(&list[i]) {
			sum.Add(sum, list[i].elements())
		}
	}
	return sum
}

// lora replaces the parameters by those of a low-rank adapter beside every
// matrix: A [rank, in] and B [out, rank] (arXiv:2106.09685, section 4.1).
func lora(list []parameter, rank int64, attentionOnly bool) []parameter {
	var adapters []parameter
	for i := range list {
		p := &list[i]
		if !p.matrix() || len(p.shape) != 2 || attentionOnly && p.role != estimator.Attention {
			continue
		}
		for _, shape := range [][]int64{{rank, p.shape[1]}, {p.shape[0], rank}} {
			adapters = append(adapters, parameter{shape: shape, copies: p.copies, role: p.role, layered: true, split: true})
		}
	}
	return adapters
}
