package report

import (
	"io"
	"math/big"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
)

// Estimate writes what a config alone promises.
func Estimate(w io.Writer, format string, e *inspect.Estimate, style Style, explain bool) error {
	switch format {
	case "json", "jsonl":
		return JSON(w, e, format == "json")
	case "csv":
		return estimateCSV(w, e)
	}
	p := estimatePage(e)
	if explain {
		p.formulas = explainEstimate(e)
	}
	return p.write(w, format, style)
}

// explainEstimate gives the ledger's figures in symbols and in numbers.
func explainEstimate(e *inspect.Estimate) []cost.Formula {
	var list []cost.Formula
	add := func(name, formula string, value int64) {
		list = append(list, cost.Formula{Name: name, Symbols: formula, Numbers: inNumbers(formula, e.Formula.Symbols), Result: big.NewInt(value), Unit: "parameters"})
	}
	if e.Formula.TextbookValue != nil {
		add("textbook", textbookFormula, *e.Formula.TextbookValue)
	}
	if n := e.Formula.UntiedTextbookValue; n != nil {
		add("textbook, untied", untiedFormula, *n)
	}
	for _, row := range e.Ledger.Rows {
		if row.Stage == reconcile.FormulaStage && row.Formula != "" {
			add(row.Reason, row.Formula, row.Elements)
		}
	}
	if e.Formula.DerivedValue != nil {
		add("unique parameters", *e.Formula.Derived, *e.Formula.DerivedValue)
	}
	return list
}

func estimatePage(e *inspect.Estimate) *page {
	counts := &table{indent: "  ", wraps: true, columns: countColumns}
	for i, c := range estimateCounts(e) {
		counts.lines = append(counts.lines, line{label: c.Name, number: orUnknown(c.Value), remark: c.Meaning, strong: i == 0})
	}
	if bytes := e.Counts.BF16Bytes; bytes != nil {
		counts.add(bf16Name, Big(bytes), bf16Text(bytes))
	}
	if n := e.Formula.UntiedTextbookValue; n != nil {
		counts.add(untiedFormula, Thousands(*n), untiedMeaning)
	}
	formula := &table{indent: "  ", wraps: true, columns: sumColumns}
	formulaLines(formula, &e.Formula, e.Ledger.Rows)
	return &page{about: []string{e.Source.Location, e.Model.Architecture, "from the config alone"}, tables: []*table{counts, formula},
		where: explained(e.Formula.Symbols, []string{letters(e.Formula.Symbols)}, ""), notes: estimateNotes(e), findings: e.Findings}
}

func estimateCounts(e *inspect.Estimate) []inspect.Definition {
	return []inspect.Definition{
		{Name: "unique parameters", Meaning: "ties counted once", Value: e.Counts.UniqueParameters},
		{Name: "stored elements", Meaning: "what saving it stores, with buffers", Value: e.Counts.StoredElements},
		{Name: "without embeddings", Meaning: "unique, no look-ups, no untied head", Value: e.Counts.NonEmbeddingParameters},
		{Name: "active per token", Meaning: "unique that one token uses", Value: e.Counts.ActiveParameters},
	}
}

const (
	bf16Name      = "bytes in bf16"
	untiedFormula = "12·N·D² + 2·V·D"
	untiedMeaning = "another rule: the textbook's with a head of its own"
)

func bf16Text(bytes *big.Int) string { return BothBytes(bytes) + ", twice that in fp32" }

// estimateNotes says what the counts leave aside.
func estimateNotes(e *inspect.Estimate) []string {
	if e.Model.Quantization == "" {
		return nil
	}
	return []string{"counted as if unquantised; the config asks for " + e.Model.Quantization}
}

// estimateCSV writes an estimate in the rows of an inspection.
func estimateCSV(w io.Writer, e *inspect.Estimate) error {
	c := newCells(w)
	c.Write(csvColumns)
	name := Safe(e.Source.Location)
	c.Write([]string{name, "model", "architecture", "", "", Safe(e.Model.Architecture)})
	for _, d := range estimateCounts(e) {
		c.Write([]string{name, "count", d.Name, number(d.Value), "", d.Meaning})
	}
	if bytes := e.Counts.BF16Bytes; bytes != nil {
		c.Write([]string{name, "count", bf16Name, "", bytes.String(), bf16Text(bytes)})
	}
	if n := e.Formula.UntiedTextbookValue; n != nil {
		c.Write([]string{name, "formula", untiedFormula, number(n), "", untiedMeaning})
	}
	writeFormula(c, name, &e.Formula)
	writeRows(c, name, e.Ledger.Rows)
	for _, note := range estimateNotes(e) {
		c.Write([]string{name, "note", "", "", "", Safe(note)})
	}
	writeFindings(c, name, e.Findings)
	c.Flush()
	return c.Error()
}

// letters names all symbols, so that all are explained.
func letters(symbols []estimator.Symbol) string {
	var text string
	for _, s := range symbols {
		text += " " + s.Name
	}
	return text
}
