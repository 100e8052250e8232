package adapter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// adapt puts the method on every module that the config names, then adds what
// is stored besides.
func (p *planner) adapt() error {
	p.adapted, p.saved = make(map[string]bool), make(map[string]bool)
	put := methods[p.config.Method]
	for i := range p.modules {
		m := &p.modules[i]
		if !p.targets(m) {
			continue
		}
		if err := put(p, m); err != nil {
			return err
		}
	}
	if err := p.adaptParams(); err != nil {
		return err
	}
	if p.config.Method == "ADAPTION_PROMPT" {
		p.adaptionPrompts()
	}
	p.projections()
	p.saveModules()
	p.biases()
	p.embeddings()
	p.trainTokens()
	return p.numbered()
}

// targets reports whether a module carries an adapter.
func (p *planner) targets(m *module) bool {
	if p.config.Method == "TRAINABLE_TOKENS" || p.config.Method == "ADAPTION_PROMPT" {
		return false
	}
	if !p.config.Targets(m.name) {
		return false
	}
	switch {
	case p.config.Method == "LN_TUNING":
		return m.Kind == estimator.NormKind || m.Kind == estimator.LinearKind
	case p.config.AllLinear:
		return m.Kind == estimator.LinearKind && m.Role != estimator.Head && len(m.shape()) == 2
	case m.Kind == estimator.EmbeddingKind:
		return takesEmbeddings[p.config.Method]
	}
	return m.Kind == estimator.LinearKind && m.Weight() != nil
}

// takesEmbeddings are the methods with a form for look-up tables.
var takesEmbeddings = map[string]bool{"LORA": true, "IA3": true}

func (m *module) shape() []int64 {
	if w := m.Weight(); w != nil {
		return w.Shape
	}
	return nil
}

// size returns what goes into and out of a module.
func (m *module) size() (in, out int64) {
	if s := m.shape(); m.Kind == estimator.EmbeddingKind && len(s) == 2 {
		return s[0], s[1]
	}
	return m.In, m.Out
}

// kernel returns the dimensions of a convolution's patch, nil for a matrix.
func (m *module) kernel() []int64 {
	if s := m.shape(); len(s) > 2 {
		return s[2:]
	}
	return nil
}

// on adds a tensor of the method to a module. Its kind is its name.
func (p *planner) on(m *module, suffix string, shape ...int64) *piece {
	p.touch(m.name, m.numbers)
	kind, _, _ := strings.Cut(suffix, ".")
	return p.add(Prefix(p.config)+m.Template+"."+suffix, m.numbers, Kind(kind), shape...)
}

// touch notes that a module carries an adapter.
func (p *planner) touch(name string, numbers []int64) {
	if p.adapted[name] {
		return
	}
	p.adapted[name] = true
	p.plan.Modules++
	_, last := cut(name)
	if !slices.Contains(p.plan.Names, last) {
		p.plan.Names = append(p.plan.Names, last)
	}
	if len(numbers) > 0 {
		p.plan.Layers = p.plan.Layers.Union(estimator.Only(numbers[0]))
	}
}

func (p *planner) ranked(rank int64) {
	if !slices.Contains(p.plan.Ranks, rank) {
		p.plan.Ranks = append(p.plan.Ranks, rank)
	}
}

// saveModules adds the modules that are trained and stored whole.
func (p *planner) saveModules() {
	if len(p.config.ModulesToSave) == 0 {
		return
	}
	for i := range p.modules {
		m := &p.modules[i]
		if !p.config.Saves(m.holder()) {
			continue
		}
		p.saveTensors(m, SavedModule)
	}
	if p.config.TieWeights {
		p.saveTied()
	}
}

// holder is the module that a tensor without one of its own stands in.
func (m *module) holder() string {
	if len(m.Tensors) == 1 && m.Tensors[0].Name == "" {
		above, _ := cut(m.name)
		return above
	}
	return m.name
}

func (p *planner) saveTensors(m *module, kind Kind) {
	for i := range m.Tensors {
		t := &m.Tensors[i]
		p.saved[join(m.name, t.Name)] = true
		one := p.add(Prefix(p.config)+join(m.Template, t.Name), m.numbers, kind, t.Shape...)
		one.anyRows = m.Role == estimator.Classifier
		if t.Buffer {
			one.kind, one.optional = BaseCopy, true
		}
	}
}

// saveTied adds the modules that share their weight with a saved one: they are
// stored beside it, and trained as one.
func (p *planner) saveTied() {
	for i := range p.modules {
		m := &p.modules[i]
		for j := range m.Tensors {
			t := &m.Tensors[j]
			if t.TiedTo == "" {
				continue
			}
			switch own := join(m.name, t.Name); {
			case p.saved[t.TiedTo] && p.saved[own]:
				p.demote(Prefix(p.config)+join(m.Template, t.Name), m.numbers)
			case p.saved[t.TiedTo]:
				p.saved[own] = true
				p.add(Prefix(p.config)+join(m.Template, t.Name), m.numbers, TiedCopy, t.Shape...)
			}
		}
	}
}

