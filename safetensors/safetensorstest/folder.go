package safetensorstest

import (
	"context"
	"encoding/binary"
	"io/fs"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/hf-inspect/hf-inspect/source"
)

// Blob is a file that begins with Head and goes on with zeros up to Size bytes.
type Blob struct {
	Head []byte
	Size int64
}

// Sparse is a file of the tensors whose data takes no memory.
func Sparse(tensors ...Tensor) Blob {
	header, dataSize := Header(nil, tensors...)
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	head = append(head, header...)
	return Blob{Head: head, Size: int64(len(head)) + dataSize}
}

// Whole is a file of just these bytes.
func Whole(data []byte) Blob { return Blob{Head: data, Size: int64(len(data))} }

// Folder is a source.Source in memory.
type Folder struct {
	Files map[string]Blob
	Fail  map[string]error // errors of ReadRange by path

	HideSizes bool // List says -1 for every size

	Requests, Bytes atomic.Int64 // what ReadRange was asked for and gave
}

// NewFolder is a Folder of the files.
func NewFolder(files map[string]Blob) *Folder { return &Folder{Files: files} }

// Info describes the folder.
func (f *Folder) Info() source.Info { return source.Info{Kind: source.Folder, Location: "memory"} }

// List returns the files.
func (f *Folder) List(context.Context) ([]source.File, error) {
	var list []source.File
	for _, path := range slices.Sorted(maps.Keys(f.Files)) {
		size := f.Files[path].Size
		if f.HideSizes {
			size = -1
		}
		list = append(list, source.File{Path: path, Size: size})
	}
	return list, nil
}

// ReadRange returns part of a file.
func (f *Folder) ReadRange(_ context.Context, path string, offset, length int64) ([]byte, error) {
	f.Requests.Add(1)
	if err := f.Fail[path]; err != nil {
		return nil, err
	}
	blob, ok := f.Files[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	length = min(length, blob.Size-offset)
	if length <= 0 {
		return nil, nil
	}
	data := make([]byte, length)
	if offset < int64(len(blob.Head)) {
		copy(data, blob.Head[offset:])
	}
	f.Bytes.Add(length)
	return data, nil
}
