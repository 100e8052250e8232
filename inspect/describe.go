package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/source"
)

// readWhole reads a small file, at most limit bytes of it.
func readWhole(ctx context.Context, src source.Source, name string, limit int64) ([]byte, error) {
	data, err := src.ReadRange(ctx, name, 0, limit+1)
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, limit)
	}
	return data, err
}

// account is the left-hand side of an inspection: the config and what it means.
type account struct {
	config   *hfconfig.Config
	model    *estimator.Model
	findings []finding.Finding
}

func (a *account) find(f finding.Finding) { a.findings = append(a.findings, f) }

// readConfig reads the config beside the weights, else at the root.
func readConfig(ctx context.Context, src source.Source, folder string) account {
	var a account
	for _, name := range []string{path.Join(folder, "config.json"), "config.json"} {
		data, err := readWhole(ctx, src, name, hfconfig.MaxSize)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			a.find(finding.New("HFI302", "config.json cannot be read: "+err.Error()).In(name))
			return a
		}
		a.parse(name, data)
		return a
	}
	a.find(finding.New("HFI301", "no config.json"))
	return a
}

func (a *account) parse(name string, data []byte) {
	config, notices, err := hfconfig.Parse(data)
	if err != nil {
		a.find(finding.New("HFI302", name+": "+err.Error()).In(name))
		return
	}
	for _, n := range notices {
		f := finding.New("HFI304", n.Message).In(name)
		if n.Refused {
			f = finding.New("HFI302", n.Message).In(name)
		}
		if n.Field != "" {
			f = f.Field(n.Field)
		}
		a.find(f)
	}
	a.config = config
}

// checkClass refuses a class, asked for by hand, that the model type does not
// have.
func (a *account) checkClass(class string) error {
	if a.config == nil || class == "" {
		return nil
	}
	return estimator.CheckClass(a.config.ModelType(), class)
}

// describe finds the description of the config's architecture. Where the config
// names no class, guess chooses among the candidates.
func (a *account) describe(class string, guess func(candidates []string) string) {
	if a.config == nil {
		return
	}
	guessed := false
	if class == "" && guess != nil && !hasClass(a.config) {
		if model, err := estimator.Describe(a.config, ""); err == nil {
			class = guess(append([]string{model.Class}, estimator.Siblings(model)...))
			guessed = true
		}
	}
	model, err := estimator.Describe(a.config, class)
	a.config.Check()
	a.faults()
	a.doubts()
	var field *hfconfig.FieldError
	switch {
	case err == nil:
		a.model = model
		if guessed {
			a.find(finding.New("HFI306", "config.json names no class; the stored names are those of "+class).Field("architectures"))
		}
	case errors.Is(err, estimator.ErrNotDescribed):
		a.find(finding.New("HFI305", a.undescribed(err)).Field("model_type"))
	case errors.As(err, &field) && a.knows(field):
	default:
		a.find(finding.New("HFI303", err.Error()))
	}
}

func hasClass(c *hfconfig.Config) bool { return len(c.Architectures()) > 0 }

// undescribed says which type or class it is that has no description.
func (a *account) undescribed(err error) string {
	what := "config.json names no model type"
	if a.config.ModelType() != "" {
		what = strings.Replace(err.Error(), ": "+estimator.ErrNotDescribed.Error(), " is not described", 1)
	}
	return what + "; every tensor is counted, roles are guessed from names"
}

// faults turns the config's faults into findings.
func (a *account) faults() {
	for _, err := range a.config.Faults() {
		f := finding.New("HFI303", err.Error()).In("config.json")
		var field *hfconfig.FieldError
		if errors.As(err, &field) {
			f = f.Field(field.Field)
		}
		a.find(f)
	}
}

// doubts reports what a reader of the config should know before trusting what it
// says of the model.
func (a *account) doubts() {
	if left := a.config.Defaulted(); len(left) > 0 {
		a.find(finding.New("HFI308", strings.Join(left, ", ")+" not in the config: the class's defaults are used").Field(left...))
	}
	slips := a.config.Misspelt()
	for _, field := range slices.Sorted(maps.Keys(slips)) {
		a.find(finding.New("HFI309", fmt.Sprintf("the class does not know %q; is %s meant", field, slips[field])).Field(field))
	}
	if why := a.config.ForeignClass(); why != "" {
		a.find(finding.New("HFI310", a.config.Architectures()[0]+" "+why).Field("architectures", "model_type"))
	}
}

func (a *account) knows(field *hfconfig.FieldError) bool {
	for _, f := range a.findings {
		if len(f.Fields) == 1 && f.Fields[0] == field.Field {
			return true
		}
	}
	return false
}
