package record

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// Expectation is the result that a recording keeps: all of an inspection that
// must not move without a reason. Sentences are left out; they may be worded
// anew.
type Expectation struct {
	SchemaVersion string    `json:"schema_version"`
	Options       Choice    `json:"options"`
	Model         Model     `json:"model"`
	Complete      bool      `json:"complete"`
	Counts        Counts    `json:"counts"`
	Formula       Formula   `json:"formula"`
	Ledger        Ledger    `json:"ledger"`
	Findings      []Finding `json:"findings"`
}

// Choice is what the inspection was told.
type Choice struct {
	Class   string `json:"class,omitempty"`
	Variant string `json:"variant,omitempty"`
	File    string `json:"file,omitempty"`
}

// Model says what was found to be what.
type Model struct {
	ModelType    string `json:"model_type"`
	Architecture string `json:"architecture"`
	Described    bool   `json:"described"`
	DType        string `json:"dtype"`
}

// Counts are those of an inspection.
type Counts = inspect.Counts

// Formula is the formula's part of the ledger.
type Formula struct {
	TextbookValue *int64  `json:"textbook_value"`
	Derived       *string `json:"derived"`
	DerivedValue  *int64  `json:"derived_value"`
}

// Ledger is the ledger without its sentences.
type Ledger struct {
	Rows               []Row    `json:"rows"`
	Unexplained        *int64   `json:"unexplained"`
	UnexplainedTensors []string `json:"unexplained_tensors"`
}

// Row is a row of the ledger without its sentence.
type Row struct {
	Stage    string   `json:"stage"`
	Code     string   `json:"code"`
	Elements int64    `json:"elements"`
	Bytes    int64    `json:"bytes,omitempty"`
	Tensors  []string `json:"tensors,omitempty"`
}

// Finding is a finding without its sentence.
type Finding struct {
	Code     string   `json:"code"`
	Severity string   `json:"severity"`
	Tensors  []string `json:"tensors,omitempty"`
	Fields   []string `json:"fields,omitempty"`
	File     string   `json:"file,omitempty"`
}

// expect takes out of an inspection what is to be kept.
func expect(in *inspect.Inspection, opts inspect.Options) *Expectation {
	e := &Expectation{
		SchemaVersion: in.SchemaVersion,
		Options:       Choice{opts.Class, opts.Weights.Variant, opts.Weights.File},
		Model:         Model{in.Model.ModelType, in.Model.Architecture, in.Model.Described, in.Model.DType},
		Complete:      in.Source.Complete,
		Counts:        in.Counts,
		Formula:       Formula{in.Formula.TextbookValue, in.Formula.Derived, in.Formula.DerivedValue},
		Ledger:        Ledger{[]Row{}, in.Ledger.Unexplained, finding.Names(in.Ledger.UnexplainedTensors)},
		Findings:      []Finding{},
	}
	for _, r := range in.Ledger.Rows {
		e.Ledger.Rows = append(e.Ledger.Rows, Row{string(r.Stage), r.Code, r.Elements, r.Bytes, r.Tensors})
	}
	for _, f := range in.Findings {
		e.Findings = append(e.Findings, Finding{f.Code, string(f.Severity), f.Tensors, f.Fields, f.File})
	}
	return e
}

// options are those of an inspection that should find the same.
func (c Choice) options() inspect.Options {
	return inspect.Options{Class: c.Class, Weights: safetensors.ChooseOptions{Variant: c.Variant, File: c.File}}
}

func (e *Expectation) encode() ([]byte, error) {
	text, err := json.Marshal(e)
	return layout(text), err
}

// errNoResult says that a recording keeps no result.
var errNoResult = errors.New("the recording keeps no result to compare with; verify --update adds it")

// kept reads the options under which the kept result was found.
func kept(text []byte) (Choice, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return Choice{}, errNoResult
	}
	var e struct {
		Options Choice `json:"options"`
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return Choice{}, errors.New("the result kept in the recording is not valid JSON; verify --update writes it anew")
	}
	return e.Options, nil
}
