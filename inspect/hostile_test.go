package inspect

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// readBroken reads the broken files of package safetensors: contents by case
// and file.
func readBroken(t *testing.T) map[string]map[string][]byte {
	t.Helper()
	file, err := os.Open("../safetensors/testdata/broken.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := make(map[string]map[string][]byte)
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return cases
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(header.Name)
		if cases[folder] == nil {
			cases[folder] = make(map[string][]byte)
		}
		cases[folder][path.Base(header.Name)] = data
	}
}

// stricter are the cases that the reference library accepts and that are errors
// here.
var stricter = map[string]string{
	"index-path-traversal":           "HFI210", // a shard outside the folder is not opened
	"index-tensor-absent-from-shard": "HFI202", // it would be filled with random values
}

// TestBroken inspects what the reference library refuses: what can be counted is
// counted with an error finding, the rest is refused.
func TestBroken(t *testing.T) {
	for name, files := range readBroken(t) {
		t.Run(name, func(t *testing.T) {
			var expect struct {
				Says string `json:"reference_library_says"`
			}
			if err := json.Unmarshal(files["expect.json"], &expect); err != nil {
				t.Fatal(err)
			}
			blobs := make(map[string]safetensorstest.Blob)
			for file, data := range files {
				if file != "expect.json" {
					blobs[file] = safetensorstest.Whole(data)
				}
			}
			in, err := Inspect(context.Background(), safetensorstest.NewFolder(blobs), Options{})
			accepted := strings.HasPrefix(expect.Says, "accepts")
			switch code, strict := stricter[name]; {
			case err != nil:
				checkRefusal(t, err, accepted)
			case strict:
				wantFound(t, in, code, finding.Error)
			case accepted == (finding.Worst(in.Findings) == finding.Error) && !strings.Contains(expect.Says, "ignore_mismatched_sizes"):
				t.Errorf("the reference library says %q; findings %+v", expect.Says, in.Findings)
			}
		})
	}
}

// checkRefusal wants a sentence that names the file and says more than the
// reference library does.
func checkRefusal(t *testing.T, err error, accepted bool) {
	t.Helper()
	var refusal *safetensors.Error
	if accepted || !errors.As(err, &refusal) {
		t.Fatalf("refused: %v", err)
	}
	if text := err.Error(); !strings.Contains(text, ".safetensors: ") || strings.HasSuffix(text, ".") || len(text) < 40 {
		t.Errorf("says %q", text)
	}
}

