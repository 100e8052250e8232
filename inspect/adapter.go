package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/adapter"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// Adapter is what an inspection finds about an adapter.
type Adapter struct {
	Method  string   `json:"method"` // LORA, IA3, PREFIX_TUNING, …
	Rank    *int64   `json:"rank"`   // of the config; null where the method has none
	Ranks   []int64  `json:"ranks,omitempty"`
	Alpha   *float64 `json:"alpha,omitempty"`
	Targets []string `json:"targets"`          // last names of the modules that carry the adapter
	Modules int64    `json:"modules"`          // how many they are; 0 where not known
	Layers  string   `json:"layers,omitempty"` // {0..31}

	Base           string   `json:"base"`
	BaseParameters *int64   `json:"base_parameters"` // unique parameters of the base
	Trainable      *int64   `json:"trainable_parameters"`
	ShareOfBase    *float64 `json:"share_of_base"` // trainable / base
	CopiedElements int64    `json:"copied_elements"`
}

const adapterConfigName = "adapter_config.json"

// isAdapter tells the weights of an adapter by their name, else by a config that
// only adapters have.
func isAdapter(set *safetensors.Set, files []source.File) bool {
	has := func(name string) bool {
		at := path.Join(set.Folder, name)
		return slices.ContainsFunc(files, func(f source.File) bool { return f.Path == at })
	}
	if strings.HasPrefix(set.Stem, "adapter") {
		return true
	}
	return has(adapterConfigName) && !has("config.json")
}

// adapterAccount is what is promised of an adapter: its config and its base.
type adapterAccount struct {
	account
	adapter *hfconfig.Adapter
}

func readAdapterAccount(ctx context.Context, src source.Source, folder string, opts Options) adapterAccount {
	var a adapterAccount
	name := path.Join(folder, adapterConfigName)
	data, err := readWhole(ctx, src, name, hfconfig.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.find(finding.New("HFI601", "no "+adapterConfigName))
		return a
	case err != nil:
		a.find(finding.New("HFI608", name+": "+err.Error()).In(name))
		return a
	}
	a.parseAdapter(name, data)
	if a.adapter != nil {
		a.readBase(ctx, src, folder, opts)
	}
	return a
}

func (a *adapterAccount) parseAdapter(name string, data []byte) {
	config, notices, err := hfconfig.ParseAdapter(data)
	if config == nil {
		a.find(finding.New("HFI608", name+": "+err.Error()).In(name))
		return
	}
	for _, n := range notices {
		f := finding.New("HFI613", n.Message).In(name)
		if n.Refused {
			f = finding.New("HFI608", n.Message).In(name)
		}
		a.find(f)
	}
	for _, fault := range config.Fields.Faults() {
		f := finding.New("HFI606", fault.Error()).In(name)
		var field *hfconfig.FieldError
		if errors.As(fault, &field) {
			f = f.Field(field.Field)
		}
		a.find(f)
	}
	a.adapter = config
}

// readBase finds the base's config: in a folder beside the adapter, where the
// adapter's config says, or beside the adapter itself.
func (a *adapterAccount) readBase(ctx context.Context, src source.Source, folder string, opts Options) {
	if a.baseFrom(ctx, src, path.Join(folder, "base_config", "config.json"), opts.Class) {
		return
	}
	reason := "its config names no base"
	if a.adapter.Base != "" {
		reason = "nothing to look for it with"
		if opts.Base != nil {
			base, err := opts.Base(ctx, a.adapter.Base, a.adapter.Revision)
			if err == nil && a.baseFrom(ctx, base, "config.json", opts.Class) {
				return
			}
			if reason = "it has no config.json"; err != nil {
				reason = err.Error()
			}
		}
	}
	if a.baseFrom(ctx, src, path.Join(folder, "config.json"), opts.Class) {
		return
	}
	if !a.adapter.IsPrompt() {
		a.find(finding.New("HFI602", fmt.Sprintf("the base %q was not found: %s", a.adapter.Base, reason)).Field("base_model_name_or_path"))
	}
}

// baseFrom reads and describes a base's config. It reports whether there is one.
func (a *adapterAccount) baseFrom(ctx context.Context, src source.Source, name, class string) bool {
	data, err := readWhole(ctx, src, name, hfconfig.MaxSize)
	if err != nil {
		return false
	}
	a.parse(name, data)
	if a.config == nil {
		return true
	}
	if class == "" {
		class = classForTask(a.config, a.adapter.TaskType)
	}
	a.describe(class, nil)
	return true
}

