package source_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/source"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// write makes files below a fresh folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		t.Skip("no links here:", err)
	}
}

func paths(t *testing.T, src source.Source) []string {
	t.Helper()
	files, err := src.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	return names
}

func wantPaths(t *testing.T, src source.Source, want ...string) {
	t.Helper()
	if got := paths(t, src); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func TestFolder(t *testing.T) {
	dir := write(t, map[string]string{
		"config.json": "{}", "model.safetensors": "0123456789", "unet/x.safetensors": "x", "a/b/c.json": "c", "a-b": "",
		".git/config": "", ".cache/huggingface/x": "", ".gitattributes": "",
	})
	link(t, "../model.safetensors", filepath.Join(dir, "linked", "w.safetensors"))
	link(t, "nowhere", filepath.Join(dir, "broken.safetensors"))
	link(t, "..", filepath.Join(dir, "a", "loop"))
	src, err := source.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantPaths(t, src, ".gitattributes", "a-b", "a/b/c.json", "config.json", "linked/w.safetensors", "model.safetensors", "unet/x.safetensors")
	for _, r := range []struct {
		name        string
		offset, len int64
		want        string
	}{
		{"model.safetensors", 0, 4, "0123"}, {"model.safetensors", 8, 100, "89"}, {"model.safetensors", 10, 1, ""},
		{"model.safetensors", 1 << 40, 1 << 50, ""}, {"linked/w.safetensors", 3, 2, "34"}, {"a-b", 0, 5, ""},
	} {
		got, err := src.ReadRange(t.Context(), r.name, r.offset, r.len)
		if err != nil || string(got) != r.want {
			t.Errorf("%+v: %q, %v", r, got, err)
		}
	}
	if n := src.(source.Meter).Access(); n.Bytes != 8 || n.Requests != 0 {
		t.Errorf("access %+v", n)
	}
	_, err = src.ReadRange(t.Context(), "broken.safetensors", 0, 1)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "is a link to nowhere") {
		t.Errorf("broken link: %v", err)
	}
}

func TestPathsAreRefused(t *testing.T) {
	dir := write(t, map[string]string{"in/config.json": "{}", "secret": "x", "in/sub/x.json": "{}"})
	folder, _ := source.OpenFolder(filepath.Join(dir, "in"))
	file, _ := source.OpenFile(filepath.Join(dir, "in", "config.json"))
	sub, _ := source.Sub(t.Context(), folder, "sub")
	for _, src := range []source.Source{folder, file, sub} {
		for _, name := range []string{"../secret", "/etc/passwd", "a/../../secret", `..\secret`, "", ".", "./config.json", "x//y", "a\x00b", dir + "/secret"} {
			if _, err := src.ReadRange(t.Context(), name, 0, 1); !errors.Is(err, source.ErrPath) {
				t.Errorf("%s: %q: %v", src.Info().Kind, name, err)
			}
		}
		if _, err := src.ReadRange(t.Context(), "none", 0, 1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: missing file: %v", src.Info().Kind, err)
		}
	}
	for _, r := range [][2]int64{{-1, 1}, {0, -1}, {1 << 62, 1 << 62}} {
		if _, err := folder.ReadRange(t.Context(), "config.json", r[0], r[1]); !errors.Is(err, source.ErrPath) {
			t.Errorf("range %v: %v", r, err)
		}
	}
}

func TestFolderBounds(t *testing.T) {
	deep := strings.Repeat("d/", 30)
	dir := write(t, map[string]string{deep + "x": "", "a/b/x": ""})
	src, err := source.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantPaths(t, src, "a/b/x")
}

func TestOpenRefuses(t *testing.T) {
	dir := write(t, map[string]string{"file": ""})
	link(t, "nowhere", filepath.Join(dir, "broken"))
	for name, open := range map[string]func(string) (source.Source, error){"folder": source.OpenFolder, "file": source.OpenFile} {
		for path, says := range map[string]string{"none": "no such file or folder", "broken": "is a link to nowhere"} {
			if _, err := open(filepath.Join(dir, path)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s %s: %v", name, path, err)
			}
		}
	}
	if _, err := source.OpenFolder(filepath.Join(dir, "file")); err == nil {
		t.Error("a file was opened as a folder")
	}
	if _, err := source.OpenFile(dir); err == nil {
		t.Error("a folder was opened as a file")
	}
}

