package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/inspect"
)

// Verify inspects a recording again and returns what moved since the result
// that it keeps.
func Verify(ctx context.Context, r *fixtures.Recording) ([]Change, error) {
	choice, err := kept(r.Expect)
	if err != nil {
		return nil, err
	}
	found, err := replay(ctx, r, choice)
	if err != nil {
		return nil, err
	}
	return changes(r.Expect, found)
}

// Update inspects a recording again, keeps what it finds, and returns what that
// changed. Where no result was kept before, that is nothing.
func Update(ctx context.Context, r *fixtures.Recording) ([]Change, error) {
	choice, err := kept(r.Expect)
	if err != nil {
		choice = Choice{}
	}
	found, rerr := replay(ctx, r, choice)
	if rerr != nil {
		return nil, rerr
	}
	var moved []Change
	if err == nil {
		if moved, err = changes(r.Expect, found); err != nil {
			return nil, err
		}
	}
	r.Expect = found
	return moved, nil
}

// replay gives the result of inspecting a recording.
func replay(ctx context.Context, r *fixtures.Recording, choice Choice) ([]byte, error) {
	src, err := fixtures.NewSource(r)
	if err != nil {
		return nil, err
	}
	in, err := inspect.Inspect(ctx, src, choice.options())
	if err != nil {
		return nil, err
	}
	return expect(in, choice.options()).encode()
}

// Status says how a verification ended.
type Status string

// The statuses.
const (
	Same    Status = "same"
	Moved   Status = "moved"
	Updated Status = "updated" // the file keeps what was found now
	Failed  Status = "failed"  // it could not be verified
)

// Verdict is the verification of one file.
type Verdict struct {
	File    string   `json:"file"`
	Status  Status   `json:"status"`
	Changes []Change `json:"changes"`
	Error   string   `json:"error,omitempty"`
}

// VerifyFile verifies the recording in a file. With update the file keeps what
// is found now, if that differs.
func VerifyFile(ctx context.Context, name string, update bool) Verdict {
	v := Verdict{File: name, Status: Same, Changes: []Change{}}
	moved, err := verifyFile(ctx, name, update)
	switch {
	case err != nil:
		v.Status, v.Error = Failed, err.Error()
	case len(moved) == 0:
	case update:
		v.Status, v.Changes = Updated, moved
	default:
		v.Status, v.Changes = Moved, moved
	}
	return v
}

func verifyFile(ctx context.Context, name string, update bool) ([]Change, error) {
	src, err := fixtures.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := src.Recording()
	if err != nil {
		return nil, err
	}
	if !update {
		return Verify(ctx, r)
	}
	before := string(r.Expect)
	moved, err := Update(ctx, r)
	if err != nil || string(r.Expect) == before {
		return moved, err
	}
	if before == "" {
		moved = []Change{{Path: "result", New: "kept"}}
	}
	return moved, fixtures.Save(name, r)
}

// Files lists the recordings that paths name: files as they are, and what is
// called like a recording in folders and below.
func Files(paths []string) ([]string, error) {
	var names []string
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("%s: no such file or folder", p)
		}
		if !st.IsDir() {
			names = append(names, p)
			continue
		}
		found, err := inFolder(p)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	return names, nil
}

func inFolder(folder string) (names []string, err error) {
	err = filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && fixtures.IsName(name) {
			names = append(names, name)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = errors.New(folder + ": no recordings (.hfrec, .hfrec.gz) in this folder")
	}
	return names, err
}