// TestHugeClaims: a small file claims more than can be.
func TestHugeClaims(t *testing.T) {
	raw := func(entries string) map[string]safetensorstest.Blob {
		return map[string]safetensorstest.Blob{"model.safetensors": safetensorstest.Whole(safetensorstest.Raw("{"+entries+"}", 8))}
	}
	for name, entries := range map[string]string{
		"product beyond 64 bits": `"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,8]}`,
		"2^63":                   `"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,8]}`,
		"2^53+1":                 `"a":{"dtype":"U8","shape":[9007199254740993],"data_offsets":[0,9007199254740993]}`,
		"trillions":              `"a":{"dtype":"F32","shape":[1000000,1000000,1000],"data_offsets":[0,4000000000000000]}`,
		"sum beyond 64 bits":     `"a":{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]},"b":{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[9223372036854775807,18446744073709551614]}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, config := range []string{"", llama(64, 128, 2, 4, 2, 256, "")} {
				files := raw(entries)
				if config != "" {
					files["config.json"] = safetensorstest.Whole([]byte(config))
				}
				in, err := Inspect(context.Background(), safetensorstest.NewFolder(files), Options{})
				if err != nil {
					checkRefusal(t, err, false)
					continue
				}
				if finding.Worst(in.Findings) != finding.Error || in.Counts.StoredElements < 0 || in.Counts.StoredBytes < 0 {
					t.Errorf("counted %+v without an error", in.Counts)
				}
			}
		})
	}
}

// TestHugeConfigs: a config asks for more than can be.
func TestHugeConfigs(t *testing.T) {
	for _, c := range [][6]int64{{1 << 40, 128, 2, 4, 2, 256}, {64, 128, 1 << 40, 4, 2, 256}, {64, 128, 2, 1 << 40, 2, 256}, {64, 1 << 62, 2, 4, 2, 1 << 62},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64}, {-1, -1, -1, -1, -1, -1}, {0, 0, 0, 0, 0, 0}} {
		in := inspected(t, llama(c[0], c[1], c[2], c[3], c[4], c[5], ""), one(safetensorstest.T("model.norm.weight", "F32", 64)))
		if finding.Worst(in.Findings) != finding.Error {
			t.Errorf("%v: no error among %+v", c, in.Findings)
		}
	}
}

// TestManyTensors: many names, or many shapes of one name, take time and
// memory in proportion, findings do not list them all, and the model's own
// tensors are found behind them.
func TestManyTensors(t *testing.T) {
	if testing.Short() {
		t.Skip("builds headers of 20 MB")
	}
	const n = manyTensors
	config := llama(64, 128, 2, 4, 2, 256, "")
	model := called(t, config, "F32")
	for name, odd := range map[string]func(i int) safetensorstest.Tensor{
		"names":   func(i int) safetensorstest.Tensor { return safetensorstest.T(fmt.Sprintf("x%d.weight", i), "U8", 1) },
		"numbers": func(i int) safetensorstest.Tensor { return safetensorstest.T(fmt.Sprintf("x.%d.weight", i), "U8", 1) },
		"shapes": func(i int) safetensorstest.Tensor {
			return safetensorstest.T(fmt.Sprintf("x.%d.weight", i), "U8", int64(i))
		},
		"buffers": func(i int) safetensorstest.Tensor {
			return safetensorstest.T(fmt.Sprintf("x%d.rotary_emb.inv_freq", i), "F32", 8)
		},
		"quantised": func(i int) safetensorstest.Tensor {
			return safetensorstest.T(fmt.Sprintf("x%d.%s", i/2, []string{"qweight", "scales"}[i%2]), "F32", 8)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tensors := make([]safetensorstest.Tensor, n, n+len(model))
			for i := range tensors {
				tensors[i] = odd(i)
			}
			tensors = append(tensors, model...)
			files := map[string]safetensorstest.Blob{"model.safetensors": safetensorstest.Sparse(tensors...)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			in := inspected(t, config, files)
			runtime.ReadMemStats(&after)
			if each := (after.TotalAlloc - before.TotalAlloc) / n; each > mostEach {
				t.Errorf("%d bytes allocated for each tensor", each)
			}
			wantCounts(t, in, elementsOf(tensors), *in.Counts.EstimatedParameters)
			checkSums(t, in)
			if len(in.Findings) > 1000 || len(in.Ledger.UnexplainedTensors) > 20000 {
				t.Errorf("%d findings, %d unexplained names", len(in.Findings), len(in.Ledger.UnexplainedTensors))
			}
		})
	}
}

// checkSums adds up the breakdowns of what is stored.
func checkSums(t *testing.T, in *Inspection) {
	t.Helper()
	var roles, layers int64
	for _, r := range in.ByRole {
		roles += r.Elements
	}
	for _, l := range in.ByLayer {
		layers += l.Elements
	}
	if roles != in.Counts.StoredElements || layers > roles || *in.Ledger.Unexplained == 0 {
		t.Errorf("stored %d, by role %d, by layer %d, unexplained %d", in.Counts.StoredElements, roles, layers, *in.Ledger.Unexplained)
	}
}

// TestEscapingShards: an index that names files elsewhere.
func TestEscapingShards(t *testing.T) {
	config := llama(64, 128, 2, 4, 2, 256, "")
	tensors := called(t, config, "BF16")
	for _, bad := range []string{"../model-00001-of-00001.safetensors", "/etc/model-00001-of-00001.safetensors", `..\model.safetensors`, "a/../../b.safetensors"} {
		where := make(map[string]string)
		for _, one := range tensors {
			where[one.Name] = "model-00001-of-00001.safetensors"
		}
		where[tensors[0].Name] = bad
		in := inspected(t, config, map[string]safetensorstest.Blob{"model-00001-of-00001.safetensors": safetensorstest.Sparse(tensors...),
			"model.safetensors.index.json": safetensorstest.Whole(safetensorstest.Index("", where))})
		wantFound(t, in, "HFI210", finding.Error)
		if in.Counts.StoredElements != *in.Counts.EstimatedParameters {
			t.Errorf("%s: counted %d", bad, in.Counts.StoredElements)
		}
	}
}

// TestOnlyEscapingShards: an index that names nothing else is refused for that.
func TestOnlyEscapingShards(t *testing.T) {
	_, err := Inspect(context.Background(), safetensorstest.NewFolder(map[string]safetensorstest.Blob{
		"model.safetensors.index.json": safetensorstest.Whole(safetensorstest.Index("", map[string]string{"a": "../model.safetensors"}))}), Options{})
	if err == nil || !strings.Contains(err.Error(), `"../model.safetensors", which leads out of the folder`) {
		t.Errorf("error %v", err)
	}
}

// TestUnreadableEntries: entries of one header that are wrong in one way are one
// finding, and what they should have held is not missing besides.
func TestUnreadableEntries(t *testing.T) {
	config := llama(64, 128, 2, 4, 2, 256, "")
	for broken, says := range map[string]string{
		`"shape":"64"`:       "shape is a string",
		`"dtype":"BF99"`:     "unknown dtype",
		`"data_offsets":[1]`: "numbers in data_offsets: 1 instead of 2",
	} {
		var header strings.Builder
		at, bad := int64(0), 0
		for _, one := range called(t, config, "BF16") {
			entry := fmt.Sprintf(`"dtype":"BF16","shape":%s,"data_offsets":[%d,%d]`, strings.ReplaceAll(fmt.Sprint(one.Shape), " ", ","), at, at+2*elementsOf([]safetensorstest.Tensor{one}))
			at += 2 * elementsOf([]safetensorstest.Tensor{one})
			if strings.Contains(one.Name, "norm") {
				key, _, _ := strings.Cut(broken, ":")
				entry = regexp.MustCompile(key+`:(\[[^\]]*\]|"[^"]*")`).ReplaceAllString(entry, broken)
				bad++
			}
			fmt.Fprintf(&header, `,%q:{%s}`, one.Name, entry)
		}
		in := inspected(t, config, map[string]safetensorstest.Blob{"model.safetensors": claimed("{" + header.String()[1:] + "}")})
		wantFound(t, in, "HFI101", finding.Error, says, fmt.Sprintf("(and %d more)", bad-1))
		for _, code := range []string{"HFI401", "HFI402", "HFI419"} {
			if f := found(in, code); f != nil {
				t.Errorf("%s: %+v", broken, f)
			}
		}
		if *in.Ledger.Unexplained != 0 {
			t.Errorf("%s: %d unexplained", broken, *in.Ledger.Unexplained)
		}
	}
}
