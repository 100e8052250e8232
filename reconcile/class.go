package reconcile

import (
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// GuessClass chooses, among classes that share a body, the one whose tensors are
// those of the file: for a config that names no class. Of equals the first wins.
func GuessClass(config *hfconfig.Config, checkpoint *safetensors.Checkpoint, candidates []string) string {
	stored := make(map[string]bool)
	groups, _ := foldCheckpoint(checkpoint, func(string) bool { return false })
	for _, g := range groups {
		stored[modernName(g.template)] = true
	}
	best, bestScore := candidates[0], -1<<31
	for _, class := range candidates {
		model, err := estimator.Describe(config, class)
		if err != nil {
			continue
		}
		if score := resemblance(model, stored); score > bestScore {
			best, bestScore = class, score
		}
	}
	return best
}

// resemblance is the number of stored names that the model calls for less those
// that it lacks, the base prefix aside.
func resemblance(model *estimator.Model, stored map[string]bool) int {
	score := 0
	for _, t := range model.Tensors() {
		bare := strings.TrimPrefix(t.Template, model.Prefix+".")
		switch found := stored[t.Template] || stored[bare] && model.Prefix != ""; {
		case found:
			score += 2
		case t.TiedTo == "" && !t.Buffer:
			score -= 2
		}
	}
	if model.Prefix == "" {
		score++ // a body saved alone has no prefix
	}
	return score
}
