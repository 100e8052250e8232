package adapter

import (
	"fmt"
	"maps"
	"slices"
)

// methods are the layouts, by the method's name in configs.
var methods = map[string]func(*planner, *module) error{
	"LORA": (*planner).lora, "ADALORA": (*planner).adalora, "LOHA": (*planner).loha, "LOKR": (*planner).lokr,
	"IA3": (*planner).ia3, "VERA": (*planner).vera, "OFT": (*planner).oft, "BOFT": (*planner).boft, "HRA": (*planner).hra,
	"FOURIERFT": (*planner).fourier, "LN_TUNING": (*planner).norms, "TRAINABLE_TOKENS": nil, "ADAPTION_PROMPT": nil,
}

// Methods lists the methods that train modules of the base and are described.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }

// lora is ΔW = B·A of a rank that the config or one of its patterns gives.
func (p *planner) lora(m *module) error {
	in, out := m.size()
	r, err := p.rank(m.name)
	if err != nil {
		return err
	}
	switch kernel := m.kernel(); {
	case m.Kind == embeddingKind:
		p.on(m, "lora_embedding_A", r, in)
		p.on(m, "lora_embedding_B", out, r)
	case kernel != nil:
		ones := slices.Repeat([]int64{1}, len(kernel))
		p.on(m, "lora_A.weight", append([]int64{r, m.shape()[1]}, kernel...)...)
		p.on(m, "lora_B.weight", append([]int64{out, r}, ones...)...)
	default:
		p.on(m, "lora_A.weight", r, in)
		p.on(m, "lora_B.weight", out, r)
		if p.config.LoRABias {
			p.on(m, "lora_B.bias", out)
		}
	}
	if p.config.DoRA {
		shape := []int64{out}
		if kernel := m.kernel(); kernel != nil {
			shape = append([]int64{1, out}, slices.Repeat([]int64{1}, len(kernel))...)
		}
		p.on(m, "lora_magnitude_vector", shape...)
	}
	return nil
}

// rank returns a module's rank.
func (p *planner) rank(name string) (int64, error) {
	r := p.config.RankOf(name)
	if r <= 0 || r > mostFeatures {
		return 0, &SizeError{name, fmt.Sprintf("%d is no rank", r)}
	}
	p.ranked(r)
	return r, nil
}

// adaptParams puts LoRA on parameters: experts stacked in one tensor have their
// ranks side by side. Of several parameters of one module the later ones wrap
// the earlier.
func (p *planner) adaptParams() error {
	byModule := make(map[string][]*param)
	var order []string
	for i := range p.params {
		one := &p.params[i]
		if p.config.Method != "LORA" || !p.config.TargetsParameter(join(one.module, one.name)) {
			continue
		}
		if byModule[one.module] == nil {
			order = append(order, one.module)
		}
		byModule[one.module] = append(byModule[one.module], one)
	}
	for _, name := range order {
		list := byModule[name]
		for i, one := range list {
			full := join(one.module, one.name)
			r, err := p.rank(full)
			if err != nil {
				return err
			}
			if one.name == "weight" {
				full = one.module
			}
			p.touch(full, one.numbers)
			path := Prefix(p.config) + one.within
			for range len(list) - 1 - i {
				path += ".base_layer"
			}
			p.add(path+".lora_A.weight", one.numbers, "lora_A", r*one.count, one.in)
			p.add(path+".lora_B.weight", one.numbers, "lora_B", one.out, r*one.count)
		}
	}
	return nil
}

// adalora is ΔW = B·diag(E)·A. Training prunes ranks; what it left of each
// module stands in the config.
func (p *planner) adalora(m *module) error {
	in, out := m.size()
	r := p.config.Rank
	if kept := p.config.Fields.Sub("rank_pattern"); kept != nil {
		for _, key := range kept.Fields() {
			if key == m.name+".lora_E" || key == m.name+".lora_E.default" {
				r = 0
				for _, on := range kept.Raw(key).Array() {
					if on.Bool() {
						r++
					}
				}
			}
		}
	}
	p.ranked(r)
	p.on(m, "lora_A", r, in)
	p.on(m, "lora_B", out, r)
	p.on(m, "lora_E", r, 1)
	return nil
}

