package locate_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
	"github.com/hf-inspect/hf-inspect/locate"
	"github.com/hf-inspect/hf-inspect/source"
)

// recordings holds one recording, of gpt2-xl.
type recordings struct{}

type recording struct{}

func (recordings) Find(name string) (source.Source, bool) {
	return recording{}, name == "gpt2-xl" || name == "openai-community/gpt2-xl"
}

func (recording) Info() source.Info {
	return source.Info{Kind: source.Recording, Location: "openai-community/gpt2-xl", Revision: hubtest.Commit("xl")}
}
func (recording) List(context.Context) ([]source.File, error) { return nil, nil }
func (recording) ReadRange(context.Context, string, int64, int64) ([]byte, error) {
	return nil, fs.ErrNotExist
}

// world is a Hub and a disk of its own.
type world struct {
	hub  *hubtest.Hub
	dir  string
	opts locate.Options
	log  bytes.Buffer
}

func newWorld(t *testing.T, env ...string) *world {
	w := &world{hub: hubtest.Start(t), dir: t.TempDir()}
	t.Chdir(w.dir)
	w.hub.Add(hubtest.Repo{ID: "org/name", Files: hubtest.Sharded(2, 3)})
	w.hub.Add(hubtest.Repo{ID: "org/gated", Gated: "auto", Files: hubtest.Sharded(2, 3)})
	w.hub.Add(hubtest.Repo{ID: "openai-community/gpt2", Aliases: []string{"gpt2"}, Files: map[string]hubtest.File{
		"config.json": hubtest.Text("{}"), "model.safetensors": hubtest.Safetensors(), "onnx/config.json": hubtest.Text("{}"),
	}})
	w.opts = locate.Options{
		Env: w.hub.Getenv(w.dir, env...), Recordings: recordings{}, Verbose: &w.log,
		Timeouts: hub.Timeouts{Connect: 100 * time.Millisecond, Stall: time.Second},
		Retry:    hub.Retry{Base: time.Millisecond, Max: time.Millisecond},
	}
	return w
}

// file writes a file below the world's folder.
func (w *world) file(t *testing.T, name, content string) {
	t.Helper()
	full := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cache puts a snapshot with a config into the official cache.
func (w *world) cache(t *testing.T, repo string) {
	t.Helper()
	home := "hf/hub/models--" + strings.ReplaceAll(repo, "/", "--")
	w.file(t, home+"/refs/main", hubtest.Commit(repo))
	w.file(t, home+"/snapshots/"+hubtest.Commit(repo)+"/config.json", "{}")
}

// down takes the Hub off the network, in one of the ways that happens.
var down = map[string]func(w *world){
	"offline option":   func(w *world) { w.opts.Offline = true },
	"offline variable": func(w *world) { w.opts.Env = w.hub.Getenv(w.dir, "HF_HUB_OFFLINE=1") },
	"refused":          func(w *world) { w.opts.Endpoint = "http://127.0.0.1:1" },
	"vanished":         func(w *world) { w.opts.Transport = &http.Transport{DialContext: vanish} },
	"no name":          func(w *world) { w.opts.Transport = &http.Transport{DialContext: noName} },
	"portal":           func(w *world) { w.hub.Fail(hubtest.Fault{Do: hubtest.Portal()}) },
	"broken":           func(w *world) { w.hub.Fail(hubtest.Fault{Do: hubtest.Status(503)}) },
}

func vanish(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func noName(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "huggingface.co", Err: "no such host", IsNotFound: true}}
}

func TestWithoutTheHub(t *testing.T) {
	for name, cut := range down {
		for _, tt := range []struct {
			model  string
			cached string
			kind   source.Kind // "" where nothing answers
			says   string
		}{
			{model: "org/name", cached: "org/name", kind: source.Cache, says: "read from the cache"},
			{model: "hf://org/name@main", cached: "org/name", kind: source.Cache},
			{model: "org/name@" + hubtest.Commit("org/name"), cached: "org/name", kind: source.Cache},
			{model: "gpt2-xl", kind: source.Recording, says: "read from the recording of openai-community/gpt2-xl"},
			{model: "gpt2-xl", cached: "openai-community/gpt2-xl", kind: source.Cache},
			{model: "openai-community/gpt2-xl@" + hubtest.Commit("xl"), kind: source.Recording},
			{model: "gpt2-xl@other", says: "the recording is of another revision"},
			{model: "org/name", says: "org/name is not in the cache"},
			{model: "org/name@dev", cached: "org/name", says: "revision dev is not; these are: @"},
			{model: "org/name//unet", cached: "org/name", says: "has no folder unet"},
		} {
			t.Run(name+"/"+tt.model, func(t *testing.T) {
				w := newWorld(t)
				if tt.cached != "" {
					w.cache(t, tt.cached)
				}
				cut(w)
				start := time.Now()
				src, notices, err := locate.Open(t.Context(), tt.model, w.opts)
				if took := time.Since(start); took > 2*time.Second {
					t.Errorf("took %s", took)
				}
				if tt.kind == "" {
					if err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("error %v, want one that says %q", err, tt.says)
					}
					var e *locate.NowhereError
					if !errors.As(err, &e) || len(e.Tried) != 3 {
						t.Errorf("error %v is not about what was tried", err)
					}
					t.Log(err)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if src.Info().Kind != tt.kind || len(notices) != 1 || !strings.Contains(notices[0].Message, tt.says) {
					t.Errorf("%+v with %v", src.Info(), notices)
				}
			})
		}
	}
}

