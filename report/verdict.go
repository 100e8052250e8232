package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/hf-inspect/hf-inspect/record"
)

// Verdict writes the verification of one recording: a line, and a diff where
// something moved; as CSV a row, or one for each change.
func Verdict(w io.Writer, format string, v record.Verdict, first bool) error {
	if format == "json" || format == "jsonl" {
		return JSON(w, v, false)
	}
	if format == "csv" {
		return verdictRows(w, v, first)
	}
	line := fmt.Sprintf("%-8s%s", v.Status, Safe(v.File))
	if v.Error != "" {
		line += ": " + Safe(v.Error)
	}
	_, err := fmt.Fprintln(w, line)
	Changes(w, v.Changes)
	return err
}

func verdictRows(w io.Writer, v record.Verdict, first bool) error {
	c := csv.NewWriter(w)
	if first {
		c.Write([]string{"file", "status", "error", "path", "old", "new"})
	}
	changes := v.Changes
	if len(changes) == 0 {
		changes = []record.Change{{}}
	}
	for _, change := range changes {
		c.Write([]string{Safe(v.File), string(v.Status), Safe(v.Error), Safe(change.Path), Safe(change.Old), Safe(change.New)})
	}
	c.Flush()
	return c.Error()
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
