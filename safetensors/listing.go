package safetensors

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// listFiles lists the files to read: those that the index names and that are
// safe to open, and those of the set's numbering. Strays are read too, to be
// described.
func (r *reader) listFiles(ctx context.Context) error {
	c := r.c
	known, err := r.sizes(ctx)
	if err != nil {
		return err
	}
	l := fileList{known: known, listed: make(map[string]bool)}
	if c.Index != nil {
		for _, shard := range c.Index.Shards {
			if unsafeReason(shard) == "" {
				l.add(path.Join(c.Set.Folder, shard))
			}
		}
	}
	switch {
	case len(l.files) == 0: // no index, or one that is of no use: the names decide
		l.addParts(c.Set.Files)
		for _, missing := range c.Set.Missing {
			l.add(missing)
		}
	case r.sameNumbering() || !l.anyThere():
		l.addParts(c.Set.Files)
	default:
		c.Set.Strays = append(slices.Clone(c.Set.Strays), c.Set.Files...)
	}
	c.Files = l.files
	slices.SortStableFunc(c.Files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	for _, stray := range c.Set.Strays {
		if !l.listed[stray.Path] {
			c.Unused = append(c.Unused, &File{Path: stray.Path, Size: stray.Size})
		}
	}
	if !l.anyThere() && len(c.Unused) == 0 {
		if unsafe := c.Index.unsafePath(); unsafe != nil {
			return unsafe
		}
		return &Error{Kind: KindMissingShard, File: c.Set.Name(), Offset: -1,
			Detail: "none of the set's weight files is there; " + download, Err: fs.ErrNotExist}
	}
	return nil
}

// unsafePath returns the fault of the first file that must not be opened, nil if
// there is none.
func (i *Index) unsafePath() error {
	if i == nil {
		return nil
	}
	for _, fault := range i.Faults {
		if fault.Kind == KindUnsafePath {
			return fault
		}
	}
	return nil
}

// sizes gives the size of each file by path. The source is asked only where the
// index names files that are not part of the set by name.
func (r *reader) sizes(ctx context.Context) (map[string]int64, error) {
	sizes := make(map[string]int64)
	for _, part := range slices.Concat(r.c.Set.Files, r.c.Set.Strays) {
		sizes[part.Path] = part.Size
	}
	if r.c.Index == nil || !slices.ContainsFunc(r.c.Index.Shards, func(shard string) bool {
		_, there := sizes[path.Join(r.c.Set.Folder, shard)]
		return !there && unsafeReason(shard) == ""
	}) {
		return sizes, nil
	}
	files, err := r.src.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		sizes[file.Path] = file.Size
	}
	return sizes, nil
}

// sameNumbering reports whether the index names a file of the set's numbering.
func (r *reader) sameNumbering() bool {
	return slices.ContainsFunc(r.c.Index.Shards, func(shard string) bool {
		w, ok := parseWeightName(path.Join(r.c.Set.Folder, shard))
		return ok && w.of == r.c.Set.Of && w.stem == r.c.Set.Stem && w.variant == r.c.Set.Variant
	})
}

// fileList gathers files without repetition.
type fileList struct {
	known  map[string]int64 // size by path of the files that are there
	listed map[string]bool
	files  []*File
}

// add lists a file. One that is not there bears its error from the start.
func (l *fileList) add(file string) {
	if l.listed[file] {
		return
	}
	l.listed[file] = true
	size, there := l.known[file]
	if !there {
		l.files = append(l.files, &File{Path: file, Size: -1, Err: unreadable(file, fs.ErrNotExist)})
		return
	}
	l.files = append(l.files, &File{Path: file, Size: size})
}

func (l *fileList) addParts(parts []Part) {
	for _, part := range parts {
		l.add(part.Path)
	}
}

// anyThere reports whether a listed file exists.
func (l *fileList) anyThere() bool {
	return slices.ContainsFunc(l.files, func(f *File) bool { return f.Err == nil })
}
