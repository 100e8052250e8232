package locate

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/source"
)

// fileEndings tell a path to a file that is not there from a repository.
var fileEndings = []string{
	".safetensors", ".json", ".jsonl", ".bin", ".pt", ".pth", ".ckpt", ".gguf",
	".h5", ".msgpack", ".onnx", ".txt", ".tsv", ".gz", ".zip", ".npz",
}

var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// local answers for a path; ok is false where model is none.
func (o *opener) local(ctx context.Context) (src source.Source, ok bool, err error) {
	path, sure := o.path()
	if strings.HasPrefix(o.model, "hf://") {
		return nil, false, nil
	}
	st, err := os.Stat(path)
	switch {
	case err == nil:
		src, err = o.openPath(ctx, path, st)
		return src, true, err
	case sure:
		return nil, true, source.NotExist(fmt.Sprintf("%s: no such file or folder", o.model))
	}
	return nil, false, nil
}

// path gives the model as a path, and whether it cannot be anything else.
func (o *opener) path() (path string, sure bool) {
	m := o.model
	if rest, ok := strings.CutPrefix(m, "file://"); ok {
		if u, err := url.PathUnescape(rest); err == nil {
			return filepath.FromSlash(u), true
		}
	}
	if strings.Contains(m, "://") {
		return m, false
	}
	if m == "~" || strings.HasPrefix(m, "~/") {
		return o.env.Expand(m), true
	}
	first, _, _ := strings.Cut(filepath.ToSlash(m), "/")
	sure = first == "" || first == "." || first == ".." || drive.MatchString(m) ||
		strings.Contains(m, `\`) || strings.HasSuffix(m, "/") ||
		slices.Contains(fileEndings, strings.ToLower(filepath.Ext(m))) && !strings.Contains(m, "//") && !strings.Contains(m, "@")
	if _, isURL := cutHub(m, o.endpoint); isURL {
		return m, false
	}
	return m, sure
}

func (o *opener) openPath(ctx context.Context, path string, st fs.FileInfo) (source.Source, error) {
	if !st.IsDir() {
		return o.openFile(path)
	}
	o.noteLocal()
	if src, ok, err := source.OpenCacheFolder(path, o.opts.Revision); ok {
		return o.part(ctx, src, err)
	}
	if o.opts.Revision != "" {
		return nil, fmt.Errorf("%s is a folder on this disk, which has no revision %s", path, o.opts.Revision)
	}
	src, err := source.OpenFolder(path)
	return o.part(ctx, src, err)
}

func (o *opener) openFile(path string) (source.Source, error) {
	if o.opts.Subfolder != "" {
		return nil, fmt.Errorf("%s is a file, so there is no folder %s in it", path, o.opts.Subfolder)
	}
	if recs, ok := o.opts.Recordings.(FileRecordings); ok {
		if src, ok, err := recs.Open(path); ok || err != nil {
			return src, err
		}
	}
	return source.OpenFile(path)
}

// noteLocal warns where a folder happens to be called like a repository.
func (o *opener) noteLocal() {
	if strings.Count(o.model, "/") == 1 && hub.CheckID(o.model) == nil {
		o.note(Local, "%[1]s is a folder here, which was taken; hf://%[1]s is the repository on the Hub", o.model)
	}
}
