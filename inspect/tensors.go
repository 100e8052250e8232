package inspect

import (
	"errors"
	"slices"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/reconcile"
)

// StoredTensor is a tensor of the files and what it turned out to be.
type StoredTensor struct {
	Name     string  `json:"name"`
	DType    string  `json:"dtype"`
	Shape    []int64 `json:"shape"`
	Elements int64   `json:"elements"`
	Bytes    int64   `json:"bytes"`
	File     string  `json:"file"`
	Role     string  `json:"role"`
	Status   string  `json:"status"`
}

// StoredTensors lists the stored tensors in the order of the files, then what
// is missing.
func (in *Inspection) StoredTensors() []StoredTensor {
	var rows []StoredTensor
	type place struct {
		file  string
		begin int64
	}
	var places []place
	for i := range in.Result.Claims {
		c := &in.Result.Claims[i]
		for m := range c.Members() {
			t := m.Tensor
			rows = append(rows, StoredTensor{t.Name, t.DType.String(), append([]int64{}, t.Shape...), t.Elements(), t.Bytes(), m.File.Path, c.Role, string(c.Status)})
			places = append(places, place{m.File.Path, t.Begin})
		}
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if places[a].file != places[b].file {
			if places[a].file < places[b].file {
				return -1
			}
			return 1
		}
		return int(max(min(places[a].begin-places[b].begin, 1), -1))
	})
	sorted := make([]StoredTensor, len(rows))
	for i, at := range order {
		sorted[i] = rows[at]
	}
	for _, t := range in.Result.Missing {
		sorted = append(sorted, StoredTensor{Name: t.Name, Shape: t.Shape, Elements: t.Elements, Role: t.Role, Status: string(reconcile.Missing)})
	}
	return sorted
}

// ExpectedTensor is a tensor that a config calls for.
type ExpectedTensor struct {
	Name   string  `json:"name"`
	Shape  []int64 `json:"shape"`
	Role   string  `json:"role"`
	TiedTo *string `json:"tied_to"`
}

// ErrTooManyTensors says that a config calls for more tensors than can be
// listed.
var ErrTooManyTensors = errors.New("too many tensors to list")

// ExpectedTensors lists what the config calls for, name by name.
func (e *Estimate) ExpectedTensors(most int, keep func(name string) bool) ([]ExpectedTensor, error) {
	var rows []ExpectedTensor
	for _, t := range e.Described.Tensors() {
		for name := range t.Names {
			if !keep(name) {
				continue
			}
			if len(rows) == most {
				return nil, ErrTooManyTensors
			}
			rows = append(rows, expectedTensor(name, &t))
		}
	}
	return rows, nil
}

func expectedTensor(name string, t *estimator.Tensor) ExpectedTensor {
	row := ExpectedTensor{Name: name, Shape: append([]int64{}, t.Shape...), Role: reconcile.RoleName(t)}
	if t.TiedTo != "" {
		row.TiedTo = &t.TiedTo
	}
	return row
}
