package record

import (
	"maps"
	"slices"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/source"
)

// figures keeps what the host declares.
func figures(src source.FigureSource) []fixtures.Figure {
	f, ok := src.Figures()
	if !ok {
		return nil
	}
	var list []fixtures.Figure
	if f.Total > 0 {
		list = append(list, fixtures.Figure{Dtype: "total", Elements: f.Total})
	}
	for _, dtype := range slices.Sorted(maps.Keys(f.Parameters)) {
		list = append(list, fixtures.Figure{Dtype: dtype, Elements: f.Parameters[dtype]})
	}
	return list
}
