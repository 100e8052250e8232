package safetensors_test

import (
	"context"
	"testing"

	"github.com/hf-inspect/hf-inspect/safetensors"
	st "github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// far is a source whose index is dear, and which offers nothing in its place.
type far struct{ *st.Folder }

func (far) ShardHeaders(context.Context, string) (map[string][]byte, error) { return nil, nil }
func (far) IndexMetadata(string) []byte                                     { return nil }

// TestIndexIsSpared holds when a far source's index is not read: each shard
// takes one request, and the index none.
func TestIndexIsSpared(t *testing.T) {
	without := func(name string) map[string]st.Blob {
		blobs := sharded()
		delete(blobs, name)
		return blobs
	}
	with := func(name string) map[string]st.Blob {
		blobs := sharded()
		blobs[name] = st.Sparse(st.T("x", "F32", 1))
		return blobs
	}
	for name, tt := range map[string]struct {
		blobs map[string]st.Blob
		opts  safetensors.ReadOptions
		hide  bool
		spare bool
	}{
		"plain":         {blobs: sharded(), spare: true},
		"told to":       {blobs: sharded(), opts: safetensors.ReadOptions{WholeIndex: true}},
		"shard missing": {blobs: without("model-00002-of-00003.safetensors")},
		"other beside":  {blobs: with("extra.safetensors")},
		"other below":   {blobs: with("original/consolidated.safetensors"), spare: true},
		"no sizes":      {blobs: sharded(), hide: true},
	} {
		t.Run(name, func(t *testing.T) {
			src := far{st.NewFolder(tt.blobs)}
			src.HideSizes = tt.hide
			c := open(t, src, tt.opts)
			if spared := c.Index == nil; spared != tt.spare {
				t.Errorf("spared %v, want %v", spared, tt.spare)
			}
			if tt.spare && (src.Requests.Load() != 3 || c.Totals().Tensors != 3 || !c.Complete || len(describe(c)) > 0) {
				t.Errorf("%d requests, %+v, %q", src.Requests.Load(), c.Totals(), describe(c))
			}
		})
	}
}
