package cost

import (
	"math/big"
	"slices"
	"sort"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// Fit says whether a plan fits on an accelerator, and how fast it can be there.
type Fit struct {
	Accelerator string   `json:"accelerator"`
	MemoryBytes *big.Int `json:"memory_bytes"`   // of one device: its data sheet's GB are 2³⁰ bytes
	Fits        bool     `json:"fits"`           // total and overhead on each device
	Devices     *int64   `json:"devices_needed"` // if all is shared out evenly; of a stated layout its own number, null where that does not fit
	LargestB    *int64   `json:"largest_batch"`  // at the given sequence; 0: none; null for images of given sizes
	LargestS    *int64   `json:"largest_seq"`    // at the given batch, within a fixed number of positions; 0: none; null where images alone are seen
	Source      string   `json:"source"`

	*Speed // at best; null where the plan does not fit
}

// Speed bounds a generation by the roofline: bandwidth for what is read, peak
// for what is computed.
type Speed struct {
	PrefillFLOPs   *big.Int `json:"prefill_flops"` // of an encoder, its whole pass
	PrefillBytes   *big.Int `json:"prefill_bytes"` // weights read
	PrefillSeconds float64  `json:"prefill_seconds"`
	PrefillBound   string   `json:"prefill_bound"`         // bandwidth, compute
	Ridge          float64  `json:"ridge_flops_per_byte"`  // peak / bandwidth: below it bandwidth binds
	PeakDType      string   `json:"peak_dtype"`            // of the products
	PeakFLOPs      float64  `json:"peak_flops_per_second"` // of one device in it

	*Decode // null for an encoder
}

// Decode is a step of a generation, one token a sequence.
type Decode struct {
	DecodeBytes     *big.Int `json:"decode_bytes"` // read: weights that run, and the cache
	DecodeFLOPs     *big.Int `json:"decode_flops"`
	DecodeSeconds   float64  `json:"decode_seconds"`
	DecodeBound     string   `json:"decode_bound"` // bandwidth, compute
	TokensPerSecond float64  `json:"decode_tokens_per_second"`
	Intensity       float64  `json:"decode_flops_per_byte"`
}

func (p *planned) fit(a Accelerator, mem *Memory) Fit {
	capacity := a.MemoryBytes()
	f := Fit{Accelerator: a.Name, MemoryBytes: capacity, Source: a.Source}
	room := new(big.Int).Sub(capacity, p.Overhead)
	f.Fits = mem.Total.Cmp(room) <= 0
	switch {
	case mem.Devices == 1:
		f.Devices = needed(mem, room)
	case f.Fits:
		f.Devices = &mem.Devices
	}
	images := p.model.OnlyImages()
	if !images || len(p.Grids) == 0 {
		f.LargestB = largest(room, estimator.MostTokens, func(n int64) *big.Int { return p.with(n, p.Seq) })
	}
	if !images {
		f.LargestS = largest(room, p.longest(), func(n int64) *big.Int { return p.with(p.Batch, n) })
	}
	if !p.Train && f.Fits {
		f.Speed = p.speed(a, mem)
	}
	return f
}

// needed is how many devices hold the total when all of it is shared out evenly,
// null where not even that helps.
func needed(mem *Memory, room *big.Int) *int64 {
	if room.Sign() <= 0 {
		return nil
	}
	n := ceil(new(big.Rat).SetFrac(mem.Total, room)).Int64()
	return &n
}

// with is the total at another batch and sequence.
func (p *planned) with(batch, seq int64) *big.Int {
	other := *p
	other.Batch, other.Seq = batch, seq
	if p.model.OnlyImages() {
		other.Images = batch
	}
	if p.EncoderSeq == p.Seq {
		other.EncoderSeq = seq
	}
	mem := &Memory{Weights: other.weights()}
	if p.Train {
		other.training(mem)
	} else {
		other.inference(mem)
	}
	return mem.sum()
}

// longest is the longest sequence that the model can take: a table of positions
// ends, and so does what an encoder was made for. A decoder without a table goes
// on.
func (p *planned) longest() int64 {
	if p.model.Positions > 0 && fixedPositions(p.model) {
		return p.model.Positions
	}
	return estimator.MostTokens
}

func fixedPositions(m *estimator.Model) bool {
	return !Decodes(m) || slices.ContainsFunc(m.Tensors(), func(t estimator.Tensor) bool {
		return t.Role == estimator.PositionEmbedding && t.Tower == "" && len(t.Shape) == 2 && t.Shape[0] >= m.Positions
	})
}

// largest is the largest n up to most whose total finds room, 0 where not even 1
// does.
func largest(room *big.Int, most int64, total func(int64) *big.Int) *int64 {
	high := int64(1)
	for high < most && total(high).Cmp(room) <= 0 {
		high *= 2
	}
	low := high / 2 // fits, or is 0
	high = min(high, most)
	n := low + int64(sort.Search(int(high-low), func(i int) bool { return total(low+int64(i)+1).Cmp(room) > 0 }))
	return &n
}

// speed bounds a step of decoding with the plan's sequence cached, and its
// prefill.
func (p *planned) speed(a Accelerator, mem *Memory) *Speed {
	dtype := p.computedIn()
	peak, err := a.Peak(dtype)
	if err != nil || a.BandwidthGBs == 0 {
		return nil
	}
	devices, bandwidth := float64(mem.Devices), a.BandwidthGBs*1e9
	encoder := p.EncoderSeq
	prefill := p.model.Forward(estimator.Pass{Batch: p.Batch, Seq: p.Seq, LogitsToKeep: 1, EncoderSeq: encoder, Sight: p.Sight})
	s := &Speed{PrefillFLOPs: estimator.Total(prefill), Ridge: peak / bandwidth, PeakDType: a.Products(dtype), PeakFLOPs: peak}
	weights := float(mem.Weights) * devices
	s.PrefillBytes = rounded(weights * p.read(p.Batch*p.Seq))
	s.PrefillSeconds, s.PrefillBound = bound(float(s.PrefillFLOPs)/(peak*devices), float(s.PrefillBytes)/(bandwidth*devices))
	if !Decodes(p.model) {
		return s
	}
	d := &Decode{DecodeFLOPs: p.model.DecodeFLOPs(estimator.Pass{Batch: p.Batch, Seq: 1, Past: p.Seq, EncoderSeq: encoder, Sight: p.Sight}, !p.KV.Expanded),
		DecodeBytes: rounded(weights*p.read(p.Batch) + float(mem.KV)*devices)}
	d.Intensity = float(d.DecodeFLOPs) / float(d.DecodeBytes)
	d.DecodeSeconds, d.DecodeBound = bound(float(d.DecodeFLOPs)/(peak*devices), float(d.DecodeBytes)/(bandwidth*devices))
	d.TokensPerSecond = float64(p.Batch) / d.DecodeSeconds
	s.Decode = d
	return s
}

// read is the share of the weights that a step over so many tokens reads: no
// look-up tables, and of routed experts those that at least one token is sent to
// if all are chosen alike: 1 − (1 − k/E)ⁿ.
func (p *planned) read(tokens int64) float64 {
	var all, read float64
	for _, t := range p.model.Tensors() {
		if t.Buffer {
			continue
		}
		n := float64(t.Elements())
		if t.TiedTo == "" {
			all += n
		}
		switch t.Role {
		case estimator.TokenEmbedding, estimator.PositionEmbedding, estimator.TypeEmbedding:
			continue
		case estimator.RoutedExperts:
			n *= touched(float64(t.Active)/max(1, n), tokens)
		}
		read += n
	}
	return read / max(1, all)
}

func touched(share float64, tokens int64) float64 {
	missed := 1.0
	for range min(tokens, 1<<16) {
		if missed *= 1 - share; missed < 1e-9 {
			return 1
		}
	}
	return 1 - missed
}

// bound is the longer of two times, and what it comes from.
func bound(compute, memory float64) (float64, string) {
	if compute > memory {
		return compute, "compute"
	}
	return memory, "bandwidth"
}

func float(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

func rounded(f float64) *big.Int {
	n, _ := new(big.Float).SetFloat64(f).Int(nil)
	return n
}
