package report

import (
	"io"
	"strconv"

	"github.com/hf-inspect/hf-inspect/inspect"
)

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
