package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// disk reads the files below one folder. It is a Meter; Folder, SingleFile
// and Cache sources are made of it.
type disk struct {
	root string
	info Info

	depth int                    // how many levels of folders List enters
	limit int                    // how many files it meets at most; 0: maxFiles
	keep  func(name string) bool // nil: every file

	// absent explains a file that is not there, where more is known than that.
	absent func(name string) error

	bytes atomic.Int64
}

// OpenFolder returns the files in the folder, sub-folders included. Links are
// followed; hidden sub-folders (.git, .cache) are left out.
func OpenFolder(folder string) (Source, error) {
	if err := wantFolder(folder); err != nil {
		return nil, err
	}
	return &disk{
		root:  folder,
		info:  Info{Kind: Folder, Location: filepath.ToSlash(filepath.Clean(folder))},
		depth: maxDepth,
	}, nil
}

func wantFolder(folder string) error {
	st, err := os.Stat(folder)
	if err != nil {
		return explain(folder, err)
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is a file, not a folder", folder)
	}
	return nil
}

// explain says what a failed look at a path means, without the name of the
// system call.
func explain(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if target, lerr := os.Readlink(name); lerr == nil {
			return fmt.Errorf("%s is a link to %s, which is not there: %w", name, target, fs.ErrNotExist)
		}
		return &missing{fmt.Sprintf("%s: no such file or folder", name)}
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w; check who may read it", name, fs.ErrPermission)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// missing is an error that is fs.ErrNotExist without repeating its text.
type missing struct{ text string }

func (m *missing) Error() string { return m.text }
func (m *missing) Unwrap() error { return fs.ErrNotExist }

// NotExist returns an error that wraps fs.ErrNotExist and reads as text.
func NotExist(text string) error { return &missing{text} }

func (d *disk) Info() Info { return d.info }

func (d *disk) Access() Access { return Access{Bytes: d.bytes.Load()} }

func (d *disk) ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := errors.Join(CheckPath(name), CheckRange(name, offset, length), ctx.Err()); err != nil {
		return nil, err
	}
	if d.keep != nil && !d.keep(name) {
		return nil, NotExist(fmt.Sprintf("%s is not part of %s", name, d.info.Location))
	}
	full := filepath.Join(d.root, filepath.FromSlash(name))
	data, err := readRange(full, offset, length)
	if errors.Is(err, fs.ErrNotExist) && d.absent != nil {
		return nil, d.absent(name)
	}
	d.bytes.Add(int64(len(data)))
	return data, err
}

func readRange(full string, offset, length int64) ([]byte, error) {
	st, err := os.Stat(full)
	if err != nil {
		return nil, explain(full, err)
	}
	// Opening a pipe or a device can block for ever.
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", full)
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, explain(full, err)
	}
	defer f.Close()
	length = min(length, st.Size()-offset)
	if length <= 0 {
		return nil, nil
	}
	data := make([]byte, length)
	n, err := f.ReadAt(data, offset)
	if err != nil && err != io.EOF {
		return nil, explain(full, err)
	}
	return data[:n], nil
}
