package hfconfig

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestBroken holds what hf-inspect makes of each recorded config: the
// files are copies, verdict is what transformers 5.23 said in expect.json.
func TestBroken(t *testing.T) {
	const (
		fine    = "fine"    // both read it
		unread  = "unread"  // *ParseError: counted from the headers, with an error finding
		notice  = "notice"  // read, with a notice
		fault   = "fault"   // a field without a value: counted from the headers, with an error finding
		usable  = "usable"  // described and counted, with an error finding
		unknown = "unknown" // a model type without a class: a warning
	)
	tests := []struct {
		name, outcome, says string
		refused             bool // by the reference library
	}{
		{"architectures-string", fine, "", false},
		{"array", unread, "line 1, column 1: file is a list, want an object", true},
		{"comment", unread, "line 1, column 1: a comment", true},
		{"deep-500", notice, "nested more than 490 deep, which the reference library refuses", true},
		{"dtype-unknown", usable, `torch_dtype: is the text "float7", which is no dtype of torch`, true},
		{"empty", unread, "file is empty", true},
		{"heads-nondivisible", usable, "is no multiple of the", true},
		{"hidden-bool", fault, "hidden_size: is the switch true, want a whole number", true},
		{"hidden-float-frac", fault, "hidden_size: is the number 16.5, want a whole number", true},
		{"hidden-list", fault, "hidden_size: is a list, want a whole number", true},
		{"hidden-negative", fault, "hidden_size: -16 is negative", true},
		{"hidden-string", fault, `hidden_size: is the text "16", want a whole number`, true},
		{"infinity", usable, "initializer_range: is Infinity, want a number between 0 and 1", true},
		{"invalid-json", unread, "line 1, column 202: the text that begins here has no end", true},
		{"layers-null", fault, "num_hidden_layers: is null, want a whole number", true},
		{"model-type-null", usable, "model_type: is null, want the architecture's name", true},
		{"model-type-unknown", unknown, "", true},
		{"nested-text-config", fine, "", true}, // the class of the top level ignores text_config and takes its defaults
		{"null", unread, "line 1, column 1: file is null, want an object", true},
		{"quant-empty", usable, "quantization_config: is empty", true},
		{"quant-null", fine, "", false},
		{"string", unread, "line 1, column 1: file is the text", true},
		{"tie-string", fault, `tie_word_embeddings: is the text "false", want true or false`, true},
		{"utf16", unread, "file is UTF-16; save it as UTF-8", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, says := broken(t, "broken/config-"+test.name+".json")
			if got != test.outcome || !strings.Contains(says, test.says) {
				t.Errorf("got %s %q, want %s %q", got, says, test.outcome, test.says)
			}
		})
	}
	files, err := os.ReadDir("testdata/broken")
	if err != nil || len(files) != len(tests) {
		t.Errorf("%d files, %d tests, %v", len(files), len(tests), err)
	}
}

// broken reads a config as an estimate of a llama would.
func broken(t *testing.T, file string) (outcome, says string) {
	c, notices, err := Parse(readTestdata(t, file))
	if err != nil {
		return "unread", err.Error()
	}
	c.Check()
	for _, field := range []string{"hidden_size", "num_attention_heads", "vocab_size", "intermediate_size"} {
		if c.Declares(field) {
			c.PositiveInt(field)
		}
	}
	if c.Declares("num_hidden_layers") {
		c.Count("num_hidden_layers", 1000)
	}
	c.Bool("tie_word_embeddings")
	_, quantErr := c.Quantization()
	switch all := errors.Join(append(c.Faults(), quantErr)...); {
	case c.Err() != nil:
		return "fault", c.Err().Error()
	case all != nil:
		return "usable", all.Error()
	case len(notices) > 0:
		return "notice", notices[0].String()
	case ClassOf(c.ModelType()) == nil:
		return "unknown", ""
	}
	return "fine", ""
}
