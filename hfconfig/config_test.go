package hfconfig

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAccessors(t *testing.T) {
	type result struct {
		value  any
		faults string // joined by " | "
	}
	tests := []struct {
		name, text string
		read       func(c *Config) any
		want       result
	}{
		{"int", `{"hidden_size": 64}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(64), ""}},
		{"int default", `{}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(4096), ""}},
		{"int missing", `{}`, func(c *Config) any { return c.Int("nonesuch") }, result{int64(0), "config field nonesuch: missing, and the class has no default for it"}},
		{"int null", `{"hidden_size": null}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(0), "config field hidden_size: is null, want a whole number"}},
		{"int text", `{"hidden_size": "64"}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(0), `config field hidden_size: is the text "64", want a whole number`}},
		{"int switch", `{"hidden_size": true}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(0), "config field hidden_size: is the switch true, want a whole number"}},
		{"int fraction", `{"hidden_size": 64.5}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(0), "config field hidden_size: is the number 64.5, want a whole number"}},
		{"int as fraction", `{"hidden_size": 64.0}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(64), "config field hidden_size: is the number 64.0, want a whole number (write 64); the reference library refuses it"}},
		{"int 2^53+1", `{"hidden_size": 9007199254740993}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(9007199254740993), ""}},
		{"int 2^64", `{"hidden_size": 18446744073709551616}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(0), "config field hidden_size: 18446744073709551616 is beyond 64 bits"}},
		{"int -0", `{"hidden_size": -0}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(0), ""}},
		{"int last duplicate", `{"hidden_size": 1, "hidden_size": 2}`, func(c *Config) any { return c.Int("hidden_size") }, result{int64(2), ""}},
		{"positive", `{"hidden_size": 64}`, func(c *Config) any { return c.PositiveInt("hidden_size") }, result{int64(64), ""}},
		{"positive negative", `{"hidden_size": -64}`, func(c *Config) any { return c.PositiveInt("hidden_size") }, result{int64(0), "config field hidden_size: -64 is negative, want a size"}},
		{"positive zero", `{"hidden_size": 0}`, func(c *Config) any { return c.PositiveInt("hidden_size") }, result{int64(0), "config field hidden_size: is 0, want a size"}},
		{"positive absurd", `{"hidden_size": 9007199254740993}`, func(c *Config) any { return c.PositiveInt("hidden_size") }, result{int64(0), "config field hidden_size: 9007199254740993 is larger than any tensor"}},
		{"count", `{"num_hidden_layers": 0}`, func(c *Config) any { return c.Count("num_hidden_layers", 10) }, result{int64(0), ""}},
		{"count too many", `{"num_hidden_layers": 11}`, func(c *Config) any { return c.Count("num_hidden_layers", 10) }, result{int64(0), "config field num_hidden_layers: 11 is more than the 10 that this program follows"}},
		{"nullable null", `{"head_dim": null}`, func(c *Config) any { _, ok := c.Nullable("head_dim"); return ok }, result{false, ""}},
		{"nullable absent", `{}`, func(c *Config) any { _, ok := c.Nullable("head_dim"); return ok }, result{false, ""}},
		{"int or", `{"head_dim": null}`, func(c *Config) any { return c.IntOr("head_dim", 7) }, result{int64(7), ""}},
		{"int or wrong", `{"head_dim": "x"}`, func(c *Config) any { return c.IntOr("head_dim", 7) }, result{int64(7), `config field head_dim: is the text "x", want a whole number`}},
		{"given", `{"head_dim": 3}`, func(c *Config) any { return c.Given("head_dim") }, result{true, ""}},
		{"given null", `{"head_dim": null}`, func(c *Config) any { return c.Given("head_dim") }, result{false, ""}},
		{"given default", `{}`, func(c *Config) any { return c.Given("hidden_size") }, result{false, ""}},
		{"bool", `{"attention_bias": true}`, func(c *Config) any { return c.Bool("attention_bias") }, result{true, ""}},
		{"bool null", `{"attention_bias": null}`, func(c *Config) any { return c.BoolOr("attention_bias", true) }, result{true, ""}},
		{"bool text", `{"attention_bias": "false"}`, func(c *Config) any { return c.Bool("attention_bias") }, result{false, `config field attention_bias: is the text "false", want true or false`}},
		{"bool number", `{"attention_bias": 1}`, func(c *Config) any { return c.Bool("attention_bias") }, result{true, "config field attention_bias: is the number 1, want true or false (write true); the reference library refuses it"}},
		{"bool two", `{"attention_bias": 2}`, func(c *Config) any { return c.Bool("attention_bias") }, result{false, "config field attention_bias: is the number 2, want true or false"}},
		{"float", `{"rms_norm_eps": 1e-5}`, func(c *Config) any { return c.Float("rms_norm_eps", 1) }, result{1e-5, ""}},
		{"float wrong", `{"rms_norm_eps": []}`, func(c *Config) any { return c.Float("rms_norm_eps", 1) }, result{1.0, "config field rms_norm_eps: is a list, want a number"}},
		{"string", `{"hidden_act": "gelu"}`, func(c *Config) any { return c.String("hidden_act") }, result{"gelu", ""}},
		{"string default", `{}`, func(c *Config) any { return c.String("hidden_act") }, result{"silu", ""}},
		{"string wrong", `{"hidden_act": 5}`, func(c *Config) any { return c.String("hidden_act") }, result{"", "config field hidden_act: is the number 5, want a text"}},
		{"strings", `{"layer_types": ["a", "b"]}`, func(c *Config) any { return c.Strings("layer_types") }, result{[]string{"a", "b"}, ""}},
		{"strings wrong", `{"layer_types": ["a", 5]}`, func(c *Config) any { return c.Strings("layer_types") }, result{[]string(nil), "config field layer_types[1]: is the number 5, want a text"}},
		{"ints", `{"x": [1, 2]}`, func(c *Config) any { return c.Ints("x") }, result{[]int64{1, 2}, ""}},
		{"ints wrong", `{"x": 1}`, func(c *Config) any { return c.Ints("x") }, result{[]int64(nil), "config field x: is the number 1, want a list of whole numbers"}},
		{"nested", `{"text_config": {"hidden_size": "x"}}`, func(c *Config) any { return c.Sub("text_config").Int("hidden_size") }, result{int64(0), `config field text_config.hidden_size: is the text "x", want a whole number`}},
		{"nested wrong", `{"text_config": 5}`, func(c *Config) any { return c.Sub("text_config") == nil }, result{true, "config field text_config: is the number 5, want an object"}},
		{"architectures text", `{"architectures": "A"}`, func(c *Config) any { return c.Architectures() }, result{[]string{"A"}, ""}},
		{"labels", `{"id2label": {"0": "a", "1": "b", "2": "c"}}`, func(c *Config) any { return c.NumLabels() }, result{int64(3), ""}},
		{"labels number wins", `{"id2label": {"0": "a"}, "num_labels": 3}`, func(c *Config) any { return c.NumLabels() }, result{int64(3), ""}},
		{"labels default", `{}`, func(c *Config) any { return c.NumLabels() }, result{int64(2), ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := mustParse(t, strings.Replace(strings.Replace(test.text, "{", `{"model_type": "llama", `, 1), ", }", "}", 1))
			value := test.read(c)
			var faults []string
			for _, fault := range c.Faults() {
				faults = append(faults, fault.Error())
			}
			if got := (result{value, strings.Join(faults, " | ")}); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	tests := []struct {
		text  string
		field string
		want  int64
	}{
		{`{"model_type": "gpt2", "n_embd": 16}`, "hidden_size", 16},
		{`{"model_type": "gpt2", "hidden_size": 16}`, "n_embd", 16},
		{`{"model_type": "gpt2"}`, "hidden_size", 768},
		{`{"model_type": "gpt2", "n_embd": 16, "hidden_size": 32}`, "n_embd", 32}, // the library sets the alias last
		{`{"model_type": "gpt2", "hidden_size": 32, "n_embd": 16}`, "hidden_size", 32},
		{`{"model_type": "nonesuch", "hidden_size": 5}`, "hidden_size", 5},
	}
	for _, test := range tests {
		c := mustParse(t, test.text)
		if got := c.Int(test.field); got != test.want {
			t.Errorf("%s: %s = %d, want %d", test.text, test.field, got, test.want)
		}
	}
	if c := mustParse(t, `{"model_type": "gpt2", "hidden_size": "x"}`); c.Int("n_embd") != 0 || !strings.Contains(c.Err().Error(), "field hidden_size:") {
		t.Errorf("a fault names the field as the file has it, got %v", c.Err())
	}
}

func TestErrLeavesUsableOut(t *testing.T) {
	c := mustParse(t, `{"model_type": "llama", "hidden_size": 16.0, "vocab_size": "x"}`)
	c.Int("hidden_size")
	if c.Err() != nil || len(c.Faults()) != 1 {
		t.Errorf("err %v, faults %v", c.Err(), c.Faults())
	}
	c.Int("vocab_size")
	c.Int("vocab_size")
	if c.Err() == nil || len(c.Faults()) != 2 {
		t.Errorf("err %v, faults %v", c.Err(), c.Faults())
	}
}

// TestDefaultsTable holds the table to its form.
func TestDefaultsTable(t *testing.T) {
	var types []string
	for line := range strings.Lines(defaultsTable) {
		object, notices, err := normalise([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", shorten(line), err)
		}
		for _, n := range notices {
			if n.Kind != NonFinite {
				t.Errorf("%s: %v", shorten(line), n)
			}
		}
		types = append(types, object.Get("type").Str)
		for field := range object.Map() {
			if !slices.Contains([]string{"type", "class", "aliases", "nested", "defaults", "types"}, field) {
				t.Errorf("%s: field %s", shorten(line), field)
			}
		}
	}
	if !slices.IsSorted(types) || len(slices.Compact(slices.Clone(types))) != len(types) {
		t.Error("lines are not sorted by type, or a type stands twice")
	}
	for _, modelType := range types {
		class := ClassOf(modelType)
		if class.Name == "" || !strings.HasSuffix(class.Name, "Config") {
			t.Errorf("%s: class %q", modelType, class.Name)
		}
		for alias, real := range class.aliases {
			if _, ok := class.defaults[real]; !ok && !undeclaredAlias(modelType, real) {
				t.Errorf("%s: alias %s of %s, which the class does not declare", modelType, alias, real)
			}
		}
	}
	t.Log(len(types), "types")
}

// undeclaredAlias lists the aliases of fields for which a class has no default
// before it completes itself.
func undeclaredAlias(modelType, field string) bool {
	switch field {
	case "pad_token_id", "bos_token_id", "eos_token_id": // of generation, in the base class
		return true
	case "layerdrop", "attention_dropout": // named in the map, but not a field of the class
		return true
	case "layers_block_type": // a property, computed from the periods
		return slices.Contains([]string{"bamba", "falcon_h1", "recurrent_gemma"}, modelType)
	case "num_layers", "depth": // the length of depths
		return slices.Contains([]string{"hiera", "maskformer-swin", "pp_ocrv6_tiny_rec"}, modelType)
	case "attention_head_dim": // derived from the hidden size
		return modelType == "zamba2"
	case "rms_norm_eps": // named in the map, but not a field of the class
		return slices.Contains([]string{"hunyuan_vl_vision", "molmo2_text"}, modelType)
	}
	return false
}

func ExampleConfig() {
	c, _, err := Parse([]byte(`{"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": "25"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Int("hidden_size"), c.Int("num_hidden_layers"), c.Int("vocab_size"))
	c.Int("num_attention_heads")
	fmt.Println(c.Err())
	// Output:
	// 1600 48 50257
	// config field n_head: is the text "25", want a whole number
}
