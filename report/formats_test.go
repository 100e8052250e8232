package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/cost"
	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/record"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
	"github.com/hf-inspect/hf-inspect/shape"
)

// mixtral has experts, grouped heads and windows in two layers, and asks for a
// quantised storage.
const mixtral = `{"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":256,"intermediate_size":512,
	"num_hidden_layers":2,"num_attention_heads":8,"num_key_value_heads":2,"vocab_size":1000,"max_position_embeddings":2048,
	"sliding_window":1500,"num_local_experts":4,"num_experts_per_tok":2,
	"quantization_config":{"quant_method":"gptq","bits":4,"group_size":128}}`

func estimateOf(t *testing.T, config string) *inspect.Estimate {
	t.Helper()
	e, err := inspect.EstimateJSON("some/model", []byte(config), inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// result is a built value with the function that writes it.
type result struct {
	name  string
	value any
	write func(w io.Writer, format string) error

	// only lists the beginnings of the JSON paths whose figures are not in every
	// format, with the reason.
	only map[string]string
}

func results(t *testing.T) []result {
	t.Helper()
	e := estimateOf(t, mixtral)
	model, class := e.Source.Location, e.Model.Architecture
	h100, err := cost.FindAccelerator("H100")
	if err != nil {
		t.Fatal(err)
	}
	pass := cost.ForwardFLOPs(e.Described, estimator.Pass{Batch: 3, Seq: 1234}, cost.Options{Recompute: true})
	bound, err := pass.BoundOn(h100, "bf16")
	if err != nil {
		t.Fatal(err)
	}
	pass.Bounds = append(pass.Bounds, bound)
	flops := ModelFLOPs{"1", model, class, pass}
	bf16, err := cost.ParseElementType("bf16")
	if err != nil {
		t.Fatal(err)
	}
	kv := ModelKV{"1", model, class, cost.KVCache(e.Described, 3, 1999, 0, bf16, cost.KVOptions{Block: 16})}
	adamw, err := cost.FindOptimizer("adamw")
	if err != nil {
		t.Fatal(err)
	}
	plan := cost.MemoryPlan{Batch: 3, Seq: 1234, DType: bf16, KVType: bf16, Optimizer: adamw, Master: true, Kernel: estimator.Fused,
		Overhead: big.NewInt(1_234_567), Accelerators: []cost.Accelerator{h100},
		Beside: []cost.NotLoaded{{What: "prediction layers", Bytes: big.NewInt(7_654_321)}}}
	memory := func(train bool) ModelMemory {
		plan.Train, plan.Recompute = train, estimator.RecomputeLayers
		m, err := cost.MemoryOf(e.Described, plan)
		if err != nil {
			t.Fatal(err)
		}
		return ModelMemory{"1", model, class, m}
	}
	run, err := cost.Train(cost.Budget{Parameters: *e.Counts.ActiveParameters, Total: *e.Counts.UniqueParameters, Tokens: 3e11, Peak: 989e12,
		Devices: 2000, Rate: 2.5, Measured: 123_456_789, MFUAToken: cost.PaLM(e.Described, 2048)})
	if err != nil {
		t.Fatal(err)
	}
	run.Assumptions = []string{"4,096 tokens: the config has 2,048 positions"}
	training := ModelTraining{"1", model, class, "H100-SXM", "", run}

	parts := map[string]string{"activation_parts": "what the sum is made of"}
	list := []result{
		{"estimate", e, func(w io.Writer, f string) error { return Estimate(w, f, e, Style{}, true) }, nil},
		{"flops", &flops, func(w io.Writer, f string) error { return FLOPs(w, f, []ModelFLOPs{flops}, Style{}, true) }, nil},
		{"kv", &kv, func(w io.Writer, f string) error { return KVCaches(w, f, []ModelKV{kv}, Style{}, true) }, nil},
		{"training run", &training, func(w io.Writer, f string) error { return Training(w, f, training, Style{}, true) }, nil},
		{"design", designOf(t), func(w io.Writer, f string) error { return Designs(w, f, designOf(t), Style{}, true) },
			map[string]string{"shapes[0].config": "the whole config"}},
	}
	for _, train := range []bool{false, true} {
		m := memory(train)
		list = append(list, result{fmt.Sprintf("memory of %s", m.Mode), &m,
			func(w io.Writer, f string) error { return Memory(w, f, []ModelMemory{m}, Style{}, true) }, parts})
	}
	return append(list, inspections(t)...)
}

func designOf(t *testing.T) *Design {
	t.Helper()
	found, err := shape.Search(shape.Wish{Parameters: 1e9, Tolerance: 0.05, Aspect: 100, GQA: 4, Sizes: shape.Sizes{Vocabulary: 32000}})
	if err != nil {
		t.Fatal(err)
	}
	big := func(n int64) *big.Int { return big.NewInt(n) }
	return &Design{SchemaVersion: "1", Target: DesignTarget{Parameters: 1e9, From: "as asked for", Batch: 1, Seq: 4096, DType: "bf16"},
		Assumptions: []string{"vocabulary 32,000"},
		Shapes: []DesignedShape{{Rank: 1, Found: found[0], ActiveParameters: 123_456_789, Forward: big(11_000_000_001), Training: big(33_000_000_003),
			KV: big(1_000_007), Weights: big(2_000_000_011), Inference: big(2_500_000_001), TrainMemory: big(16_000_000_057)}}}
}

// inspections are of a folder with a tensor that nobody expects and a config
// without a file for one that it calls for, and of what lists tensors.
func inspections(t *testing.T) []result {
	t.Helper()
	folder := safetensorstest.NewFolder(map[string]safetensorstest.Blob{
		"model.safetensors": safetensorstest.Sparse(safetensorstest.T("wte.weight", "F16", 1000, 64), safetensorstest.T("extra.weight", "F32", 77, 99)),
		"config.json":       safetensorstest.Whole([]byte(`{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":64,"n_layer":1,"n_head":4,"vocab_size":1000,"n_positions":128}`)),
	})
	in, err := inspect.Inspect(context.Background(), folder, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tensors := in.StoredTensors()
	expected, err := estimateOf(t, mixtral).ExpectedTensors(1000, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	description, err := inspect.DescribeType("gpt2", "")
	if err != nil {
		t.Fatal(err)
	}
	verdict := record.Verdict{File: "some.hfrec", Status: record.Moved, Changes: []record.Change{{Path: "counts.unique_parameters", Old: "1234567", New: "7654321"}}}
	return []result{
		{"inspection", in, func(w io.Writer, f string) error { return writeInspection(w, f, in) },
			map[string]string{"source.header_bytes": "in JSON and CSV", "counts.stored_bytes": "by dtype elsewhere", "ledger.rows[": "the stage of bytes is in JSON and CSV"}},
		{"tensors", tensors, func(w io.Writer, f string) error { return StoredTensors(w, f, tensors) }, nil},
		{"expected tensors", expected, func(w io.Writer, f string) error { return ExpectedTensors(w, f, expected) }, nil},
		{"description", description, func(w io.Writer, f string) error { return Description(w, f, description, Style{}) },
			map[string]string{"unique_parameters": "no tensor", "symbols": "no tensor"}},
		{"architectures", inspect.Architectures(), func(w io.Writer, f string) error { return Architectures(w, f, inspect.Architectures()) }, nil},
		{"verdict", verdict, func(w io.Writer, f string) error { return Verdict(w, f, verdict, true) }, nil},
	}
}

func writeInspection(w io.Writer, format string, in *inspect.Inspection) error {
	details := Details{By: Breakdowns, Layers: true}
	switch format {
	case "markdown":
		return Markdown(w, in, details)
	case "csv":
		return CSV(w, in, true)
	}
	Text(w, in, details, Style{})
	return nil
}

// figuresOf lists the numbers from 1,000 on in the JSON of a value, by path.
func figuresOf(t *testing.T, value any) map[string]float64 {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	figures := make(map[string]float64)
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), inner)
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), inner)
			}
		case float64:
			if math.Abs(v) >= 1000 {
				figures[path] = math.Abs(v)
			}
		}
	}
	walk("", v)
	return figures
}