// loha is ΔW = (W1a·W1b) ∘ (W2a·W2b).
func (p *planner) loha(m *module) error {
	in, out := m.size()
	r, err := p.rank(m.name)
	if err != nil {
		return err
	}
	if kernel := m.kernel(); kernel != nil {
		if p.config.Decompose.EffectiveConv && slices.ContainsFunc(kernel, func(k int64) bool { return k > 1 }) {
			return &MethodError{"LOHA with use_effective_conv2d"}
		}
	}
	for _, factor := range []string{"hada_w1", "hada_w2"} {
		p.on(m, factor+"_a", out, r)
		p.on(m, factor+"_b", r, in)
	}
	return nil
}

// lokr is ΔW = W1 ⊗ W2, of which factors that are large against the rank are
// products themselves.
func (p *planner) lokr(m *module) error {
	in, out := m.size()
	r, err := p.rank(m.name)
	if err != nil {
		return err
	}
	patch := int64(1)
	if kernel := m.kernel(); kernel != nil {
		if p.config.Decompose.EffectiveConv {
			return &MethodError{"LOKR with use_effective_conv2d"}
		}
		in = m.shape()[1]
		for _, k := range kernel {
			patch *= k
		}
	}
	in1, in2 := factorize(in, p.config.Decompose.Factor)
	out1, out2 := factorize(out, p.config.Decompose.Factor)
	if p.config.Decompose.Both && 2*r < max(out1, in1) {
		p.on(m, "lokr_w1_a", out1, r)
		p.on(m, "lokr_w1_b", r, in1)
	} else {
		p.on(m, "lokr_w1", out1, in1)
	}
	if 2*r < max(out2, in2) {
		p.on(m, "lokr_w2_a", out2, r)
		p.on(m, "lokr_w2_b", r, in2*patch)
	} else {
		p.on(m, "lokr_w2", append([]int64{out2, in2}, m.kernel()...)...)
	}
	return nil
}

// factorize splits a dimension in two factors, the first near the given one;
// −1 stands for the most even split.
func factorize(n, factor int64) (int64, int64) {
	if factor > 0 && n%factor == 0 {
		return factor, n / factor
	}
	if factor == -1 {
		factor = n
	}
	a, b := int64(1), n
	if n > mostFeatures {
		return a, b
	}
	for next := int64(2); next*next <= n && next <= factor; next++ { // beyond the root the pairs repeat
		if n%next == 0 {
			a, b = next, n/next
		}
	}
	return a, b
}

// ia3 scales what a module gives, or what a feed-forward module takes.
func (p *planner) ia3(m *module) error {
	in, out := m.size()
	ones := slices.Repeat([]int64{1}, len(m.kernel()))
	switch {
	case len(ones) > 0 && p.config.IsFeedForward(m.name):
		p.on(m, "ia3_l", append([]int64{1, m.shape()[1]}, ones...)...)
	case len(ones) > 0:
		p.on(m, "ia3_l", append([]int64{1, out}, ones...)...)
	case p.config.IsFeedForward(m.name):
		p.on(m, "ia3_l", 1, in)
	default:
		p.on(m, "ia3_l", out, 1)
	}
	return nil
}

// vera trains two vectors a module; the matrices between them are random, and
// the same for all.
func (p *planner) vera(m *module) error {
	_, out := m.size()
	p.ranked(p.config.Rank)
	p.on(m, "vera_lambda_b", out)
	p.on(m, "vera_lambda_d", p.config.Rank)
	return nil
}

// projections adds VeRA's matrices, as large as the largest module needs.
func (p *planner) projections() {
	if p.config.Method != "VERA" || !p.config.SaveProjection || len(p.pieces) == 0 {
		return
	}
	var widest, tallest int64
	for i := range p.modules {
		if m := &p.modules[i]; p.adapted[m.name] {
			in, out := m.size()
			widest, tallest = max(widest, in), max(tallest, out)
		}
	}
	p.add("base_model.vera_A", nil, Projection, p.config.Rank, widest)
	p.add("base_model.vera_B", nil, Projection, tallest, p.config.Rank)
}

// norms trains a copy of each module.
func (p *planner) norms(m *module) error {
	for i := range m.Tensors {
		if t := &m.Tensors[i]; !t.Buffer {
			p.on(m, "ln_tuning_layers."+t.Name, t.Shape...)
		}
	}
	return nil
}

// fourier trains so many coefficients of each module's spectrum.
func (p *planner) fourier(m *module) error {
	p.on(m, "fourierft_spectrum", p.config.Blocks.Frequent)
	return nil
}
