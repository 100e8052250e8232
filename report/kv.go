package report

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/hf-inspect/hf-inspect/cost"
)

// ModelKV is what one model keeps.
type ModelKV struct {
	SchemaVersion string `json:"schema_version"`
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	cost.KV
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
