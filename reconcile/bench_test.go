package reconcile

import (
	"context"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// recordingInput reads an embedded recording as far as Reconcile needs it.
func recordingInput(tb testing.TB, name string) Input {
	tb.Helper()
	src, ok := fixtures.Find(name)
	if !ok {
		tb.Fatalf("no recording %s", name)
	}
	ctx := context.Background()
	files, err := src.List(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	choice, err := safetensors.Choose(safetensors.Sets(files), safetensors.ChooseOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	checkpoint, err := safetensors.ReadCheckpoint(ctx, src, choice.Set, safetensors.ReadOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	data, err := src.ReadRange(ctx, "config.json", 0, hfconfig.MaxSize)
	if err != nil {
		tb.Fatal(err)
	}
	config, _, err := hfconfig.Parse(data)
	if err != nil {
		tb.Fatal(err)
	}
	model, err := estimator.Describe(config, "")
	if err != nil {
		tb.Fatal(err)
	}
	return Input{Config: config, Model: model, Checkpoint: checkpoint}
}

// BenchmarkDeepSeekV3 describes and matches 91,991 tensors. It is to take no
// longer than parsing their headers.
func BenchmarkDeepSeekV3(b *testing.B) {
	in := recordingInput(b, "deepseek-ai/DeepSeek-V3")
	raw := []byte(in.Config.JSON())
	b.ReportAllocs()
	for b.Loop() {
		config, err := hfconfig.New(raw, "")
		if err != nil {
			b.Fatal(err)
		}
		if in.Model, err = estimator.Describe(config, ""); err != nil {
			b.Fatal(err)
		}
		Reconcile(in)
	}
}
