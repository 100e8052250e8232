package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// Options tune an inspection; the zero value is what from_pretrained would do.
type Options struct {
	Class    string // describe as this class instead of the config's
	Weights  safetensors.ChooseOptions
	Parallel int
	Progress func(done, total int)

	// WholeIndex reads the index of a repository on the Hub even where it would
	// only repeat the headers.
	WholeIndex bool

	// Base finds the base model that an adapter's config names; nil looks beside
	// the adapter only.
	Base func(ctx context.Context, name, revision string) (source.Source, error)
}

// Inspect reads the headers and the config of a source and reconciles them. An
// error means that there is nothing to count.
func Inspect(ctx context.Context, src source.Source, opts Options) (*Inspection, error) {
	began := time.Now()
	files, err := src.List(ctx)
	if err != nil {
		return nil, err
	}
	choice, err := safetensors.Choose(safetensors.Sets(files), opts.Weights)
	if err != nil {
		return nil, err
	}
	checkpoint, err := safetensors.ReadCheckpoint(ctx, src, choice.Set,
		safetensors.ReadOptions{Parallel: opts.Parallel, Progress: opts.Progress, WholeIndex: opts.WholeIndex})
	if err != nil {
		return nil, err
	}
	if err := nothingReadable(checkpoint); err != nil {
		return nil, err
	}
	reconciled := modelInspection
	if isAdapter(&choice.Set, files) {
		reconciled = adapterInspection
	}
	in, findings, err := reconciled(ctx, src, checkpoint, files, opts)
	if err != nil {
		return nil, err
	}
	in.Ledger.Rows = append(in.Ledger.Rows, storedRows(checkpoint)...)
	in.breakdown(checkpoint)
	findings = append(findings, fileFindings(checkpoint, in)...)
	findings = append(findings, choiceFindings(choice, checkpoint)...)
	findings = append(findings, in.hubFindings(src, choice, opts)...)
	in.Findings = finding.Sort(findings)
	if meter, ok := src.(source.Meter); ok {
		in.Access = meter.Access()
	}
	in.Access.Seconds = time.Since(began).Seconds()
	return in, nil
}

// modelInspection reconciles the weights of a model.
func modelInspection(ctx context.Context, src source.Source, checkpoint *safetensors.Checkpoint, files []source.File, opts Options) (*Inspection, []finding.Finding, error) {
	account := readConfig(ctx, src, checkpoint.Set.Folder)
	if err := account.checkClass(opts.Class); err != nil {
		return nil, nil, err
	}
	account.describe(opts.Class, func(candidates []string) string {
		return reconcile.GuessClass(account.config, checkpoint, candidates)
	})
	beside := account.quantisationBeside(ctx, src, checkpoint.Set.Folder, files)
	result, findings := reconcile.Reconcile(reconcile.Input{Config: account.config, Model: account.model, Checkpoint: checkpoint,
		Values: valueReader(ctx, src, checkpoint), AllValues: local(src), Quantization: beside})
	in := &Inspection{SchemaVersion: SchemaVersion, Result: result, Described: account.model, Config: account.config}
	in.fillSource(src, checkpoint)
	in.fillModel(&account, checkpoint)
	in.fillQuantisation(&account, result, beside)
	in.fillCounts(result, account.model)
	in.fillFormula(account.model, result)
	if f, ok := dtypeFinding(account.config, result); ok {
		findings = append(findings, f)
	}
	return in, append(findings, account.findings...), nil
}

// nothingReadable returns the first file's error where no file gave a header.
func nothingReadable(c *safetensors.Checkpoint) error {
	var first error
	for _, f := range c.Files {
		if f.Header != nil {
			return nil
		}
		if first == nil {
			first = f.Err
		}
	}
	return first
}

// valueReader reads the data of small tensors by name.
func valueReader(ctx context.Context, src source.Source, c *safetensors.Checkpoint) func(string) ([]byte, error) {
	const most = 1 << 20
	var byName map[string]tensorPlace
	return func(name string) ([]byte, error) {
		if byName == nil {
			byName = make(map[string]tensorPlace)
			for f, t := range c.All() {
				byName[t.Name] = tensorPlace{f, t}
			}
		}
		p, ok := byName[name]
		if !ok {
			return nil, source.NotExist("no tensor " + name)
		}
		return safetensors.ReadValues(ctx, src, p.file, p.tensor, most)
	}
}