func TestSingleFile(t *testing.T) {
	dir := write(t, map[string]string{
		"config.json": "{}", "model.safetensors": "", "other.safetensors": "", "tokenizer.json": "", "unet/config.json": "",
		"model.safetensors.index.json": "", "model-00001-of-00002.safetensors": "", "model-00002-of-00002.safetensors": "",
		"model.safetensors.index.fp16.json": "", "model.fp16-00001-of-00001.safetensors": "",
	})
	for name, want := range map[string][]string{
		"other.safetensors":                 {"config.json", "other.safetensors"},
		"model.safetensors":                 {"config.json", "model.safetensors"},
		"config.json":                       {"config.json"},
		"model.safetensors.index.json":      {"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"},
		"model.safetensors.index.fp16.json": {"config.json", "model.fp16-00001-of-00001.safetensors", "model.safetensors.index.fp16.json"},
	} {
		src, err := source.OpenFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		wantPaths(t, src, want...)
		folder, _ := source.OpenFolder(dir)
		only, err := source.Only(t.Context(), folder, name)
		if err != nil {
			t.Fatal(err)
		}
		wantPaths(t, only, want...)
	}
}

func TestCache(t *testing.T) {
	dir := write(t, map[string]string{
		"hub/models--org--name/refs/main":                                    commit + "\n",
		"hub/models--org--name/refs/refs/pr/1":                               commit,
		"hub/models--org--name/refs/odd":                                     "../../..",
		"hub/models--org--name/refs/lost":                                    strings.Repeat("f", 40),
		"hub/models--org--name/blobs/etag1":                                  "0123456789",
		"hub/models--org--name/snapshots/" + commit + "/real.json":           "{}",
		"hub/models--org--name/.no_exist/" + commit + "/adapter_config.json": "",
	})
	snapshot := filepath.Join(dir, "hub/models--org--name/snapshots", commit)
	link(t, "../../blobs/etag1", filepath.Join(snapshot, "model.safetensors"))
	link(t, "../../../blobs/etag1", filepath.Join(snapshot, "unet/model.safetensors"))
	link(t, "../../blobs/gone", filepath.Join(snapshot, "model-00002-of-00002.safetensors"))
	env := source.Env(func(key string) string { return map[string]string{"HF_HOME": dir}[key] })
	for _, revision := range []string{"", "main", "refs/pr/1", commit} {
		src, err := source.OpenCache("org/name", revision, env)
		if err != nil {
			t.Fatal(err)
		}
		if info := src.Info(); info != (source.Info{Kind: source.Cache, Location: "org/name", Revision: commit}) {
			t.Errorf("info %+v", info)
		}
		wantPaths(t, src, "model.safetensors", "real.json", "unet/model.safetensors")
		if data, err := src.ReadRange(t.Context(), "unet/model.safetensors", 2, 3); err != nil || string(data) != "234" {
			t.Errorf("read %q, %v", data, err)
		}
		_, err = src.ReadRange(t.Context(), "model-00002-of-00002.safetensors", 0, 1)
		var nc *source.NotCachedError
		if !errors.As(err, &nc) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("broken link: %v", err)
		}
		_, err = src.ReadRange(t.Context(), "adapter_config.json", 0, 1)
		if errors.As(err, &nc) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "has no file") {
			t.Errorf("known to be absent: %v", err)
		}
	}
	for repo, revisions := range map[string][]string{
		"org/name": {"dev", "odd", "lost", "../main", "abc123", strings.Repeat("e", 40)}, "org/none": {""}, "../x": {""},
	} {
		for _, revision := range revisions {
			if _, err := source.OpenCache(repo, revision, env); err == nil {
				t.Errorf("%s@%s was found", repo, revision)
			}
		}
	}
	src, ok, err := source.OpenCacheFolder(filepath.Join(dir, "hub/models--org--name"), "")
	if !ok || err != nil || src.Info().Location != "org/name" {
		t.Errorf("by folder: %v, %v", ok, err)
	}
	if _, ok, _ := source.OpenCacheFolder(dir, ""); ok {
		t.Error("any folder is taken for a cache")
	}
}

func TestEnv(t *testing.T) {
	for _, tt := range []struct{ env, want string }{
		{"", "/h/.cache/huggingface/hub"},
		{"XDG_CACHE_HOME=/x", "/x/huggingface/hub"},
		{"HF_HOME=~/hf XDG_CACHE_HOME=/x", "/h/hf/hub"},
		{"HF_HOME=$W/hf W=/w", "/w/hf/hub"},
		{"HF_HOME=${NONE}/hf", "$NONE/hf/hub"},
		{"HUGGINGFACE_HUB_CACHE=/old HF_HOME=/x", "/old"},
		{"HF_HUB_CACHE=~ HUGGINGFACE_HUB_CACHE=/old", "/h"},
	} {
		vars := map[string]string{"HOME": "/h"}
		for _, pair := range strings.Fields(tt.env) {
			key, value, _ := strings.Cut(pair, "=")
			vars[key] = value
		}
		env := source.Env(func(key string) string { return vars[key] })
		if got := env.HubCache(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.env, got, tt.want)
		}
	}
}
