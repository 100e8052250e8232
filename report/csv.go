package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
)

// csvColumns are those of inspections and estimates.
var csvColumns = []string{"model", "section", "name", "elements", "bytes", "detail"}

// CSV writes an inspection as rows: model, section, name, elements, bytes,
// detail. Unknown numbers are empty.
func CSV(w io.Writer, in *inspect.Inspection, header bool) error {
	c := newCells(w)
	if header {
		c.Write(csvColumns)
	}
	name := Safe(in.Source.Location)
	for _, row := range [][2]string{{"architecture", in.Model.Architecture}, {"model_type", in.Model.ModelType}, {"dtype", in.Model.DType},
		{"quantization", in.Model.Quantization}, {"source", origin(in.Source.Info)}} {
		if row[1] != "" {
			c.Write([]string{name, "model", row[0], "", "", Safe(row[1])})
		}
	}
	c.Write([]string{name, "model", "files", "", strconv.FormatInt(in.Source.FileBytes, 10), plural(int64(in.Source.Files), "file")})
	adapterRows(c, name, in.Adapter)
	for _, d := range in.Counts.Definitions() {
		bytes := ""
		if d.Value == &in.Counts.StoredElements {
			bytes = strconv.FormatInt(in.Counts.StoredBytes, 10)
		}
		c.Write([]string{name, "count", d.Name, number(d.Value), bytes, meaningOf(&d, in.Adapter)})
	}
	if q := in.Quantisation; q != nil {
		c.Write([]string{name, "count", "bits per weight", "", "", plainFloat(q.BitsPerWeight)})
		for _, r := range q.ByRole {
			c.Write([]string{name, "bits_per_weight", r.Role, "", "", plainFloat(r.BitsPerWeight)})
		}
	}
	writeFormula(c, name, &in.Formula)
	writeRows(c, name, in.Ledger.Rows)
	c.Write([]string{name, "ledger", "unexplained", number(in.Ledger.Unexplained), "", Safe(strings.Join(in.Ledger.UnexplainedTensors, " "))})
	for _, by := range Breakdowns {
		for _, r := range Breakdown(in, by) {
			c.Write([]string{name, "by_" + by, Safe(r.Name), strconv.FormatInt(r.Elements, 10), strconv.FormatInt(r.Bytes, 10), r.Remark})
		}
	}
	writeFindings(c, name, in.Findings)
	c.Flush()
	return c.Error()
}

func writeFormula(c cells, name string, f *inspect.Formula) {
	if f.TextbookValue != nil {
		c.Write([]string{name, "formula", "textbook", number(f.TextbookValue), "", *f.Textbook})
	}
	if f.DerivedValue != nil {
		c.Write([]string{name, "formula", "derived", number(f.DerivedValue), "", *f.Derived})
	}
	for _, s := range f.Symbols {
		c.Write([]string{name, "symbol", s.Name, strconv.FormatInt(s.Value, 10), "", meanings[s.Name]})
	}
}

func writeFindings(c cells, name string, findings []finding.Finding) {
	for _, f := range findings {
		c.Write([]string{name, "finding", f.Code, "", "", Safe(fmt.Sprintf("%s: %s", f.Severity, f.Message))})
	}
}

func writeRows(c cells, name string, rows []reconcile.Row) {
	for _, r := range rows {
		bytes := ""
		if r.Stage == reconcile.StoredStage {
			bytes = strconv.FormatInt(r.Bytes, 10)
		}
		c.Write([]string{name, "ledger_" + string(r.Stage), r.Code, strconv.FormatInt(r.Elements, 10), bytes, Safe(r.Reason + " " + r.Formula)})
	}
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
