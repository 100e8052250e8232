package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
)

// layers writes what one layer of each kind holds, module by module.
func layers(w io.Writer, in *inspect.Inspection, style Style) {
	for _, g := range foldLayers(in.ByLayer) {
		fmt.Fprintf(w, "\n  %s %s\n", Safe(g.first.Stack), plainSet(g.numbers))
		layerTable(&g.first).write(w, style)
	}
}

func layerTable(l *inspect.LayerSum) *table {
	t := &table{indent: "  ", columns: sumColumns}
	for _, m := range l.Modules {
		if !m.Apart {
			t.add("+ "+m.Module, Thousands(m.Elements), "")
		}
	}
	t.strong("= parameters", Thousands(l.Parameters), "each layer")
	if l.Parameters == l.Elements {
		return t
	}
	apart := int64(0)
	for _, m := range l.Modules {
		if m.Apart {
			t.add("+ "+m.Module, Thousands(m.Elements), "no parameter")
			apart += m.Elements
		}
	}
	if packed := l.Elements - l.Parameters - apart; packed != 0 {
		t.add(signed(reconcile.Row{Reason: "weights packed", Elements: packed}))
	}
	t.add("= stored", Thousands(l.Elements), "")
	return t
}

// plainSet writes layer numbers for a reader: 0–47, 3, 5.
func plainSet(set estimator.Indices) string {
	parts := make([]string, len(set))
	for i, r := range set {
		parts[i] = fmt.Sprint(r.First)
		if r.Last > r.First {
			parts[i] += fmt.Sprintf("–%d", r.Last)
		}
	}
	return strings.Join(parts, ", ")
}

// layerFold is a run of layers that hold the same.
type layerFold struct {
	first   inspect.LayerSum
	numbers estimator.Indices
}

func foldLayers(all []inspect.LayerSum) []layerFold {
	var folds []layerFold
	for _, l := range all {
		i := slices.IndexFunc(folds, func(f layerFold) bool {
			return f.first.Stack == l.Stack && f.first.Elements == l.Elements && sameModules(f.first.Modules, l.Modules)
		})
		if i < 0 {
			folds = append(folds, layerFold{first: l})
			i = len(folds) - 1
		}
		folds[i].numbers = folds[i].numbers.Union(estimator.Only(l.Layer))
	}
	return folds
}

func sameModules(a, b []inspect.ModuleSum) bool {
	if len(a) != len(b) {
		return false
	}
	for _, m := range a {
		if !slices.Contains(b, m) {
			return false
		}
	}
	return true
}

// breakdown writes sums by role, dtype, shard or layer.
func breakdown(w io.Writer, in *inspect.Inspection, by string, style Style) {
	t := &table{indent: "  "}
	for _, row := range Breakdown(in, by) {
		t.add(row.Name, Thousands(row.Elements), exactBytes(row.Bytes)+row.Remark)
	}
	fmt.Fprintf(w, "\n  by %s\n", by)
	t.write(w, style)
}

// BreakdownRow is one line of a sum by role, dtype, shard or layer.
type BreakdownRow struct {
	Name     string
	Elements int64
	Bytes    int64
	Remark   string
}

// Breakdowns are the sums that there are.
var Breakdowns = []string{"role", "dtype", "layer", "shard"}

// Breakdown returns the sums by role, dtype, shard or layer.
func Breakdown(in *inspect.Inspection, by string) []BreakdownRow {
	var rows []BreakdownRow
	switch by {
	case "role":
		for _, r := range in.ByRole {
			row := BreakdownRow{r.Role, r.Elements, r.Bytes, ""}
			if r.Inferred {
				row.Remark = ", inferred from names"
			}
			rows = append(rows, row)
		}
	case "dtype":
		for _, r := range in.ByDType {
			rows = append(rows, BreakdownRow{r.DType, r.Elements, r.Bytes, ""})
		}
	case "layer":
		for _, r := range in.ByLayer {
			rows = append(rows, BreakdownRow{fmt.Sprintf("%s %d", r.Stack, r.Layer), r.Elements, r.Bytes, ""})
		}
	case "shard":
		for _, r := range in.ByShard {
			row := BreakdownRow{r.File, r.Elements, r.Bytes, ""}
			if r.Unavailable {
				row.Remark = ", not read"
			}
			rows = append(rows, row)
		}
	}
	return rows
}
