package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/source"
)

// Details says what an inspection shows besides its first screen.
type Details struct {
	Layers  bool
	By      []string // role, dtype, shard, layer
	Tensors string   // pattern of names to list; the command lists them
}

// Text writes an inspection for a reader at a terminal.
func Text(w io.Writer, in *inspect.Inspection, details Details, style Style) {
	fmt.Fprintln(w, wrap(Safe(strings.Join(who(in), " · ")), style.Width, "  "))
	fmt.Fprintln(w)
	writeAdapter(w, in.Adapter, style)
	counts := countLines(in)
	ledger := ledgerLines(&in.Formula, &in.Ledger, &in.Counts)
	inLine(w, style, counts, ledger)
	if letters := explained(in.Formula.Symbols, remarks(ledger), "NDV"); letters != "" {
		fmt.Fprintln(w, "\n"+wrap("  where "+letters, style.Width, "    "))
	}
	if details.Layers {
		layers(w, in, style)
	}
	for _, by := range details.By {
		breakdown(w, in, by, style)
	}
	Findings(w, in.Findings, style)
}

// inLine writes counts above a ledger, their columns in line where that costs
// little room, and no remark its end.
func inLine(w io.Writer, style Style, counts, ledger *table) {
	label, number := counts.widths()
	l, n := ledger.widths()
	if l-label <= mostPadding && counts.fits(style.Width, max(label, l), max(number, n)) {
		label, l = max(label, l), max(label, l)
		number, n = max(number, n), max(number, n)
	}
	counts.writeAt(w, style, label, number)
	fmt.Fprintln(w)
	ledger.writeAt(w, style, l, n)
}

// mostPadding is how much wider the counts may get to stand in line with the
// ledger.
const mostPadding = 10

// remarks lists the formulas of a table.
func remarks(t *table) []string {
	var list []string
	for _, l := range t.lines {
		if l.math {
			list = append(list, l.remark)
		}
	}
	return list
}

// who lists what model this is and where it was read.
func who(in *inspect.Inspection) []string {
	parts := []string{in.Source.Location}
	switch {
	case in.Model.Architecture != "":
		parts = append(parts, in.Model.Architecture)
	case in.Model.ModelType != "":
		parts = append(parts, in.Model.ModelType)
	}
	if in.Model.DType != "" {
		parts = append(parts, in.Model.DType)
	}
	if in.Model.Quantization != "" {
		parts = append(parts, in.Model.Quantization)
	}
	parts = append(parts, fmt.Sprintf("%s, %s", plural(int64(in.Source.Files), "file"), Bytes(in.Source.FileBytes)), origin(in.Source.Info))
	if !in.Source.Complete {
		parts = append(parts, fmt.Sprintf("partial: %s not read", plural(int64(len(in.Source.UnavailableFiles)), "file")))
	}
	return parts
}

// origin names the kind of source, with its revision or provenance.
func origin(info source.Info) string {
	kind := string(info.Kind)
	switch {
	case info.Provenance != "":
		return kind + " (" + info.Provenance + ")"
	case len(info.Revision) == 40:
		return kind + " at " + info.Revision[:12]
	case info.Revision != "":
		return kind + " at " + info.Revision
	}
	return kind
}

// Columns of tables in Markdown.
var (
	countColumns = [3]string{"count", "elements", "what it counts"}
	sumColumns   = [3]string{"", "elements", ""}
)

func countLines(in *inspect.Inspection) *table {
	t := &table{indent: "  ", columns: countColumns}
	for i, d := range in.Counts.Definitions() {
		if d.Value == nil && (!in.Model.Described || in.Adapter != nil) && i != 0 {
			continue
		}
		t.lines = append(t.lines, line{label: d.Name, number: orUnknown(d.Value), remark: meaningOf(&d, in.Adapter), strong: i == 0})
	}
	if q := in.Quantisation; q != nil {
		t.add("bits per weight", fmt.Sprintf("%.3f", q.BitsPerWeight), bitsByRole(q))
	}
	return t
}

// bitsByRole lists the bits a weight of the largest roles.
func bitsByRole(q *reconcile.QuantisationSummary) string {
	const most = 4
	var parts []string
	for _, r := range q.ByRole[:min(len(q.ByRole), most)] {
		parts = append(parts, fmt.Sprintf("%s %.2f", strings.ReplaceAll(r.Role, "_", " "), r.BitsPerWeight))
	}
	return strings.Join(parts, ", ")
}

