package reconcile

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// inferredRoles guess what a tensor is for from the words in its name, first
// match first.
var inferredRoles = []struct {
	role  string
	words []string
}{
	{"norm", []string{"norm", "ln_", ".ln", "gamma", "beta"}},
	{"router", []string{"router", "gate.weight", "gate.wg"}},
	{"shared_experts", []string{"shared_expert"}},
	{"routed_experts", []string{"expert"}},
	{"position_embedding", []string{"position_emb", "pos_emb", "wpe", "embed_positions", "relative_attention_bias"}},
	{"type_embedding", []string{"token_type"}},
	{"token_embedding", []string{"embed_tokens", "word_embeddings", "wte", "tok_embeddings", "embed_in", "shared.weight"}},
	{"head", []string{"lm_head", "embed_out", "output.weight", "output_projection"}},
	{"state_space", []string{"mixer.", "mamba", "ssm", "A_log", "dt_bias"}},
	{"attention", []string{"attn", "attention", "q_proj", "k_proj", "v_proj", "o_proj", "query", "key", "value"}},
	{"mlp", []string{"mlp", "ffn", "feed_forward", "fc1", "fc2", "gate_proj", "up_proj", "down_proj", "intermediate", "dense_h_to_4h", "dense_4h_to_h", "wi", "wo"}},
	{"pooler", []string{"pooler"}},
	{"classifier", []string{"classifier", "score", "qa_outputs"}},
	{"convolution", []string{"conv"}},
	{"projector", []string{"projector", "projection", "mm_"}},
}

// inferRole guesses the role of a tensor from its name.
func inferRole(name string) string {
	for _, r := range inferredRoles {
		for _, word := range r.words {
			if strings.Contains(name, word) {
				return r.role
			}
		}
	}
	return "other"
}

// wholeNumbers are the element types of places, routes and counters: no weight is
// stored in them as it is.
var wholeNumbers = oneOf(safetensors.I64, safetensors.U64, safetensors.BOOL)

// inferAll counts a checkpoint without a description: the ledger starts at 0 and
// its rows are the inferred roles.
func (m *matching) inferAll() {
	sums := make(map[string]int64)
	examples := make(map[string][]string)
	var order []string
	count := func(g *group, role string, taken []member) {
		if taken == nil {
			return
		}
		if _, known := sums[role]; !known {
			order = append(order, role)
		}
		sums[role] += g.each() * int64(len(taken))
		if len(examples[role]) < finding.MostNames {
			examples[role] = append(examples[role], namesOf(g.template, taken))
		}
	}
	buffers := m.inferBuffers()
	m.eachGroup(func(g *group) {
		isBuffer := buffers.of(g)
		count(g, "buffer", m.claimIf(g, Buffer, "buffer", 0, isBuffer))
		role := inferRole(g.name)
		count(g, role, m.claimIf(g, Inferred, role, g.each(), func(*member) bool { return true }))
	})
	for _, role := range order {
		m.addRow(role, "inferred from names", "", sums[role], examples[role])
	}
	m.claimLoose(Inferred)
	if n := buffers.frozen; n > 0 {
		m.find(finding.New("HFI406", fmt.Sprintf("%s elements of weights and biases are taken for those of frozen batch norms, no parameters: they have statistics and no num_batches_tracked beside them", finding.Number(n))))
	}
}
