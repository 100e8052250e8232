package report

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
)

// ModelFLOPs is what one pass of one model costs.
type ModelFLOPs struct {
	SchemaVersion string `json:"schema_version"`
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	cost.FLOPs
}

// FLOPs writes the costs of passes: one in full, several as a table.
func FLOPs(w io.Writer, format string, all []ModelFLOPs, style Style, explain bool) error {
	if done, err := several(w, format, all); done {
		return err
	}
	if format == "csv" {
		return flopsSheet(all).write(w)
	}
	if len(all) == 1 {
		return flopsPage(&all[0], explain).write(w, format, style)
	}
	g := &grid{columns: []string{"model", "batch:", "tokens:", "past:", "forward FLOPs:", "training FLOPs:", "linear A:", "A share:", "attention B:", "B share:", "textbook:"}}
	for i := range all {
		f := &all[i]
		past, training := "", Big(f.Training)
		if f.Past > 0 {
			past, training = Thousands(f.Past), ""
		}
		g.rows = append(g.rows, []string{Safe(f.Model), Thousands(f.Batch), Thousands(f.Seq), past, Big(f.Forward), training,
			Big(f.Linear), percent(1 - f.AttentionShare), Big(f.Attention), percent(f.AttentionShare), conventionNamed(f.Conventions, "textbook")})
	}
	return g.fitted(w, format, style, "textbook:", "A share:", "training FLOPs:", "linear A:", "attention B:", "batch:")
}

func conventionNamed(list []cost.Convention, name string) string {
	i := slices.IndexFunc(list, func(c cost.Convention) bool { return c.Name == name })
	if i < 0 {
		return ""
	}
	return Big(list[i].FLOPs)
}

// flopsSheet has a row for each pass with every figure.
func flopsSheet(all []ModelFLOPs) *sheet {
	s := new(sheet)
	for i := range all {
		f := &all[i]
		s.row()
		s.fill([]field{{"model", Safe(f.Model)}, {"architecture", f.Architecture}, {"batch_sequences", f.Batch}, {"new_tokens", f.Seq}, {"cached_tokens", f.Past}, {"images", f.Images},
			{"forward_flops", f.Forward}, {"backward_flops", f.Backward}, {"training_flops", f.Training}, {"linear_flops", f.Linear},
			{"linear_share", 1 - f.AttentionShare}, {"attention_flops", f.Attention}, {"attention_share", f.AttentionShare}})
		for _, c := range f.Components {
			s.set("component_"+columnName(c.Name)+"_flops", c.FLOPs)
		}
		for _, c := range f.Conventions {
			s.set("convention_"+columnName(c.Name)+"_flops", c.FLOPs)
		}
		for _, l := range f.Layers {
			s.set(columnName(strings.ReplaceAll(layersText(l.Layers), "–", "_to_"))+"_flops", l.Each)
		}
		for _, b := range f.Bounds {
			s.set(b.Accelerator+"_peak_flops_per_second", b.Peak)
			s.set(b.Accelerator+"_forward_at_least_seconds", b.ForwardSeconds)
			s.set(b.Accelerator+"_training_at_least_seconds", b.TrainingSeconds)
		}
	}
	return s
}

func flopsPage(f *ModelFLOPs, explain bool) *page {
	cached := ""
	if f.Past > 0 {
		cached = Thousands(f.Past) + " cached"
	}
	t := &table{indent: "  ", wraps: true, columns: [3]string{"", "FLOPs", ""}}
	sequences, tokens, images := passWords(f.Batch, f.Seq, "new token", &f.Shown)
	t.heading("forward pass")
	for _, c := range f.Components {
		if c.FLOPs.Sign() > 0 || c.Name == "embeddings" {
			t.add("+ "+strings.ReplaceAll(c.Name, "_", " "), Big(c.FLOPs), bigShare(c.FLOPs, f.Forward))
		}
	}
	t.strong("= forward FLOPs", Big(f.Forward), scientific(f.Forward)+", exact")
	if f.Attention.Sign() > 0 && f.Linear.Sign() > 0 {
		t.add("  linear part A", Big(f.Linear), percent(1-f.AttentionShare)+", matrices of parameters")
		t.add("  attention part B", Big(f.Attention), percent(f.AttentionShare)+", scores and values")
	}
	for _, l := range f.Layers {
		t.add("  "+layersText(l.Layers), Big(l.Each), "")
	}
	for _, b := range f.Bounds {
		t.add("  at least, on "+b.Accelerator, duration(b.ForwardSeconds), peakText(&b))
	}
	conventionLines(t, f, "forward", "forward pass, counted otherwise")
	if f.Past == 0 {
		t.blank()
		trainingStepLines(t, f)
	}
	p := &page{about: []string{f.Model, f.Architecture, sequences, tokens, cached, images},
		tables: []*table{t}, notes: f.Assumptions}
	if explain {
		p.explain(f.Formulas)
	}
	return p
}

