package audit

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// Baseline is what is known of models, and accepted.
type Baseline struct {
	SchemaVersion string                    `json:"schema_version"`
	Models        map[string][]KnownFinding `json:"models"`
}

// KnownFinding is an accepted finding: the same code about the same things. The
// message is only compared where it alone says what is meant.
type KnownFinding struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	File    string   `json:"file,omitempty"`
	Fields  []string `json:"fields,omitempty"`
	Tensors []string `json:"tensors,omitempty"`
}

// ReadBaseline decodes a baseline file.
func ReadBaseline(data []byte) (*Baseline, error) {
	b := new(Baseline)
	if err := json.Unmarshal(data, b); err != nil {
		return nil, err
	}
	if b.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("schema_version is %q, want %q", b.SchemaVersion, SchemaVersion)
	}
	return b, nil
}

// NewBaseline accepts all that audits found, and keeps what another baseline
// knows of other models.
func NewBaseline(audits []*Audit, other *Baseline) *Baseline {
	b := &Baseline{SchemaVersion: SchemaVersion, Models: make(map[string][]KnownFinding)}
	if other != nil {
		for name, known := range other.Models {
			b.Models[name] = known
		}
	}
	for _, a := range audits {
		if a.Error != "" {
			continue
		}
		list := []KnownFinding{}
		for _, f := range a.Findings {
			list = append(list, KnownFinding{f.Code, f.Message, f.File, f.Fields, f.Tensors})
		}
		b.Models[key(a.Model)] = list
	}
	return b
}

// known are a model's accepted findings that were not met yet.
type known struct{ left []KnownFinding }

func (b *Baseline) of(model string) *known {
	if b == nil {
		return new(known)
	}
	return &known{slices.Clone(b.Models[key(model)])}
}

// key is a model's name in a baseline: a path without what does not change where
// it leads.
func key(model string) string {
	if strings.Contains(model, "://") {
		return model
	}
	return filepath.ToSlash(filepath.Clean(model))
}

// Accept sets an audit's findings aside as known: they are in the baseline now.
func (a *Audit) Accept() {
	if a.Error != "" {
		return
	}
	a.Passed, a.Failing, a.Gone = true, 0, nil
	for i := range a.Findings {
		a.Findings[i].Known, a.Findings[i].Fails = true, false
	}
}

// take reports whether a finding is known; each accepted one stands for one.
func (k *known) take(f finding.Finding) bool {
	i := slices.IndexFunc(k.left, func(one KnownFinding) bool { return one.is(f) })
	if i < 0 {
		return false
	}
	k.left = slices.Delete(k.left, i, i+1)
	return true
}

func (k *known) rest() []KnownFinding { return k.left }

func (k *KnownFinding) is(f finding.Finding) bool {
	about := len(f.Tensors) > 0 || len(f.Fields) > 0 || f.File != ""
	return k.Code == f.Code && k.File == f.File && slices.Equal(k.Fields, f.Fields) && slices.Equal(k.Tensors, f.Tensors) &&
		(about || k.Message == f.Message)
}

// Fingerprint tells a finding from others of the same model, whatever its
// numbers.
func (f *Finding) Fingerprint() string {
	parts := append([]string{f.Code, f.File}, append(slices.Clone(f.Fields), f.Tensors...)...)
	if len(parts) == 2 && f.File == "" {
		parts = append(parts, f.Message)
	}
	return strings.Join(parts, "\n")
}
