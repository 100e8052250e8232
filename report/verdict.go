package report

import (
	"fmt"
	"io"

	"github.com/hf-inspect/hf-inspect/record"
)

// Verdict writes the verification of one recording: a line, and a diff where
// something moved.
func Verdict(w io.Writer, format string, v record.Verdict) error {
	if format == "json" || format == "jsonl" {
		return JSON(w, v, false)
	}
	line := fmt.Sprintf("%-8s%s", v.Status, Safe(v.File))
	if v.Error != "" {
		line += ": " + Safe(v.Error)
	}
	_, err := fmt.Fprintln(w, line)
	Changes(w, v.Changes)
	return err
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