type tensorPlace struct {
	file   *safetensors.File
	tensor *safetensors.Tensor
}

func (in *Inspection) fillSource(src source.Source, c *safetensors.Checkpoint) {
	in.Source = Source{Info: src.Info(), Complete: c.Complete, UnavailableFiles: c.Unavailable,
		Weights: c.Set.Name(), Files: len(c.Files)}
	for _, f := range c.Files {
		in.Source.FileBytes += max(f.Size, 0)
	}
}

func (in *Inspection) fillModel(a *account, c *safetensors.Checkpoint) {
	in.Model.Described = a.model != nil
	if a.config != nil {
		in.Model.ModelType = a.config.ModelType()
		if classes := a.config.Architectures(); len(classes) > 0 {
			in.Model.Architecture = classes[0]
		}
	}
	if a.model != nil {
		in.Model.ModelType, in.Model.Architecture = a.model.Type, a.model.Class
	}
	in.ByDType = []DTypeSum{}
	sums := c.ByDType()
	slices.SortStableFunc(sums, func(a, b safetensors.DTypeTotals) int { return cmp.Compare(b.Bytes, a.Bytes) })
	var names []string
	for _, s := range sums {
		in.ByDType = append(in.ByDType, DTypeSum{s.DType.String(), s.Tensors, s.Elements, s.Bytes})
		names = append(names, s.DType.String())
	}
	in.Model.DType = strings.Join(names, " + ")
}

func (in *Inspection) fillCounts(r *reconcile.Result, model *estimator.Model) {
	in.Counts = Counts{StoredElements: r.StoredElements, StoredBytes: r.StoredBytes, LogicalParameters: &r.Logical}
	if model == nil {
		return
	}
	counts := estimator.Count(model.Tensors())
	in.Counts.EstimatedParameters = &counts.Unique
	if r.Known {
		in.Counts.UniqueParameters, in.Counts.NonEmbeddingParameters, in.Counts.ActiveParameters = &r.Unique, &r.NonEmbedding, &r.Active
	}
}

// fillFormula writes the first two stages of the ledger.
func (in *Inspection) fillFormula(model *estimator.Model, r *reconcile.Result) {
	if model != nil {
		in.Formula, in.Ledger.Rows = formulaOf(model)
	}
	in.Ledger.Rows = append(in.Ledger.Rows, r.Rows...)
	in.Ledger.UnexplainedTensors = append([]string{}, r.UnexplainedTensors...)
	if model != nil || in.Source.Complete {
		in.Ledger.Unexplained = &r.Unexplained
	}
}

// formulaOf is the formula stage of a description.
func formulaOf(model *estimator.Model) (Formula, []reconcile.Row) {
	f := model.Formula()
	formula := Formula{Derived: &f.Derived, DerivedValue: &f.DerivedValue, Symbols: f.Symbols, Notes: f.Notes}
	if f.Applicable {
		text := estimator.TextbookFormula
		formula.Textbook, formula.TextbookValue = &text, &f.TextbookValue
	}
	var rows []reconcile.Row
	for _, row := range f.Rows {
		rows = append(rows, reconcile.Row{Stage: reconcile.FormulaStage, Code: row.Code, Reason: row.Reason,
			Formula: row.Formula, Elements: row.Elements, Tensors: finding.Names(row.Tensors)})
	}
	return formula, rows
}

// storedRows is the third stage: from elements to the bytes of the files.
func storedRows(c *safetensors.Checkpoint) []reconcile.Row {
	var rows []reconcile.Row
	add := func(code, reason string, bytes int64) {
		if bytes != 0 {
			rows = append(rows, reconcile.Row{Stage: reconcile.StoredStage, Code: code, Reason: reason, Bytes: bytes})
		}
	}
	for _, s := range c.ByDType() {
		add("data_"+strings.ToLower(s.DType.String()), "tensor data in "+s.DType.String(), s.Bytes)
	}
	var headers, rest, sizes int64
	for _, f := range c.Files {
		if f.Header == nil || f.Size < 0 || f.Header.DataStart() < 0 {
			continue
		}
		headers += f.Header.DataStart()
		rest += f.Size - f.Header.DataStart() - f.Header.Totals().Bytes
		sizes += f.Size
	}
	add("headers", "headers, with their length and padding", headers)
	if sizes > 0 {
		add("other_bytes", "bytes of the files that belong to no tensor, or are missing", rest)
	}
	return rows
}
