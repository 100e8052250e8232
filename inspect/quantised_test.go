package inspect

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// quantisedCase is a small checkpoint as a quantiser wrote it.
type quantisedCase struct {
	Name        string
	Unquantised int64             `json:"unquantised_parameters"`
	Stored      int64             `json:"stored_elements"`
	Bytes       int64             `json:"stored_bytes"`
	Logical     int64             `json:"logical_parameters"`
	Files       map[string]string // config and index
	Weights     map[string]struct {
		Header string
		Values map[string]string // of small tensors, base64; the others are zero
	}
}

func readQuantised(t testing.TB) []quantisedCase {
	return truthtable.Read[quantisedCase](t, "testdata/quantised.jsonl.gz")
}

// entry is a tensor of a header.
type entry struct {
	DType   string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// folder builds the files of a case.
func (c *quantisedCase) folder(t testing.TB) *safetensorstest.Folder {
	t.Helper()
	files := make(map[string]safetensorstest.Blob)
	for name, text := range c.Files {
		files[name] = safetensorstest.Whole([]byte(text))
	}
	for name, w := range c.Weights {
		header := make(map[string]json.RawMessage)
		if err := json.Unmarshal([]byte(w.Header), &header); err != nil {
			t.Fatal(err)
		}
		places, end := make(map[string]entry), int64(0)
		for name, text := range header {
			var e entry
			if name == "__metadata__" {
				continue
			}
			if err := json.Unmarshal(text, &e); err != nil {
				t.Fatal(err)
			}
			places[name], end = e, max(end, e.Offsets[1])
		}
		start := int64(8 + len(w.Header))
		data := make([]byte, start+end)
		binary.LittleEndian.PutUint64(data, uint64(len(w.Header)))
		copy(data[8:], w.Header)
		for name, text := range w.Values {
			value, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			copy(data[start+places[name].Offsets[0]:], value)
		}
		files[name] = safetensorstest.Whole(data)
	}
	return safetensorstest.NewFolder(files)
}

// TestQuantised holds every method to the numbers of checkpoints that the real
// libraries wrote.
func TestQuantised(t *testing.T) {
	for _, c := range readQuantised(t) {
		t.Run(c.Name, func(t *testing.T) {
			in, err := Inspect(context.Background(), c.folder(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if in.Counts.StoredElements != c.Stored || in.Counts.StoredBytes != c.Bytes {
				t.Errorf("stored %d elements, %d bytes; want %d, %d", in.Counts.StoredElements, in.Counts.StoredBytes, c.Stored, c.Bytes)
			}
			if *in.Counts.LogicalParameters != c.Logical {
				t.Errorf("logical %d, want %d", *in.Counts.LogicalParameters, c.Logical)
			}
			if u := in.Counts.UniqueParameters; u == nil || *u != c.Unquantised {
				t.Errorf("unique %v, want %d", u, c.Unquantised)
			}
			if n := in.Ledger.Unexplained; n == nil || *n != 0 || len(in.Ledger.UnexplainedTensors) > 0 {
				t.Errorf("unexplained %v: %q", n, in.Ledger.UnexplainedTensors)
			}
			for _, f := range in.Findings {
				if f.Severity != finding.Note {
					t.Logf("%s %s %s", f.Severity, f.Code, f.Message)
				}
			}
		})
	}
}
