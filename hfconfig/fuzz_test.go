package hfconfig

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func seed(f *testing.F, lists ...string) {
	files, err := filepath.Glob("testdata/broken/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, list := range lists {
		for line := range strings.Lines(string(readTestdata(f, list))) {
			f.Add([]byte(gjson.Get(line, "config").Raw))
		}
	}
	for _, text := range []string{`{"a": NaN, "a": [-Infinity, {"b": 1e5, "b": "\u00e9\""}]}`, `{"model_type":"gpt2","hidden_size":1.0}`,
		`{"quantization_config":{"quant_method":"gptq","dynamic":{"-:a.*":{}}}}`, `{"peft_type":"LORA","target_modules":"^(?!x).*q"}`} {
		f.Add([]byte(text))
	}
}

// FuzzParse: what encoding/json takes for an object is taken, and the other way
// round but for Python's words.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, notices, err := Parse(data)
		var object map[string]json.RawMessage
		standard := json.Unmarshal(data, &object) == nil && object != nil
		if err != nil {
			if standard && !strings.Contains(err.Error(), "nested more than") && !strings.Contains(err.Error(), "not UTF-8") {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		python := false
		for _, n := range notices {
			python = python || n.Kind == NonFinite || n.Kind == ByteOrderMark || n.Kind == MoreNotices
		}
		if !standard && !python {
			t.Fatalf("accepted %q, encoding/json does not", data)
		}
		if !strings.HasSuffix(string(data), c.JSON()) {
			t.Fatalf("text has changed")
		}
		if standard && !python && len(object) != len(c.Fields()) {
			t.Fatalf("%d fields, encoding/json has %d", len(c.Fields()), len(object))
		}
		for _, field := range c.Fields() {
			c.PositiveInt(field)
			c.Float(field, 0)
			c.Bool(field)
			c.Strings(field)
			c.Ints(field)
			c.Sub(field)
		}
		c.Check()
		c.NumLabels()
		c.Architectures()
	})
}

func FuzzQuantization(f *testing.F) {
	seed(f, "quantised.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := Parse(data)
		if err != nil {
			return
		}
		if q, _ := c.Quantization(); q != nil {
			useQuantization(q)
		}
		if q, _, _ := ParseQuantization("quant_config.json", data); q != nil {
			useQuantization(q)
		}
	})
}

func useQuantization(q *Quantization) {
	for _, module := range []string{"", ".", "lm_head", "model.layers.0.self_attn.q_proj"} {
		q.Skips(module)
		q.For(module)
	}
	_ = q.String() + q.Raw()
}

func FuzzAdapter(f *testing.F) {
	seed(f, "adapters.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		a, _, _ := ParseAdapter(data)
		if a == nil {
			return
		}
		for _, module := range []string{"", ".", "lm_head", "model.layers.0.self_attn.q_proj"} {
			a.Targets(module)
			a.RankOf(module)
			a.AlphaOf(module)
			a.TargetsParameter(module)
			a.IsFeedForward(module)
		}
	})
}
