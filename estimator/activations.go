package estimator

import "math/big"

// Saved is what the modules of one kind keep of a forward pass until their
// backward pass has run. Parameters and buffers of the class are not among it.
type Saved struct {
	What     string  // such as norm, attention scores
	Part     string  // where: embeddings, norms, attention, feed-forward, head, loss
	Tower    string  // "" in the main model
	Layers   Indices // the layers whose share is summed here; nil outside layers
	Copies   int64   // how many modules that is
	Elements Size    // that each keeps, in b, s, e and the config's sizes
	Bytes    int64   // of one element
	Split    bool    // tensor parallelism shares it out: it lies between a column- and a row-parallel matrix
}

// Total returns the bytes of all copies.
func (s *Saved) Total() *big.Int {
	sum := product(s.Copies, s.Bytes)
	return sum.Mul(sum, s.Elements.Big())
}

// Sum is the bytes as a polynomial.
func (s *Saved) Sum() Size { return s.Elements.X(s.Bytes) }

// Big returns the number, exact whatever its size.
func (s Size) Big() *big.Int {
	sum := new(big.Int)
	for _, t := range s.terms {
		term := big.NewInt(t.coefficient)
		for _, f := range t.factors {
			for range f.power {
				term.Mul(term, big.NewInt(f.value))
			}
		}
		sum.Add(sum, term)
	}
	return sum
}

// Kernel says how attention is computed.
type Kernel uint8

// The kernels.
const (
	Eager Kernel = iota // products, softmax and dropout one by one
	Fused               // one kernel that keeps its operands, its output and a logarithm a row
	Math                // torch's decomposition of the fused kernel, in 32 bits: what its CPU runs under dropout
)

// Recompute says what is computed again for the backward pass.
type Recompute uint8

// The kinds of recomputation.
const (
	KeepAll           Recompute = iota
	RecomputeScores             // softmax, dropout and what they need: Korthikanti's selective one
	RecomputeLayers             // whole layers: only their inputs are kept
	recomputeNotAtAll           // inside the one layer that is just computed again
)

// SavingUse is a forward pass of a training step.
type SavingUse struct {
	Batch, Seq   int64
	EncoderSeq   int64 // tokens of the encoder; 0: none
	ElementBytes int64 // of an activation: 2 or 4
	Kernel       Kernel
	Dropout      bool  // wherever the class has it
	MaskBytes    int64 // of one element of a dropout mask
	StatBytes    int64 // of a mean or deviation of a fused norm; 0: as an activation
	Recompute    Recompute
	Sight
}

// Activations are what a forward pass keeps for the backward pass: one storage
// once, however many operations need it.
type Activations struct {
	Saved []Saved
	Layer []Saved // what the largest layer keeps while it is computed again
}

// Activations walks over the blocks in the order in which they run.
func (m *Model) Activations(use SavingUse) Activations {
	use.EncoderSeq = m.complete(use.pass()).EncoderSeq
	r := newRecorder(m, use)
	for _, part := range m.parts() {
		r.block(&part, m.Prefix == part.Name)
	}
	return Activations{Saved: r.saved, Layer: r.largest}
}

// TotalSaved adds up.
func TotalSaved(list []Saved) *big.Int {
	sum := new(big.Int)
	for i := range list {
		sum.Add(sum, list[i].Total())
	}
	return sum
}

// measuredActivations are the types whose activations were measured, operation
// by operation, and agree to the byte, with the activation function that they
// had. For all others the same rules hold by analogy.
var measuredActivations = map[string]string{"bert": "gelu", "gpt2": "gelu_new", "llama": "silu", "mistral": "silu",
	"qwen2": "silu", "qwen3": "silu", "t5": "relu"}

// ActivationsMeasured reports whether the model is of one of them.
func (m *Model) ActivationsMeasured() bool {
	function, ok := measuredActivations[m.Type]
	return ok && function == m.Training.Activation
}
