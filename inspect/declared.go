package inspect

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// sizeCause says how a total_size that is not the headers' came about, where it
// is exactly what a known way of counting gives; "" where none does.
func sizeCause(declared safetensors.Declared, in *Inspection) string {
	total, ok := declared.Int64()
	if !ok || total == 0 {
		return ""
	}
	over := total - in.Counts.StoredBytes
	for _, cause := range []struct {
		bytes int64 // beyond what is stored
		text  string
	}{
		{in.Source.FileBytes - in.Counts.StoredBytes, "it is the size of the files, headers included"},
		{-in.bitBytes(), "it counts BOOL elements as bits, as older versions of the library did"},
		{in.unstoredTies(), "it counts a tied tensor that is not stored again"},
		{in.repeatedKeys(), "the difference is what keys and values for every query head would take beyond those of the config"},
	} {
		if cause.bytes == over && over != 0 {
			return cause.text
		}
	}
	return in.otherWidth(total)
}

// bitBytes is by how much BOOL elements are larger than bits.
func (in *Inspection) bitBytes() int64 {
	for _, d := range in.ByDType {
		if d.DType == safetensors.BOOL.String() {
			return d.Bytes - d.Bytes/8
		}
	}
	return 0
}

// bytesEach is the width of the elements where all have one, else 0.
func (in *Inspection) bytesEach() int64 {
	if len(in.ByDType) != 1 || in.Counts.StoredElements == 0 {
		return 0
	}
	return in.Counts.StoredBytes / in.Counts.StoredElements
}

// unstoredTies is what copies of tied tensors would take.
func (in *Inspection) unstoredTies() int64 {
	if in.Described == nil {
		return 0
	}
	var elements int64
	for _, t := range in.Described.Tensors() {
		if t.TiedTo != "" {
			elements += t.Elements()
		}
	}
	for i := range in.Result.Claims {
		if c := &in.Result.Claims[i]; c.Status == reconcile.Tied {
			elements -= c.Logical
		}
	}
	return elements * in.bytesEach()
}

// repeatedKeys is what keys and values take more where each query head has its
// own: conversions for engines without grouped attention repeat them.
func (in *Inspection) repeatedKeys() int64 {
	if in.Described == nil {
		return 0
	}
	var elements int64
	for _, t := range in.Described.Tensors() {
		switch {
		case strings.HasSuffix(t.Template, ".q_proj.weight"):
			elements += 2 * t.Elements()
		case strings.HasSuffix(t.Template, ".k_proj.weight"), strings.HasSuffix(t.Template, ".v_proj.weight"):
			elements -= t.Elements()
		}
	}
	return elements * in.bytesEach()
}

// otherWidth explains a total that is one of the counts in another width: the
// index was written before a conversion, or before quantisation.
func (in *Inspection) otherWidth(total int64) string {
	for _, d := range in.Counts.Definitions() {
		for _, width := range []int64{2, 4} {
			if d.Value != nil && *d.Value > 0 && *d.Value*width == total {
				return fmt.Sprintf("it is the %s at %d bytes each: the index was written before a conversion", d.Name, width)
			}
		}
	}
	return ""
}
