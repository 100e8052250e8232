package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
)

// writeAdapter writes what adapter this is, on what, and how large beside it.
func writeAdapter(w io.Writer, a *inspect.Adapter, style Style) {
	if a == nil {
		return
	}
	for _, line := range adapterText(a) {
		fmt.Fprintln(w, clip("  "+Safe(line), style.Width))
	}
	fmt.Fprintln(w)
}

func adapterText(a *inspect.Adapter) []string {
	method := "adapter of unknown method"
	if a.Method != "" {
		method = a.Method
	}
	if len(a.Ranks) > 1 {
		method += fmt.Sprintf(" of ranks %s", joinNumbers(a.Ranks))
	} else if a.Rank != nil {
		method += fmt.Sprintf(" of rank %d", *a.Rank)
	}
	if len(a.Targets) > 0 {
		method += " on " + strings.Join(a.Targets, ", ")
	}
	if a.Modules > 0 {
		method += fmt.Sprintf(": %s", plural(a.Modules, "module"))
		if a.Layers != "" {
			method += " of layers " + strings.Trim(a.Layers, "{}")
		}
	}
	lines := []string{method}
	if a.Trainable == nil {
		return lines
	}
	share := Thousands(*a.Trainable) + " trainable parameters"
	if a.ShareOfBase != nil && a.BaseParameters != nil {
		share += fmt.Sprintf(", %.3g %% of the base's %s", 100**a.ShareOfBase, Thousands(*a.BaseParameters))
	}
	if a.Base != "" {
		share += " (" + a.Base + ")"
	}
	return append(lines, share)
}

func joinNumbers(numbers []int64) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, ", ")
}

// adapterRows writes the same as rows of a sheet.
func adapterRows(c cells, name string, a *inspect.Adapter) {
	if a == nil {
		return
	}
	for _, line := range adapterText(a) {
		c.Write([]string{name, "adapter", "", "", "", Safe(line)})
	}
	c.Write([]string{name, "adapter", "trainable parameters", number(a.Trainable), "", ""})
	c.Write([]string{name, "adapter", "parameters of the base", number(a.BaseParameters), "", Safe(a.Base)})
}

// meaningOf says what a count means, of an adapter where it is one.
func meaningOf(d *inspect.Definition, a *inspect.Adapter) string {
	if a == nil {
		return d.Meaning
	}
	return adapterMeaning(d.Name, d.Meaning)
}

// adapterMeaning says what a count means for an adapter.
func adapterMeaning(name, meaning string) string {
	switch name {
	case "unique parameters":
		return "the adapter's own, without copies of the base and shared projections"
	case "estimated from config":
		return "what the adapter's config and the base call for in the file"
	}
	return meaning
}

// planLines writes what an adapter's config and base call for: there is no
// formula.
func planLines(t *table, formula *inspect.Formula, rows []reconcile.Row, counts *inspect.Counts) {
	if formula.DerivedValue != nil || counts.EstimatedParameters == nil {
		return
	}
	for _, row := range rows {
		if row.Stage == reconcile.FormulaStage {
			t.add(signed(row))
		}
	}
	t.strong("= from the config and the base", Thousands(*counts.EstimatedParameters), "")
}
