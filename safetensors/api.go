package safetensors

import (
	"context"
	"errors"

	"github.com/hf-inspect/hf-inspect/source"
)

var errTodo = errors.New("not yet")

// ReadIndex parses an index file.
func ReadIndex(path string, json []byte) (*Index, error) { return nil, errTodo }

// ReadOptions tunes ReadCheckpoint; the zero value is sensible.
type ReadOptions struct {
	Parallel  int                   // files read at once; 0 means 8
	FirstRead int64                 // bytes of the first request per file; 0 means as much as the header will likely need
	Progress  func(done, total int) // called after each file, never twice at once
}

// ReadCheckpoint reads the headers of a set.
func ReadCheckpoint(ctx context.Context, src source.Source, set Set, opts ReadOptions) (*Checkpoint, error) {
	return nil, errTodo
}

// ReadValues reads the data of one tensor, at most limit bytes.
func ReadValues(ctx context.Context, src source.Source, file *File, tensor *Tensor, limit int64) ([]byte, error) {
	return nil, errTodo
}
