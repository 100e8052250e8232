package reconcile

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// moduleNames are pieces of names in published files, each with what newer
// libraries call the module in memory: files that they save when asked not to
// keep the original format have those. "^" stands for the beginning of the body's
// names.
var moduleNames = [][2]string{
	{"^embed_out.", "^lm_head."},
	{"^embed.weight", "^embed_tokens.weight"},
	{"^head.weight", "^lm_head.weight"},
	{"^word_embeddings.", "^embed_tokens."},
	{"^hc_head_fn", "^hc_head.hc_fn"},
	{"^hc_head_base", "^hc_head.hc_base"},
	{"^hc_head_scale", "^hc_head.hc_scale"},
	{"^hc_head_", "^hc_head.hc_"},
	{"hc_head_fn", "hc_fn"},
	{"hc_head_base", "hc_base"},
	{"hc_head_scale", "hc_scale"},
	{".attn.", ".self_attn."},
	{".attention.", ".self_attn."},
	{".ffn.", ".mlp."},
	{".block_sparse_moe.", ".mlp."},
	{".moe.", ".mlp."},
	{".mlp.gate_proj.", ".block_sparse_moe.gate_proj."}, // a dense block, as kimi_linear is saved
	{".mlp.up_proj.", ".block_sparse_moe.up_proj."},
	{".mlp.down_proj.", ".block_sparse_moe.down_proj."},

	{".attn_norm.", ".input_layernorm."},
	{".ffn_norm.", ".post_attention_layernorm."},
	{".attention_layer_norm.", ".input_layernorm."},
	{".feedforward_layer_norm.", ".post_attention_layernorm."},
	{".post_attn_norm.", ".post_self_attn_layernorm."},
	{".post_ffn_norm.", ".post_mlp_layernorm."},
	{".post_mlp_layernorm.", ".mlp.post_mlp_layernorm."},
	{".W_down.", ".mlp.fc1."},
	{".W_up.", ".mlp.fc2."},

	{".self_attn.gate_proj.", ".self_attn.g_proj."},
	{".self_attn.q_b_proj.", ".self_attn.q_gate_proj."},
	{".self_attn.dense.", ".self_attn.o_proj."},
	{".attention_sink_bias", ".sinks"},
	{".softmax_offset", ".sinks"},
	{".learnable_sink_param", ".sinks"},
	{".attn_sink", ".sinks"},
	{".linear_gate.", ".gate_proj."},
	{".self_attn.f_a_proj.", ".self_attn.forget_gate.f_a_proj."},
	{".self_attn.f_b_proj.", ".self_attn.forget_gate.f_b_proj."},
	{".self_attn.f_proj.", ".self_attn.forget_gate.f_proj."},
	{".self_attn.dt_bias", ".self_attn.forget_gate.dt_bias"},
	{".self_attn.A_log", ".self_attn.forget_gate.A_log"},

	{".gate.bias", ".gate.e_score_correction_bias"},
	{".gate.expert_bias", ".gate.e_score_correction_bias"},
	{".experts.e_score_correction_bias", ".gate.e_score_correction_bias"},
	{".mlp.e_score_correction_bias", ".mlp.gate.e_score_correction_bias"},
	{".router.expert_bias", ".gate.e_score_correction_bias"},
	{".mlp.expert_bias", ".mlp.e_score_correction_bias"},
	{".moe_statics.", ".gate.moe_statics."},
	{".gate.weight", ".router.weight"},
	{".router.gate.weight", ".gate.weight"},
	{".router.layer.weight", ".router.weight"},
	{".shared_expert.", ".shared_experts."},
	{".shared_mlp.", ".shared_experts."},
	{".shared_experts.w1.", ".shared_experts.gate_proj."},
	{".shared_experts.w2.", ".shared_experts.down_proj."},
	{".shared_experts.w3.", ".shared_experts.up_proj."},
	{".input_linear.weight", ".experts.gate_up_proj"},
	{".output_linear.weight", ".experts.down_proj"},
	{".experts.fc1.weight", ".experts.gate_up_proj"},
	{".experts.fc2.weight", ".experts.down_proj"},

	{".hc_pre.hc_", ".hc_"},
	{"^hc_pre.hc_", "^hc_"},
	{".hc_attn_layer.hc_", ".attn_hc."},
	{".hc_mlp_layer.hc_", ".ffn_hc."},
	{".hc_attn_", ".attn_hc."},
	{".hc_ffn_", ".ffn_hc."},
	{".indexer.compressor.", ".compressor.indexer."},
	{".indexer.weights_proj.", ".compressor.indexer.scorer.weights_proj."},
	{".indexer.wq_b.", ".compressor.indexer.q_b_proj."},
	{".norm.", ".kv_norm."},
	{".ape", ".position_bias"},
	{".wq_a.", ".q_a_proj."},
	{".wq_b.", ".q_b_proj."},
	{".wkv.", ".kv_proj."},
	{".wgate.", ".gate_proj."},
	{".wo_a.", ".o_a_proj."},
	{".wo_b.", ".o_b_proj."},
	{".q_norm.", ".q_a_norm."},
}

