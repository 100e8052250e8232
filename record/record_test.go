package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

func recordOf(t *testing.T, files map[string]safetensorstest.Blob, opts inspect.Options) *Made {
	t.Helper()
	made, err := Make(t.Context(), safetensorstest.NewFolder(files), Options{Inspect: opts, How: "by a test", Date: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// sharded is a small model in two shards beside other weights.
func sharded() map[string]safetensorstest.Blob {
	T := safetensorstest.T
	files := map[string]safetensorstest.Blob{
		"config.json":                      safetensorstest.Whole([]byte(`{"model_type": "unheard-of"}` + "\n")),
		"model-00001-of-00002.safetensors": safetensorstest.Sparse(T("a.0.weight", "BF16", 4, 4), T("a.1.weight", "BF16", 4, 4)),
		"model-00002-of-00002.safetensors": safetensorstest.Sparse(T("b.weight", "F32", 3)),
		"consolidated.safetensors":         safetensorstest.Sparse(T("w", "F32", 3)),
		"pytorch_model.bin":                {Size: 100},
		"README.md":                        {Size: 5},
	}
	files["model.safetensors.index.json"] = safetensorstest.Whole(safetensorstest.Index("76", map[string]string{
		"a.0.weight": "model-00001-of-00002.safetensors", "a.1.weight": "model-00001-of-00002.safetensors",
		"b.weight": "model-00002-of-00002.safetensors",
	}))
	return files
}

func TestMake(t *testing.T) {
	made := recordOf(t, sharded(), inspect.Options{})
	r := made.Recording
	if len(made.Lost) > 0 {
		t.Errorf("lost %v", made.Lost)
	}
	if len(r.Shards) != 2 || len(r.Indexes) != 1 || len(r.Indexes[0].Add)+len(r.Indexes[0].Omit) > 0 || len(r.Files) != 1 || len(r.Others) != 2 {
		t.Errorf("%d shards, indexes %+v, %d files, others %+v", len(r.Shards), r.Indexes, len(r.Files), r.Others)
	}
	if r.Provenance != fixtures.Recorded || r.Repository != "memory" || r.Date != "1970-01-01" || r.Shards[0].SHA256 == "" {
		t.Errorf("head %+v", r.Head)
	}
	var text bytes.Buffer
	if err := fixtures.Write(&text, r); err != nil {
		t.Fatal(err)
	}
	again, err := fixtures.Parse(&text)
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := Verify(t.Context(), again); err != nil || len(moved) > 0 {
		t.Errorf("moved %v, %v", moved, err)
	}
}

// What a table cannot tell is kept as it is, and found again.
func TestOddFiles(t *testing.T) {
	raw := func(header string, data int64) safetensorstest.Blob {
		return safetensorstest.Whole(safetensorstest.Raw(header, data))
	}
	good := safetensorstest.Sparse(safetensorstest.T("b", "F32", 3))
	for name, blob := range map[string]safetensorstest.Blob{
		"out of order":  raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 3),
		"unknown field": raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"x":1}}`, 2),
		"hole":          raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3),
		"no JSON":       raw(`{"a":`, 3),
		"spaces":        raw(` {"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}  `, 2),
		"pointer":       safetensorstest.Whole([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")),
		"cut":           {Head: raw(strings.Repeat(" ", 100), 0).Head[:50], Size: 50},
	} {
		t.Run(name, func(t *testing.T) {
			made := recordOf(t, map[string]safetensorstest.Blob{
				"model-00001-of-00002.safetensors": blob, "model-00002-of-00002.safetensors": good,
			}, inspect.Options{})
			if len(made.Lost) > 0 {
				t.Errorf("lost %v", made.Lost)
			}
			if moved, err := Verify(t.Context(), made.Recording); err != nil || len(moved) > 0 {
				t.Errorf("moved %v, %v", moved, err)
			}
		})
	}
}

// An index that is refused is kept as it is.
func TestOddIndex(t *testing.T) {
	for _, index := range []string{`{"weight_map": {"b.weight": "model-00002-of-00002.safetensors"}}`, `[]`, `{"metadata": {}, "weight_map": {"x": "../y"}}`} {
		files := sharded()
		files["model.safetensors.index.json"] = safetensorstest.Whole([]byte(index))
		made := recordOf(t, files, inspect.Options{})
		if len(made.Lost) > 0 {
			t.Errorf("%s: lost %v", index, made.Lost)
		}
	}
}

// The choice of weights is part of what is kept.
func TestChoiceIsKept(t *testing.T) {
	made := recordOf(t, sharded(), inspect.Options{Weights: safetensors.ChooseOptions{File: "consolidated.safetensors"}})
	if made.Inspection.Counts.StoredElements != 3 || len(made.Lost) > 0 {
		t.Errorf("%d elements, lost %v", made.Inspection.Counts.StoredElements, made.Lost)
	}
	if moved, err := Verify(t.Context(), made.Recording); err != nil || len(moved) > 0 {
		t.Errorf("moved %v, %v", moved, err)
	}
}

// Small values that the inspection reads are recorded with their tensors.
func TestValues(t *testing.T) {
	tensors := []safetensorstest.Tensor{{Name: "a", DType: "I64", Shape: []int64{1}, Data: []byte{7, 0, 0, 0, 0, 0, 0, 0}}, safetensorstest.T("b", "F32", 3)}
	src := newTape(safetensorstest.NewFolder(map[string]safetensorstest.Blob{"m.safetensors": safetensorstest.Whole(safetensorstest.Build(tensors...))}))
	f := &safetensors.File{Path: "m.safetensors", Size: -1}
	var err error
	if f.Header, err = safetensors.ReadHeader(t.Context(), src, f, 64); err != nil {
		t.Fatal(err)
	}
	if _, err := safetensors.ReadValues(t.Context(), src, f, &f.Header.Tensors[0], 100); err != nil {
		t.Fatal(err)
	}
	files, _ := src.List(t.Context())
	var r fixtures.Recording
	src.record(&r, files)
	if len(r.Shards) != 1 || len(r.Shards[0].Groups) != 2 || len(r.Shards[0].Groups[0].Value) != 8 || r.Shards[0].Groups[1].Value != nil {
		t.Errorf("%+v", r.Shards)
	}
}

func TestHubFigures(t *testing.T) {
	made := recordOf(t, sharded(), inspect.Options{})
	made.Recording.Hub = []fixtures.Figure{{Dtype: "total", Elements: 35}, {Dtype: "BF16", Elements: 32}}
	src, err := fixtures.NewSource(made.Recording)
	if err != nil {
		t.Fatal(err)
	}
	if got := figures(newTape(src)); len(got) != 2 || got[0].Elements != 35 || got[1].Dtype != "BF16" {
		t.Errorf("figures %v", got)
	}
	again, err := Make(t.Context(), src, Options{})
	if err != nil || len(again.Recording.Hub) != 2 || again.Recording.How != "by a test" {
		t.Errorf("recording of a recording: %+v, %v", again, err)
	}
}

// A secret in what was read is not written to a recording.
func TestNoSecrets(t *testing.T) {
	files := sharded()
	files["config.json"] = safetensorstest.Whole([]byte(`{"model_type": "x", "token": "hf_` + strings.Repeat("a", 34) + `"}`))
	made := recordOf(t, files, inspect.Options{})
	if err := fixtures.Save(filepath.Join(t.TempDir(), "x.hfrec"), made.Recording); err == nil {
		t.Error("a token was recorded")
	}
}

func TestVerifyFile(t *testing.T) {
	dir := t.TempDir()
	r := recordOf(t, sharded(), inspect.Options{}).Recording
	for _, name := range []string{"a.hfrec", "b.hfrec.gz"} {
		file := filepath.Join(dir, name)
		r.Expect = bytes.Replace(r.Expect, []byte(`"stored_elements": 35`), []byte(`"stored_elements": 36`), 1)
		if err := fixtures.Save(file, r); err != nil {
			t.Fatal(err)
		}
		v := VerifyFile(t.Context(), file, false)
		if v.Status != Moved || len(v.Changes) != 1 || v.Changes[0] != (Change{"counts.stored_elements", "36", "35"}) {
			t.Errorf("%+v", v)
		}
		if v := VerifyFile(t.Context(), file, true); v.Status != Updated {
			t.Errorf("%+v", v)
		}
		if v := VerifyFile(t.Context(), file, false); v.Status != Same {
			t.Errorf("%+v", v)
		}
	}
	names, err := Files([]string{dir, filepath.Join(dir, "a.hfrec")})
	if err != nil || len(names) != 3 {
		t.Errorf("files %v, %v", names, err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 2 {
		t.Errorf("files left over: %v", left)
	}
}

func TestVerifyWithoutResult(t *testing.T) {
	r := recordOf(t, sharded(), inspect.Options{}).Recording
	for _, text := range []string{"", "{", `{"options": 3}`} {
		r.Expect = []byte(text)
		if _, err := Verify(t.Context(), r); err == nil || !strings.Contains(err.Error(), "--update") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Verify(t.Context(), &fixtures.Recording{}); !errors.Is(err, errNoResult) {
		t.Errorf("error %v", err)
	}
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		want     []Change
	}{
		{`{"counts": {"a": 1}}`, `{"counts": {"a": 1, "b": 2}, "x": 1}`, nil},
		{`{"counts": {"a": 9007199254740993}}`, `{"counts": {"a": 9007199254740992}}`, []Change{{"counts.a", "9007199254740993", "9007199254740992"}}},
		{`{"counts": {"a": null}}`, `{"counts": {}}`, []Change{{"counts.a", "null", ""}}},
		{`{"rows": []}`, `{"rows": [{"code": "x"}]}`, []Change{{"rows[x]", "", `{"code":"x"}`}}},
		{`{"rows": [{"code": "x", "n": 1}, {"code": "x", "n": 2}]}`, `{"rows": [{"code": "x", "n": 1}, {"code": "x", "n": 3, "f": 0}]}`,
			[]Change{{"rows[x#2].f", "", "0"}, {"rows[x#2].n", "2", "3"}}},
		{`{"names": ["a"]}`, `{"names": ["b"]}`, []Change{{"names", `["a"]`, `["b"]`}}},
	} {
		got, err := changes([]byte(tt.old), []byte(tt.new))
		if err != nil || len(got) != len(tt.want) {
			t.Errorf("%s to %s: %v, %v", tt.old, tt.new, got, err)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%v, want %v", got[i], tt.want[i])
			}
		}
	}
}

func TestLayoutChangesNothing(t *testing.T) {
	compact := `{"a":1,"b":{"c":[],"d":"x,}]:\"","e":{"f":[1,2],"g":null}},"h":[{"i":[{"j":1}]},{"k":{}}],"l":{},"m":[],"n":true}`
	var back bytes.Buffer
	if err := json.Compact(&back, layout([]byte(compact))); err != nil || back.String() != compact {
		t.Errorf("%v: %s", err, back.String())
	}
	t.Logf("%s", layout([]byte(compact)))
}
