package inspect

import (
	"context"
	"slices"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// layoutCase is a small checkpoint or adapter as the real libraries wrote it.
type layoutCase struct {
	quantisedCase
	Kind      string `json:"kind"` // messy, adapters
	Refused   bool   `json:"refused"`
	Estimated *int64 `json:"estimated_parameters"`
	Base      *int64 `json:"base_parameters"`
	Trainable *int64 `json:"trainable_parameters"`
}

func readLayouts(t testing.TB, kind string) []layoutCase {
	t.Helper()
	var cases []layoutCase
	truthtable.Each(t, "testdata/layouts.jsonl.gz", func(c *layoutCase) {
		if c.Kind == kind {
			cases = append(cases, *c)
		}
	})
	return cases
}

// otherUnique are the cases in which the file's unique parameters are not those
// of the model that the config describes.
var otherUnique = map[string]int64{
	"config-more-layers":        361088, // a layer of the config is not there
	"vocab-padded-config-stale": 361088, // as stored
	"save_model-shared-module":  -1,     // no architecture
}

// wantCodes are the findings of warning and error that the cases call for.
var wantCodes = map[string][]string{
	"bias-not-in-config":        {"HFI417"},
	"config-more-layers":        {"HFI416"},
	"fused-qkv":                 {"HFI701"},
	"prefix-module":             {"HFI409"},
	"prefix-orig_mod":           {"HFI409"},
	"save_model-shared-module":  {"HFI305"},
	"vocab-padded-config-stale": {"HFI411", "HFI411"},
	"qlora-bnb-nf4":             {"HFI602"},
}

func codesOf(findings []finding.Finding, least finding.Severity) []string {
	var list []string
	for _, f := range findings {
		if f.Severity == finding.Error || f.Severity == least {
			list = append(list, f.Code)
		}
	}
	slices.Sort(list)
	return list
}

// TestMessy holds odd files to the numbers that the reference library has for
// them, and to a ledger that closes.
func TestMessy(t *testing.T) {
	for _, c := range readLayouts(t, "messy") {
		t.Run(c.Name, func(t *testing.T) {
			in, err := Inspect(context.Background(), c.folder(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if in.Counts.StoredElements != c.Stored || *in.Counts.LogicalParameters != c.Logical {
				t.Errorf("stored %d, logical %d; want %d, %d", in.Counts.StoredElements, *in.Counts.LogicalParameters, c.Stored, c.Logical)
			}
			want, other := otherUnique[c.Name]
			if !other {
				want = c.Unquantised
			}
			if u := in.Counts.UniqueParameters; u == nil != (want < 0) || u != nil && *u != want {
				t.Errorf("unique %v, want %d", u, want)
			}
			if e := in.Counts.EstimatedParameters; c.Estimated != nil && (e == nil || *e != *c.Estimated) {
				t.Errorf("estimated %v, want %d", e, *c.Estimated)
			}
			checkClosed(t, in)
			if got := codesOf(in.Findings, finding.Warning); !slices.Equal(got, wantCodes[c.Name]) {
				t.Errorf("findings %v, want %v", got, wantCodes[c.Name])
			}
			if refused := slices.ContainsFunc(in.Findings, func(f finding.Finding) bool { return f.Severity == finding.Error }); c.Refused && !refused {
				t.Error("the reference library refuses it, and no error says so")
			}
		})
	}
}

// checkClosed adds the ledger up and wants nothing unexplained.
func checkClosed(t *testing.T, in *Inspection) {
	t.Helper()
	sum := int64(0)
	if in.Formula.TextbookValue != nil {
		sum = *in.Formula.TextbookValue
	}
	estimated := sum
	for _, row := range in.Ledger.Rows {
		sum += row.Elements
		if row.Stage == "formula" {
			estimated += row.Elements
		}
	}
	if e := in.Counts.EstimatedParameters; e != nil && *e != estimated {
		t.Errorf("the formula stage sums to %d, the estimate is %d", estimated, *e)
	}
	if in.Ledger.Unexplained == nil || *in.Ledger.Unexplained != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
		t.Errorf("unexplained %v: %v", in.Ledger.Unexplained, in.Ledger.UnexplainedTensors)
	} else if sum != in.Counts.StoredElements {
		t.Errorf("the ledger sums to %d, stored are %d", sum, in.Counts.StoredElements)
	}
}

// TestAdapters holds adapters to the counts of peft.
func TestAdapters(t *testing.T) {
	// What is stored and not the adapter's own: tables below adapted embeddings,
	// second copies of tied modules, shared projections.
	copies := map[string]int64{"lora-llama-embed-tied": 32768, "lora-llama-tied-modules_to_save-ensure": 32768, "vera-llama": 4096}
	for _, c := range readLayouts(t, "adapters") {
		t.Run(c.Name, func(t *testing.T) {
			in, err := Inspect(context.Background(), c.folder(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			a := in.Adapter
			if a == nil {
				t.Fatal("not taken for an adapter")
			}
			if in.Counts.StoredElements != c.Stored || *in.Counts.UniqueParameters != c.Stored-copies[c.Name] {
				t.Errorf("stored %d, unique %d; want %d and %d fewer", in.Counts.StoredElements, *in.Counts.UniqueParameters, c.Stored, copies[c.Name])
			}
			if a.Trainable == nil || *a.Trainable != *c.Trainable {
				t.Errorf("trainable %v, want %d", a.Trainable, *c.Trainable)
			}
			based := c.Name != "qlora-bnb-nf4"
			if based && (a.BaseParameters == nil || *a.BaseParameters != *c.Base) {
				t.Errorf("base %v, want %d", a.BaseParameters, *c.Base)
			}
			if e := in.Counts.EstimatedParameters; based != (e != nil) || e != nil && *e != c.Stored {
				t.Errorf("estimated %v, want %d", e, c.Stored)
			}
			checkClosed(t, in)
			if got := codesOf(in.Findings, finding.Warning); !slices.Equal(got, wantCodes[c.Name]) {
				t.Errorf("findings %v, want %v", got, wantCodes[c.Name])
			}
		})
	}
}

// TestAdaptersAlone counts the same adapters without their base: from their own
// tensors.
func TestAdaptersAlone(t *testing.T) {
	for _, c := range readLayouts(t, "adapters") {
		t.Run(c.Name, func(t *testing.T) {
			delete(c.Files, "base_config/config.json")
			in, err := Inspect(context.Background(), c.folder(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if in.Adapter.Trainable == nil || *in.Adapter.Trainable != *c.Trainable && c.Name != "lora-llama-tied-modules_to_save-ensure" {
				t.Errorf("trainable %v, want %d", in.Adapter.Trainable, *c.Trainable)
			}
			checkClosed(t, in)
			for _, f := range in.Findings {
				if f.Severity == finding.Error {
					t.Errorf("%s %s", f.Code, f.Message)
				}
			}
		})
	}
}