// mostAliases bounds the names that one template can have in memory.
const mostAliases = 512

// renameModules turns names of modules in memory into those of files, where the
// file does not have the tensors under their own names.
func (m *matching) renameModules() {
	stored := make(map[string]bool)
	unknown := false
	for _, g := range m.groups {
		stored[g.name] = true
		unknown = unknown || m.isStrange(g.name)
	}
	if !unknown || m.in.Model == nil {
		return
	}
	aliases := m.moduleAliases(stored)
	var about []string
	for _, g := range m.groups {
		if !m.isStrange(g.name) {
			continue
		}
		if name := aliases.find(m.bare(g.name)); name != "" {
			g.name = name
			about = append(about, namesOf(g.template, g.members))
		}
	}
	if about != nil {
		m.find(finding.New("HFI706", fmt.Sprintf("%s: the names are those of the library's modules", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}

// isStrange reports whether a name is neither expected nor that of a companion
// of an expected weight.
func (m *matching) isStrange(name string) bool {
	if m.slots.byTemplate[name] != nil {
		return false
	}
	for _, suffix := range suffixes {
		if stem, ok := strings.CutSuffix(name, suffix); ok && (m.slots.byTemplate[stem+".weight"] != nil || m.slots.byTemplate[stem] != nil) {
			return false
		}
	}
	return true
}

// bare takes the body's prefix off a name and marks its place.
func (m *matching) bare(name string) string {
	if rest, ok := strings.CutPrefix(name, "model."); ok {
		name = rest
	}
	return "^" + name
}

// nameAliases gives names of files by names in memory, "" for those that are
// not of one tensor.
type nameAliases map[string]string

// moduleAliases lists the names in memory of what the file does not hold.
func (m *matching) moduleAliases(stored map[string]bool) nameAliases {
	list := make(nameAliases)
	add := func(template string) {
		if stored[template] {
			return
		}
		for _, alias := range inMemory(m.bare(template)) {
			if other, ok := list[alias]; ok && other != template {
				list[alias] = ""
				continue
			}
			list[alias] = template
		}
	}
	for _, s := range m.slots.all {
		add(s.Template)
	}
	for _, s := range m.slots.all { // in memory experts are stacked and convolutions side by side
		if experts, _, ok := strings.Cut(s.Template, ".experts.*."); ok {
			add(experts + ".experts.gate_up_proj")
			add(experts + ".experts.down_proj")
		}
		if mixer, ok := strings.CutSuffix(s.Template, ".q_conv1d.weight"); ok {
			add(mixer + ".conv1d.weight")
		}
	}
	return list
}

// find looks a name up, or the weight of the same module.
func (a nameAliases) find(name string) string {
	if known := a[name]; known != "" {
		return known
	}
	module, ending := cutLast(name)
	if known, ok := strings.CutSuffix(a[joined(module, "weight")], "weight"); ok && ending != "bias" {
		return known + ending
	}
	return ""
}

// inMemory lists what a name may be in memory: any of the exchanges applied that
// can be.
func inMemory(name string) []string {
	list, seen := []string{name}, map[string]bool{name: true}
	for i := 0; i < len(list); i++ {
		for _, n := range moduleNames {
			if !strings.Contains(list[i], n[0]) || strings.Contains(n[1], n[0]) && strings.Contains(list[i], n[1]) || len(list) == mostAliases {
				continue // not in it, or exchanged before
			}
			if changed := strings.Replace(list[i], n[0], n[1], 1); !seen[changed] {
				seen[changed] = true
				list = append(list, changed)
			}
		}
	}
	return list[1:]
}

// joinConvolutions claims the convolutions of queries, keys and values that lie
// side by side in one tensor, as they do in memory.
func (a *arrangement) joinConvolutions() {
	var about []string
	a.eachGroup(func(g *group) {
		mixer, ok := strings.CutSuffix(g.name, ".conv1d.weight")
		if !ok {
			return
		}
		parts := []string{mixer + ".q_conv1d.weight", mixer + ".k_conv1d.weight", mixer + ".v_conv1d.weight"}
		if folded := a.claimWhole(g, parts); folded != "" {
			about = append(about, folded)
		}
	})
	if about != nil {
		a.find(finding.New("HFI706", fmt.Sprintf("%s: convolutions side by side, as the library has them in memory", strings.Join(finding.Names(about), ", "))).About(about...))
	}
}
