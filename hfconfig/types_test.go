package hfconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestTypes holds the check of types against what transformers 5.23 said of one
// field in a config of else nothing: two fields of each declared type under every
// kind of value, and others at random.
func TestTypes(t *testing.T) {
	rows := 0
	for line := range strings.Lines(string(readTestdata(t, "types.tsv"))) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if row[0] == "granitemoehybrid" && row[1] == "time_step_limit" {
			continue // the class makes a pair of it and refuses another length
		}
		config := mustParse(t, fmt.Sprintf(`{"model_type": %q, %q: %s}`, row[0], row[1], row[2]))
		config.checkTypes()
		if refused := len(config.Faults()) > 0; refused != (row[3] == "refused") {
			t.Errorf("%v: %v", row, config.Faults())
		}
		if config.Err() != nil {
			t.Errorf("%v: %v is no doubt of what is meant", row, config.Err())
		}
		rows++
	}
	if rows < 3000 {
		t.Errorf("%d rows", rows)
	}
}

// TestTypesTable holds the table to its form.
func TestTypesTable(t *testing.T) {
	var names []string
	for line := range strings.Lines(typesTable) {
		name, declared, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !readable(declared) {
			t.Errorf("%q", line)
		}
		names = append(names, name)
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("lines are not sorted by field, or a field stands twice")
	}
	for modelType := range classLines() {
		for field, declared := range ClassOf(modelType).types {
			if declared != "" && !readable(declared) {
				t.Errorf("%s.%s: %q", modelType, field, declared)
			}
		}
	}
}

// readable reports whether every alternative is a word that admitsOne knows.
func readable(declared string) bool {
	for one := range alternatives(declared) {
		items, isList := strings.CutPrefix(one, "[")
		switch {
		case isList && strings.HasSuffix(items, "]") && readable(strings.TrimSuffix(items, "]")):
		case slices.Contains([]string{"null", "bool", "int", "float", "str", "dict", "list"}, one):
		case strings.HasPrefix(one, `"`) && gjson.Valid(one):
		default:
			return false
		}
	}
	return true
}

func TestCheckSays(t *testing.T) {
	for _, test := range []struct{ config, says string }{
		{`{"model_type": "llama", "num_hidden_layers": [2]}`, "config field num_hidden_layers: is a list, want a whole number; the reference library refuses it"},
		{`{"model_type": "llama", "hidden_size": 64.0}`, "config field hidden_size: is the number 64.0, want a whole number (write 64); the reference library refuses it"},
		{`{"model_type": "llama", "rms_norm_eps": 1}`, "config field rms_norm_eps: is the number 1, want a number with a decimal point (write 1.0); the reference library refuses it"},
		{`{"model_type": "llama", "num_key_value_heads": "8"}`, `config field num_key_value_heads: is the text "8", want a whole number or null; the reference library refuses it`},
		{`{"model_type": "gemma3n_text", "intermediate_size": [1, "2"]}`, `config field intermediate_size[1]: is the text "2", want a whole number; the reference library refuses it`},
		{`{"model_type": "gemma3", "text_config": {"hidden_size": null}}`, "config field text_config.hidden_size: is null, want a whole number; the reference library refuses it"},
		{`{"model_type": "llama", "hidden_size": 65}`, "config field hidden_size: 65 is no multiple of the 32 attention heads; the reference library refuses it"},
		// An alias is set past the check: what reads the field has to refuse it.
		{`{"model_type": "gpt2", "hidden_size": "64"}`, ""},
		{`{"model_type": "nonesuch", "hidden_size": [64]}`, ""},

		{`{"model_type": "qwen3", "num_hidden_layers": 2, "layer_types": ["full_attention", "bogus"]}`, `config field layer_types[1]: is the text "bogus", want a kind of layer: full_attention, `},
		{`{"model_type": "qwen3", "num_hidden_layers": 2, "layer_types": ["attention"]}`, "config field layer_types: length 1, want 2: an entry for each layer of num_hidden_layers"},
		{`{"model_type": "qwen3", "num_hidden_layers": 2, "layer_types": ["attention", "mamba"]}`, ""},
		{`{"model_type": "qwen3", "num_hidden_layers": 2, "layer_types": null}`, ""},
		{`{"model_type": "llama", "num_hidden_layers": 2, "layer_types": ["x", "x"]}`, "of layer: full_attention, "},
		{`{"model_type": "llama", "num_hidden_layers": 2, "mlp_layer_types": ["x"]}`, ""},
		{`{"model_type": "qwen3", "num_hidden_layers": 2, "mlp_layer_types": ["x"]}`, "mlp_layer_types[0]: is the text \"x\", want a kind of layer: sparse, dense; the reference library refuses it"},
		{`{"model_type": "gpt2", "n_layer": 2, "layer_types": ["full_attention"]}`, "layer_types: length 1, want 2: an entry"},
		{`{"model_type": "glm4_moe_lite", "num_hidden_layers": 2, "mlp_layer_types": ["sparse"]}`, "mlp_layer_types: length 1"},
		{`{"model_type": "deepseek_v4", "num_hidden_layers": 1, "layer_types": ["full_attention"]}`, "want a kind of layer: sliding_attention, compressed_sparse_attention"},
		{`{"model_type": "mamba", "layer_types": ["mamba"]}`, "is worked out by the class"},
		{`{"model_type": "gemma3", "text_config": {"num_hidden_layers": 2, "layer_types": ["full_attention"]}}`, "text_config.layer_types: length 1"},
	} {
		config := mustParse(t, test.config)
		config.Check()
		said := ""
		for _, fault := range config.Faults() {
			said += fault.Error() + "\n"
		}
		if !strings.Contains(said, test.says) || (test.says == "") != (said == "") || strings.Count(said, "\n") > 1 {
			t.Errorf("%s:\n got %q\nwant %q", test.config, said, test.says)
		}
	}
}
