package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
)

// markdown writes tables; the first error stays.
type markdown struct {
	w   io.Writer
	err error
}

func (m *markdown) printf(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format, args...)
	}
}

// row writes a row of cells.
func (m *markdown) row(cells ...string) {
	for i := range cells {
		cells[i] = cell(cells[i])
	}
	m.printf("| %s |\n", strings.Join(cells, " | "))
}

// head writes the head of a table; columns whose name ends in ":" are numbers.
func (m *markdown) head(columns ...string) {
	rule := make([]string, len(columns))
	for i, c := range columns {
		rule[i] = "---"
		if name, number := strings.CutSuffix(c, ":"); number {
			columns[i], rule[i] = name, "---:"
		}
	}
	m.row(columns...)
	m.printf("|%s|\n", strings.Join(rule, "|"))
}

// cell makes text safe inside a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`).Replace(Safe(text))
}

// Markdown writes an inspection as a page.
func Markdown(w io.Writer, in *inspect.Inspection, details Details) error {
	m := &markdown{w: w}
	m.title(who(in))
	if in.Adapter != nil {
		for _, line := range adapterText(in.Adapter) {
			m.printf("%s\n\n", cell(line))
		}
	}
	m.table(countLines(in))
	m.printf("\n### Ledger\n\n")
	ledger := ledgerLines(&in.Formula, &in.Ledger, &in.Counts)
	m.table(ledger)
	if letters := explained(in.Formula.Symbols, remarks(ledger), "NDV"); letters != "" {
		m.printf("\nwhere %s\n", cell(letters))
	}
	if details.Layers {
		m.layers(in)
	}
	for _, by := range details.By {
		m.printf("\n### By %s\n\n", by)
		m.head(by, "elements:", "bytes:", "size:")
		for _, r := range Breakdown(in, by) {
			m.row(r.Name+r.Remark, Thousands(r.Elements), Thousands(r.Bytes), Bytes(r.Bytes))
		}
	}
	m.findings(in.Findings)
	return m.err
}

func (m *markdown) layers(in *inspect.Inspection) {
	for _, g := range foldLayers(in.ByLayer) {
		m.printf("\n### %s %s\n\n", cell(g.first.Stack), plainSet(g.numbers))
		m.table(layerTable(&g.first))
	}
}

func (m *markdown) findings(findings []finding.Finding) {
	if len(findings) == 0 {
		return
	}
	m.printf("\n### Findings\n\n")
	m.head("severity", "code", "finding")
	for _, f := range findings {
		m.row(string(f.Severity), f.Code, f.Message)
	}
}