// numerals are the numbers of a text; in CSV those of each cell.
func numerals(t *testing.T, format, text string) map[string]bool {
	t.Helper()
	cells := []string{strings.ReplaceAll(text, `\`, "")}
	if format == "csv" {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		cells = slices.Concat(rows...)
	}
	found := make(map[string]bool)
	for _, c := range cells {
		for _, n := range regexp.MustCompile(`\d{1,3}(,\d{3})+\b|\d+(\.\d+)?(e[+-]?\d+)?`).FindAllString(c, -1) {
			found[n] = true
		}
	}
	return found
}

// TestInNumbers: letters become their values, side by side a product.
func TestInNumbers(t *testing.T) {
	symbols := []estimator.Symbol{{Name: "N", Value: 48}, {Name: "D", Value: 1600}, {Name: "F", Value: 7}, {Name: "Fe", Value: 2048}, {Name: "E", Value: 8}}
	for formula, want := range map[string]string{
		"N(12D² + 13D) + 2D":    "48·(12·1600² + 13·1600) + 2·1600",
		"3E·Fe·D − 8ND²":        "3·8·2048·1600 − 8·48·1600²",
		"FD":                    "7·1600",
		"12·N·D²":               "12·48·1600²",
		"0":                     "0",
		"unknown letters X·D":   "unknown letters X·1600",
		"2(N + 1)(D − 1) + 100": "2·(48 + 1)·(1600 − 1) + 100",
	} {
		if got := inNumbers(formula, symbols); got != want {
			t.Errorf("%s: %s, want %s", formula, got, want)
		}
	}
}

// TestSameFigures: every figure of a result is in every format of it, and what
// Markdown says is what text says.
func TestSameFigures(t *testing.T) {
	for _, r := range results(t) {
		t.Run(r.name, func(t *testing.T) {
			written := make(map[string]map[string]bool)
			for _, format := range []string{"text", "markdown", "csv"} {
				var out bytes.Buffer
				if err := r.write(&out, format); err != nil {
					t.Fatal(err)
				}
				if out.Len() == 0 {
					t.Fatalf("%s is empty", format)
				}
				written[format] = numerals(t, format, out.String())
			}
			figures := figuresOf(t, r.value)
			t.Logf("%d figures", len(figures))
			for path, n := range figures {
				checkFigure(t, &r, path, n, written)
			}
			for n := range written["text"] {
				if !written["markdown"][n] {
					t.Errorf("text has %s, Markdown has not", n)
				}
			}
			for n := range written["markdown"] {
				if !written["text"][n] {
					t.Errorf("Markdown has %s, text has not", n)
				}
			}
		})
	}
}

func checkFigure(t *testing.T, r *result, path string, n float64, written map[string]map[string]bool) {
	t.Helper()
	for _, prefix := range slices.Sorted(maps.Keys(r.only)) {
		if strings.HasPrefix(path, prefix) {
			return
		}
	}
	whole := strconv.FormatFloat(n, 'f', 0, 64)
	exact, _ := new(big.Int).SetString(whole, 10)
	spoken := []string{rounded(n), tenPower(n), fmt.Sprintf("%.6g", n), whole, fmt.Sprintf("%.4g", n/1e12)}
	for _, withUnit := range []string{scientific(exact), BinaryBytes(exact), Bytes(exact.Int64())} { // 15.77 GiB
		number, _, _ := strings.Cut(withUnit, " ")
		spoken = append(spoken, number)
	}
	for format, found := range written {
		if format == "csv" && strings.HasPrefix(path, "formulas") {
			continue // --explain is for readers
		}
		if format == "csv" && !found[whole] && !found[plainFloat(n)] {
			t.Errorf("csv lacks %s = %s", path, whole)
		}
		if format != "csv" && !slices.ContainsFunc(spoken, func(text string) bool { return found[text] }) {
			t.Errorf("%s lacks %s = %s", format, path, whole)
		}
	}
}
