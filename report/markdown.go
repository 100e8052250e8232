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
	parts := who(in)
	m.printf("## %s\n\n%s\n\n", cell(parts[0]), cell(strings.Join(parts[1:], " · ")))
	if in.Adapter != nil {
		for _, line := range adapterText(in.Adapter) {
			m.printf("%s\n\n", cell(line))
		}
	}
	m.head("count", "elements:", "what it counts")
	for _, d := range in.Counts.Definitions() {
		m.row(d.Name, orUnknown(d.Value), d.Meaning)
	}
	m.printf("\n### Ledger\n\n")
	m.ledger(ledgerLines(&in.Formula, &in.Ledger, &in.Counts))
	if details.Layers {
		m.layers(in)
	}
	for _, by := range details.By {
		m.printf("\n### By %s\n\n", by)
		m.head(by, "elements:", "bytes:")
		for _, r := range Breakdown(in, by) {
			m.row(r.Name+r.Remark, Thousands(r.Elements), Thousands(r.Bytes))
		}
	}
	m.findings(in.Findings)
	return m.err
}

func (m *markdown) ledger(t *table) {
	m.head("", "elements:", "")
	for _, l := range t.lines {
		if l.free == "" {
			m.row(strings.TrimSpace(l.label), l.number, l.remark)
		}
	}
}

func (m *markdown) layers(in *inspect.Inspection) {
	for _, g := range foldLayers(in.ByLayer) {
		m.printf("\n### %s %s\n\n", cell(g.first.Stack), plainSet(g.numbers))
		m.ledger(layerTable(&g.first))
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

// EstimateMarkdown writes an estimate as a page.
func EstimateMarkdown(w io.Writer, e *inspect.Estimate) error {
	m := &markdown{w: w}
	m.printf("## %s\n\n%s, from the config alone\n\n", cell(e.Source.Location), cell(e.Model.Architecture))
	m.head("count", "elements:")
	for _, c := range estimateCounts(e) {
		m.row(c.Name, orUnknown(c.Value))
	}
	m.printf("\n### Formula\n\n")
	t := new(table)
	formulaLines(t, &e.Formula, e.Ledger.Rows)
	m.ledger(t)
	m.printf("\n%s\n", cell("where "+whereText(e.Formula.Symbols)))
	m.findings(e.Findings)
	return m.err
}

func estimateCounts(e *inspect.Estimate) []inspect.Definition {
	return []inspect.Definition{
		{Name: "unique parameters", Meaning: "ties counted once", Value: e.Counts.UniqueParameters},
		{Name: "stored elements", Meaning: "what saving it stores, with buffers", Value: e.Counts.StoredElements},
		{Name: "without embeddings", Meaning: "unique, no look-ups, no untied head", Value: e.Counts.NonEmbeddingParameters},
		{Name: "active per token", Meaning: "unique that one token uses", Value: e.Counts.ActiveParameters},
	}
}
