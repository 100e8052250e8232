package source

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// view shows one folder of a source, or one file and what belongs to it, as a
// source of its own.
type view struct {
	base   Source
	prefix string            // "" or a folder with a trailing slash
	keep   func(string) bool // nil: every file
	shown  string            // for Info: folder or file
}

// headerView is a view of a HeaderSource.
type headerView struct {
	view
	headers HeaderSource
}

// Sub returns the files of src in the folder dir (and below) as a source, with
// paths relative to that folder: a sub-model, original/, a checkpoint. The
// folder must hold at least one file.
func Sub(ctx context.Context, src Source, dir string) (Source, error) {
	dir, err := cleanFolder(dir)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return src, nil
	}
	if d, ok := src.(*disk); ok && d.info.Kind == Folder {
		return OpenFolder(filepath.Join(d.root, filepath.FromSlash(dir)))
	}
	v := view{base: src, prefix: dir + "/", shown: dir}
	files, err := v.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, noFolder(ctx, src, dir)
	}
	return v.source(), nil
}

// Only returns one file of src, with the configs beside it, as a source whose
// root is the file's folder; an index brings its shards.
func Only(ctx context.Context, src Source, name string) (Source, error) {
	if err := CheckPath(name); err != nil {
		return nil, err
	}
	files, err := src.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Path == name {
			dir, base := path.Split(name)
			return view{base: src, prefix: dir, keep: keepOne(base), shown: name}.source(), nil
		}
	}
	return nil, NotExist(fmt.Sprintf("%s has no file %s", src.Info().Location, name))
}

func (v view) source() Source {
	if hs, ok := v.base.(HeaderSource); ok {
		return &headerView{v, hs}
	}
	return &v
}

func (v view) Info() Info {
	info := v.base.Info()
	if info.Kind == Folder {
		info.Location = path.Join(info.Location, v.shown)
	} else {
		info.Location += "//" + v.shown
	}
	return info
}

// Access counts for the whole base, of which this is a part.
func (v view) Access() Access {
	if m, ok := v.base.(Meter); ok {
		return m.Access()
	}
	return Access{}
}

func (v view) List(ctx context.Context) ([]File, error) {
	all, err := v.base.List(ctx)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range all {
		name, inside := strings.CutPrefix(f.Path, v.prefix)
		if inside && v.kept(name) {
			files = append(files, File{Path: name, Size: f.Size})
		}
	}
	return files, nil
}

func (v view) kept(name string) bool { return v.keep == nil || v.keep(name) }

func (v view) ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := CheckPath(name); err != nil {
		return nil, err
	}
	if !v.kept(name) {
		return nil, NotExist(fmt.Sprintf("%s is not part of %s", name, v.Info().Location))
	}
	return v.base.ReadRange(ctx, v.prefix+name, offset, length)
}

// ShardHeaders asks the base, whose paths begin at its own root.
func (v headerView) ShardHeaders(ctx context.Context, index string) (map[string][]byte, error) {
	if err := CheckPath(index); err != nil {
		return nil, err
	}
	all, err := v.headers.ShardHeaders(ctx, v.prefix+index)
	if err != nil || all == nil {
		return nil, err
	}
	inside := make(map[string][]byte, len(all))
	for name, header := range all {
		if name, ok := strings.CutPrefix(name, v.prefix); ok && v.kept(name) {
			inside[name] = header
		}
	}
	return inside, nil
}

// IndexMetadata asks the base, if it knows.
func (v headerView) IndexMetadata(index string) []byte {
	if is, ok := v.headers.(IndexSource); ok {
		return is.IndexMetadata(v.prefix + index)
	}
	return nil
}

// noFolder names the folders that there are.
func noFolder(ctx context.Context, src Source, dir string) error {
	files, err := src.List(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		top, _, deep := strings.Cut(f.Path, "/")
		if deep && (len(names) == 0 || names[len(names)-1] != top) {
			names = append(names, top)
		}
	}
	where := src.Info().Location
	if src.Info().Kind == Cache {
		where = "the cached snapshot of " + where
	}
	text := fmt.Sprintf("%s has no folder %s", where, dir)
	if len(names) > 0 {
		text += "; it has " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return NotExist(text)
}