// ledgerLines writes the ledger as a sum that a reader can check with a pencil.
func ledgerLines(formula *inspect.Formula, ledger *inspect.Ledger, counts *inspect.Counts) *table {
	t := &table{indent: "  ", columns: sumColumns}
	formulaLines(t, formula, ledger.Rows)
	planLines(t, formula, ledger.Rows, counts)
	for _, row := range ledger.Rows {
		if row.Stage == reconcile.EstimateStage {
			t.add(signed(row))
		}
	}
	if ledger.Unexplained == nil {
		t.add("  unexplained", "unknown", "")
	} else if *ledger.Unexplained != 0 || len(ledger.UnexplainedTensors) > 0 {
		sign, n := "+", *ledger.Unexplained
		if n < 0 {
			sign, n = "−", -n
		}
		t.strong(sign+" unexplained", Thousands(n), unexplainedNames(ledger))
	}
	t.strong("= in the file", Thousands(counts.StoredElements), "")
	if ledger.Unexplained != nil && *ledger.Unexplained == 0 && len(ledger.UnexplainedTensors) == 0 {
		t.add("  unexplained", "0", "")
	}
	return t
}

func unexplainedNames(ledger *inspect.Ledger) string {
	names := ledger.UnexplainedTensors
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}

const textbookFormula = "12·N·D² + V·D"

// formulaLines writes the first stage: textbook, rows, estimate.
func formulaLines(t *table, formula *inspect.Formula, rows []reconcile.Row) {
	if formula.DerivedValue == nil {
		return
	}
	if formula.TextbookValue != nil {
		t.add("  textbook "+textbookFormula, Thousands(*formula.TextbookValue), legend(formula.Symbols, "NDV"))
	}
	for _, row := range rows {
		if row.Stage == reconcile.FormulaStage {
			label, number, remark := signed(row)
			t.lines = append(t.lines, line{label: label, number: number, remark: remark, math: true})
		}
	}
	derived := short(*formula.Derived)
	if derived != "" && len(formula.Notes) > 0 {
		derived += ", " + strings.Join(formula.Notes, ", ")
	}
	t.lines = append(t.lines, line{label: "= from the config", number: Thousands(*formula.DerivedValue), remark: derived, strong: true, math: true})
}

// short returns a formula that can be taken in at a glance, else nothing: the
// archs command shows long ones term by term.
func short(formula string) string {
	if utf8.RuneCountInString(formula) > 64 {
		return ""
	}
	return formula
}

func signed(row reconcile.Row) (label, number, remark string) {
	sign := "+ "
	n := row.Elements
	if n < 0 {
		sign, n = "− ", -n
	}
	remark = remarkOf(row)
	if row.Elements < 0 && row.Stage == reconcile.FormulaStage && remark != "" {
		remark = negated(remark)
	}
	return sign + row.Reason, Thousands(n), remark
}

// remarkOf is a row's formula; of the tensors in a file, their number and names.
func remarkOf(row reconcile.Row) string {
	if row.Stage == reconcile.FormulaStage {
		return short(row.Formula)
	}
	return row.Formula
}

// legend writes the values of some symbols: N 48, D 1600, V 50257.
func legend(symbols []estimator.Symbol, only string) string {
	var parts []string
	for _, s := range symbols {
		if len(s.Name) == 1 && strings.Contains(only, s.Name) {
			parts = append(parts, fmt.Sprintf("%s %d", s.Name, s.Value))
		}
	}
	return strings.Join(parts, ", ")
}

// Findings writes findings, the worst first.
func Findings(w io.Writer, findings []finding.Finding, style Style) {
	for i, f := range findings {
		if i == 0 {
			fmt.Fprintln(w)
		}
		writeFinding(w, f, "", style)
	}
}

func writeFinding(w io.Writer, f finding.Finding, remark string, style Style) {
	head := fmt.Sprintf("  %s %s", f.Severity, f.Code)
	text := wrap(head+"  "+Safe(f.Message)+remark, style.Width, "    ")
	if style.Color {
		text = strings.Replace(text, head, colorOf(f.Severity)+head+"\x1b[0m", 1)
	}
	fmt.Fprintln(w, text)
}

func colorOf(s finding.Severity) string {
	switch s {
	case finding.Error:
		return "\x1b[31m"
	case finding.Warning:
		return "\x1b[33m"
	}
	return "\x1b[2m"
}
