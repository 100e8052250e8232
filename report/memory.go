package report

import (
	"fmt"
	"io"
	"math/big"

	"github.com/hf-inspect/hf-inspect/cost"
)

// ModelMemory is what one model takes.
type ModelMemory struct {
	SchemaVersion string `json:"schema_version"`
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	*cost.Memory
}

// Memory writes what models take: one in full, several as a table.
func Memory(w io.Writer, format string, all []ModelMemory, style Style, explain bool) error {
	if done, err := several(w, format, all); done {
		return err
	}
	if len(all) == 1 && format == "text" {
		memoryInFull(w, &all[0], style, explain)
		return nil
	}
	g := &grid{columns: []string{"model", "dtype", "batch:", "seq:", "weights:", "KV:", "activations:", "gradients:", "optimizer:", "total bytes:", "", "fits"}}
	for i := range all {
		m := &all[i]
		g.rows = append(g.rows, []string{Safe(m.Model), m.DType, Thousands(m.Batch), Thousands(m.Seq), bigOrNone(m.Weights), bigOrNone(m.KV),
			bigOrNone(m.Activations), bigOrNone(m.Gradients), bigOrNone(m.Optimizer), Big(m.Total), BothBytes(m.Total), fitsText(m.Fits)})
	}
	return g.writeHeaded(w, format)
}

func bigOrNone(n *big.Int) string {
	if n == nil {
		return ""
	}
	return Big(n)
}

// BothBytes writes a size in decimal and in binary units.
func BothBytes(n *big.Int) string {
	if !n.IsInt64() {
		return BinaryBytes(n)
	}
	return Bytes(n.Int64()) + " = " + BinaryBytes(n)
}

func fitsText(fits []cost.Fit) string {
	text := ""
	for i, f := range fits {
		if i > 0 {
			text += ", "
		}
		if f.Fits {
			text += f.Accelerator
		} else {
			text += "not " + f.Accelerator
		}
	}
	return text
}

func memoryInFull(w io.Writer, m *ModelMemory, style Style, explain bool) {
	title := fmt.Sprintf("%s · %s · %s · batch %s · %s tokens · %s", m.Model, m.Architecture, m.Mode, Thousands(m.Batch), Thousands(m.Seq), m.DType)
	if m.Devices > 1 {
		title += fmt.Sprintf(" · each of %s devices", Thousands(m.Devices))
	}
	fmt.Fprintln(w, clip(Safe(title), style.Width))
	fmt.Fprintln(w)
	t := &table{indent: "  "}
	memoryLines(t, m)
	for i := range m.Fits {
		fitLines(t, &m.Fits[i], m)
	}
	t.write(w, style)
	if explain {
		writeFormulas(w, m.Formulas, style)
	}
	fmt.Fprintln(w)
	for _, a := range m.Assumptions {
		fmt.Fprintln(w, wrap("  "+Safe(a), style.Width, "    "))
	}
}

func memoryLines(t *table, m *ModelMemory) {
	for _, row := range []struct {
		name  string
		bytes *big.Int
	}{
		{"weights", m.Weights}, {"KV cache", m.KV}, {"activations", m.Activations}, {"layer computed again", m.Recomputed},
		{"gradients", m.Gradients}, {"optimizer", m.Optimizer},
	} {
		if row.bytes != nil && (row.bytes.Sign() > 0 || row.name != "layer computed again") {
			t.add("+ "+row.name, Big(row.bytes), BothBytes(row.bytes))
		}
	}
	t.strong("= bytes in all", Big(m.Total), BothBytes(m.Total))
	t.add("  overhead, beside", Big(m.Overhead), "an assumption")
	if m.Korthikanti != nil {
		t.add("  activations by Korthikanti", Big(m.Korthikanti.TotalBytes), m.Korthikanti.Formula)
	}
}

func fitLines(t *table, f *cost.Fit, m *ModelMemory) {
	t.blank()
	answer := "fits"
	if !f.Fits {
		answer = "does not fit"
	}
	t.strong(f.Accelerator, answer, BothBytes(f.MemoryBytes)+" each, "+f.Source)
	if f.Devices != nil {
		t.add("  devices needed", Thousands(*f.Devices), "if all is shared out evenly")
	}
	t.add("  largest batch", Thousands(f.LargestB), fmt.Sprintf("at %s tokens", Thousands(m.Seq)))
	t.add("  largest sequence", Thousands(f.LargestS), fmt.Sprintf("at batch %s", Thousands(m.Batch)))
	if s := f.Speed; s != nil {
		t.add("  decode step", fmt.Sprintf("%.4g ms", 1e3*s.DecodeSeconds), fmt.Sprintf("bound by %s: %.4g FLOP/byte, ridge %.4g; %.4g tokens/s", s.DecodeBound, s.Intensity, s.Ridge, s.TokensPerSecond))
		t.add("  prefill", fmt.Sprintf("%.4g ms", 1e3*s.PrefillSeconds), fmt.Sprintf("bound by %s: %s", s.PrefillBound, scientific(s.PrefillFLOPs)))
	}
}

// writeFormulas writes each figure's formula in symbols, in numbers, and its result.
func writeFormulas(w io.Writer, formulas []cost.Formula, style Style) {
	for _, f := range formulas {
		fmt.Fprintln(w)
		fmt.Fprintln(w, wrap("  "+Safe(f.Name+" = "+f.Symbols), style.Width, "      "))
		if f.Numbers != "" && f.Numbers != f.Symbols {
			fmt.Fprintln(w, wrap("    = "+Safe(f.Numbers), style.Width, "      "))
		}
		fmt.Fprintln(w, "    = "+resultText(f.Result)+" "+f.Unit)
	}
}

func resultText(result any) string {
	if n, ok := result.(*big.Int); ok {
		return Big(n)
	}
	return fmt.Sprintf("%.6g", result)
}
