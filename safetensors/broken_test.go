package safetensors_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/safetensors"
)

// verdictOf sums up what this package says of a file: "accepts", or the kind of
// the error, with a star where the file can still be counted.
func verdictOf(h *safetensors.Header, err error) string {
	star := ""
	if err == nil {
		star, err = "*", h.Err()
	}
	var e *safetensors.Error
	if errors.As(err, &e) {
		return e.Kind.String() + star
	}
	return "accepts"
}

// wantKinds says how this package words what the reference library refuses.
var wantKinds = map[string]string{
	"begin-gt-end":                          "reversed_offsets*",
	"big-endian-length":                     "header_too_large",
	"bool-offsets":                          "invalid_entry*",
	"case-metadata":                         "invalid_entry*",
	"dim-exponent":                          "invalid_entry*",
	"dim-leading-zero":                      "header_not_json",
	"duplicate-field":                       "duplicate_field*",
	"duplicate-keys-diff":                   "hole*",
	"duplicate-keys-first-valid-second-bad": "size_mismatch*",
	"duplicate-metadata":                    "duplicate_field*",
	"empty-file":                            "file_too_small",
	"entry-not-object":                      "invalid_entry*",
	"f4-odd":                                "misaligned*",
	"gguf-magic":                            "not_safetensors",
	"git-lfs-pointer":                       "not_safetensors",
	"header-len-100mb-exact":                "header_beyond_file",
	"header-len-100mb-plus":                 "header_too_large",
	"header-len-gt-file":                    "header_beyond_file",
	"header-len-one-short":                  "header_not_json",
	"header-len-zero":                       "not_safetensors",
	"hole":                                  "hole*",
	"hole-start":                            "hole*",
	"html-page":                             "not_safetensors",
	"invalid-json":                          "header_not_json",
	"invalid-utf8":                          "header_not_utf8",
	"json-array":                            "header_not_json",
	"json-deep":                             "header_too_deep",
	"json-error-body":                       "not_safetensors",
	"json-single-quotes":                    "header_not_json",
	"json-string":                           "header_not_json",
	"json-two-docs":                         "header_trailing_characters*",
	"lone-tensor-null":                      "invalid_entry*",
	"lowercase-dtype":                       "unknown_dtype*",
	"metadata-nested":                       "invalid_metadata*",
	"metadata-null":                         "invalid_metadata*",
	"missing-dtype":                         "invalid_entry*",
	"missing-offsets":                       "invalid_entry*",
	"name-lone-surrogate":                   "header_not_json",
	"name-raw-control":                      "header_not_json",
	"offsets-float":                         "invalid_entry*",
	"offsets-negative":                      "invalid_entry*",
	"offsets-three":                         "invalid_entry*",
	"only-length-8-bytes":                   "header_beyond_file",
	"out-of-range":                          "truncated*",
	"out-of-range-huge":                     "hole*",
	"overlap":                               "overlap*",
	"overlap-same-range":                    "overlap*",
	"pickle-legacy":                         "not_safetensors",
	"shape-bigint":                          "invalid_entry*",
	"shape-float":                           "invalid_entry*",
	"shape-negative":                        "invalid_entry*",
	"shape-overflow":                        "overflow*",
	"shape-string":                          "invalid_entry*",
	"shape-zero-with-data":                  "size_mismatch*",
	"short-7-bytes":                         "file_too_small",
	"size-mismatch-large":                   "size_mismatch*",
	"size-mismatch-small":                   "size_mismatch*",
	"torch-dtype-name":                      "unknown_dtype*",
	"trailing-bytes":                        "trailing_bytes*",
	"trailing-one-byte":                     "trailing_bytes*",
	"truncated-data":                        "truncated*",
	"truncated-mid-second":                  "truncated*",
	"unknown-dtype":                         "unknown_dtype*",
	"utf8-bom":                              "header_not_json",
	"xml-s3-error":                          "not_safetensors",
	"zero-size-at-hole":                     "overlap*",
	"zip-pytorch":                           "not_safetensors",
}

func TestParseAgreesWithReference(t *testing.T) {
	cases := 0
	for name, files := range readArchive(t, "broken.tar.gz") {
		file, single := files["model.safetensors"]
		if !single || strings.HasPrefix(name, "index-") {
			continue
		}
		cases++
		t.Run(name, func(t *testing.T) {
			var expect struct {
				Says string `json:"reference_library_says"`
			}
			unmarshal(t, files["expect.json"], &expect)
			got := verdictOf(safetensors.Parse(file))
			if accepts := strings.HasPrefix(expect.Says, "accepts"); accepts != (got == "accepts") {
				t.Errorf("got %s, the reference says %s", got, expect.Says)
			}
			want := wantKinds[name]
			if want == "" {
				want = "accepts"
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	if cases < 89 {
		t.Errorf("only %d cases", cases)
	}
}

func TestDTypes(t *testing.T) {
	files := readArchive(t, "dtypes.tar.gz")["."]
	var truth struct {
		DTypes []struct {
			DType string `json:"dtype"`
			Bits  int    `json:"bits"`
		} `json:"dtypes"`
	}
	unmarshal(t, files["truth.json"], &truth)
	if len(truth.DTypes) != len(safetensors.DTypes()) {
		t.Errorf("%d dtypes, the reference has %d", len(safetensors.DTypes()), len(truth.DTypes))
	}
	for i, want := range truth.DTypes {
		d, ok := safetensors.ParseDType(want.DType)
		if !ok || d.String() != want.DType || d.Bits() != want.Bits || d != safetensors.DTypes()[i] {
			t.Errorf("%s of %d bits: got %v of %d bits", want.DType, want.Bits, d, d.Bits())
		}
		h, err := safetensors.Parse(files[want.DType+".safetensors"])
		if verdict := verdictOf(h, err); verdict != "accepts" || len(h.Tensors) == 0 || h.Tensors[0].DType != d {
			t.Errorf("%s: %s, %+v", want.DType, verdict, h)
		}
	}
}

// TestSubByteSizes holds the recorded verdicts on elements of 4 and 6 bits.
func TestSubByteSizes(t *testing.T) {
	for _, c := range []struct {
		header string
		data   int64
		want   string
	}{
		{`{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}`, 2, "misaligned*"},
		{`{"a":{"dtype":"F4","shape":[0],"data_offsets":[0,0]}}`, 0, "accepts"},
		{`{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}`, 1, "accepts"},
		{`{"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}}`, 2, "accepts"},
		{`{"a":{"dtype":"F6_E2M3","shape":[3],"data_offsets":[0,2]}}`, 2, "misaligned*"},
		{`{"a":{"dtype":"F6_E2M3","shape":[2],"data_offsets":[0,1]}}`, 1, "misaligned*"},
		{`{"a":{"dtype":"F6_E3M2","shape":[4],"data_offsets":[0,3]}}`, 3, "accepts"},
	} {
		if got := verdictOf(safetensors.ParseHeader([]byte(c.header), c.data)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.header, got, c.want)
		}
	}
}
