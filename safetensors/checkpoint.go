package safetensors

import (
	"iter"
	"slices"
)

// File is one file of a checkpoint.
type File struct {
	Path   string
	Size   int64   // bytes; -1 when unknown
	Header *Header // nil when Err is set
	Err    error   // why the file gives no header: an *Error
}

// Checkpoint is a set of weights as its headers describe it.
type Checkpoint struct {
	Set   Set
	Index *Index // nil where there is none, or it cannot be read

	// Files are the counted files in the order of the shards. One that cannot be
	// read is among them, with its error.
	Files []*File

	// Unused are stray files beside the set that its index does not name, and that
	// repeat tensors of the set or hold none: read, each described by a
	// disagreement, and not counted. A stray whose tensors the set does not have (a
	// forgotten prediction layer) is among Files instead: the headers decide.
	Unused []*File

	// Complete is false where a shard is missing or cannot be read; Unavailable
	// names those shards.
	Complete    bool
	Unavailable []string

	Faults        []*Error       // those of the set; each header has its own
	Disagreements []Disagreement // between the index and the headers
	Notices       []Notice       // of the index; each header has its own

	// Duplicates are tensors of one name in two files; both are counted.
	Duplicates []Duplicate
}

// Duplicate is a tensor that two files hold. A loader keeps the later one.
type Duplicate struct {
	Name          string
	First, Second *File
}

// All yields every counted tensor with its file, in the order of the shards and
// of their headers.
func (c *Checkpoint) All() iter.Seq2[*File, *Tensor] {
	return func(yield func(*File, *Tensor) bool) {
		for _, file := range c.Files {
			if file.Header == nil {
				continue
			}
			for i := range file.Header.Tensors {
				if !yield(file, &file.Header.Tensors[i]) {
					return
				}
			}
		}
	}
}

// Countable reports whether at least one header could be read. Where none could,
// the files' errors say why.
func (c *Checkpoint) Countable() bool {
	for _, file := range c.Files {
		if file.Header != nil {
			return true
		}
	}
	return false
}

// Left are the sets of which no file was read for this checkpoint: an index may
// name files that look like sets of their own.
func (c *Checkpoint) Left(others []Set) []Set {
	read := make(map[string]bool)
	for _, file := range slices.Concat(c.Files, c.Unused) {
		read[file.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(others), func(s Set) bool {
		return slices.ContainsFunc(s.Files, func(p Part) bool { return read[p.Path] })
	})
}

// AllFaults lists what is wrong: faults of the set and its index first, then file by file,
// each with its file named. An unreadable file is among them.
func (c *Checkpoint) AllFaults() []*Error {
	faults := append([]*Error(nil), c.Faults...)
	if c.Index != nil {
		faults = append(faults, c.Index.Faults...)
	}
	for _, file := range c.Files {
		if err, ok := file.Err.(*Error); ok {
			faults = append(faults, err.withFile(file.Path))
		}
		if file.Header == nil {
			continue
		}
		for _, fault := range file.Header.Faults {
			faults = append(faults, fault.withFile(file.Path))
		}
	}
	return faults
}
