package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// ErrPath is wrapped by every error about a path that leaves its source or an
// impossible range. Names of shards come out of files that nobody vouches
// for, so each kind of source refuses them alike.
var ErrPath = errors.New("path refused")

// CheckPath reports whether path may be read from a source: relative,
// slash-separated, clean, and never above the root.
func CheckPath(name string) error {
	switch {
	case name == "" || name == ".":
		return fmt.Errorf("%w: no file is named", ErrPath)
	case !fs.ValidPath(name), strings.ContainsAny(name, "\\\x00"), !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("%w: %q is not a path inside the model", ErrPath, name)
	}
	return nil
}

// CheckRange reports whether a range can be read at all.
func CheckRange(name string, offset, length int64) error {
	if offset < 0 || length < 0 || offset+length < offset {
		return fmt.Errorf("%w: bytes %d to +%d of %s is not a range", ErrPath, offset, length, name)
	}
	return nil
}

// cleanFolder turns a user's name of a sub-folder into a checked path; "" for
// the root itself.
func cleanFolder(dir string) (string, error) {
	dir = path.Clean(strings.Trim(filepath.ToSlash(dir), "/"))
	if dir == "." {
		return "", nil
	}
	return dir, CheckPath(dir)
}
