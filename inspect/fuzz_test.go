package inspect

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// bounded keeps a fuzzed input to what can be tried in a moment.
const bounded = 1 << 16

// FuzzInspect inspects a header under a config: whatever they are, nothing
// panics, and a ledger that is printed adds up.
func FuzzInspect(f *testing.F) {
	for _, c := range readLayouts(f, "messy") {
		for _, w := range c.Weights {
			f.Add([]byte(c.Files["config.json"]), w.Header)
		}
	}
	for _, config := range []string{phi3Config, mixtralConfig, qwenMoEConfig, gptOSSConfig, predicting, glm(`,"num_nextn_predict_layers":1`)} {
		header, _ := safetensorstest.Header(nil, called(f, config, "BF16")...)
		f.Add([]byte(config), string(header))
	}
	f.Fuzz(func(t *testing.T, config []byte, header string) {
		if len(config) > bounded || len(header) > bounded {
			return
		}
		checkFuzzed(t, map[string]safetensorstest.Blob{"config.json": safetensorstest.Whole(config), "model.safetensors": claimed(header)})
	})
}

// FuzzAdapter inspects an adapter's header under its config and its base's.
func FuzzAdapter(f *testing.F) {
	for _, c := range readLayouts(f, "adapters") {
		for _, w := range c.Weights {
			f.Add([]byte(c.Files["adapter_config.json"]), []byte(c.Files["base_config/config.json"]), w.Header)
		}
	}
	f.Fuzz(func(t *testing.T, config, base []byte, header string) {
		if len(config) > bounded || len(base) > bounded || len(header) > bounded {
			return
		}
		files := map[string]safetensorstest.Blob{"adapter_config.json": safetensorstest.Whole(config), "adapter_model.safetensors": claimed(header)}
		if len(base) > 0 {
			files["base_config/config.json"] = safetensorstest.Whole(base)
		}
		checkFuzzed(t, files)
	})
}

// FuzzIndex inspects two shards under an index.
func FuzzIndex(f *testing.F) {
	for _, c := range readLayouts(f, "messy") {
		if index := c.Files["model.safetensors.index.json"]; index != "" {
			f.Add([]byte(index), "model.norm.weight")
		}
	}
	f.Add(safetensorstest.Index("12", map[string]string{"a": "../model-00001-of-00002.safetensors", "b": "/etc/passwd"}), "a")
	f.Fuzz(func(t *testing.T, index []byte, name string) {
		if len(index) > bounded || len(name) > 1000 {
			return
		}
		checkFuzzed(t, map[string]safetensorstest.Blob{
			"model-00001-of-00002.safetensors": safetensorstest.Sparse(safetensorstest.T(name, "F32", 2), safetensorstest.T("a", "F32", 3)),
			"model-00002-of-00002.safetensors": safetensorstest.Sparse(safetensorstest.T(name+"2", "F32", 2)),
			"model.safetensors.index.json":     safetensorstest.Whole(index),
		})
	})
}

// claimed is a file of that header, long enough for whatever it claims.
func claimed(header string) safetensorstest.Blob {
	head := safetensorstest.Raw(header, 0)
	return safetensorstest.Blob{Head: head, Size: int64(len(head)) + 1<<40}
}

func checkFuzzed(t *testing.T, files map[string]safetensorstest.Blob) {
	t.Helper()
	in, err := Inspect(context.Background(), safetensorstest.NewFolder(files), Options{})
	if err != nil {
		var refused *safetensors.Error
		var none *safetensors.NoWeightsError
		if !errors.As(err, &refused) && !errors.As(err, &none) {
			t.Fatalf("not a typed error: %v", err)
		}
		return
	}
	if in.Counts.StoredElements < 0 || in.Counts.StoredBytes < 0 || in.Counts.LogicalParameters != nil && *in.Counts.LogicalParameters < 0 {
		t.Fatalf("negative counts %+v", in.Counts)
	}
	if in.Ledger.Unexplained == nil || in.Source.Complete == false {
		return
	}
	sum := new(big.Int) // sizes out of a hostile config overflow
	if in.Formula.TextbookValue != nil {
		sum.SetInt64(*in.Formula.TextbookValue)
	}
	for _, row := range in.Ledger.Rows {
		sum.Add(sum, big.NewInt(row.Elements))
	}
	sum.Add(sum, big.NewInt(*in.Ledger.Unexplained))
	if sum.Cmp(big.NewInt(in.Counts.StoredElements)) != 0 && !saturated(in) {
		t.Fatalf("the ledger sums to %s, stored are %d", sum, in.Counts.StoredElements)
	}
	if (*in.Ledger.Unexplained != 0 || len(in.Ledger.UnexplainedTensors) > 0) && finding.Worst(in.Findings) != finding.Error {
		t.Fatalf("unexplained %d %v without an error", *in.Ledger.Unexplained, in.Ledger.UnexplainedTensors)
	}
}

// saturated reports whether a sum over the file was beyond 63 bits.
func saturated(in *Inspection) bool { return found(in, "HFI214") != nil }
