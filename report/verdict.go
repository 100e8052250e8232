package report

import (
	"fmt"
	"io"

	"github.com/hf-inspect/hf-inspect/record"
)

// Verdict writes the verification of one recording: a line, and a diff where
// something moved; as CSV or Markdown a row, or one for each change, the first
// below a head.
func Verdict(w io.Writer, format string, v record.Verdict, first bool) error {
	switch format {
	case "json", "jsonl":
		return JSON(w, v, false)
	case "csv":
		c := newCells(w)
		if first {
			c.Write(verdictColumns)
		}
		c.WriteAll(verdictRows(v))
		return c.Error()
	case "markdown":
		m := &markdown{w: w}
		if first {
			m.head(verdictColumns...)
		}
		for _, row := range verdictRows(v) {
			m.row(row...)
		}
		return m.err
	}
	line := fmt.Sprintf("%-8s%s", v.Status, Safe(v.File))
	if v.Error != "" {
		line += ": " + Safe(v.Error)
	}
	_, err := fmt.Fprintln(w, line)
	Changes(w, v.Changes)
	return err
}

var verdictColumns = []string{"file", "status", "error", "path", "old", "new"}

func verdictRows(v record.Verdict) [][]string {
	changes := v.Changes
	if len(changes) == 0 {
		changes = []record.Change{{}}
	}
	var rows [][]string
	for _, change := range changes {
		rows = append(rows, []string{Safe(v.File), string(v.Status), Safe(v.Error), Safe(change.Path), Safe(change.Old), Safe(change.New)})
	}
	return rows
}

// Changes writes what moved in a result.
func Changes(w io.Writer, changes []record.Change) {
	for _, c := range changes {
		if c.Old != "" {
			fmt.Fprintf(w, "  - %s %s\n", Safe(c.Path), Safe(c.Old))
		}
		if c.New != "" {
			fmt.Fprintf(w, "  + %s %s\n", Safe(c.Path), Safe(c.New))
		}
	}
}
