package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/inspect"
)

// Description writes one description: its blocks with symbolic shapes, its
// formula, and the config fields that it reads. CSV has the blocks alone.
func Description(w io.Writer, format string, d *inspect.Description, style Style) error {
	if format == "json" || format == "jsonl" {
		return JSON(w, d, format == "json")
	}
	g := &grid{columns: []string{"name", "symbols", "shape", "role"}}
	for _, t := range d.Tensors {
		role := t.Role
		if t.TiedTo != "" {
			role += ", tied to " + t.TiedTo
		}
		g.rows = append(g.rows, []string{t.Name, t.Symbolic, ShapeText(t.Shape), role})
	}
	about := []string{d.ModelType, d.Architecture, Thousands(d.Parameters) + " parameters under the class's defaults"}
	below := [][2]string{{"formula", d.Formula}, {"where", whereText(d.Symbols)}, {"reads", strings.Join(d.Options, ", ")}}
	switch format {
	case "csv":
		return g.write(w, format)
	case "markdown":
		m := &markdown{w: w}
		m.title(about)
		if m.err == nil {
			m.err = g.write(w, format)
		}
		for _, line := range below {
			m.printf("\n%s %s\n", line[0], cell(line[1]))
		}
		return m.err
	}
	title(w, style, about...)
	for _, row := range g.rows {
		row[0] = "  " + row[0]
	}
	if err := g.text(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, line := range below {
		fmt.Fprintln(w, wrap(fmt.Sprintf("  %-8s %s", line[0], line[1]), style.Width, "    "))
	}
	return nil
}

// Recording is an embedded recording.
type Recording struct {
	Repository string   `json:"repository"`
	Aliases    []string `json:"aliases,omitempty"`
	Revision   string   `json:"revision,omitempty"`
	Provenance string   `json:"provenance"`
	Date       string   `json:"date"`
	How        string   `json:"how"`
}

// Recordings lists recordings.
func Recordings(w io.Writer, format string, rows []Recording) error {
	if done, err := list(w, format, rows); done {
		return err
	}
	g := &grid{columns: []string{"recording", "also called", "provenance", "date"}}
	for i := range rows {
		r := &rows[i]
		g.rows = append(g.rows, []string{Safe(r.Repository), Safe(strings.Join(r.Aliases, ", ")), r.Provenance, r.Date})
	}
	return g.writeHeaded(w, format)
}

func whereText(symbols []estimator.Symbol) string {
	parts := make([]string, len(symbols))
	for i, s := range symbols {
		parts[i] = fmt.Sprintf("%s = %s", s.Name, Thousands(s.Value))
	}
	return strings.Join(parts, ", ")
}
