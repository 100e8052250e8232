package record

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/source"
)

// Options say how a model is inspected for a recording, and what the recording
// says of itself.
type Options struct {
	Inspect inspect.Options
	How     string // one sentence: who made the recording, and from what
	Date    time.Time
}

// Made is a recording together with the inspection that it was made of.
type Made struct {
	Recording  *fixtures.Recording
	Inspection *inspect.Inspection

	// Lost is what an inspection of the recording does not find again, such as a
	// file that was too damaged to be kept. The recording keeps the result that it
	// gives itself.
	Lost []Change
}

// Make inspects a source by reading its files, and records what was read. An
// error means that there is nothing to count.
func Make(ctx context.Context, src source.Source, opts Options) (*Made, error) {
	t := newTape(src)
	in, err := inspect.Inspect(ctx, t, opts.Inspect)
	if err != nil {
		return nil, err
	}
	files, err := src.List(ctx)
	if err != nil {
		return nil, err
	}
	r := &fixtures.Recording{Head: head(src, opts)}
	t.record(r, files)
	found := expect(in, opts.Inspect)
	if r.Expect, err = found.encode(); err != nil {
		return nil, err
	}
	lost, err := Update(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Made{Recording: r, Inspection: in, Lost: lost}, nil
}

// head says where the recording is from. A recording of a recording is no more
// trustworthy than the first, and keeps what that says of itself.
func head(src source.Source, opts Options) fixtures.Head {
	if rec, ok := src.(*fixtures.Source); ok {
		if r, err := rec.Recording(); err == nil {
			return r.Head
		}
	}
	info := src.Info()
	h := fixtures.Head{Repository: info.Location, Revision: info.Revision, Provenance: fixtures.Recorded,
		How: opts.How, Date: opts.Date.Format(time.DateOnly)}
	if info.Provenance != "" {
		h.Provenance = fixtures.Provenance(info.Provenance)
	}
	if info.Kind == source.Folder || info.Kind == source.SingleFile {
		h.Repository = path.Base(info.Location) // where it lies on this disk is nobody's business
	}
	if f, ok := src.(source.FigureSource); ok {
		h.Hub = figures(f)
	}
	return h
}

// record turns what is on the tape into the parts of a recording. Files that
// were not read keep their sizes where they tell something of the weights.
func (t *tape) record(r *fixtures.Recording, files []source.File) {
	var indexes []source.File
	for _, f := range files {
		switch {
		case strings.Contains(f.Path, ".safetensors.index."):
			indexes = append(indexes, f)
		case strings.HasSuffix(f.Path, ".safetensors"):
			t.recordShard(r, f)
		default:
			t.recordFile(r, f)
		}
	}
	for _, f := range indexes { // after the shards, from which most of an index follows
		if content, ok := t.whole(f); ok && len(content) > 0 {
			r.AddIndex(f.Path, content)
		} else {
			r.Others = append(r.Others, fixtures.Other{Path: f.Path, Size: f.Size})
		}
	}
}

func (t *tape) recordFile(r *fixtures.Recording, f source.File) {
	if content, ok := t.whole(f); ok && len(t.reads[f.Path]) > 0 {
		r.Files = append(r.Files, fixtures.File{Path: f.Path, Content: content})
	} else if isWeights(f.Path) {
		r.Others = append(r.Others, fixtures.Other{Path: f.Path, Size: f.Size})
	}
}

// isWeights tells files that hold weights in whatever form by their endings.
func isWeights(name string) bool {
	switch path.Ext(name) {
	case ".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".msgpack", ".onnx", ".npz":
		return true
	}
	return false
}
