package record

import (
	"context"
	"slices"
	"sync"

	"github.com/hf-inspect/hf-inspect/source"
)

// tape passes reads on to a source and keeps what they gave. It offers no
// headers in one step, whatever the source can do: a recording holds the bytes
// of the files themselves.
type tape struct {
	source.Source

	mu    sync.Mutex
	reads map[string][]extent
	ends  map[string]int64 // where a file turned out to end
}

// extent is what one read gave.
type extent struct {
	offset int64
	bytes  []byte
}

func newTape(src source.Source) *tape {
	return &tape{Source: src, reads: map[string][]extent{}, ends: map[string]int64{}}
}

func (t *tape) ReadRange(ctx context.Context, path string, offset, length int64) ([]byte, error) {
	data, err := t.Source.ReadRange(ctx, path, offset, length)
	if err != nil {
		return data, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads[path] = append(t.reads[path], extent{offset, slices.Clone(data)})
	if int64(len(data)) < length {
		t.ends[path] = offset + int64(len(data))
	}
	return data, nil
}

// Figures passes on what the host declares.
func (t *tape) Figures() (source.Figures, bool) {
	if f, ok := t.Source.(source.FigureSource); ok {
		return f.Figures()
	}
	return source.Figures{}, false
}

// start gives the bytes of a file from its first on, as far as they were read.
func (t *tape) start(path string) []byte {
	var bytes []byte
	for _, e := range t.sorted(path) {
		at := int64(len(bytes)) - e.offset
		if at < 0 {
			break
		}
		if at < int64(len(e.bytes)) {
			bytes = append(bytes, e.bytes[at:]...)
		}
	}
	return bytes
}

// whole gives a file that was read to its end. Its size is -1 where the listing
// does not know it.
func (t *tape) whole(f source.File) ([]byte, bool) {
	size := f.Size
	if size < 0 {
		end, known := t.ends[f.Path]
		if !known {
			return nil, false
		}
		size = end
	}
	bytes := t.start(f.Path)
	return bytes, int64(len(bytes)) == size
}

// sorted lists what was read of a file, in the order of the file.
func (t *tape) sorted(path string) []extent {
	reads := slices.Clone(t.reads[path])
	slices.SortStableFunc(reads, func(a, b extent) int { return int(max(min(a.offset-b.offset, 1), -1)) })
	return reads
}
