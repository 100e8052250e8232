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
	maxFiles = 50_000 // and folders
)

// ErrTooManyFiles is wrapped by the error for a folder that cannot be one
// model.
var ErrTooManyFiles = errors.New("too many files")

func (d *disk) List(ctx context.Context) ([]File, error) {
	w := walk{ctx: ctx, disk: d, files: []File{}, left: cmp.Or(d.limit, maxFiles)}
	if err := w.folder("", d.depth, nil); err != nil {
		return nil, err
	}
	slices.SortFunc(w.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return w.files, nil
}

type walk struct {
	ctx   context.Context
	disk  *disk
	files []File
	left  int // files and folders that may still be met
}

// folder lists a folder; above are the folders that it is in.
func (w *walk) folder(rel string, depth int, above []fs.FileInfo) error {
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
	st, err := os.Stat(full)
	if err != nil {
		return explain(full, err)
	}
	for _, e := range entries {
		if err := w.entry(path.Join(rel, e.Name()), depth, append(above, st)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(rel string, depth int, above []fs.FileInfo) error {
	st, err := os.Stat(filepath.Join(w.disk.root, filepath.FromSlash(rel)))
	if err != nil {
		return nil // a broken link: in the HF cache, a file that is not there
	}
	if w.left--; w.left < 0 {
		return fmt.Errorf("%w: %s holds more than a model does; name the folder of one model", ErrTooManyFiles, w.disk.root)
	}
	if st.IsDir() {
		// A link back to a folder that this one is in has no end.
		circle := slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, st) })
		if depth == 0 || circle || strings.HasPrefix(path.Base(rel), ".") {
			return nil
		}
		return w.folder(rel, depth-1, above)
	}
	if st.Mode().IsRegular() && CheckPath(rel) == nil && (w.disk.keep == nil || w.disk.keep(rel)) {
		w.files = append(w.files, File{Path: rel, Size: st.Size()})
	}
	return nil
}
