package safetensors_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	reference "github.com/nlpodyssey/safetensors"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

// seedHeaders adds the tables and the recorded files.
func seedHeaders(f *testing.F) {
	for _, c := range headerCases {
		if len(c.header) < 4096 {
			f.Add([]byte(c.header), c.data)
		}
	}
	for name, files := range readArchive(f, "broken.tar.gz") {
		file := files["model.safetensors"]
		if strings.HasPrefix(name, "index-") || len(file) < 16 || len(file) > 4096 {
			continue
		}
		n := min(int(file[0])+int(file[1])<<8, len(file)-8)
		f.Add(file[8:8+n], int64(len(file)-8-n))
	}
}

// FuzzHeaderInvariants holds what is true of every header that is accepted in
// part or in whole.
func FuzzHeaderInvariants(f *testing.F) {
	seedHeaders(f)
	f.Fuzz(func(t *testing.T, header []byte, dataSize int64) {
		dataSize = max(dataSize, -1)
		h, err := safetensors.ParseHeader(header, dataSize)
		if err != nil {
			if h != nil || err.Error() == "" {
				t.Errorf("%v beside a header", err)
			}
			return
		}
		checkInvariants(t, h, dataSize)
		for _, fault := range h.Faults {
			if fault.Kind.String() == "" || fault.Detail == "" || strings.ContainsFunc(fault.Error(), isControl) {
				t.Errorf("fault %q", fault.Error())
			}
		}
	})
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' }

func checkInvariants(t *testing.T, h *safetensors.Header, dataSize int64) {
	names := make(map[string]bool)
	var sum int64
	for i := range h.Tensors {
		tensor := &h.Tensors[i]
		if names[tensor.Name] {
			t.Errorf("%q twice", tensor.Name)
		}
		names[tensor.Name] = true
		if tensor.Elements() < 0 || tensor.Bytes() < 0 || tensor.Elements() == math.MaxInt64 && tensor.DType != safetensors.Unknown {
			t.Errorf("%q: %d elements, %d bytes", tensor.Name, tensor.Elements(), tensor.Bytes())
		}
		if h.Err() == nil && tensor.End-tensor.Begin != tensor.Bytes() {
			t.Errorf("%q: range is not the size", tensor.Name)
		}
		sum += tensor.Bytes()
	}
	if h.Err() != nil {
		return
	}
	if len(h.Excluded) > 0 || sum != h.DataEnd() || dataSize >= 0 && sum != dataSize {
		t.Errorf("accepted with %d bytes of %d, %d excluded", sum, dataSize, len(h.Excluded))
	}
	if total := h.Totals(); total.Bytes != sum || total.Tensors != int64(len(h.Tensors)) {
		t.Errorf("totals %+v", total)
	}
}

// FuzzHeaderOracle compares with encoding/json for syntax and with an independent
// reader for content, where both know what the header has.
func FuzzHeaderOracle(f *testing.F) {
	seedHeaders(f)
	f.Fuzz(func(t *testing.T, header []byte, dataSize int64) {
		dataSize = min(max(dataSize, 0), 1<<16)
		h, err := safetensors.ParseHeader(header, dataSize)
		if err == nil && h.Err() == nil && !json.Valid(header) {
			t.Fatal("accepted what is not JSON")
		}
		if unlike(header) {
			return
		}
		file := append(make([]byte, 8), header...)
		for i := range 8 {
			file[i] = byte(len(header) >> (8 * i))
		}
		file = append(file, make([]byte, dataSize)...)
		want, wantErr := reference.Deserialize(file)
		if accepted := err == nil && h.Err() == nil; accepted != (wantErr == nil) {
			t.Fatalf("ours: %v, %+v; other: %v", err, h, wantErr)
		}
		if wantErr == nil {
			compareTensors(t, h, want)
		}
	})
}

// unlike lists what the other reader treats otherwise than the reference
// library: it has 13 dtypes, refuses extra fields, array entries and null
// metadata, takes names as encoding/json does (lone surrogates and invalid UTF-8
// replaced, fields of any case), and merges what occurs twice.
func unlike(header []byte) bool {
	for _, text := range []string{"F4", "F6", "F8", "C64", "null", `\`} {
		if bytes.Contains(header, []byte(text)) {
			return true
		}
	}
	h, err := safetensors.ParseHeader(header, -1)
	if err != nil {
		return !json.Valid(header) || bytes.ContainsFunc(header, func(r rune) bool { return r > 0x7e }) || len(bytes.TrimSpace(header)) == 0 || bytes.TrimSpace(header)[0] != '{' || bytes.Count(header, []byte{'['})+bytes.Count(header, []byte{'{'}) > 120
	}
	for _, notice := range h.Notices {
		switch notice.Kind {
		case safetensors.NoticeDuplicateTensor, safetensors.NoticeUnknownField, safetensors.NoticeArrayEntry, safetensors.NoticeHugeDimension:
			return true
		}
	}
	for _, fault := range h.Faults {
		switch fault.Kind {
		case safetensors.KindDuplicateField, safetensors.KindTrailingJSON, safetensors.KindMetadata, safetensors.KindEntry:
			return true
		}
	}
	return false
}

func compareTensors(t *testing.T, h *safetensors.Header, want reference.SafeTensors) {
	if len(h.Tensors) != want.Len() {
		t.Fatalf("%d tensors, other %d", len(h.Tensors), want.Len())
	}
	for i := range h.Tensors {
		tensor := &h.Tensors[i]
		other, ok := want.Tensor(tensor.Name)
		if !ok || other.DType().String() != tensor.DType.String() || len(other.Shape()) != len(tensor.Shape) || int64(len(other.Data())) != tensor.Bytes() {
			t.Fatalf("%+v, other %v", tensor, other)
		}
		for j, dim := range other.Shape() {
			if int64(dim) != tensor.Shape[j] {
				t.Fatalf("%+v, other %v", tensor, other.Shape())
			}
		}
	}
}

// FuzzIndex holds that an index of any content gives entries that point to its
// shards.
func FuzzIndex(f *testing.F) {
	for _, files := range readArchive(f, "broken.tar.gz") {
		if index := files["model.safetensors.index.json"]; index != nil {
			f.Add(index)
		}
	}
	f.Add([]byte(`{"metadata":{"total_size":NaN},"weight_map":{"a":"../x","a":1,"b":"\u0000"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		index, err := safetensors.ReadIndex("x.json", text)
		if err != nil {
			return
		}
		names := make(map[string]bool)
		for _, entry := range index.Entries {
			if int(entry.Shard) >= len(index.Shards) || names[entry.Name] {
				t.Errorf("%+v", entry)
			}
			names[entry.Name] = true
		}
		index.TotalSize.Int64()
		index.TotalParameters.Int64()
	})
}
