package audit

import (
	"context"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/source"
)

// SchemaVersion is the version of the JSON result.
const SchemaVersion = "1"

// Options say what an audit holds a model against.
type Options struct {
	FailOn   finding.Severity // the least severity that fails; zero: error
	Expected *Expectation     // nil: no number is expected
	Baseline *Baseline        // nil: nothing is known
}

// Audit is the verdict on one model.
type Audit struct {
	SchemaVersion string           `json:"schema_version"`
	Model         string           `json:"model"` // as it was asked for
	Source        *inspect.Source  `json:"source,omitempty"`
	Architecture  string           `json:"architecture,omitempty"`
	Counts        *inspect.Counts  `json:"counts,omitempty"`
	FailOn        finding.Severity `json:"fail_on"`
	Expected      string           `json:"expected_parameters,omitempty"`

	Passed   bool           `json:"passed"`
	Failing  int            `json:"failing"` // findings that make it fail
	Findings []Finding      `json:"findings"`
	Gone     []KnownFinding `json:"gone,omitempty"`  // of the baseline, and no longer found
	Error    string         `json:"error,omitempty"` // why nothing could be counted
}

// Finding is a finding and what it does to the verdict.
type Finding struct {
	finding.Finding
	Known bool `json:"known"` // to the baseline, which accepts it
	Fails bool `json:"fails"`
}

// Model audits an inspection of the source under the name that it was asked for
// by.
func Model(ctx context.Context, name string, src source.Source, in *inspect.Inspection, opts Options) *Audit {
	if opts.FailOn == "" {
		opts.FailOn = finding.Error
	}
	a := &Audit{SchemaVersion: SchemaVersion, Model: name, Source: &in.Source, Architecture: in.Model.Architecture, Counts: &in.Counts,
		FailOn: opts.FailOn, Findings: []Finding{}}
	found := append(in.Findings, beside(ctx, src, in)...)
	if opts.Expected != nil {
		a.Expected = opts.Expected.Text
		found = append(found, opts.Expected.hold(&in.Counts)...)
	}
	known := opts.Baseline.of(name)
	for _, f := range finding.Sort(found) {
		one := Finding{Finding: f, Known: known.take(f)}
		one.Fails = !one.Known && f.Severity.AtLeast(opts.FailOn)
		if one.Fails {
			a.Failing++
		}
		a.Findings = append(a.Findings, one)
	}
	a.Gone = known.rest()
	a.Passed = a.Failing == 0
	return a
}

// Uncountable is the verdict on a model of which nothing could be counted.
func Uncountable(name string, err error, opts Options) *Audit {
	return &Audit{SchemaVersion: SchemaVersion, Model: name, FailOn: opts.FailOn, Findings: []Finding{}, Error: err.Error()}
}

// beside are the checks that an inspection alone does not make.
func beside(ctx context.Context, src source.Source, in *inspect.Inspection) []finding.Finding {
	list := append(shardNumbers(in), roleDTypes(in)...)
	if files, err := src.List(ctx); err == nil {
		list = append(list, pickles(ctx, src, files)...)
		if in.Adapter == nil {
			list = append(list, tokens(ctx, src, files, in)...)
		}
	}
	return list
}
