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

// ModelKV is what one model keeps.
type ModelKV struct {
	SchemaVersion string `json:"schema_version"`
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	cost.KV
}

// several writes a single value as JSON, or several one a line.
func several[T any](w io.Writer, format string, values []T) (done bool, err error) {
	if format == "json" && len(values) == 1 {
		return true, JSON(w, &values[0], true)
	}
	if format == "json" || format == "jsonl" {
		return list(w, "jsonl", values)
	}
	return false, nil
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
		t.add("  at least, on "+b.Accelerator, fmt.Sprintf("%.4g ms", 1e3*b.ForwardSeconds), peakText(&b))
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
		t.add("  at least, on "+b.Accelerator, fmt.Sprintf("%.4g ms", 1e3*b.TrainingSeconds), peakText(&b))
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
	return fmt.Sprintf("at the %s peak of %.4g TFLOP/s", b.DType, b.Peak/1e12)
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

// KVCaches writes caches: one in full, several as a table.
func KVCaches(w io.Writer, format string, all []ModelKV, style Style, explain bool) error {
	if done, err := several(w, format, all); done {
		return err
	}
	if format == "csv" {
		return kvSheet(all).write(w)
	}
	if len(all) == 1 {
		return kvPage(&all[0], explain).write(w, format, style)
	}
	g := &grid{columns: []string{"model", "dtype", "batch:", "tokens:", "bytes:", "size:", "bytes a token:", "cache of"}}
	for i := range all {
		k := &all[i]
		g.rows = append(g.rows, []string{Safe(k.Model), k.DType, Thousands(k.Batch), Thousands(k.Tokens), Big(k.TotalBytes), BinaryBytes(k.TotalBytes), Big(k.BytesPerToken), cacheOf(k)})
	}
	return g.fitted(w, format, style, "cache of", "bytes a token:", "bytes:", "batch:")
}

// cacheOf names whose cache is meant, in a word or two.
func cacheOf(k *ModelKV) string {
	switch {
	case len(k.Layers) == 0:
		return "none: encoder"
	case k.Expanded && k.Latent:
		return k.Convention + ", expanded"
	}
	return k.Convention
}

// kvSheet has a row for each cache with every figure.
func kvSheet(all []ModelKV) *sheet {
	s := new(sheet)
	for i := range all {
		k := &all[i]
		s.row()
		s.fill([]field{{"model", Safe(k.Model)}, {"architecture", k.Architecture}, {"dtype", k.DType}, {"batch_sequences", k.Batch}, {"cached_tokens", k.Tokens},
			{"total_bytes", k.TotalBytes}, {"per_token_bytes", k.BytesPerToken}, {"state_bytes", k.StateBytes}, {"convention", k.Convention},
			{"expanded", k.Expanded}, {"block_tokens", k.BlockTokens}})
		for _, group := range foldCache(k.Layers) {
			name := columnName(group.kind)
			if group.window > 0 {
				name += fmt.Sprintf("_%d", group.window)
			}
			for n, base := 2, name; s.rows[i][name+"_layers"] != ""; n++ { // a kind in two sizes
				name = fmt.Sprintf("%s_size%d", base, n)
			}
			s.set(name+"_layers", group.count)
			s.set(name+"_each_bytes", group.each)
			s.set(name+"_bytes", group.total)
		}
	}
	return s
}

func kvPage(k *ModelKV, explain bool) *page {
	if len(k.Layers) == 0 {
		return &page{about: []string{k.Model, k.Architecture}, notes: []string{"encoder: no cache"}}
	}
	t := &table{indent: "  ", wraps: true, columns: [3]string{"", "bytes", ""}}
	for _, group := range foldCache(k.Layers) {
		t.add(fmt.Sprintf("+ %s, %s", plural(int64(group.count), "layer"), group.text()), Big(group.total), fmt.Sprintf("%s bytes each", Big(group.each)))
	}
	t.strong("= bytes in all", Big(k.TotalBytes), BothBytes(k.TotalBytes))
	if k.BytesPerToken.Sign() > 0 {
		t.add("  bytes per token", Big(k.BytesPerToken), "one sequence, all attention layers, no window full")
	}
	if k.StateBytes.Sign() > 0 {
		t.add("  fixed states", Big(k.StateBytes), "bytes in all, whatever the length")
	}
	p := &page{about: []string{k.Model, k.Architecture, k.DType, "batch " + Thousands(k.Batch), plural(k.Tokens, "cached token"), "as " + conventionText(k)},
		tables: []*table{t}, notes: k.Assumptions}
	if explain {
		p.explain(k.Formulas)
	}
	return p
}

func conventionText(k *ModelKV) string {
	whose := "serving engines store it"
	if k.Convention == "library" {
		whose = "the reference library's cache holds it"
	}
	if k.Latent && k.Expanded {
		whose += ", latents expanded to full keys and values"
	}
	return whose
}

// cacheFold is layers of one kind that keep the same.
type cacheFold struct {
	kind        string
	window      int64
	count       int
	each, total *big.Int
}

func (f cacheFold) text() string {
	if f.window > 0 {
		return fmt.Sprintf("%s of %s", f.kind, Thousands(f.window))
	}
	return f.kind
}

func foldCache(layers []cost.KVLayer) []cacheFold {
	var folds []cacheFold
	for _, l := range layers {
		i := slices.IndexFunc(folds, func(f cacheFold) bool { return f.kind == l.Kind && f.window == l.Window && f.each.Cmp(l.Bytes) == 0 })
		if i < 0 {
			folds = append(folds, cacheFold{l.Kind, l.Window, 0, l.Bytes, new(big.Int)})
			i = len(folds) - 1
		}
		folds[i].count++
		folds[i].total.Add(folds[i].total, l.Bytes)
	}
	return folds
}

// Big writes a large whole number with separators.
func Big(n *big.Int) string {
	digits := n.String()
	first := 0
	if n.Sign() < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func bigShare(part, whole *big.Int) string {
	if whole.Sign() == 0 {
		return ""
	}
	f, _ := new(big.Rat).SetFrac(part, whole).Float64()
	return percent(f)
}

// scientific writes a count of FLOPs with its usual prefix.
func scientific(n *big.Int) string {
	f, _ := new(big.Float).SetInt(n).Float64()
	units := []string{"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP", "YFLOP"}
	i := 0
	for f >= 1000 && i < len(units)-1 {
		f /= 1000
		i++
	}
	return fmt.Sprintf("%.4g %s", f, units[i])
}

// BinaryBytes writes a size in binary units: GiB is 2³⁰ bytes.
func BinaryBytes(n *big.Int) string {
	f, _ := new(big.Float).SetInt(n).Float64()
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%.0f bytes", f)
	}
	return fmt.Sprintf("%.2f %s", f, units[i])
}
