package safetensors_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hf-inspect/hf-inspect/safetensors"
	st "github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
	"github.com/hf-inspect/hf-inspect/source"
)

// open chooses the set of a source and reads it.
func open(t *testing.T, src source.Source, opts safetensors.ReadOptions) *safetensors.Checkpoint {
	t.Helper()
	list, err := src.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	choice, err := safetensors.Choose(safetensors.Sets(list), safetensors.ChooseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := safetensors.ReadCheckpoint(context.Background(), src, choice.Set, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// describe sums up what is wrong with a checkpoint, one line a thing.
func describe(c *safetensors.Checkpoint) []string {
	var lines []string
	for _, fault := range c.AllFaults() {
		lines = append(lines, fault.Kind.String()+" "+fault.File+" "+fault.Tensor)
	}
	for _, d := range c.Disagreements {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(d.Kind, " ", d.Tensor, " ", d.Indexed, " ", d.Actual, " ", d.Declared)), " "))
	}
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.NewReplacer("model-0000", "", "-of-0000", "/", ".safetensors", "").Replace(line))
	}
	return lines
}

// TestRecordedSets reads the recorded sets with a damaged index. All hold the
// same 3,376 parameters.
func TestRecordedSets(t *testing.T) {
	want := map[string][]string{
		"index-duplicate-keys":           {"in_another_shard lm_head.weight 2/2 1/2"},
		"index-path-traversal":           {"unsafe_path model.index.json lm_head.weight", "in_another_shard lm_head.weight ../index-ok-control/1/2 1/2"},
		"index-invalid-json":             {"invalid_index model.index.json"},
		"index-metadata-null":            {"invalid_index model.index.json"},
		"index-no-metadata":              {"invalid_index model.index.json"},
		"index-tensor-absent-from-shard": {"total_size_differs 13504", "total_parameters_differs 3376", "indexed_but_absent lm_head.weight 1/2"},
		"index-tensor-not-in-index":      {"not_indexed lm_head.weight 1/2"},
		"index-tensor-wrong-shard":       {"in_another_shard lm_head.weight 2/2 1/2"},
		"index-total-size-wrong":         {"total_size_differs"},
		"index-unused-shard":             {"unused_shard 3/3", "not_indexed x 3/3"},
	}
	for name, files := range readArchive(t, "broken.tar.gz") {
		if !strings.HasPrefix(name, "index-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := open(t, asFolder(files), safetensors.ReadOptions{Parallel: 2})
			got := describe(c)
			if len(got) != len(want[name]) {
				t.Fatalf("got %q, want %q", got, want[name])
			}
			for i := range got {
				if !strings.HasPrefix(got[i], want[name][i]) {
					t.Errorf("got %q, want %q", got[i], want[name][i])
				}
			}
		})
	}
}

