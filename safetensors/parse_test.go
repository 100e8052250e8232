package safetensors_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

const f32 = `{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`

// headerCases are headers with the verdict of the reference library, beyond the
// recorded files. They seed the fuzz targets too.
var headerCases = []struct {
	name, header string
	data         int64
	want         string
}{
	{"empty object", `{}`, 0, "accepts"},
	{"empty text", ``, 0, "header_not_json"},
	{"white space", " \t\r\n{ \"a\" : { \"dtype\" : \"F32\" , \"shape\" : [ 1 ] , \"data_offsets\" : [ 0 , 4 ] } } ", 4, "accepts"},
	{"space after the comma", `{"a":` + f32 + `, "b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8, "accepts"},
	{"escaped field", `{"a":{"\u0064type":"F32","shape":[1],"data_offsets":[0,4]}}`, 4, "accepts"},
	{"escaped metadata key", `{"\u005f_metadata__":{"a":"b"}}`, 0, "accepts"},
	{"surrogate pair", `{"\ud83d\ude00":` + f32 + `}`, 4, "accepts"},
	{"low surrogate", `{"\ude00":` + f32 + `}`, 4, "header_not_json"},
	{"dtype in full", `{"a":{"dtype":{"F32":null},"shape":[1],"data_offsets":[0,4]}}`, 4, "accepts"},
	{"dtype in full, not null", `{"a":{"dtype":{"F32":{}},"shape":[1],"data_offsets":[0,4]}}`, 4, "invalid_entry*"},
	{"dtype twice in full", `{"a":{"dtype":{"F32":null,"F32":null},"shape":[1],"data_offsets":[0,4]}}`, 4, "invalid_entry*"},
	{"array entry of four", `{"a":["F32",[1],[0,4],5]}`, 4, "invalid_entry*"},
	{"array entry of two", `{"a":["F32",[1]]}`, 4, "invalid_entry*"},
	{"minus zero", `{"a":{"dtype":"F32","shape":[-0],"data_offsets":[0,0]}}`, 0, "invalid_entry*"},
	{"overflow before zero", `{"a":{"dtype":"F32","shape":[9223372036854775808,4,0],"data_offsets":[0,0]}}`, 0, "overflow*"},
	{"overflow after zero", `{"a":{"dtype":"F32","shape":[0,9223372036854775808,4],"data_offsets":[0,0]}}`, 0, "accepts"},
	{"huge times zero", `{"a":{"dtype":"F32","shape":[18446744073709551615,0],"data_offsets":[0,0]}}`, 0, "accepts"},
	{"huge times two times zero", `{"a":{"dtype":"F32","shape":[9223372036854775808,2,0],"data_offsets":[0,0]}}`, 0, "overflow*"},
	{"overflow by dtype only", `{"a":{"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,0]}}`, 0, "overflow*"},
	{"overflow of an unknown dtype", `{"a":{"dtype":"F7","shape":[18446744073709551615],"data_offsets":[0,0]}}`, 0, "unknown_dtype*"},
	{"number out of range in an ignored field", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1e400}}`, 4, "header_not_json"},
	{"NaN in an ignored field", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":NaN}}`, 4, "header_not_json"},
	{"127 levels", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":` + nested(125) + `}}`, 4, "accepts"},
	{"128 levels", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":` + nested(126) + `}}`, 4, "header_too_deep"},
	{"a million levels", strings.Repeat(`[`, 1_000_000), 0, "header_too_deep"},
	{"NUL padding", `{}` + "\x00\x00", 0, "header_trailing_characters*"},
	{"trailing comma", `{"a":` + f32 + `,}`, 4, "header_not_json"},
	{"comma in an entry", `{"a":{"dtype":"F32","shape":[1,],"data_offsets":[0,4]}}`, 4, "header_not_json"},
	{"metadata fault comes first", `{"a":5,"__metadata__":{"x":3}}`, 0, "invalid_metadata*"},
	{"entry fault before trailing characters", `{"a":5}x`, 0, "invalid_entry*"},
	{"three of one name", `{"a":{"dtype":"U8","shape":[9],"data_offsets":[7,9]},"a":5,"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2, "invalid_entry*"},
	{"invalid UTF-8 wins over syntax", "{\"a\xff\":}", 0, "header_not_utf8"},
	{"encoded surrogate", "{\"\xed\xa0\x80\":" + f32 + "}", 4, "header_not_utf8"},
	{"DEL in a name", "{\"\x7f\":" + f32 + "}", 4, "accepts"},
	{"non-ASCII name", "{\"模型\":" + f32 + "}", 4, "accepts"},
	{"size unknown", `{"a":` + f32 + `}`, -1, "accepts"},
	{"metadata that looks like an entry", `{"__metadata__":` + f32 + `}`, 0, "invalid_metadata*"},
	{"empty descriptor", `{"a":` + f32 + `,"lm_head.weight":{"dtype":"","shape":[],"data_offsets":[0,0]}}`, 4, "empty_descriptor*"},
	{"scalar without data", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,0]}}`, 0, "size_mismatch*"},
}

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func TestHeaderCases(t *testing.T) {
	for _, c := range headerCases {
		t.Run(c.name, func(t *testing.T) {
			if got := verdictOf(safetensors.ParseHeader([]byte(c.header), c.data)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestStillCounted holds what is counted where the reference refuses.
func TestStillCounted(t *testing.T) {
	for _, c := range []struct {
		name, header             string
		data                     int64
		elements, bytes          int64
		faults, tensors, skipped int
	}{
		{"hole", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}}`, 24, 4, 16, 1, 2, 0},
		{"overlap", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12, 4, 16, 1, 2, 0},
		{"size mismatch", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,16]}}`, 16, 2, 8, 1, 1, 0},
		{"truncated", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 3, 2, 8, 1, 1, 0},
		{"trailing", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 30, 2, 8, 1, 1, 0},
		{"unknown dtype", `{"a":{"dtype":"F7","shape":[2,3],"data_offsets":[0,6]}}`, 6, 6, 6, 1, 1, 0},
		{"no offsets", `{"a":{"dtype":"F32","shape":[2]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}`, 16, 4, 16, 1, 2, 0},
		{"no shape", `{"a":{"dtype":"F32","data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}`, 16, 2, 8, 1, 1, 1},
		{"empty descriptor", `{"a":` + f32 + `,"b":{"dtype":"","shape":[],"data_offsets":[0,0]}}`, 4, 1, 4, 1, 1, 1},
		{"overflow beside a good one", `{"a":` + f32 + `,"b":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[4,8]}}`, 8, 1, 4, 1, 1, 1},
		{"trillions claimed", `{"a":{"dtype":"U8","shape":[1000000,1000000],"data_offsets":[0,8]}}`, 8, 1e12, 1e12, 1, 1, 0},
		{"metadata of numbers", `{"__metadata__":{"a":1,"b":"c"},"a":` + f32 + `}`, 4, 1, 4, 1, 1, 0},
		{"duplicate counts once", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"a":` + f32 + `}`, 4, 1, 4, 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := safetensors.ParseHeader([]byte(c.header), c.data)
			if err != nil {
				t.Fatal(err)
			}
			sum := h.Totals()
			if sum.Elements != c.elements || sum.Bytes != c.bytes || len(h.Faults) != c.faults || len(h.Tensors) != c.tensors || len(h.Excluded) != c.skipped {
				t.Errorf("got %+v, %d tensors, %d excluded, faults %v", sum, len(h.Tensors), len(h.Excluded), h.Faults)
			}
		})
	}
}

func TestNotices(t *testing.T) {
	for header, want := range map[string][]safetensors.NoticeKind{
		`{"a":` + f32 + `}     `:                                                nil,
		` {"a":` + f32 + `}    `:                                                {safetensors.NoticeLeadingSpace},
		`{"a":` + f32 + `}`:                                                     {safetensors.NoticeHeaderUnaligned},
		`{"":` + f32 + `}      `:                                                {safetensors.NoticeEmptyName},
		`{"a":["F32",[1],[0,4]]}   ` + "      ":                                 {safetensors.NoticeArrayEntry},
		`{"__metadata__":null,"a":` + f32 + `}` + "     ":                       {safetensors.NoticeNullMetadata},
		`{"__metadata__":{"x":"1","x":"2"},"a":` + f32 + `}` + "        ":       {safetensors.NoticeDuplicateKey},
		`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":[{}]}}` + " ": {safetensors.NoticeUnknownField},
		`{"a":` + f32 + `,"a":` + f32 + `}` + "   ":                             {safetensors.NoticeDuplicateTensor},
		`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F16","shape":[1],"data_offsets":[1,3]}}` + "  ": {safetensors.NoticeTensorUnaligned},
		`{"b":{"dtype":"F16","shape":[1],"data_offsets":[2,4]},"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}` + " ": {safetensors.NoticeOutOfOrder},
		`{"a":{"dtype":"F16","shape":[0,18446744073709551615],"data_offsets":[0,0]}}` + "     ":                             {safetensors.NoticeHugeDimension},
	} {
		h, err := safetensors.ParseHeader([]byte(header), -1)
		if err != nil || h.Err() != nil {
			t.Errorf("%s: %v, %v", header, err, h.Err())
			continue
		}
		var got []safetensors.NoticeKind
		for _, notice := range h.Notices {
			if notice.Kind != safetensors.NoticeHeaderUnaligned || want != nil && want[0] == notice.Kind {
				got = append(got, notice.Kind)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", header, diff)
		}
	}
}

func TestHeaderContents(t *testing.T) {
	const header = `{"__metadata__":{"format":"pt","é\n":"x"},"a\"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},"c":{"shape":[],"dtype":"I64","data_offsets":[12,20]}}`
	h, err := safetensors.ParseHeader([]byte(header), 20)
	if err != nil || h.Err() != nil {
		t.Fatal(err, h.Err())
	}
	want := []safetensors.Tensor{
		{Name: `a"b`, DType: safetensors.BF16, At: 51, Shape: []int64{2, 3}, Begin: 0, End: 12},
		{Name: "c", DType: safetensors.I64, At: 111, Shape: []int64{}, Begin: 12, End: 20},
	}
	if diff := cmp.Diff(want, h.Tensors); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"format": "pt", "é\n": "x"}, h.Metadata); diff != "" {
		t.Error(diff)
	}
	if h.DataEnd() != 20 || h.DataStart() != int64(8+len(header)) {
		t.Error(h.DataEnd(), h.DataStart())
	}
}

// TestErrorText holds that a name from a file cannot reach a terminal raw.
func TestErrorText(t *testing.T) {
	h, err := safetensors.ParseHeader([]byte(`{"\u001b[31m\u202e":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`), 4)
	if err != nil {
		t.Fatal(err)
	}
	const want = `tensor "\x1b[31m\u202e": data_offsets span 4 bytes, but shape [2] of F32 takes 8 (byte 77)`
	if got := h.Err().Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var e *safetensors.Error
	if !errors.As(h.Err(), &e) || e.Kind != safetensors.KindSizeMismatch || e.Tensor != "\x1b[31m\u202e" {
		t.Errorf("%+v", e)
	}
}

// TestMemoryFollowsFile parses what claims much and holds little.
func TestMemoryFollowsFile(t *testing.T) {
	braces := strings.Repeat("{", 1<<18)
	if per := testing.AllocsPerRun(1, func() { safetensors.ParseHeader([]byte(braces), -1) }); per > 20 {
		t.Errorf("%v allocations", per)
	}
	var many strings.Builder
	many.WriteString(`{`)
	for i := range 20_000 {
		fmt.Fprintf(&many, `"%d":["U8",[],[%d,%d]],`, i, i, i+1)
	}
	many.WriteString(`"z":["U8",[],[20000,20001]]}`)
	h, err := safetensors.ParseHeader([]byte(many.String()), 20_001)
	if err != nil || h.Err() != nil || len(h.Tensors) != 20_001 {
		t.Fatal(err, h.Err(), len(h.Tensors))
	}
}

// TestManyFaults bounds what a header of nothing but faults brings forth.
func TestManyFaults(t *testing.T) {
	broken := `{"a":0` + strings.Repeat(`,"a":0`, 200_000) + `}`
	if got := verdictOf(safetensors.ParseHeader([]byte(broken), 0)); got != "invalid_entry" {
		t.Errorf("broken entries: %s", got)
	}
	twice := `{"a":["U8",[],[0,1]]` + strings.Repeat(`,"a":["U8",[],[0,1]]`, 100_100) + `}`
	h, err := safetensors.ParseHeader([]byte(twice), 1)
	if err != nil || h.Err() != nil || len(h.Tensors) != 1 || len(h.Notices) > 100_001 || h.Unlisted < 100 {
		t.Errorf("%v, %d tensors, %d notices, %d unlisted", err, len(h.Tensors), len(h.Notices), h.Unlisted)
	}
}

func TestSniff(t *testing.T) {
	for start, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:0": "git-lfs pointer",
		"\n  <!DOCTYPE html><html>":                                "HTML page",
		"<?xml version=\"1.0\"?><Error>":                           "XML document",
		`{"error":"Repository not found"}`:                         "JSON text",
		"GGUF\x03\x00\x00\x00\x00\x00\x00\x00":                     "GGUF",
		"PK\x03\x04\x00\x00\x08\x08\x00\x00":                       "zip archive",
		"\x80\x02\x8a\x0al\xfc\x9cF":                               "pickle",
		"\x89HDF\r\n\x1a\n\x00":                                    "HDF5",
		strings.Repeat("\x00", 64):                                 "unfinished download",
		"Rate limited, sorry about that":                           `text that begins "Rate limited`,
		"\x02\x00\x00\x00\x00\x00\x00\x00{}":                       "",
		"\xff\xff\xff\xff\xff\xff\xff\xff":                         "",
		"\x08\x00\x00\x00\x00\x00\x00\x00 {}     ":                 "",
	} {
		got := safetensors.Sniff([]byte(start))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", start, got, want)
		}
	}
}
