package report

import (
	"fmt"
	"io"
	"math/big"

	"github.com/hf-inspect/hf-inspect/shape"
)

// Design is an answer to what shapes meet a target.
type Design struct {
	SchemaVersion string          `json:"schema_version"`
	Target        DesignTarget    `json:"target"`
	Shapes        []DesignedShape `json:"shapes"`
	Assumptions   []string        `json:"assumptions"`
}

// DesignTarget is what was aimed at.
type DesignTarget struct {
	Parameters float64 `json:"parameters"`
	From       string  `json:"from"` // how the number came about
	Batch      int64   `json:"batch"`
	Seq        int64   `json:"seq"`
	DType      string  `json:"dtype"`
}

// DesignedShape is one shape with what it costs.
type DesignedShape struct {
	Rank int64 `json:"rank"`
	shape.Found
	Config           any      `json:"config"`
	ActiveParameters int64    `json:"active_parameters"`
	Forward          *big.Int `json:"forward_flops"`
	Training         *big.Int `json:"training_flops"`
	KV               *big.Int `json:"kv_bytes"`
	Weights          *big.Int `json:"weights_bytes"`
	Inference        *big.Int `json:"inference_bytes"`
	TrainMemory      *big.Int `json:"training_bytes"`
}

// Designs writes the shapes, best first.
func Designs(w io.Writer, format string, d *Design, style Style) error {
	if format == "json" || format == "jsonl" {
		return JSON(w, d, format == "json")
	}
	g := &grid{columns: []string{"rank:", "parameters:", "off:", "d:", "layers:", "d/layer:", "heads:", "KV:", "head dim:", "ff:", "active:", "forward FLOPs:", "KV bytes:", "weights:", "inference:", "training:"}}
	for _, s := range d.Shapes {
		g.rows = append(g.rows, []string{Thousands(s.Rank), Thousands(s.Parameters), fmt.Sprintf("%+.2f %%", 100*s.Distance), Thousands(s.Sizes.Hidden),
			Thousands(s.Sizes.Layers), fmt.Sprintf("%.0f", s.Aspect), Thousands(s.Sizes.Heads), Thousands(s.Sizes.KVHeads), Thousands(s.Sizes.HeadDim),
			Thousands(s.Sizes.Width), Thousands(s.ActiveParameters), scientific(s.Forward), BinaryBytes(s.KV), BinaryBytes(s.Weights),
			BinaryBytes(s.Inference), BinaryBytes(s.TrainMemory)})
	}
	if format != "text" {
		return g.writeHeaded(w, format)
	}
	fmt.Fprintf(w, "%s parameters, %s · batch %s · %s tokens · %s\n\n", Thousands(int64(d.Target.Parameters)), d.Target.From, Thousands(d.Target.Batch), Thousands(d.Target.Seq), d.Target.DType)
	if err := g.writeHeaded(w, format); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, a := range d.Assumptions {
		fmt.Fprintln(w, wrap("  "+Safe(a), style.Width, "    "))
	}
	return nil
}
