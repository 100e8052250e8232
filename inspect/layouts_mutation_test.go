package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// sampler lets one of so many mutations through, unless all are asked for.
func sampler(oneIn int) func() bool {
	n := 0
	return func() bool {
		n++
		return *allMutations || n%oneIn == 0
	}
}

// TestMutationsOfLayouts changes each tensor of odd files: the ledger must never
// stay clean.
func TestMutationsOfLayouts(t *testing.T) {
	try := sampler(11)
	for _, c := range readLayouts(t, "messy") {
		t.Run(c.Name, func(t *testing.T) {
			if c.Name == "save_model-shared-module" {
				t.Skip("no architecture: nothing says what should be there")
			}
			m := newMutant(t, &c.quantisedCase)
			for _, target := range m.targets() {
				for _, change := range mutations {
					if !try() {
						continue
					}
					if tensors, differs := m.mutate(target, change.apply); differs && m.clean(tensors) && !dispensable(m, target, change.name) {
						t.Errorf("%s %s: clean", change.name, target.name)
					}
				}
			}
		})
	}
}

// dispensable reports whether a file without the tensors is as whole as with
// them: old masks and tables, and second copies of tied tensors.
func dispensable(m *mutant, target target, change string) bool {
	if change != "drop" {
		return false
	}
	result, _ := m.run(m.tensors)
	for i := range result.Claims {
		c := &result.Claims[i]
		for one := range c.Members() {
			if target.is(one.Tensor.Name) && c.Status != reconcile.Buffer && c.Status != reconcile.Tied {
				return false
			}
		}
	}
	return true
}

// adapterMutant is the reconciliation of an adapter whose tensors can be
// changed.
type adapterMutant struct {
	mutant
	adapter reconcile.AdapterInput
}

func newAdapterMutant(t testing.TB, c *layoutCase) *adapterMutant {
	t.Helper()
	ctx, src := context.Background(), c.folder(t)
	checkpoint := readChosen(t, src)
	account := readAdapterAccount(ctx, src, "", Options{})
	m := &adapterMutant{adapter: reconcile.AdapterInput{Config: account.adapter, Base: account.model}}
	for _, tensor := range checkpoint.All() {
		m.tensors = append(m.tensors, *tensor)
	}
	m.baseline = make(map[string]bool)
	_, findings := m.runAdapter(m.tensors)
	for _, f := range findings {
		m.baseline[f.Code+f.Message] = true
	}
	return m
}

func readChosen(t testing.TB, src source.Source) *safetensors.Checkpoint {
	t.Helper()
	ctx := context.Background()
	files, err := src.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	choice, err := safetensors.Choose(safetensors.Sets(files), safetensors.ChooseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkpoint, err := safetensors.ReadCheckpoint(ctx, src, choice.Set, safetensors.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return checkpoint
}

func (m *adapterMutant) runAdapter(tensors []safetensors.Tensor) (*reconcile.AdapterResult, []finding.Finding) {
	in := m.adapter
	in.Checkpoint = &safetensors.Checkpoint{Complete: true,
		Files: []*safetensors.File{{Path: "adapter_model.safetensors", Header: &safetensors.Header{Length: -1, Tensors: tensors}}}}
	return reconcile.ReconcileAdapter(in)
}

func (m *adapterMutant) cleanAdapter(tensors []safetensors.Tensor) bool {
	result, findings := m.runAdapter(tensors)
	if result.Unexplained != 0 || len(result.UnexplainedTensors) > 0 {
		return false
	}
	for _, f := range findings {
		if !m.baseline[f.Code+f.Message] {
			return false
		}
	}
	return true
}

// TestMutationsOfAdapters does the same with adapters and their bases.
func TestMutationsOfAdapters(t *testing.T) {
	try := sampler(5)
	for _, c := range readLayouts(t, "adapters") {
		if c.Name == "qlora-bnb-nf4" {
			continue // without a base a module that is dropped whole is not missed
		}
		t.Run(c.Name, func(t *testing.T) {
			m := newAdapterMutant(t, &c)
			for _, target := range m.targets() {
				for _, change := range mutations {
					if lone(m, target) && change.name == "retype" || !try() {
						continue // one dtype for all that there is
					}
					if tensors, differs := m.mutate(target, change.apply); differs && m.cleanAdapter(tensors) {
						t.Errorf("%s %s: clean", change.name, target.name)
					}
				}
			}
		})
	}
}

// lone reports whether the target is every tensor of the file.
func lone(m *adapterMutant, target target) bool {
	for i := range m.tensors {
		if !target.is(m.tensors[i].Name) {
			return false
		}
	}
	return true
}

// TestMutationsOfRecordings changes tensors of the embedded recordings: one of
// each kind, and all of it.
func TestMutationsOfRecordings(t *testing.T) {
	try := sampler(31)
	for _, info := range fixtures.List() {
		t.Run(strings.ReplaceAll(info.Repository, "/", "_"), func(t *testing.T) {
			m := recordingMutant(t, info.Repository)
			if m.input.Model == nil {
				t.Skip("no description")
			}
			seen := make(map[string]bool)
			for i := range m.tensors {
				one := m.tensors[i].Name
				folded := numbersOut(one)
				if seen[folded] && !*allMutations || len(m.tensors) > 20000 && len(seen) > 8 {
					continue
				}
				first := !seen[folded]
				seen[folded] = true
				is := func(other string) bool { return other == one }
				for _, change := range mutations {
					if !try() {
						continue
					}
					if tensors, differs := m.mutate(target{one, is}, change.apply); differs && m.clean(tensors) && !dispensable(m, target{one, is}, change.name) {
						t.Errorf("%s %s: clean", change.name, one)
					}
				}
				if !first || len(m.tensors) > 20000 {
					continue
				}
				all := func(other string) bool { return numbersOut(other) == folded }
				for _, change := range mutations {
					if !try() {
						continue
					}
					if tensors, differs := m.mutate(target{folded, all}, change.apply); differs && m.clean(tensors) && !dispensable(m, target{folded, all}, change.name) {
						t.Errorf("%s %s: clean", change.name, folded)
					}
				}
			}
		})
	}
}

func recordingMutant(t testing.TB, name string) *mutant {
	t.Helper()
	src, ok := fixtures.Find(name)
	if !ok {
		t.Fatalf("no recording %s", name)
	}
	checkpoint := readChosen(t, src)
	account := readConfig(context.Background(), src, "")
	account.describe("", nil)
	m := &mutant{input: reconcile.Input{Config: account.config, Model: account.model}, baseline: make(map[string]bool)}
	for _, tensor := range checkpoint.All() {
		m.tensors = append(m.tensors, *tensor)
	}
	_, findings := m.run(m.tensors)
	for _, f := range findings {
		m.baseline[f.Code+f.Message] = true
	}
	return m
}

// numbersOut replaces the numbers of a name.
func numbersOut(name string) string {
	parts := strings.Split(name, ".")
	for i := range parts {
		var n int
		if _, err := fmt.Sscanf(parts[i], "%d", &n); err == nil {
			parts[i] = "N"
		}
	}
	return strings.Join(parts, ".")
}