// demote makes a saved module a copy of the one that it is tied with.
func (p *planner) demote(template string, numbers []int64) {
	for i := range p.pieces {
		if one := &p.pieces[i]; one.template == template && slices.Equal(one.numbers, numbers) {
			one.kind = TiedCopy
		}
	}
}

// biases adds the base's biases where the config trains them: all of them, or
// those of the modules that carry an adapter.
func (p *planner) biases() {
	if p.config.Bias == "none" {
		return
	}
	for i := range p.modules {
		m := &p.modules[i]
		adapted := p.adapted[m.name]
		if p.config.Bias != "all" && !adapted || p.config.Saves(m.name) {
			continue
		}
		for j := range m.Tensors {
			t := &m.Tensors[j]
			if t.Buffer || !strings.HasSuffix("."+join(m.Template, t.Name), ".bias") {
				continue
			}
			path := join(m.Template, t.Name)
			if adapted {
				path = join(m.Template, "base_layer", t.Name)
			}
			p.add(Prefix(p.config)+path, m.numbers, Bias, t.Shape...)
		}
	}
}

// embeddingNames are those of which peft stores the base's table as well.
var embeddingNames = []string{"embed_tokens", "lm_head"}

// embeddings adds the tables below adapted embeddings, which peft copies into
// the file.
func (p *planner) embeddings() {
	if p.config.TrainedTokens.Tokens != nil || p.config.TrainedTokens.Modules != nil {
		return
	}
	named := slices.ContainsFunc(embeddingNames, func(name string) bool { return slices.Contains(p.config.TargetModules, name) })
	for i := range p.modules {
		m := &p.modules[i]
		_, last := cut(m.name)
		if !p.adapted[m.name] || m.Role != estimator.TokenEmbedding && m.Role != estimator.Head {
			continue
		}
		if !named && (p.config.TargetPattern == "" || !slices.Contains(embeddingNames, last)) {
			continue
		}
		for j := range m.Tensors {
			t := &m.Tensors[j]
			if t.Bias && p.config.Bias != "none" {
				continue // already there, trained
			}
			p.add(Prefix(p.config)+join(m.Template, "base_layer", t.Name), m.numbers, BaseCopy, t.Shape...)
		}
	}
}

// trainTokens adds the rows of embeddings that are trained alone.
func (p *planner) trainTokens() {
	tokens := p.config.TrainedTokens
	suffix := "token_adapter.trainable_tokens_delta"
	if p.config.Method == "TRAINABLE_TOKENS" {
		suffix = "trainable_tokens_delta"
	}
	for i := range p.modules {
		m := &p.modules[i]
		s := m.shape()
		rows := tokens.Tokens
		if tokens.Modules != nil {
			rows = nil
			for name, list := range tokens.Modules {
				if m.name == name || strings.HasSuffix(m.name, "."+name) {
					rows = list
				}
			}
		} else if m.Role != estimator.TokenEmbedding || m.Tower != "" {
			continue
		} else if p.config.Method == "TRAINABLE_TOKENS" && len(p.config.TargetModules) > 0 && !p.config.Targets(m.name) {
			continue
		}
		if len(rows) == 0 || len(s) != 2 || p.tiedAway(m) {
			continue
		}
		p.touch(m.name, m.numbers)
		p.add(Prefix(p.config)+m.Template+"."+suffix, m.numbers, TokenRows, int64(len(rows)), s[1])
		if tokens.Modules == nil {
			return // of several embeddings the input's
		}
	}
}

// tiedAway reports whether a module shares its weight with another: its rows are
// stored with that one's.
func (p *planner) tiedAway(m *module) bool {
	w := m.Weight()
	return w != nil && w.TiedTo != ""
}

// numbered checks that every size is a number that a tensor can have.
func (p *planner) numbered() error {
	for i := range p.pieces {
		one := &p.pieces[i]
		n := int64(1)
		for _, d := range one.shape {
			if d < 0 || d > 0 && n > (1<<56)/d {
				return &SizeError{one.template, fmt.Sprintf("no tensor has the shape %v", one.shape)}
			}
			n *= d
		}
	}
	return nil
}

// adaptionPrompts puts a prompt and a gate on the attention of the last layers.
func (p *planner) adaptionPrompts() {
	length, layers := p.config.Fields.IntOr("adapter_len", 0), p.config.Fields.IntOr("adapter_layers", 0)
	var depth int64
	for i := range p.modules {
		if m := &p.modules[i]; len(m.numbers) == 1 {
			depth = max(depth, m.numbers[0]+1)
		}
	}
	seen := make(map[string]bool)
	for i := range p.modules {
		m := &p.modules[i]
		above, last := cut(m.Template)
		if len(m.numbers) != 1 || m.numbers[0] < depth-layers || m.Kind != estimator.LinearKind || last != "q_proj" && last != "c_attn" {
			continue
		}
		holder, _ := cut(m.name)
		if seen[holder] {
			continue
		}
		seen[holder] = true
		p.touch(holder, m.numbers)
		p.add(Prefix(p.config)+above+".adaption_prompt", m.numbers, Prompt, 1, length, m.In)
		p.add(Prefix(p.config)+above+".adaption_gate", m.numbers, Prompt, 1)
	}
}
