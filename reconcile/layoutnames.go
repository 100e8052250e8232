package reconcile

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// renameInMemory turns names of sparse blocks as newer libraries have them in
// memory, and save them when asked to, into those of files.
func (m *matching) renameInMemory() {
	const inFiles, inMemory = ".block_sparse_moe.", ".mlp."
	known := false
	for template := range m.slots.byTemplate {
		if strings.Contains(template, inMemory) {
			return // dense and sparse blocks in one model: the names say which
		}
		known = known || strings.Contains(template, inFiles)
	}
	if !known {
		return
	}
	var about []string
	for _, g := range m.groups {
		if m.slots.byTemplate[g.name] == nil && strings.Contains(g.name, inMemory) {
			g.name = strings.Replace(g.name, inMemory, inFiles, 1)
			about = append(about, namesOf(g.template, g.members))
		}
	}
	if about != nil {
		m.find(finding.New("HFI706", fmt.Sprintf("sparse blocks are named %q instead of %q", strings.Trim(inMemory, "."), strings.Trim(inFiles, "."))).About(about...))
	}
}

// originalNames are the names of llama-like models as their makers store them,
// beside those of the library.
var originalNames = [][2]string{
	{"tok_embeddings.weight", "model.embed_tokens.weight"},
	{"output.weight", "lm_head.weight"},
	{"norm.weight", "model.norm.weight"},
	{"layers.*.attention.wq.", "model.layers.*.self_attn.q_proj."},
	{"layers.*.attention.wk.", "model.layers.*.self_attn.k_proj."},
	{"layers.*.attention.wv.", "model.layers.*.self_attn.v_proj."},
	{"layers.*.attention.wo.", "model.layers.*.self_attn.o_proj."},
	{"layers.*.attention_norm.weight", "model.layers.*.input_layernorm.weight"},
	{"layers.*.ffn_norm.weight", "model.layers.*.post_attention_layernorm.weight"},
	{"layers.*.feed_forward.w1.", "model.layers.*.mlp.gate_proj."},
	{"layers.*.feed_forward.w2.", "model.layers.*.mlp.down_proj."},
	{"layers.*.feed_forward.w3.", "model.layers.*.mlp.up_proj."},
	{"layers.*.block_sparse_moe.", "model.layers.*.block_sparse_moe."},
	{"layers.*.feed_forward.gate.weight", "model.layers.*.block_sparse_moe.gate.weight"},
	{"layers.*.feed_forward.experts.", "model.layers.*.block_sparse_moe.experts."},
}

// renameOriginal exchanges the names of a model's makers for the library's,
// where the file has no others.
func (m *matching) renameOriginal() {
	renamed := make(map[*group]string)
	for _, g := range m.groups {
		if m.slots.byTemplate[g.name] != nil {
			if !isOriginal(g.name) {
				return
			}
			continue
		}
		for _, n := range originalNames {
			if rest, ok := strings.CutPrefix(g.name, n[0]); ok && m.slots.byTemplate[n[1]+rest] != nil {
				renamed[g] = n[1] + rest
			}
		}
	}
	if len(renamed) < fewestRenamed {
		return
	}
	for g, name := range renamed {
		g.name = name
	}
	m.find(finding.New("HFI707", "the names are those of the model's makers, such as tok_embeddings and attention.wq"))
}

func isOriginal(name string) bool {
	for _, n := range originalNames {
		if strings.HasPrefix(name, n[0]) {
			return true
		}
	}
	return false
}