// passWords says what is run: sequences of tokens and images beside them, or
// images alone.
func passWords(batch, seq int64, token string, shown *cost.Shown) (sequences, tokens, images string) {
	size := ""
	switch {
	case len(shown.Grids) > 0:
		size = " of " + gridWords(shown.Grids) + " patches"
	case shown.ImageSide > 0:
		size = fmt.Sprintf(" of %d pixels a side", shown.ImageSide)
	}
	switch {
	case shown.ImageOnly:
		return plural(batch, "image") + size, plural(seq, "token") + " each", ""
	case shown.Images > 0:
		images = plural(shown.Images, "image") + size
	}
	return "batch " + Thousands(batch), plural(seq, token), images
}

// gridWords names the sizes of images, each once.
func gridWords(grids []estimator.Grid) string {
	var words []string
	for _, g := range grids {
		if word := fmt.Sprintf("%d×%d×%d", g.Frames, g.Rows, g.Columns); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if rest := len(words) - 3; rest > 0 {
		words = append(words[:3], fmt.Sprintf("%d other sizes", rest))
	}
	return strings.Join(words, ", ")
}

func trainingStepLines(t *table, f *ModelFLOPs) {
	t.heading("training step")
	t.add("+ forward", Big(f.Forward), "")
	t.add("+ backward", Big(f.Backward), "")
	again := new(big.Int).Sub(f.Training, f.Forward)
	if again.Sub(again, f.Backward).Sign() > 0 {
		t.add("+ layers computed again", Big(again), "")
	}
	t.strong("= training FLOPs", Big(f.Training), scientific(f.Training))
	for _, b := range f.Bounds {
		t.add("  at least, on "+b.Accelerator, duration(b.TrainingSeconds), peakText(&b))
	}
	conventionLines(t, f, "training", "training step, counted otherwise")
}

// layersText writes a set of layers for a reader: encoder{0..11} is each of
// encoder layers 0–11.
func layersText(set string) string {
	tower, numbers, _ := strings.Cut(strings.TrimSuffix(set, "}"), "{")
	numbers = strings.NewReplacer("..", "–", ",", ", ").Replace(numbers)
	if strings.ContainsAny(numbers, "–,") {
		return strings.TrimSpace("each of "+strings.TrimSpace(tower+" layers")) + " " + numbers
	}
	return strings.TrimSpace(tower+" layer") + " " + numbers
}

func peakText(b *cost.Bound) string {
	return fmt.Sprintf("at the %s peak of %s TFLOP/s", b.DType, rounded(b.Peak/1e12))
}

// conventionLines shows what else is called the FLOPs of a pass. What the text
// has in another row, or what nobody asked for, is in JSON and CSV alone.
func conventionLines(t *table, f *ModelFLOPs, of, heading string) {
	recomputes := new(big.Int).Sub(f.Training, f.Forward).Cmp(f.Backward) > 0
	for _, c := range f.Conventions {
		switch {
		case c.Of != of, c.Name == "exact matmul", strings.HasSuffix(c.Name, ", recomputed") && !recomputes:
		case c.FLOPs.Sign() > 0:
			if heading != "" {
				t.blank()
				t.heading(heading)
				heading = ""
			}
			t.add("  "+c.Name, Big(c.FLOPs), c.Formula)
		}
	}
}
