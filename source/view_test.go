package source_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/source"
)

// remote is a source of any kind that gives headers.
type remote map[string]string

func (r remote) Info() source.Info     { return source.Info{Kind: source.Hub, Location: "org/name"} }
func (r remote) Access() source.Access { return source.Access{Requests: 7} }
func (r remote) List(context.Context) ([]source.File, error) {
	var files []source.File
	for _, name := range slices.Sorted(maps.Keys(r)) {
		files = append(files, source.File{Path: name, Size: int64(len(r[name]))})
	}
	return files, nil
}
func (r remote) ReadRange(_ context.Context, name string, _, _ int64) ([]byte, error) {
	if _, ok := r[name]; !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(r[name]), nil
}
func (r remote) ShardHeaders(_ context.Context, index string) (map[string][]byte, error) {
	if _, ok := r[index]; !ok {
		return nil, nil
	}
	headers := map[string][]byte{}
	for name := range r {
		if strings.HasSuffix(name, ".safetensors") {
			headers[name] = []byte("header of " + name)
		}
	}
	return headers, nil
}
func (r remote) IndexMetadata(index string) []byte { return []byte("metadata of " + index) }

func TestViews(t *testing.T) {
	const index = "model.safetensors.index.json"
	base := remote{
		"config.json": "{}", "te/config.json": "te", "te/" + index: "i", "te/model-00001-of-00001.safetensors": "w",
		"te/other.safetensors": "o", "unet/x.safetensors": "x",
	}
	sub, err := source.Sub(t.Context(), base, "/te/")
	if err != nil {
		t.Fatal(err)
	}
	wantPaths(t, sub, "config.json", "model-00001-of-00001.safetensors", index, "other.safetensors")
	only, err := source.Only(t.Context(), base, "te/"+index)
	if err != nil {
		t.Fatal(err)
	}
	wantPaths(t, only, "config.json", "model-00001-of-00001.safetensors", index)
	for src, want := range map[source.Source]struct {
		location string
		headers  int
	}{sub: {"org/name//te", 2}, only: {"org/name//te/" + index, 1}} {
		if got := src.Info().Location; got != want.location {
			t.Errorf("location %s", got)
		}
		if data, err := src.ReadRange(t.Context(), "config.json", 0, 9); err != nil || string(data) != "te" {
			t.Errorf("%s: read %q, %v", want.location, data, err)
		}
		headers, err := src.(source.HeaderSource).ShardHeaders(t.Context(), index)
		if err != nil || len(headers) != want.headers || string(headers["model-00001-of-00001.safetensors"]) != "header of te/model-00001-of-00001.safetensors" {
			t.Errorf("%s: headers %q, %v", want.location, headers, err)
		}
		if none, err := src.(source.HeaderSource).ShardHeaders(t.Context(), "none.json"); none != nil || err != nil {
			t.Errorf("%s: headers %q, %v", want.location, none, err)
		}
		if got := string(src.(source.IndexSource).IndexMetadata(index)); got != "metadata of te/"+index {
			t.Errorf("%s: %s", want.location, got)
		}
		if src.(source.Meter).Access().Requests != 7 {
			t.Errorf("%s: the cost of the base is lost", want.location)
		}
	}
	if _, err := only.ReadRange(t.Context(), "other.safetensors", 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file beside the one asked for: %v", err)
	}
	if same, err := source.Sub(t.Context(), base, ""); err != nil || same.Info() != base.Info() {
		t.Errorf("no folder: %v", err)
	}
	_, err = source.Sub(t.Context(), base, "vae")
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "org/name has no folder vae; it has te, unet" {
		t.Errorf("missing folder: %v", err)
	}
	for _, dir := range []string{"..", "a/../../b", `a\b`} {
		if _, err := source.Sub(t.Context(), base, dir); !errors.Is(err, source.ErrPath) {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := source.Only(t.Context(), base, dir); !errors.Is(err, source.ErrPath) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := source.Only(t.Context(), base, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}
