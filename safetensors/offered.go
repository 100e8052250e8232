package safetensors

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/source"
)

// offeredIndex takes all headers and the index's metadata in one step, where the
// source has such a way. The index then names the shards and declares its totals,
// but its map of tensors is not read, since the headers say the same and are
// right. It returns nil where the index has to be read itself.
func (r *reader) offeredIndex(ctx context.Context) *Index {
	all, ok := r.src.(source.IndexSource)
	if !ok {
		return nil
	}
	headers, err := all.ShardHeaders(ctx, r.c.Set.Index)
	if err != nil || len(headers) == 0 || !r.covers(headers) {
		return nil
	}
	metadata := all.IndexMetadata(r.c.Set.Index)
	if metadata == nil {
		metadata = []byte("{}")
	}
	text := slices.Concat([]byte(`{"metadata":`), metadata, []byte(`,"weight_map":{}}`))
	index, err := ReadIndex(r.c.Set.Index, text)
	if err != nil {
		return nil
	}
	index.Shards = slices.Sorted(maps.Keys(headers))
	for i, shard := range index.Shards {
		index.Shards[i] = strings.TrimPrefix(shard, r.c.Set.Folder+"/")
	}
	r.headers = headers
	return index
}

// covers reports whether there is a header for each file that the set has by its
// numbering: else the offer is of another set, or of only a part.
func (r *reader) covers(headers map[string][]byte) bool {
	for _, part := range r.c.Set.Files {
		if headerOf(headers, part.Path, r.c.Set.Folder) == nil {
			return false
		}
	}
	for shard := range headers {
		if unsafeReason(path.Base(shard)) != "" || unsafeReason(shard) != "" {
			return false
		}
	}
	return true
}
