package report

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
)

// page is one result for a reader. Text and Markdown write the same page, so
// that neither has a figure that the other lacks.
type page struct {
	about    []string // the model, then what was asked of it
	tables   []*table
	where    string // what letters stand for
	formulas []cost.Formula
	notes    []string
	findings []finding.Finding
}

func (p *page) write(w io.Writer, format string, style Style) error {
	if format == "markdown" {
		return p.markdown(w)
	}
	title(w, style, p.about...)
	switch len(p.tables) {
	case 1:
		p.tables[0].write(w, style)
	case 2:
		inLine(w, style, p.tables[0], p.tables[1])
	}
	p.restText(w, style)
	return nil
}

// restText writes what stands below the tables.
func (p *page) restText(w io.Writer, style Style) {
	writeFormulas(w, p.formulas, style)
	if p.where != "" {
		fmt.Fprintln(w, "\n"+wrap("  where "+Safe(p.where), style.Width, "    "))
	}
	if len(p.notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range p.notes {
		fmt.Fprintln(w, wrap("  "+Safe(n), style.Width, "    "))
	}
	Findings(w, p.findings, style)
}

// explain adds how each figure comes about, and what its letters stand for.
func (p *page) explain(formulas []cost.Formula) {
	p.formulas = formulas
	var letters []estimator.Symbol
	for _, f := range formulas {
		for _, l := range f.Letters {
			if !slices.Contains(letters, l) {
				letters = append(letters, l)
			}
		}
	}
	p.where = lettersText(letters)
}

func (p *page) markdown(w io.Writer) error {
	m := &markdown{w: w}
	m.title(p.about)
	for i, t := range p.tables {
		if i > 0 {
			m.printf("\n")
		}
		m.table(t)
	}
	p.rest(m)
	return m.err
}

// rest writes what stands below the tables.
func (p *page) rest(m *markdown) {
	m.formulas(p.formulas)
	if p.where != "" {
		m.printf("\nwhere %s\n", cell(p.where))
	}
	if len(p.notes) > 0 {
		m.printf("\n")
	}
	for _, n := range p.notes {
		m.printf("- %s\n", cell(n))
	}
	m.findings(p.findings)
}

// title writes the line above a result.
func title(w io.Writer, style Style, parts ...string) {
	fmt.Fprintln(w, wrap(Safe(strings.Join(notEmpty(parts), " · ")), style.Width, "  "))
	fmt.Fprintln(w)
}

func notEmpty(parts []string) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
}

// writeFormulas writes each figure's formula in symbols, in numbers, and its result.
func writeFormulas(w io.Writer, formulas []cost.Formula, style Style) {
	for _, f := range formulas {
		fmt.Fprintln(w)
		fmt.Fprintln(w, wrap("  "+Safe(f.Name+" = "+f.Symbols), style.Width, "      "))
		if f.Numbers != "" && f.Numbers != f.Symbols {
			fmt.Fprintln(w, wrap("    = "+Safe(f.Numbers), style.Width, "      "))
		}
		fmt.Fprintln(w, strings.TrimRight("    = "+resultText(f.Result)+" "+unitText(f.Unit), " "))
	}
}

func unitText(unit string) string { return strings.Replace(unit, "flops", "FLOPs", 1) }

func resultText(result any) string {
	if n, ok := result.(*big.Int); ok {
		return Big(n)
	}
	return fmt.Sprintf("%.6g", result)
}

// title writes the model as a heading and what was asked of it below.
func (m *markdown) title(parts []string) {
	m.printf("## %s\n\n", cell(parts[0]))
	if rest := notEmpty(parts[1:]); len(rest) > 0 {
		m.printf("%s\n\n", cell(strings.Join(rest, " · ")))
	}
}

func (m *markdown) formulas(list []cost.Formula) {
	if len(list) == 0 {
		return
	}
	m.printf("\n### Formulas\n\n")
	m.head("figure", "in symbols", "in numbers", "result:", "unit")
	for _, f := range list {
		m.row(f.Name, f.Symbols, f.Numbers, resultText(f.Result), unitText(f.Unit))
	}
}

// table writes a table, one for each of its headings.
func (m *markdown) table(t *table) {
	begun := false
	for _, l := range t.lines {
		heading := strings.TrimSpace(l.free)
		switch {
		case heading != "":
			if begun {
				m.printf("\n")
			}
			m.printf("### %s\n\n", cell(strings.ToUpper(heading[:1])+heading[1:]))
			begun = false
			continue
		case l.free != "":
			continue
		case !begun:
			m.head(t.columns[0], t.columns[1]+":", t.columns[2])
			begun = true
		}
		m.row(strings.TrimSpace(l.label), l.number, l.remark)
	}
}
