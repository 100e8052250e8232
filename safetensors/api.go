package safetensors

import (
	"context"
	"errors"

	"github.com/hf-inspect/hf-inspect/source"
)

var errTodo = errors.New("not yet")

// Sets finds the sets of weights among the files of a source.
func Sets(files []source.File) []Set { return nil }

// Choice is the set that is counted, and those that are not.
type Choice struct {
	Set     Set
	Others  []Set
	Notices []Notice
}

// ChooseOptions narrows what Choose may take. The zero value takes what
// from_pretrained takes.
type ChooseOptions struct {
	Variant   string // "fp16"
	Subfolder string // "unet"
	File      string // path of a single file, or of an index
}

// Choose picks one set as from_pretrained would.
func Choose(sets []Set, opts ChooseOptions) (*Choice, error) { return nil, errTodo }

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
