package inspect

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/source"
)

// quantisationFiles are where writers keep a quantisation config beside
// config.json.
var quantisationFiles = []string{"quantize_config.json", "quant_config.json", "hf_quant_config.json", "quantization_config.json", "quanto_qmap.json"}

// quantisationBeside reads the quantisation config of a file of its own, for a
// config that has none.
func (a *account) quantisationBeside(ctx context.Context, src source.Source, folder string, files []source.File) *hfconfig.Quantization {
	if a.config != nil {
		if q, _ := a.config.Quantization(); q != nil {
			return nil
		}
	}
	for _, name := range quantisationFiles {
		name = path.Join(folder, name)
		if !slices.ContainsFunc(files, func(f source.File) bool { return f.Path == name }) {
			continue
		}
		data, err := readWhole(ctx, src, name, hfconfig.MaxSize)
		if err != nil {
			continue
		}
		if q, _, _ := hfconfig.ParseQuantization(name, data); q != nil && q.Method != "" {
			return q
		}
	}
	return nil
}

// local reports whether reading a few bytes costs nothing.
func local(src source.Source) bool {
	switch src.Info().Kind {
	case source.Folder, source.SingleFile, source.Cache:
		return true
	}
	return false
}

// fillQuantisation names the method, from the tensors first.
func (in *Inspection) fillQuantisation(a *account, r *reconcile.Result, beside *hfconfig.Quantization) {
	in.Quantisation = r.Quantisation
	if r.Quantisation == nil {
		return
	}
	q := beside
	if q == nil && a.config != nil {
		q, _ = a.config.Quantization()
	}
	in.Model.Quantization = quantisationText(r.Quantisation)
	if q != nil && q.Method == r.Quantisation.Method && q.Bits > 0 {
		in.Model.Quantization = q.String()
	}
}

func quantisationText(q *reconcile.QuantisationSummary) string {
	text := q.Method
	if len(q.Layouts) > 0 {
		text += " " + strings.Join(q.Layouts, " + ")
	}
	if q.Bits > 0 {
		text += fmt.Sprintf(" %d-bit", q.Bits)
	}
	switch {
	case q.GroupSize > 0:
		text += fmt.Sprintf(", groups of %d", q.GroupSize)
	case q.Block != nil:
		text += fmt.Sprintf(", blocks of %d×%d", q.Block[0], q.Block[1])
	}
	return text
}
