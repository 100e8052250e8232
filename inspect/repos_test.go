package inspect

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// repo is a real repository: its config and index as published.
type repo struct {
	Folder string
	Truth  struct {
		Provenance string `json:"provenance"`
		Class      string `json:"class"`
		Estimated  int64  `json:"estimated_parameters"`
		Stored     int64  `json:"stored_elements"`
		Bytes      int64  `json:"stored_bytes"`
	}
	Config  string
	Index   string
	Tensors []string
}

func readRepos(t testing.TB) []repo { return truthtable.Read[repo](t, "testdata/repos.jsonl.gz") }

// folder lays the repository out with headers of the tensors that it is known
// to have, each in the shard that its index names. Indexes of .bin files stand
// for the same split of safetensors.
func (r *repo) folder(t testing.TB) *safetensorstest.Folder {
	t.Helper()
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	text := strings.ReplaceAll(r.Index, ".bin\"", ".safetensors\"")
	if err := json.Unmarshal([]byte(text), &index); err != nil {
		t.Fatal(err)
	}
	shards := make(map[string][]safetensorstest.Tensor)
	for _, row := range r.Tensors {
		fields := strings.Fields(row)
		var shape []int64
		if err := json.Unmarshal([]byte(fields[2]), &shape); err != nil {
			t.Fatal(err)
		}
		for _, name := range unfold(fields[0]) {
			shard := index.Map[name]
			shards[shard] = append(shards[shard], safetensorstest.T(name, fields[1], shape...))
		}
	}
	files := map[string]safetensorstest.Blob{
		"config.json":                  safetensorstest.Whole([]byte(r.Config)),
		"model.safetensors.index.json": safetensorstest.Whole([]byte(text)),
	}
	for shard, tensors := range shards {
		files[shard] = safetensorstest.Sparse(tensors...)
	}
	return safetensorstest.NewFolder(files)
}

// unfold writes out the names that "h.{0..2,4}.ln_1.weight" stands for.
func unfold(name string) []string {
	head, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}
	}
	set, tail, _ := strings.Cut(rest, "}")
	var names []string
	for part := range strings.SplitSeq(set, ",") {
		first, last, ranged := strings.Cut(part, "..")
		if !ranged {
			last = first
		}
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(last)
		for n := from; n <= to; n++ {
			for _, end := range unfold(tail) {
				names = append(names, head+strconv.Itoa(n)+end)
			}
		}
	}
	return names
}

// TestRealRepositoriesClose inspects every real repository whose tensors are
// known and whose architecture is described.
func TestRealRepositoriesClose(t *testing.T) {
	checked := 0
	for _, r := range readRepos(t) {
		if r.Truth.Provenance != "reconstructed" {
			continue
		}
		t.Run(r.Folder, func(t *testing.T) {
			config, _, err := hfconfig.Parse([]byte(r.Config))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := estimator.Lookup(config.ModelType()); !ok {
				t.Skipf("model type %q is not described", config.ModelType())
			}
			checked++
			in, err := Inspect(context.Background(), r.folder(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !in.Model.Described || *in.Ledger.Unexplained != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
				t.Errorf("described %v, unexplained %d: %v", in.Model.Described, *in.Ledger.Unexplained, in.Ledger.UnexplainedTensors)
			}
			if in.Counts.StoredElements != r.Truth.Stored || in.Counts.StoredBytes != r.Truth.Bytes {
				t.Errorf("stored %d elements, %d bytes, want %d, %d", in.Counts.StoredElements, in.Counts.StoredBytes, r.Truth.Stored, r.Truth.Bytes)
			}
			if e := in.Counts.EstimatedParameters; e == nil || *e != r.Truth.Estimated {
				t.Errorf("estimated %v, want %d", e, r.Truth.Estimated)
			}
			for _, f := range in.Findings {
				if f.Severity == finding.Error {
					t.Errorf("%s: %s", f.Code, f.Message)
				}
			}
		})
	}
	if checked < 25 {
		t.Errorf("only %d repositories are described", checked)
	}
}
