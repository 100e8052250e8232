package record

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/source"
)

// mostDamaged bounds files without a header that are kept as they are: stubs
// and web pages in the place of weights.
const mostDamaged = 64 << 10

const lengthBytes = 8 // of the header's length, before it

// recordShard keeps the header of a weight file and the values that were read;
// without a header, the file as it is where that is a small thing, else its
// size.
func (t *tape) recordShard(r *fixtures.Recording, f source.File) {
	header := t.header(f.Path)
	content, whole := t.whole(f)
	switch {
	case header != nil && f.Size >= 0:
		r.Shards = append(r.Shards, t.shard(f, header))
	case whole && len(content) > 0 && len(content) <= mostDamaged:
		r.Files = append(r.Files, fixtures.File{Path: f.Path, Content: content})
	default:
		r.Others = append(r.Others, fixtures.Other{Path: f.Path, Size: f.Size})
	}
}

// header gives the bytes of a header that was read whole, else nil.
func (t *tape) header(path string) []byte {
	start := t.start(path)
	if len(start) <= lengthBytes {
		return nil
	}
	length := binary.LittleEndian.Uint64(start)
	if length == 0 || length > uint64(len(start)-lengthBytes) {
		return nil
	}
	return start[lengthBytes : lengthBytes+length]
}

// shard makes a table of a header. A header whose oddities the table does not
// tell is kept as it is.
func (t *tape) shard(f source.File, header []byte) fixtures.Shard {
	parsed, err := safetensors.ParseHeader(header, -1)
	if err != nil {
		return fixtures.ShardFromHeader(f.Path, f.Size, header, nil)
	}
	s := fixtures.ShardFromHeader(f.Path, f.Size, header, t.values(f.Path, int64(len(header)), parsed))
	if s.Verbatim == nil && !sameNotices(&s, parsed) {
		s.InFileOrder, s.Meta, s.Groups = false, nil, nil
		s.Verbatim = bytes.Clone(header)
	}
	return s
}

// values gives the data of the tensors that were read one by one.
func (t *tape) values(path string, headerLength int64, h *safetensors.Header) map[string][]byte {
	type span struct{ begin, end int64 }
	read := map[span][]byte{}
	for _, e := range t.reads[path] {
		begin := e.offset - lengthBytes - headerLength
		if begin >= 0 && len(e.bytes) > 0 {
			read[span{begin, begin + int64(len(e.bytes))}] = e.bytes
		}
	}
	if len(read) == 0 {
		return nil
	}
	values := map[string][]byte{}
	for i := range h.Tensors {
		tensor := &h.Tensors[i]
		if data, ok := read[span{tensor.Begin, tensor.End}]; ok {
			values[tensor.Name] = data
		}
	}
	return values
}

// sameNotices reports whether the table's header has the oddities of the real
// one.
func sameNotices(s *fixtures.Shard, real *safetensors.Header) bool {
	made, err := s.Header()
	if err != nil {
		return false
	}
	parsed, err := safetensors.ParseHeader(made, -1)
	if err != nil {
		return false
	}
	return slices.EqualFunc(parsed.Notices, real.Notices, func(a, b safetensors.Notice) bool {
		return a.Kind == b.Kind && a.Count == b.Count
	}) && len(parsed.Faults) == len(real.Faults)
}
