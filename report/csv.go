package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/reconcile"
)

// CSV writes an inspection as rows: model, section, name, elements, bytes,
// detail. Unknown numbers are empty.
func CSV(w io.Writer, in *inspect.Inspection, header bool) error {
	c := csv.NewWriter(w)
	if header {
		c.Write([]string{"model", "section", "name", "elements", "bytes", "detail"})
	}
	name := Safe(in.Source.Location)
	for _, d := range in.Counts.Definitions() {
		c.Write([]string{name, "count", d.Name, number(d.Value), "", d.Meaning})
	}
	writeFormula(c, name, &in.Formula)
	writeRows(c, name, in.Ledger.Rows)
	c.Write([]string{name, "ledger", "unexplained", number(in.Ledger.Unexplained), "", ""})
	for _, by := range Breakdowns {
		for _, r := range Breakdown(in, by) {
			c.Write([]string{name, "by_" + by, Safe(r.Name), strconv.FormatInt(r.Elements, 10), strconv.FormatInt(r.Bytes, 10), r.Remark})
		}
	}
	for _, f := range in.Findings {
		c.Write([]string{name, "finding", f.Code, "", "", Safe(fmt.Sprintf("%s: %s", f.Severity, f.Message))})
	}
	c.Flush()
	return c.Error()
}

// EstimateCSV writes an estimate as the same rows.
func EstimateCSV(w io.Writer, e *inspect.Estimate) error {
	c := csv.NewWriter(w)
	c.Write([]string{"model", "section", "name", "elements", "bytes", "detail"})
	name := Safe(e.Source.Location)
	for _, d := range estimateCounts(e) {
		c.Write([]string{name, "count", d.Name, number(d.Value), "", d.Meaning})
	}
	writeFormula(c, name, &e.Formula)
	writeRows(c, name, e.Ledger.Rows)
	c.Flush()
	return c.Error()
}

func writeFormula(c *csv.Writer, name string, f *inspect.Formula) {
	if f.TextbookValue != nil {
		c.Write([]string{name, "formula", "textbook", number(f.TextbookValue), "", *f.Textbook})
	}
	if f.DerivedValue != nil {
		c.Write([]string{name, "formula", "derived", number(f.DerivedValue), "", *f.Derived})
	}
}

func writeRows(c *csv.Writer, name string, rows []reconcile.Row) {
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
