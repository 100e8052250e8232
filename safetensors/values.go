package safetensors

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hf-inspect/hf-inspect/source"
)

// gapWorthReading is how many bytes between two tensors are read along rather
// than asked for anew.
const gapWorthReading = 64 << 10

// ReadValues reads the data of one tensor. More than limit bytes are refused
// with an *[Error], as is a range outside the file; nothing is allocated for
// either.
func ReadValues(ctx context.Context, src source.Source, file *File, tensor *Tensor, limit int64) ([]byte, error) {
	values, err := ReadValuesOf(ctx, src, file, []*Tensor{tensor}, limit)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// ReadValuesOf reads the data of several tensors of one file, in as few requests
// as their places allow. limit bounds each tensor in bytes. The result has the
// order of the tensors.
func ReadValuesOf(ctx context.Context, src source.Source, file *File, tensors []*Tensor, limit int64) ([][]byte, error) {
	order := make([]int, len(tensors))
	for i, t := range tensors {
		order[i] = i
		if err := checkRange(file, t, limit); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tensors[a].Begin, tensors[b].Begin) })
	values := make([][]byte, len(tensors))
	for len(order) > 0 {
		batch := 1
		begin, end := tensors[order[0]].Begin, tensors[order[0]].End
		for batch < len(order) && tensors[order[batch]].Begin-end <= gapWorthReading {
			end = max(end, tensors[order[batch]].End)
			batch++
		}
		data, err := src.ReadRange(ctx, file.Path, file.Header.DataStart()+begin, end-begin)
		if err != nil {
			return nil, unreadable(file.Path, err)
		}
		for _, i := range order[:batch] {
			t := tensors[i]
			if int64(len(data)) < t.End-begin {
				return nil, rangeError(file, t, "the file ends within the tensor's data; "+download)
			}
			values[i] = data[t.Begin-begin : t.End-begin : t.End-begin]
		}
		order = order[batch:]
	}
	return values, nil
}

// checkRange refuses what must not be read before any of it is.
func checkRange(file *File, t *Tensor, limit int64) error {
	length := t.End - t.Begin
	switch {
	case file.Header == nil || file.Header.Length < 0:
		return rangeError(file, t, "the place of the data is not known")
	case t.Begin < 0 || length < 0:
		return rangeError(file, t, "the header gives no usable place for the data")
	case length > limit:
		return rangeError(file, t, fmt.Sprintf("the data has %d bytes, more than the %d that are read", length, limit))
	case file.Size >= 0 && t.End > file.Size-file.Header.DataStart():
		return rangeError(file, t, "the data lies beyond the end of the file; "+download)
	}
	return nil
}

func rangeError(file *File, t *Tensor, detail string) *Error {
	return &Error{Kind: KindRange, File: file.Path, Tensor: t.Name, Offset: int64(t.At), Detail: detail}
}
