package adapter

import "github.com/hf-inspect/hf-inspect/estimator"

const embeddingKind = estimator.EmbeddingKind

// prompts describes methods that train virtual tokens: the file holds what the
// encoder made of them, not the encoder.
func (p *planner) prompts() error {
	q := &p.config.Prompt
	tokens, dim := q.Tokens*max(q.Submodules, 1), q.Dim
	if q.Tokens <= 0 || dim <= 0 || tokens > 1<<40 || dim > 1<<40 {
		return &SizeError{"prompt_embeddings", "num_virtual_tokens and token_dim have to be set"}
	}
	width := dim
	switch p.config.Method {
	case "PROMPT_TUNING":
	case "PREFIX_TUNING":
		if q.Layers <= 0 || q.Layers > 1<<20 || q.Hidden < 0 || q.Hidden > 1<<30 {
			return &SizeError{"prompt_embeddings", "num_layers has to be set"}
		}
		tokens, width = q.Tokens, 2*q.Layers*dim
		if q.Projection {
			p.plan.Trainable = q.Tokens*dim + linear(dim, q.Hidden) + linear(q.Hidden, width)
		}
	case "P_TUNING":
		if q.Hidden < 0 || q.Hidden > 1<<30 || q.EncoderLayers < 0 || q.EncoderLayers > 1<<20 {
			return &SizeError{"prompt_embeddings", "encoder_hidden_size is out of bounds"}
		}
		p.plan.Trainable = tokens*dim + p.encoder(max(q.Hidden, 0))
	case "MULTITASK_PROMPT_TUNING":
		tasks, ranks := p.config.Fields.IntOr("num_tasks", 1), p.config.Fields.IntOr("num_ranks", 1)
		p.add("prefix_task_cols", nil, Prompt, tasks, tokens, ranks)
		p.add("prefix_task_rows", nil, Prompt, tasks, ranks, dim)
	default:
		return &MethodError{p.config.Method}
	}
	p.add("prompt_embeddings", nil, Prompt, tokens, width)
	return p.numbered()
}

// encoder counts p-tuning's encoder, which is trained and not stored.
func (p *planner) encoder(hidden int64) int64 {
	q := &p.config.Prompt
	if q.Encoder != "LSTM" {
		return linear(q.Dim, hidden) + linear(hidden, hidden) + linear(hidden, q.Dim)
	}
	n, in := int64(0), q.Dim
	for range q.EncoderLayers {
		n += 2 * 4 * hidden * (in + hidden + 2) // both directions, four gates, two biases
		in = 2 * hidden
	}
	return n + linear(2*hidden, 2*hidden) + linear(2*hidden, q.Dim)
}

// linear counts a linear map with its bias.
func linear(in, out int64) int64 { return in*out + out }
