// Package source says where checkpoint files come from. It is the first
// station of the flow: whatever MODEL a user names — a folder, a file, a
// snapshot in the Hugging Face cache, a repository on the Hub, a recording —
// becomes a Source, and nothing behind it needs to know which one it was.
//
// This package holds the interface and the kinds that read the local disk.
// It knows nothing of what is in the files; package hub adds HTTP, package
// fixtures adds recordings.
package source

import "context"

// Kind names where the bytes of a Source come from.
type Kind string

// The kinds of source, as the JSON result spells them.
const (
	Folder     Kind = "folder"
	SingleFile Kind = "file"
	Cache      Kind = "cache"
	Hub        Kind = "hub"
	Recording  Kind = "recording"
)

// Info describes a Source for a report. The zero value of a field means that
// it does not apply.
type Info struct {
	Kind     Kind   `json:"kind"`
	Location string `json:"location"` // path, repository id, or name of the recording

	Revision   string `json:"revision,omitempty"`   // commit where known, else branch or tag
	Provenance string `json:"provenance,omitempty"` // recordings: recorded, reconstructed or derived
}

// File is one file that a Source holds.
type File struct {
	Path string // relative to the source's root, slash-separated
	Size int64  // bytes; -1 when unknown
}

// Source gives access to the files of one model. Implementations are safe for
// concurrent use.
type Source interface {
	// Info describes the source. It may grow more precise (a resolved commit)
	// after List has returned.
	Info() Info

	// List returns the files, sorted by path.
	List(ctx context.Context) ([]File, error)

	// ReadRange returns length bytes of the file from offset on, or fewer
	// where the file ends before; offset at or beyond the end gives no bytes
	// and no error. A missing file gives an error that wraps fs.ErrNotExist.
	ReadRange(ctx context.Context, path string, offset, length int64) ([]byte, error)
}

// HeaderSource is a Source that can give the headers of all shards named by an
// index in fewer steps than one range read a shard.
type HeaderSource interface {
	Source

	// ShardHeaders returns, by shard path, the JSON header of each shard named by
	// the index file, or nil and no error where this way does not exist.
	ShardHeaders(ctx context.Context, index string) (map[string][]byte, error)
}

// IndexSource is a HeaderSource whose way of giving all headers also gives the
// metadata of the index, so that the index itself need not be read: for the
// rest it repeats, by shard, the names of the tensors.
type IndexSource interface {
	HeaderSource

	// IndexMetadata returns the JSON object under "metadata" of an index whose
	// headers ShardHeaders has returned, or nil where it is not known.
	IndexMetadata(index string) []byte
}

// Figures are numbers of parameters that the host of a repository declares for
// it: of one set of weights that the host chose, by dtype and in sum. They are
// never evidence.
type Figures struct {
	Parameters map[string]int64 `json:"parameters"` // by dtype, as the host spells it
	Total      int64            `json:"total"`      // the host's own sum, which need not be that of Parameters; 0 where it has none
}

// FigureSource is a Source whose host declares such figures.
type FigureSource interface {
	Source

	// Figures returns what the host declares; ok is false where that is nothing.
	Figures() (figures Figures, ok bool)
}

// Meter is a Source that knows what it cost so far. Every source of this
// module that reads a disk or a network is one.
type Meter interface {
	Source

	// Access returns the requests made and the bytes read so far. Seconds is
	// left to the caller, who knows when the work began.
	Access() Access
}

// Access counts what it cost to read a model.
type Access struct {
	Requests int64   `json:"requests"` // HTTP requests, redirect hops included; 0 for local sources
	Bytes    int64   `json:"bytes"`    // bytes read
	Seconds  float64 `json:"seconds"`  // wall time
}