// What the Hub says is not covered up, but what could be read is mentioned.
func TestAnswersAreKept(t *testing.T) {
	w := newWorld(t)
	for model, kind := range map[string]hub.ErrorKind{
		"org/none": hub.RepoNotFound, "gpt2-xl": hub.RepoNotFound, "org/name@v9": hub.RevisionNotFound,
	} {
		_, _, err := locate.Open(t.Context(), model, w.opts)
		var e *hub.Error
		if !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("%s: %v", model, err)
		}
		if mentions := strings.Contains(err.Error(), "there is a recording of it"); mentions != (model == "gpt2-xl") {
			t.Errorf("%s: %v", model, err)
		}
	}
	w.cache(t, "org/none")
	if _, _, err := locate.Open(t.Context(), "org/none", w.opts); !strings.Contains(err.Error(), "the cache holds commit") {
		t.Errorf("error %v", err)
	}
}

func TestOnline(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		model, location string
		files           int
		notices         int
	}{
		{"org/name", "org/name", 4, 0},
		{"gpt2", "openai-community/gpt2", 3, 1},
		{"gpt2//onnx", "openai-community/gpt2//onnx", 1, 1},
		{"openai-community/gpt2//model.safetensors", "openai-community/gpt2//model.safetensors", 2, 0},
		{w.hub.Endpoint() + "/org/name/blob/main/model.safetensors.index.json", "org/name//model.safetensors.index.json", 4, 0},
		{"https://huggingface.co/org/name/tree/main", "org/name", 4, 0},
	} {
		src, notices, err := locate.Open(t.Context(), tt.model, w.opts)
		if err != nil {
			t.Errorf("%s: %v", tt.model, err)
			continue
		}
		files, err := src.List(t.Context())
		if info := src.Info(); err != nil || info.Location != tt.location || len(files) != tt.files || len(notices) != tt.notices {
			t.Errorf("%s: %+v, %d files, notices %v, %v", tt.model, info, len(files), notices, err)
		}
	}
	if !strings.Contains(w.log.String(), "GET "+w.hub.Endpoint()+"/api/models/org/name/revision/main 200") {
		t.Errorf("log %s", w.log.String())
	}
	for model, says := range map[string]string{
		"org/name//none": "has no folder none", "gpt2//none": "it has onnx", "org/name@main": "two revisions",
	} {
		opts := w.opts
		if says == "two revisions" {
			opts.Revision = "dev"
		}
		if _, _, err := locate.Open(t.Context(), model, opts); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", model, err)
		}
	}
	opts := w.opts
	opts.Subfolder = "onnx"
	if src, _, err := locate.Open(t.Context(), "gpt2", opts); err != nil || src.Info().Location != "openai-community/gpt2//onnx" {
		t.Errorf("sub-folder: %v", err)
	}
}

func TestLocalPaths(t *testing.T) {
	w := newWorld(t)
	w.file(t, "org/name/config.json", "{}")
	w.file(t, "org/name/unet/x.safetensors", "x")
	w.file(t, "one/model.safetensors", "x")
	w.file(t, "home/m/config.json", "{}")
	w.cache(t, "a/b")
	for _, tt := range []struct {
		model    string
		kind     source.Kind
		location string
		notices  int
	}{
		{"org/name", source.Folder, "org/name", 1},
		{"./org/name", source.Folder, "org/name", 0},
		{"org/name//unet", source.Folder, "org/name/unet", 0},
		{"hf://org/name", source.Hub, "org/name", 0},
		{"one/model.safetensors", source.SingleFile, "one/model.safetensors", 0},
		{"file://" + w.dir + "/one", source.Folder, w.dir + "/one", 0},
		{"~/m", source.Folder, w.dir + "/home/m", 0},
		{"hf/hub/models--a--b", source.Cache, "a/b", 0},
	} {
		src, notices, err := locate.Open(t.Context(), tt.model, w.opts)
		if err != nil {
			t.Errorf("%s: %v", tt.model, err)
			continue
		}
		if info := src.Info(); info.Kind != tt.kind || info.Location != tt.location || len(notices) != tt.notices {
			t.Errorf("%s: %+v, notices %v", tt.model, info, notices)
		}
	}
	w.hub.Reset()
	for _, model := range []string{"./none", "../none", "/none/x", "none/", "~/none", "model.safetensors", "a/b.json", `C:\m`, "file:///none"} {
		_, _, err := locate.Open(t.Context(), model, w.opts)
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no such file or folder") {
			t.Errorf("%s: %v", model, err)
		}
	}
	if n := len(w.hub.Requests()); n > 0 {
		t.Errorf("the Hub was asked for paths: %v", w.hub.Requests())
	}
}

// A gated repository can be listed; its files say what is missing.
func TestGated(t *testing.T) {
	w := newWorld(t)
	src, _, err := locate.Open(t.Context(), "org/gated", w.opts)
	if err != nil {
		t.Fatal(err)
	}
	_, err = src.ReadRange(t.Context(), "config.json", 0, 100)
	var e *hub.Error
	if !errors.As(err, &e) || e.Kind != hub.Gated {
		t.Errorf("error %v", err)
	}
}

func TestCancelled(t *testing.T) {
	w := newWorld(t)
	w.opts.Transport = &http.Transport{DialContext: vanish}
	w.opts.Timeouts.Connect = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := locate.Open(ctx, "gpt2-xl", w.opts); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
