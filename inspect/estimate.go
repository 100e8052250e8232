package inspect

import (
	"context"
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/source"
)

// EstimateConfig answers from a config alone.
func EstimateConfig(ctx context.Context, src source.Source, opts Options) (*Estimate, error) {
	account := readConfig(ctx, src, opts.Weights.Subfolder)
	return account.estimate(src.Info(), opts.Class)
}

// EstimateJSON answers from the text of a config.
func EstimateJSON(name string, data []byte, opts Options) (*Estimate, error) {
	var a account
	a.parse(name, data)
	return a.estimate(source.Info{Kind: source.SingleFile, Location: name}, opts.Class)
}

func (a *account) estimate(info source.Info, class string) (*Estimate, error) {
	if err := a.checkClass(class); err != nil {
		return nil, err
	}
	a.describe(class, nil)
	e := &Estimate{SchemaVersion: SchemaVersion, Source: info, Findings: finding.Sort(a.findings), Described: a.model}
	e.Ledger.Rows, e.Ledger.UnexplainedTensors = []reconcile.Row{}, []string{}
	if a.config != nil {
		e.Model.ModelType = a.config.ModelType()
		if classes := a.config.Architectures(); len(classes) > 0 {
			e.Model.Architecture = classes[0]
		}
	}
	if a.model == nil {
		return nil, &NoEstimateError{Findings: e.Findings}
	}
	e.Model = Model{ModelType: a.model.Type, Architecture: a.model.Class, Described: true}
	if q, _ := a.config.Quantization(); q != nil {
		e.Model.Quantization = q.String()
	}
	counts := estimator.Count(a.model.Tensors())
	stored := counts.Stored()
	e.Counts = EstimateCounts{&counts.Unique, &counts.Unique, &counts.NonEmbedding, &counts.Active, &stored,
		new(big.Int).Lsh(big.NewInt(counts.Unique), 1)}
	e.Formula, e.Ledger.Rows = formulaOf(a.model)
	if e.Formula.TextbookValue != nil {
		untied := *e.Formula.TextbookValue + a.model.V.Int()*a.model.D.Int()
		e.Formula.UntiedTextbookValue = &untied
	}
	e.Ledger.Unexplained = new(int64)
	return e, nil
}

// NoEstimateError says why a config gives no estimate.
type NoEstimateError struct{ Findings []finding.Finding }

func (e *NoEstimateError) Error() string {
	for _, f := range e.Findings {
		if f.Code == "HFI301" || f.Code == "HFI302" || f.Code == "HFI303" || f.Code == "HFI305" {
			if why, _, ok := strings.Cut(f.Message, "; every tensor"); ok {
				return why + ": there is nothing to estimate from"
			}
			return f.Message
		}
	}
	return "the config gives no estimate"
}
