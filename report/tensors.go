package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/inspect"
)

// grid is rows of cells under a head, written in any of the formats that are
// not JSON.
type grid struct {
	columns []string // those whose name ends in ":" hold numbers
	rows    [][]string
}

func (g *grid) write(w io.Writer, format string) error {
	switch format {
	case "csv":
		c := csv.NewWriter(w)
		head := make([]string, len(g.columns))
		for i, name := range g.columns {
			head[i] = strings.TrimSuffix(name, ":")
		}
		c.Write(head)
		c.WriteAll(g.rows)
		return c.Error()
	case "markdown":
		m := &markdown{w: w}
		m.head(append([]string(nil), g.columns...)...)
		for _, row := range g.rows {
			m.row(append([]string(nil), row...)...)
		}
		return m.err
	}
	return g.text(w)
}

// writeHeaded is write with the column names above the text, too.
func (g *grid) writeHeaded(w io.Writer, format string) error {
	if format == "text" && len(g.rows) > 0 {
		head := make([]string, len(g.columns))
		for i, name := range g.columns {
			head[i] = strings.TrimSuffix(name, ":")
		}
		g.rows = append([][]string{head}, g.rows...)
	}
	return g.write(w, format)
}

func (g *grid) text(w io.Writer) error {
	widths := make([]int, len(g.columns))
	for _, row := range g.rows {
		for i, c := range row {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	for _, row := range g.rows {
		parts := make([]string, len(row))
		for i, c := range row {
			if strings.HasSuffix(g.columns[i], ":") {
				parts[i] = left(c, widths[i])
			} else {
				parts[i] = pad(c, widths[i])
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(parts, "  "), " ")); err != nil {
			return err
		}
	}
	return nil
}

// list writes values as JSON, all in one array or one a line; done is false for
// the other formats.
func list[T any](w io.Writer, format string, rows []T) (done bool, err error) {
	switch format {
	case "json":
		if rows == nil {
			rows = []T{}
		}
		return true, JSON(w, rows, true)
	case "jsonl":
		for i := range rows {
			if err := JSON(w, &rows[i], false); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	return false, nil
}

// StoredTensors lists the tensors of a checkpoint.
func StoredTensors(w io.Writer, format string, rows []inspect.StoredTensor) error {
	if done, err := list(w, format, rows); done {
		return err
	}
	g := &grid{columns: []string{"name", "dtype", "shape", "elements:", "bytes:", "file", "role", "status"}}
	for i := range rows {
		r := &rows[i]
		g.rows = append(g.rows, []string{Safe(r.Name), r.DType, ShapeText(r.Shape), exact(r.Elements, format), exact(r.Bytes, format), Safe(r.File), r.Role, r.Status})
	}
	return g.writeHeaded(w, format)
}

// exact writes a number for a reader, or for a sheet.
func exact(n int64, format string) string {
	if format == "csv" {
		return strconv.FormatInt(n, 10)
	}
	return Thousands(n)
}

// ExpectedTensors lists the tensors that a config calls for.
func ExpectedTensors(w io.Writer, format string, rows []inspect.ExpectedTensor) error {
	if done, err := list(w, format, rows); done {
		return err
	}
	g := &grid{columns: []string{"name", "shape", "role", "tied to"}}
	for i := range rows {
		r := &rows[i]
		tied := ""
		if r.TiedTo != nil {
			tied = "= " + *r.TiedTo
		}
		g.rows = append(g.rows, []string{Safe(r.Name), ShapeText(r.Shape), r.Role, Safe(tied)})
	}
	return g.writeHeaded(w, format)
}

// Architectures lists the described model types.
func Architectures(w io.Writer, format string, rows []inspect.Architecture) error {
	if done, err := list(w, format, rows); done {
		return err
	}
	g := &grid{columns: []string{"model type", "class", "default:", "randomised:", "published:", "index:", "confirmed"}}
	for _, r := range rows {
		confirmed := "yes"
		if !r.Confirmed {
			confirmed = "no, written from public facts"
		}
		e := r.Evidence
		g.rows = append(g.rows, []string{r.ModelType, r.Class, strconv.Itoa(e.Default), strconv.Itoa(e.Randomised), strconv.Itoa(e.Published), strconv.Itoa(e.Index), confirmed})
	}
	return g.writeHeaded(w, format)
}