func TestRecordedLayouts(t *testing.T) {
	for name, files := range readArchive(t, "layouts.tar.gz") {
		t.Run(name, func(t *testing.T) {
			var truth struct {
				Elements int64 `json:"stored_elements"`
				Bytes    int64 `json:"stored_bytes"`
				Tensors  int64 `json:"tensor_count"`
				Metadata map[string]map[string]string
			}
			unmarshal(t, files["truth.json"], &truth)
			c := open(t, asFolder(files), safetensors.ReadOptions{})
			if sum := c.Totals(); sum.Elements != truth.Elements || sum.Bytes != truth.Bytes || sum.Tensors != truth.Tensors {
				t.Errorf("got %+v, want %+v", sum, truth)
			}
			if !c.Complete || len(c.AllFaults()) > 0 || len(c.Disagreements) > 0 {
				t.Errorf("%q", describe(c))
			}
			for _, file := range c.Files {
				if diff := cmp.Diff(truth.Metadata[file.Path], file.Header.Metadata); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// sharded is a set of three shards of 1,000 elements each, with its index.
func sharded() map[string]st.Blob {
	blobs := make(map[string]st.Blob)
	weightMap := make(map[string]string)
	for i := 1; i <= 3; i++ {
		file, name := fmt.Sprintf("model-0000%d-of-00003.safetensors", i), fmt.Sprintf("t%d", i)
		blobs[file] = st.Sparse(st.T(name, "BF16", 10, 100))
		weightMap[name] = file
	}
	blobs["model.safetensors.index.json"] = st.Whole(st.Index("6000", weightMap))
	return blobs
}

func TestDamagedSets(t *testing.T) {
	const s2 = "model-00002-of-00003.safetensors"
	for _, c := range []struct {
		name     string
		damage   func(map[string]st.Blob)
		elements int64
		complete bool
		want     []string
	}{
		{"whole", func(map[string]st.Blob) {}, 3000, true, nil},
		{"missing shard", func(b map[string]st.Blob) { delete(b, s2) }, 2000, false, []string{"missing_shard 2/3"}},
		{"missing shard, no index", func(b map[string]st.Blob) { delete(b, s2); delete(b, "model.safetensors.index.json") }, 2000, false, []string{"missing_shard 2/3"}},
		{"empty shard", func(b map[string]st.Blob) { b[s2] = st.Blob{} }, 2000, false, []string{"file_too_small 2/3"}},
		{"pointer", func(b map[string]st.Blob) { b[s2] = st.Whole([]byte("version https://git-lfs.github.com/spec/v1\n")) }, 2000, false, []string{"not_safetensors 2/3"}},
		{"truncated", func(b map[string]st.Blob) { b[s2] = st.Blob{Head: b[s2].Head, Size: b[s2].Size - 1} }, 3000, true, []string{"truncated 2/3 t2"}},
		{"same tensor twice", func(b map[string]st.Blob) { b[s2] = st.Sparse(st.T("t2", "BF16", 1000), st.T("t1", "BF16", 5)) }, 3005, true,
			[]string{"duplicate_tensor 2/3 t1", "total_size_differs 6000"}},
		{"a copy", func(b map[string]st.Blob) { b["mtp.safetensors"] = st.Sparse(st.T("t1", "BF16", 1000)) }, 3000, true, []string{"unused_shard mtp"}},
		{"forgotten layer", func(b map[string]st.Blob) { b["mtp.safetensors"] = st.Sparse(st.T("mtp.fc", "BF16", 7)) }, 3007, true,
			[]string{"unused_shard mtp", "not_indexed mtp.fc mtp"}},
		{"empty descriptor", func(b map[string]st.Blob) {
			b[s2] = st.Whole(st.Raw(`{"t2":{"dtype":"","shape":[],"data_offsets":[0,0]}}`, 0))
		}, 2000, true, []string{"empty_descriptor 2/3 t2", "total_size_differs 6000"}},
		{"declared text", func(b map[string]st.Blob) {
			b["model.safetensors.index.json"] = st.Whole([]byte(`{"metadata":{"total_size":"6000","total_parameters":"many"},"weight_map":{"t1":"` + strings.Replace(s2, "2", "1", 1) + `","t2":"` + s2 + `","t3":"model-00003-of-00003.safetensors"}}`))
		}, 3000, true, []string{`declaration_not_a_number "6000"`, `declaration_not_a_number "many"`}},
		{"index page", func(b map[string]st.Blob) { b["model.safetensors.index.json"] = st.Whole([]byte("<!DOCTYPE html>")) }, 3000, true, []string{"invalid_index model.index.json"}},
		{"claims beyond 63 bits", func(b map[string]st.Blob) {
			for file := range b {
				if file != "model.safetensors.index.json" {
					b[file] = st.Whole(st.Raw(`{"`+file+`":{"dtype":"F4","shape":[4611686018427387903],"data_offsets":[0,0]}}`, 0))
				}
			}
		}, 1<<63 - 1, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			blobs := sharded()
			c.damage(blobs)
			checkpoint := open(t, st.NewFolder(blobs), safetensors.ReadOptions{})
			if sum := checkpoint.Totals(); sum.Elements != c.elements || checkpoint.Complete != c.complete || len(checkpoint.Unavailable) > 0 == c.complete {
				t.Errorf("%+v, complete %v, unavailable %v", sum, checkpoint.Complete, checkpoint.Unavailable)
			}
			if got := describe(checkpoint); c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestIndexNotices(t *testing.T) {
	blobs := sharded()
	index := string(blobs["model.safetensors.index.json"].Head)
	blobs["model.safetensors.index.json"] = st.Whole([]byte(strings.Replace(index, `{"t1"`, `{"t1":"gone.safetensors","t1"`, 1)))
	c := open(t, st.NewFolder(blobs), safetensors.ReadOptions{})
	if len(c.Notices) != 1 || c.Notices[0].Kind != safetensors.NoticeIndexDuplicate || c.Totals().Elements != 3000 || !c.Complete {
		t.Errorf("%+v, %q", c.Notices, describe(c))
	}
}

func TestUnsafeNames(t *testing.T) {
	for _, name := range []string{"/etc/passwd", "../x.safetensors", "a/../../x", "C:/x", `a\b`, "a\x00b", "a\nb", "..", ""} {
		blobs := sharded()
		blobs["model.safetensors.index.json"] = st.Whole(st.Index("", map[string]string{"t1": name, "t2": "model-00002-of-00003.safetensors"}))
		c := open(t, st.NewFolder(blobs), safetensors.ReadOptions{})
		faults := c.AllFaults()
		if len(faults) != 1 || faults[0].Kind != safetensors.KindUnsafePath || c.Totals().Elements != 3000 || !c.Complete {
			t.Errorf("%q: %v, %+v", name, faults, c.Totals())
		}
	}
}

func TestReadErrors(t *testing.T) {
	src := st.NewFolder(sharded())
	src.Fail = map[string]error{"model-00001-of-00003.safetensors": errors.New("connection reset")}
	c := open(t, src, safetensors.ReadOptions{})
	if got := describe(c); !slices.Equal(got, []string{"unreadable 1/3"}) || c.Complete || c.Totals().Elements != 2000 {
		t.Errorf("%q", got)
	}
	list, _ := src.List(context.Background())
	set := safetensors.Sets(list)[0]
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := safetensors.ReadCheckpoint(ctx, src, set, safetensors.ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	only := st.NewFolder(map[string]st.Blob{"model.safetensors.index.json": sharded()["model.safetensors.index.json"]})
	list, _ = only.List(context.Background())
	_, err := safetensors.ReadCheckpoint(context.Background(), only, safetensors.Sets(list)[0], safetensors.ReadOptions{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("index alone: %v", err)
	}
}

// TestRequests holds that a header is read exactly at every size of the first
// request, with one request more where it did not fit, and nothing of the data.
func TestRequests(t *testing.T) {
	blob := st.Sparse(st.T("a.long.name.of.a.tensor", "F32", 1<<30), st.T("b", "F32", 3))
	header := int64(len(blob.Head))
	for first := int64(8); first < header+40; first++ {
		for _, hide := range []bool{false, true} {
			src := st.NewFolder(map[string]st.Blob{"model.safetensors": blob})
			src.HideSizes = hide
			c := open(t, src, safetensors.ReadOptions{FirstRead: first})
			want := int64(1)
			if first < header {
				want = 2
			}
			if c.Totals().Tensors != 2 || len(c.AllFaults()) > 0 || src.Requests.Load() != want || src.Bytes.Load() != max(first, header) {
				t.Fatalf("first %d of %d: %d requests, %d bytes, %q", first, header, src.Requests.Load(), src.Bytes.Load(), describe(c))
			}
		}
	}
}

func TestProgress(t *testing.T) {
	var seen []int
	open(t, st.NewFolder(sharded()), safetensors.ReadOptions{Parallel: 3, Progress: func(done, total int) {
		if total != 3 {
			t.Errorf("total %d", total)
		}
		seen = append(seen, done)
	}})
	if !slices.Equal(seen, []int{1, 2, 3}) {
		t.Error(seen)
	}
}

// offering is a source that offers all headers at once.
type offering struct {
	*st.Folder
	headers map[string][]byte
}

func (o offering) ShardHeaders(context.Context, string) (map[string][]byte, error) {
	return o.headers, nil
}

func TestOfferedHeaders(t *testing.T) {
	blobs := sharded()
	headers := make(map[string][]byte)
	for path, blob := range blobs {
		headers[path] = blob.Head[min(8, len(blob.Head)):]
	}
	// A header that does not agree with its file is read from the file.
	headers["model-00002-of-00003.safetensors"] = []byte(`{"t2":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`)
	src := offering{st.NewFolder(blobs), headers}
	c := open(t, src, safetensors.ReadOptions{})
	if c.Totals().Elements != 3000 || len(describe(c)) > 0 || src.Requests.Load() != 2 {
		t.Errorf("%+v, %d requests, %q", c.Totals(), src.Requests.Load(), describe(c))
	}
}

func TestByDTypeAndAll(t *testing.T) {
	src := st.NewFolder(map[string]st.Blob{"model.safetensors": st.Sparse(st.T("a", "F32", 2), st.T("b", "BF16", 3), st.T("c", "F32", 5), st.T("d", "F4", 2))})
	c := open(t, src, safetensors.ReadOptions{})
	want := []safetensors.DTypeTotals{
		{DType: safetensors.F4, Totals: safetensors.Totals{Tensors: 1, Elements: 2, Bytes: 1}},
		{DType: safetensors.BF16, Totals: safetensors.Totals{Tensors: 1, Elements: 3, Bytes: 6}},
		{DType: safetensors.F32, Totals: safetensors.Totals{Tensors: 2, Elements: 7, Bytes: 28}},
	}
	if diff := cmp.Diff(want, c.ByDType()); diff != "" {
		t.Error(diff)
	}
	for file, tensor := range c.All() {
		if file.Path != "model.safetensors" || tensor.Name != "a" {
			t.Error(file.Path, tensor.Name)
		}
		break
	}
}

func TestReadValues(t *testing.T) {
	shape := st.Tensor{Name: "a.weight_shape", DType: "I64", Shape: []int64{2}, Data: []byte{1, 0, 0, 0, 0, 0, 0, 0, 2}}
	state := st.Tensor{Name: "b.quant_state", DType: "U8", Shape: []int64{4}, Data: []byte("{..}")}
	src := st.NewFolder(map[string]st.Blob{"model.safetensors": st.Whole(st.Build(shape, state))})
	c := open(t, src, safetensors.ReadOptions{})
	file := c.Files[0]
	a, b := &file.Header.Tensors[0], &file.Header.Tensors[1]
	before := src.Requests.Load()
	values, err := safetensors.ReadValuesOf(context.Background(), src, file, []*safetensors.Tensor{b, a}, 100)
	if err != nil || string(values[0]) != "{..}" || values[1][0] != 1 || values[1][8] != 2 || src.Requests.Load() != before+1 {
		t.Errorf("%q, %v", values, err)
	}
	var fault *safetensors.Error
	if _, err := safetensors.ReadValues(context.Background(), src, file, a, 15); !errors.As(err, &fault) || fault.Kind != safetensors.KindRange {
		t.Errorf("limit: %v", err)
	}
	far := &safetensors.Tensor{Name: "x", DType: safetensors.U8, Shape: []int64{8}, Begin: 1 << 40, End: 1<<40 + 8}
	if _, err := safetensors.ReadValues(context.Background(), src, file, far, 100); !errors.As(err, &fault) {
		t.Errorf("beyond the file: %v", err)
	}
}

// TestFirstRequestSuffices holds that with an index one request a shard is
// enough, however many tensors there are.
func TestFirstRequestSuffices(t *testing.T) {
	blobs := make(map[string]st.Blob)
	weightMap := make(map[string]string)
	for shard := 1; shard <= 4; shard++ {
		file := fmt.Sprintf("model-0000%d-of-00004.safetensors", shard)
		var tensors []st.Tensor
		for i := range 1500 {
			name := fmt.Sprintf("model.layers.%d.mlp.experts.%d.gate_proj.weight", shard, i)
			tensors = append(tensors, st.T(name, "F8_E4M3", 20480, 71680))
			weightMap[name] = file
		}
		blobs[file] = st.Sparse(tensors...)
	}
	blobs["model.safetensors.index.json"] = st.Whole(st.Index("", weightMap))
	src := st.NewFolder(blobs)
	c := open(t, src, safetensors.ReadOptions{})
	if c.Totals().Tensors != 6000 || len(describe(c)) > 0 || src.Requests.Load() != 5 {
		t.Errorf("%+v, %d requests, %q", c.Totals(), src.Requests.Load(), describe(c))
	}
}
