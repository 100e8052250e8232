package report

import (
	"fmt"
	"io"
	"math/big"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
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
	Formula    string  `json:"formula,omitempty"`
	Numbers    string  `json:"numbers,omitempty"` // in it
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

	Formulas []cost.Formula `json:"formulas,omitempty"` // of the figures; the best shape has them
}

// Designs writes the shapes, best first. What explains is the first one's.
func Designs(w io.Writer, format string, d *Design, style Style, explain bool) error {
	if format == "json" || format == "jsonl" {
		return JSON(w, d, format == "json")
	}
	if format == "csv" {
		return designSheet(d).write(w)
	}
	g := &grid{columns: []string{"rank:", "parameters:", "off:", "d:", "layers:", "d/layer:", "heads:", "KV:", "head dim:", "ff:", "active:", "forward FLOPs:", "step FLOPs:", "KV bytes:", "weights:", "inference:", "training:"}}
	for _, s := range d.Shapes {
		active := ""
		if s.ActiveParameters != s.Parameters {
			active = Thousands(s.ActiveParameters)
		}
		g.rows = append(g.rows, []string{Thousands(s.Rank), Thousands(s.Parameters), fmt.Sprintf("%+.2f %%", 100*s.Distance), Thousands(s.Sizes.Hidden),
			Thousands(s.Sizes.Layers), fmt.Sprintf("%.0f", s.Aspect), Thousands(s.Sizes.Heads), Thousands(s.Sizes.KVHeads), Thousands(s.Sizes.HeadDim),
			Thousands(s.Sizes.Width), active, scientific(s.Forward), scientific(s.Training), BinaryBytes(s.KV), BinaryBytes(s.Weights),
			BinaryBytes(s.Inference), BinaryBytes(s.TrainMemory)})
	}
	about := []string{fmt.Sprintf("%s parameters (%s)", spoken(d.Target.Parameters), Thousands(int64(d.Target.Parameters))), d.Target.From, kindText(d),
		"batch " + Thousands(d.Target.Batch), plural(d.Target.Seq, "token"), d.Target.DType}
	p := &page{about: about, notes: d.Assumptions}
	if explain {
		p.explain(d.explained())
	}
	if format == "markdown" {
		m := &markdown{w: w}
		m.title(about)
		if m.err == nil {
			m.err = g.fitted(w, format, style)
		}
		p.rest(m)
		return m.err
	}
	title(w, style, about...)
	if err := g.fitted(w, format, style, "step FLOPs:", "forward FLOPs:", "KV bytes:", "weights:", "inference:", "training:", "d/layer:", "active:"); err != nil {
		return err
	}
	p.restText(w, style)
	return nil
}

// explained are the target and the first shape.
func (d *Design) explained() []cost.Formula {
	var list []cost.Formula
	if d.Target.Formula != "" {
		list = append(list, cost.Formula{Name: "target", Symbols: d.Target.Formula, Numbers: d.Target.Numbers, Result: d.Target.Parameters, Unit: "parameters"})
	}
	if len(d.Shapes) > 0 {
		list = append(list, d.Shapes[0].Formulas...)
	}
	return list
}

// ParametersFormula is the number of unique parameters of a model.
func ParametersFormula(m *estimator.Model) cost.Formula {
	f := m.Formula()
	return cost.Formula{Name: "parameters", Symbols: f.Derived, Numbers: inNumbers(f.Derived, f.Symbols), Result: big.NewInt(f.DerivedValue),
		Unit: "parameters", Letters: f.Symbols}
}

func kindText(d *Design) string {
	if len(d.Shapes) == 0 {
		return ""
	}
	return "kind " + d.Shapes[0].Sizes.Kind
}

// designSheet has a row for each shape with every figure.
func designSheet(d *Design) *sheet {
	sheet := new(sheet)
	for i := range d.Shapes {
		s := &d.Shapes[i]
		sheet.row()
		sheet.fill([]field{{"rank", s.Rank}, {"parameters", s.Parameters}, {"distance_share", s.Distance}, {"kind", s.Sizes.Kind}, {"hidden_size", s.Sizes.Hidden},
			{"layers", s.Sizes.Layers}, {"hidden_size_per_layer", s.Aspect}, {"heads", s.Sizes.Heads}, {"kv_heads", s.Sizes.KVHeads},
			{"head_dim", s.Sizes.HeadDim}, {"feed_forward_width", s.Sizes.Width}, {"active_parameters", s.ActiveParameters},
			{"vocabulary", s.Sizes.Vocabulary}, {"target_parameters", d.Target.Parameters}, {"batch_sequences", d.Target.Batch}, {"sequence_tokens", d.Target.Seq}, {"dtype", d.Target.DType},
			{"forward_flops", s.Forward}, {"training_step_flops", s.Training}, {"kv_bytes", s.KV}, {"weights_bytes", s.Weights},
			{"inference_bytes", s.Inference}, {"training_bytes", s.TrainMemory}})
		for _, c := range []struct {
			name  string
			value int64
		}{{"experts", s.Sizes.Experts}, {"experts_per_token", s.Sizes.Used}, {"expert_feed_forward_width", s.Sizes.ExpertWidth},
			{"shared_experts", s.Sizes.SharedExperts}, {"kv_rank", s.Sizes.KVRank}, {"query_rank", s.Sizes.QueryRank}} {
			if c.value > 0 {
				sheet.set(c.name, c.value)
			}
		}
	}
	return sheet
}
