package report

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/hf-inspect/hf-inspect/cost"
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
	if len(all) == 1 && format == "text" {
		flopsInFull(w, &all[0], style)
		if explain {
			writeFormulas(w, all[0].Formulas, style)
		}
		return nil
	}
	g := &grid{columns: []string{"model", "batch:", "tokens:", "past:", "forward FLOPs:", "training FLOPs:", "linear A:", "share:", "attention B:", "share:", "textbook:"}}
	for i := range all {
		f := &all[i]
		g.rows = append(g.rows, []string{Safe(f.Model), Thousands(f.Batch), Thousands(f.Seq), Thousands(f.Past), Big(f.Forward), Big(f.Training),
			Big(f.Linear), percent(1 - f.AttentionShare), Big(f.Attention), percent(f.AttentionShare), conventionNamed(f.Conventions, "textbook")})
	}
	return g.writeHeaded(w, format)
}

func conventionNamed(list []cost.Convention, name string) string {
	i := slices.IndexFunc(list, func(c cost.Convention) bool { return c.Name == name })
	if i < 0 {
		return ""
	}
	return Big(list[i].FLOPs)
}

func flopsInFull(w io.Writer, f *ModelFLOPs, style Style) {
	fmt.Fprintln(w, clip(Safe(fmt.Sprintf("%s · %s · batch %s · %s new tokens, %s cached", f.Model, f.Architecture, Thousands(f.Batch), Thousands(f.Seq), Thousands(f.Past))), style.Width))
	fmt.Fprintln(w)
	t := &table{indent: "  "}
	for _, c := range f.Components {
		if c.FLOPs.Sign() > 0 || c.Name == "embeddings" {
			t.add("+ "+c.Name, Big(c.FLOPs), bigShare(c.FLOPs, f.Forward))
		}
	}
	t.strong("= forward FLOPs", Big(f.Forward), scientific(f.Forward))
	t.add("  linear part A", Big(f.Linear), percent(1-f.AttentionShare))
	t.add("  attention part B", Big(f.Attention), percent(f.AttentionShare))
	t.add("+ backward", Big(f.Backward), "")
	t.strong("= training step", Big(f.Training), scientific(f.Training))
	for _, b := range f.Bounds {
		t.add("  at least, on "+b.Accelerator, fmt.Sprintf("%.4g ms", 1e3*b.ForwardSeconds), fmt.Sprintf("forward, %.4g ms training, at the %s peak of %.4g TFLOP/s", 1e3*b.TrainingSeconds, b.DType, b.Peak/1e12))
	}
	t.blank()
	for _, c := range f.Conventions {
		t.add("  "+c.Name, Big(c.FLOPs), c.Formula)
	}
	t.write(w, style)
}

// KVCaches writes caches: one in full, several as a table.
func KVCaches(w io.Writer, format string, all []ModelKV, style Style, explain bool) error {
	if done, err := several(w, format, all); done {
		return err
	}
	if len(all) == 1 && format == "text" {
		kvInFull(w, &all[0], style)
		if explain {
			writeFormulas(w, all[0].Formulas, style)
		}
		return nil
	}
	g := &grid{columns: []string{"model", "dtype", "batch:", "tokens:", "bytes:", "", "bytes a token:", "convention"}}
	for i := range all {
		k := &all[i]
		g.rows = append(g.rows, []string{Safe(k.Model), k.DType, Thousands(k.Batch), Thousands(k.Tokens), Big(k.TotalBytes), BinaryBytes(k.TotalBytes), Big(k.BytesPerToken), k.Convention})
	}
	return g.writeHeaded(w, format)
}

func kvInFull(w io.Writer, k *ModelKV, style Style) {
	fmt.Fprintln(w, clip(Safe(fmt.Sprintf("%s · %s · %s · batch %s · %s cached tokens · as %s", k.Model, k.Architecture, k.DType, Thousands(k.Batch), Thousands(k.Tokens), conventionText(k.Convention))), style.Width))
	fmt.Fprintln(w)
	t := &table{indent: "  "}
	for _, group := range foldCache(k.Layers) {
		t.add(fmt.Sprintf("+ %s, %s", plural(int64(group.count), "layer"), group.text()), Big(group.total), fmt.Sprintf("%s bytes each", Big(group.each)))
	}
	t.strong("= bytes in all", Big(k.TotalBytes), BinaryBytes(k.TotalBytes))
	t.add("  bytes per token", Big(k.BytesPerToken), "one sequence, all attention layers, no window full")
	if k.StateBytes.Sign() > 0 {
		t.add("  fixed states", Big(k.StateBytes), "whatever the length")
	}
	t.write(w, style)
}

func conventionText(c string) string {
	if c == "library" {
		return "the reference library's cache holds it"
	}
	return "serving engines store it"
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
