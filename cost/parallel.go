package cost

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// Parallel says how a model is shared out over devices. Sizes count from 1.
type Parallel struct {
	Data     int64 `json:"data"`
	Tensor   int64 `json:"tensor"`
	Pipeline int64 `json:"pipeline"`
	Context  int64 `json:"context"`
	Expert   int64 `json:"expert"` // within data parallelism
	Sequence bool  `json:"sequence"`
	Zero     int64 `json:"zero"` // 0–3; 3 is FSDP's full sharding

	Schedule     string `json:"schedule"`       // gpipe, 1f1b, interleaved
	Microbatches int64  `json:"microbatches"`   // of a step, for gpipe
	Virtual      int64  `json:"virtual_stages"` // of a device, for interleaved
}

// Devices returns how many there are.
func (p *Parallel) Devices() int64 { return p.Data * p.Tensor * p.Pipeline * p.Context }

// check completes the zero value and refuses what contradicts itself.
func (p *Parallel) check() error {
	for _, n := range []*int64{&p.Data, &p.Tensor, &p.Pipeline, &p.Context, &p.Expert, &p.Microbatches, &p.Virtual} {
		if *n == 0 {
			*n = 1
		}
		if *n < 1 || *n > 1<<20 {
			return fmt.Errorf("a parallel size of %d", *n)
		}
	}
	if p.Schedule == "" {
		p.Schedule = "1f1b"
	}
	switch {
	case p.Schedule != "gpipe" && p.Schedule != "1f1b" && p.Schedule != "interleaved":
		return fmt.Errorf("schedule %q is not one of gpipe, 1f1b, interleaved", p.Schedule)
	case p.Zero < 0 || p.Zero > 3:
		return fmt.Errorf("ZeRO has stages 0 to 3, not %d", p.Zero)
	case p.Expert > p.Data*p.Context:
		return errors.New("expert parallelism lies within data parallelism and cannot be larger")
	case p.Devices() > 1<<30:
		return errors.New("too many devices")
	}
	return nil
}

// sharesHeads refuses tensor parallelism that would cut through heads. Key and
// value heads that are fewer are kept more than once; towers are not asked.
func (p *Parallel) sharesHeads(m *estimator.Model) error {
	for _, a := range m.Attentions() {
		heads, cached := a.Scores.Heads.Int(), a.Scores.KVHeads.Int()
		switch {
		case heads < 1:
		case heads%p.Tensor != 0:
			return fmt.Errorf("%d heads cannot be shared out over %d devices by tensor parallelism: take a divisor of the heads", heads, p.Tensor)
		case cached > p.Tensor && cached%p.Tensor != 0:
			return fmt.Errorf("%d key and value heads cannot be shared out over %d devices by tensor parallelism", cached, p.Tensor)
		}
	}
	return nil
}

// inFlight is for how many micro-batches the first stage keeps activations, in
// stages' worth: all of a step under GPipe (arXiv:1811.06965), as many as there
// are stages under 1F1B, and 1 + (p−1)/(pv) times that where each device has v
// stages (arXiv:2205.05198, section 4.2.3).
func (p *Parallel) inFlight() *big.Rat {
	switch {
	case p.Pipeline == 1:
		return big.NewRat(1, 1)
	case p.Schedule == "gpipe":
		return big.NewRat(p.Microbatches, 1)
	case p.Schedule == "interleaved":
		return big.NewRat(p.Pipeline*p.Virtual+p.Pipeline-1, p.Virtual)
	}
	return big.NewRat(p.Pipeline, 1)
}

// layerShare is the share of the layers that the fullest stage has.
func (p *Parallel) layerShare(layers int64) *big.Rat {
	if layers < 1 || p.Pipeline == 1 {
		return big.NewRat(1, 1)
	}
	return big.NewRat((layers+p.Pipeline-1)/p.Pipeline, layers)
}

// parameterShare is the share of a tensor on a device of the fullest stage,
// before ZeRO: the first stage has the embeddings, the last one the head, and
// the larger of the two is meant.
func (p *Parallel) parameterShare(layers int64, headHeavy bool) func(*parameter) *big.Rat {
	layered := p.layerShare(layers)
	return func(t *parameter) *big.Rat {
		share := big.NewRat(1, 1)
		switch {
		case t.layered:
			share.Set(layered)
		case p.Pipeline > 1 && embeds(t.role) == headHeavy:
			return new(big.Rat)
		}
		if t.split {
			share.Quo(share, big.NewRat(p.Tensor, 1))
		}
		if t.role == estimator.RoutedExperts {
			share.Quo(share, big.NewRat(p.Expert, 1))
		}
		return share
	}
}

func embeds(r estimator.Role) bool {
	return r == estimator.TokenEmbedding || r == estimator.PositionEmbedding || r == estimator.TypeEmbedding
}

// shards says among how many devices ZeRO shares out a tensor's states.
func (p *Parallel) shards(t *parameter) *big.Rat {
	n := p.Data * p.Context
	if t.role == estimator.RoutedExperts {
		n = max(1, n/p.Expert)
	}
	return big.NewRat(1, n)
}

// heavyHead reports whether the last stage has more parameters than the first.
func heavyHead(list []parameter) bool {
	first := sumElements(list, func(t *parameter) bool { return !t.layered && embeds(t.role) })
	last := sumElements(list, func(t *parameter) bool { return !t.layered && !embeds(t.role) })
	return last.Cmp(first) > 0
}

// depth is the number of layers of the deepest stack.
func depth(m *estimator.Model) int64 {
	var n int64
	sums := make(map[string]estimator.Indices)
	for _, t := range m.Tensors() {
		if len(t.Index) > 0 {
			sums[t.Tower] = sums[t.Tower].Union(t.Index[0])
			n = max(n, sums[t.Tower].Len())
		}
	}
	return n
}
