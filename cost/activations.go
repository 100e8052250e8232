package cost

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// Activations are the bytes that a forward pass keeps until its backward pass
// has run: every storage once, parameters and the class's buffers apart.
type Activations struct {
	Bytes           *big.Int         `json:"activations_bytes"`
	RecomputedBytes *big.Int         `json:"recomputed_layer_bytes"` // what the largest layer needs besides while it is computed again
	Parts           []ActivationPart `json:"activation_parts"`
	Formula         string           `json:"activations_formula"` // of the bytes
	Assumptions     []string         `json:"-"`
}

// ActivationPart is what modules of one kind keep.
type ActivationPart struct {
	Tower   string   `json:"tower,omitempty"`
	Layers  string   `json:"layers,omitempty"` // such as {0..47}
	Part    string   `json:"part"`
	What    string   `json:"what"`
	Formula string   `json:"formula"` // bytes of one layer, in b sequences of s tokens
	Bytes   *big.Int `json:"bytes"`   // of all layers
}

// SavedActivations answers for one training step.
func SavedActivations(m *estimator.Model, use estimator.SavingUse) Activations {
	recorded := m.Activations(use)
	a := Activations{Bytes: estimator.TotalSaved(recorded.Saved), RecomputedBytes: estimator.TotalSaved(recorded.Layer),
		Parts: activationParts(recorded.Saved), Formula: activationFormula(recorded.Saved, estimator.Size.String)}
	a.Assumptions = activationAssumptions(m, use)
	return a
}

// activationParts adds up what is of one kind.
func activationParts(list []estimator.Saved) []ActivationPart {
	var parts []ActivationPart
	sums := make(map[string]int)
	polynomials := make(map[int]estimator.Size)
	for i := range list {
		s := &list[i]
		layers := ""
		if s.Layers != nil {
			layers = s.Layers.String()
		}
		key := strings.Join([]string{s.Tower, layers, s.Part, s.What}, "|")
		at, ok := sums[key]
		if !ok {
			at = len(parts)
			sums[key] = at
			parts = append(parts, ActivationPart{Tower: s.Tower, Layers: layers, Part: s.Part, What: s.What, Bytes: new(big.Int)})
		}
		parts[at].Bytes.Add(parts[at].Bytes, s.Total())
		polynomials[at] = polynomials[at].Plus(s.Sum())
	}
	for i := range parts {
		parts[i].Formula = polynomials[i].String()
	}
	return parts
}

// activationFormula is the sum of all parts, the layers of each kind in
// brackets: N(24bsD + …) + 8bsD + …, in symbols or in numbers as write has it.
func activationFormula(list []estimator.Saved, write func(estimator.Size) string) string {
	var order []string
	groups := make(map[string]estimator.Size)
	var rest estimator.Size
	for i := range list {
		s := &list[i]
		if s.Layers == nil {
			rest = rest.Plus(s.Sum())
			continue
		}
		key := strings.TrimSpace(s.Tower+" layers ") + s.Layers.String() + fmt.Sprintf(" × %d", s.Copies)
		if _, ok := groups[key]; !ok {
			order = append(order, key)
		}
		groups[key] = groups[key].Plus(s.Sum())
	}
	var text []string
	for _, key := range order {
		number := key[strings.LastIndex(key, "× ")+len("× "):]
		text = append(text, number+" · ("+write(groups[key])+")")
	}
	if !rest.IsZero() {
		text = append(text, write(rest))
	}
	return strings.Join(text, " + ")
}

// attends reports whether any layer weighs tokens against each other by products.
func attends(m *estimator.Model) bool {
	for _, w := range m.Forward(estimator.Pass{Batch: 1, Seq: 2, EncoderSeq: 2}) {
		if w.Kind == "scores" {
			return true
		}
	}
	return false
}

func activationAssumptions(m *estimator.Model, use estimator.SavingUse) []string {
	var list []string
	if m.ActivationsMeasured() {
		list = append(list, "activations: as measured for "+m.Type+", each storage once, with the class's own loss")
	} else {
		list = append(list, "activations: by rule, not measured: as the measured types compute, block by block")
	}
	switch {
	case !attends(m): // a pure state-space model
	case use.Kernel == estimator.Fused && use.Dropout && m.Training.DropsAttention:
		list = append(list, "attention: one fused kernel that applies dropout itself and keeps no weights")
	case use.Kernel == estimator.Fused:
		list = append(list, "attention: one fused kernel keeps its operands, its output and a logarithm a row")
	case use.Kernel == estimator.Math:
		list = append(list, "attention: torch's decomposition in 32 bits")
	default:
		list = append(list, "attention: products, softmax and dropout one by one")
	}
	if use.Dropout {
		list = append(list, fmt.Sprintf("dropout: masks of %d bytes an element", use.MaskBytes))
	}
	return list
}
