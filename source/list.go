package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of a listing. The largest repositories on the Hub hold some thousand
// files; more than this is somebody's home folder or a disk.
const (
	maxDepth = 8
	maxFiles = 50_000
)

// ErrTooManyFiles is wrapped by the error for a folder that cannot be one
// model.
var ErrTooManyFiles = errors.New("too many files")

func (d *disk) List(ctx context.Context) ([]File, error) {
	w := walk{ctx: ctx, disk: d}
	if err := w.folder("", d.depth); err != nil {
		return nil, err
	}
	slices.SortFunc(w.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return w.files, nil
}

type walk struct {
	ctx   context.Context
	disk  *disk
	files []File
}

func (w *walk) folder(rel string, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	full := filepath.Join(w.disk.root, filepath.FromSlash(rel))
	entries, err := os.ReadDir(full)
	if err != nil {
		// A sub-folder of somebody else (lost+found) is no reason to give up.
		if rel != "" && errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return explain(full, err)
	}
	for _, e := range entries {
		if err := w.entry(path.Join(rel, e.Name()), depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(rel string, depth int) error {
	st, err := os.Stat(filepath.Join(w.disk.root, filepath.FromSlash(rel)))
	if err != nil {
		return nil // a broken link: in the HF cache, a file that is not there
	}
	switch {
	case st.IsDir():
		if depth == 0 || strings.HasPrefix(path.Base(rel), ".") {
			return nil
		}
		return w.folder(rel, depth-1)
	case !st.Mode().IsRegular(), w.disk.keep != nil && !w.disk.keep(rel), CheckPath(rel) != nil:
		return nil
	}
	if len(w.files) == maxFiles {
		return fmt.Errorf("%w: %s holds more than %d files; name the folder of one model", ErrTooManyFiles, w.disk.root, maxFiles)
	}
	w.files = append(w.files, File{Path: rel, Size: st.Size()})
	return nil
}
