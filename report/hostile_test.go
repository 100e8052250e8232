package report

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// hostileNames are what a terminal must never see: escapes that repaint it,
// marks that turn text around, line ends that forge a line.
var hostileNames = []string{
	"model.\x1b[2J\x1b[31mlayers.0.weight", "a\u202eb\u2066c", "line\nHFI000 forged", "tab\tand\rreturn", "nul\x00", "bell\a", "c1\u009b31m", "\u200bzero", "\ufeffmark", "pipe|cell", "`code`",
}

// TestNamesAreNeverRaw prints names from hostile files in every format.
func TestNamesAreNeverRaw(t *testing.T) {
	var tensors []safetensorstest.Tensor
	for _, name := range hostileNames {
		tensors = append(tensors, safetensorstest.T(name, "F32", 2), safetensorstest.T(name, "F16", 3))
	}
	config := `{"model_type":"\u001b]0;title\u0007","architectures":["Evil\u001b[0m\u202eModel"],"torch_dtype":"\u001b[31m","rope\u001b[1m":1,"hidden_size":1e400}`
	llama := `{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":8}`
	adapter := `{"peft_type":"LO\u001bRA","base_model_name_or_path":"\u001b[2Jbase\u202e","target_modules":["\u001b[31mq_proj"],"r":4}`
	weights := safetensorstest.Sparse(tensors...)
	for name, files := range map[string]map[string]safetensorstest.Blob{
		"unknown": {"model.safetensors": weights, "config.json": safetensorstest.Whole([]byte(config))},
		"llama":   {"model.safetensors": weights, "config.json": safetensorstest.Whole([]byte(llama))},
		"adapter": {"adapter_model.safetensors": weights, "adapter_config.json": safetensorstest.Whole([]byte(adapter))},
		"file":    {"mod\x1b[31mel.safetensors": weights},
		"index": {"model-00001-of-00001.safetensors": weights, "model.safetensors.index.json": safetensorstest.Whole(
			safetensorstest.Index("", map[string]string{"x\x1b[1m": "model-00001-of-00001.safetensors", "y": "../\x1b[2J\u202e.safetensors"}))},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := inspect.Inspect(context.Background(), safetensorstest.NewFolder(files), inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkRaw(t, in)
		})
	}
}

func checkRaw(t *testing.T, in *inspect.Inspection) {
	t.Helper()
	details := Details{Layers: true, By: Breakdowns}
	for format, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { Text(b, in, details, Style{}); return nil },
		"coloured": func(b *bytes.Buffer) error { Text(b, in, details, Style{Width: 80}); return nil },
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, in, details) },
		"csv":      func(b *bytes.Buffer) error { return CSV(b, in, true) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			for _, r := range line {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
					t.Errorf("%s: %U in %q", format, r, line)
					break
				}
			}
			if strings.HasPrefix(strings.TrimSpace(line), "HFI000") {
				t.Errorf("%s: forged line %q", format, line)
			}
		}
	}
}