// taskEndings are the endings of the classes that peft loads a base as.
var taskEndings = map[string]string{
	"SEQ_CLS": "ForSequenceClassification", "TOKEN_CLS": "ForTokenClassification", "QUESTION_ANS": "ForQuestionAnswering", "FEATURE_EXTRACTION": "Model",
}

// classForTask is the class that the adapter's task calls for, where it is not
// the one of the base's config.
func classForTask(config *hfconfig.Config, task string) string {
	ending, ok := taskEndings[task]
	if !ok {
		return ""
	}
	model, err := estimator.Describe(config, "")
	if err != nil || strings.HasSuffix(model.Class, ending) {
		return ""
	}
	for _, class := range estimator.Siblings(model) {
		if !strings.HasSuffix(class, ending) {
			continue
		}
		if _, err := estimator.Describe(config, class); err == nil {
			return class
		}
	}
	return ""
}

// adapterInspection reconciles an adapter.
func adapterInspection(ctx context.Context, src source.Source, checkpoint *safetensors.Checkpoint, _ []source.File, opts Options) (*Inspection, []finding.Finding, error) {
	a := readAdapterAccount(ctx, src, checkpoint.Set.Folder, opts)
	r, findings := reconcile.ReconcileAdapter(reconcile.AdapterInput{Config: a.adapter, Base: a.model, Checkpoint: checkpoint})
	in := &Inspection{SchemaVersion: SchemaVersion, Result: r.Result}
	in.fillSource(src, checkpoint)
	in.fillModel(&a.account, checkpoint)
	in.Model.Described = r.Described
	in.Counts = Counts{StoredElements: r.StoredElements, StoredBytes: r.StoredBytes, LogicalParameters: &r.Logical}
	if r.Known {
		in.Counts.UniqueParameters = &r.Unique
	}
	if r.Described {
		stored := r.Plan.Stored()
		in.Counts.EstimatedParameters = &stored
		in.Ledger.Rows = planRows(r.Plan)
	}
	in.Ledger.Rows = append(in.Ledger.Rows, r.Rows...)
	in.Ledger.Unexplained = &r.Unexplained
	in.Ledger.UnexplainedTensors = append([]string{}, r.UnexplainedTensors...)
	in.fillAdapter(&a, r)
	if n := in.Adapter.Trainable; r.Described && n != nil && *n > r.Unique && a.adapter.IsPrompt() {
		findings = append(findings, finding.New("HFI612", fmt.Sprintf("of %d trained parameters %d made the virtual tokens", *n, *n-r.Unique)))
	}
	return in, append(findings, a.findings...), nil
}

func (in *Inspection) fillAdapter(a *adapterAccount, r *reconcile.AdapterResult) {
	out := &Adapter{Targets: []string{}, Trainable: r.Trainable, CopiedElements: r.Logical - r.Unique}
	in.Adapter = out
	if a.model != nil {
		n := estimator.Count(a.model.Tensors()).Unique
		out.BaseParameters = &n
		if r.Trainable != nil && n > 0 {
			share := float64(*r.Trainable) / float64(n)
			out.ShareOfBase = &share
		}
	}
	if r.Plan != nil {
		out.Ranks, out.Modules = r.Plan.Ranks, r.Plan.Modules
		out.Targets = append(out.Targets, r.Plan.Names...)
		if r.Plan.Layers != nil {
			out.Layers = r.Plan.Layers.String()
		}
	}
	if a.adapter == nil {
		return
	}
	out.Method, out.Base = a.adapter.Method, a.adapter.Base
	if a.adapter.Rank > 0 {
		out.Rank = &a.adapter.Rank
	}
	if a.adapter.Alpha != 0 {
		out.Alpha = &a.adapter.Alpha
	}
	if len(out.Targets) == 0 {
		out.Targets = append(out.Targets, a.adapter.TargetModules...)
	}
}

// planRows is the formula stage of an adapter: what its config and its base call
// for, by kind.
func planRows(plan *adapter.Plan) []reconcile.Row {
	var rows []reconcile.Row
	for i := range plan.Tensors {
		t := &plan.Tensors[i]
		if t.Optional {
			continue
		}
		code := string(t.Kind)
		at := slices.IndexFunc(rows, func(r reconcile.Row) bool { return r.Code == code })
		if at < 0 {
			at = len(rows)
			rows = append(rows, reconcile.Row{Stage: reconcile.FormulaStage, Code: code, Reason: reconcile.KindWords(code)})
		}
		rows[at].Elements += t.Elements()
		rows[at].Tensors = finding.Names(append(rows[at].Tensors, t.Folded()))
	}
	return rows
}
