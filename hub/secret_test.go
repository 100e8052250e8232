package hub_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

func body200(body string) doFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

// hops answers each address with a redirect, and notes who got the token.
type hops struct {
	to   map[string]string
	seen map[string]string // by scheme and host, the Authorization
}

func (h *hops) RoundTrip(req *http.Request) (*http.Response, error) {
	origin := req.URL.Scheme + "://" + req.URL.Host
	h.seen[origin] = req.Header.Get("Authorization") + req.Header.Get("Referer")
	resp := &http.Response{StatusCode: 404, Header: http.Header{}, Body: http.NoBody, Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if to := h.to[origin]; to != "" {
		resp.StatusCode = 302
		resp.Header.Set("Location", to)
	}
	return resp, nil
}

func TestTokenStaysAtTheHub(t *testing.T) {
	for _, tt := range []struct{ endpoint, to string }{
		{"https://hub.test", "https://cdn.hub.test/x"},
		{"https://hub.test", "https://hub.test:8443/x"},
		{"https://hub.test", "http://hub.test/x"},
		{"https://hub.test", "https://other.test/x"},
		{"https://hub.test", "https://hub.test.evil.test/x"},
		{"http://127.0.0.1:9", "http://127.0.0.1:10/x"},
		{"http://127.0.0.1:9", "https://127.0.0.1:9/x"},
	} {
		base := &hops{to: map[string]string{tt.endpoint: tt.to}, seen: map[string]string{}}
		c := client(t, hub.Options{Endpoint: tt.endpoint, Token: reader, Base: base})
		_, err := c.Model(t.Context(), "org/name", "")
		if err == nil || strings.Contains(err.Error(), reader) {
			t.Errorf("%v: error %v", tt, err)
		}
		for origin, sent := range base.seen {
			if want := map[bool]string{true: "Bearer " + reader}[origin == tt.endpoint]; sent != want {
				t.Errorf("%s to %s: %s was sent %q", tt.endpoint, tt.to, origin, sent)
			}
		}
		if len(base.seen) == 1 && !strings.HasPrefix(tt.to, "http://hub.test") {
			t.Errorf("%s: the redirect to %s was not followed", tt.endpoint, tt.to)
		}
	}
}

// Nothing that is shown or kept holds a token or a signature.
func TestNothingSecretIsShown(t *testing.T) {
	h := answering(t)
	weights := hubtest.Safetensors(hubtest.Tensor{Name: "a", DType: "F32", Shape: []int64{100000}})
	h.Add(hubtest.Repo{ID: "org/private", Private: true, Files: map[string]hubtest.File{"config.json": hubtest.Text("{}"), "model.safetensors": weights}})
	h.Fail(hubtest.Fault{Host: hubtest.OnCDN, Times: 2, Do: hubtest.Truncate(9)})
	h.Fail(hubtest.Fault{Host: hubtest.OnCDN, After: 2, Times: 1, Do: hubtest.Status(503)})
	opts := quick(h)
	opts.Token, opts.CacheDir = reader, t.TempDir()
	var mu sync.Mutex
	var shown bytes.Buffer
	note := func(v any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&shown, "%v %+v\n", v, v)
	}
	opts.OnRequest = func(r hub.Request) { note(r) }
	opts.OnWait = func(w hub.Wait) { note(w) }
	m := model(t, opts, "org/private", "")
	got, err := header(t.Context(), m, "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	wantHeader(t, got, weights)
	h.Fail(hubtest.Fault{Host: hubtest.OnCDN, Do: hubtest.Reset()})
	_, err = m.ReadRange(t.Context(), "model.safetensors", 1000, 10)
	note(wantKind(t, err, hub.Truncated))
	for err != nil {
		note(err)
		err = errors.Unwrap(err)
	}
	_ = filepath.WalkDir(opts.CacheDir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		if info.Mode().Perm()&0o077 != 0 && path != opts.CacheDir {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if !d.IsDir() {
			data, _ := os.ReadFile(path)
			shown.WriteString(path)
			shown.Write(data)
		}
		return err
	})
	for _, secret := range []string{reader, hubtest.Signature(), "Expires="} {
		if strings.Contains(shown.String(), secret) {
			t.Errorf("%q is in\n%s", secret, shown.String())
		}
	}
	if leaks := h.Leaks(); len(leaks) > 0 {
		t.Errorf("leaks %v", leaks)
	}
	if !strings.Contains(shown.String(), "GET "+h.Endpoint()+"/api/models/org/private/revision/main 200, ") {
		t.Errorf("requests are not shown:\n%s", shown.String())
	}
}

func TestDamagedCache(t *testing.T) {
	h := hubtest.Start(t)
	weights := single(h, "org/name")
	opts := quick(h)
	opts.CacheDir = t.TempDir()
	commit := hubtest.Commit("org/name")
	read := func() {
		t.Helper()
		m := model(t, opts, "org/name", commit)
		got, err := header(t.Context(), m, "model.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		wantHeader(t, got, weights)
	}
	read()
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { b[len(b)-3] ^= 1; return b },
		func(b []byte) []byte { return []byte("something else entirely\n\n\n") },
	} {
		n := 0
		_ = filepath.WalkDir(opts.CacheDir, func(path string, d fs.DirEntry, err error) error {
			if !d.IsDir() {
				data, _ := os.ReadFile(path)
				n++
				return os.WriteFile(path, damage(data), 0o600)
			}
			return err
		})
		h.Reset()
		read()
		if n == 0 || len(h.Requests()) == 0 {
			t.Errorf("%d damaged entries, %d requests", n, len(h.Requests()))
		}
		h.Reset()
		read()
		if len(h.Requests()) != 0 {
			t.Error("the damage was not mended")
		}
	}
}

// Several runs may write the same entries at once, and a cache that cannot be
// written is none.
func TestSharedCache(t *testing.T) {
	h := hubtest.Start(t)
	files := hubtest.Sharded(8, 10)
	h.Add(hubtest.Repo{ID: "org/big", Files: files})
	opts := quick(h)
	opts.CacheDir, opts.Headers = t.TempDir(), hub.HeadersRanges
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := headers(t.Context(), model(t, opts, "org/big", ""), 4)
			if err != nil {
				t.Error(err)
			}
			wantHeaders(t, got, files)
		})
	}
	wg.Wait()
	left, _ := filepath.Glob(filepath.Join(opts.CacheDir, "*", "*", "*", "*", ".new-*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	opts.CacheDir = filepath.Join(opts.CacheDir, "file")
	if err := os.WriteFile(opts.CacheDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := headers(t.Context(), model(t, opts, "org/big", ""), 4); err != nil {
		t.Error(err)
	}
}

// Clearing removes what is ours and leaves what else lies there.
func TestClearCache(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "precious")
	if err := os.WriteFile(other, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hub.ClearCache(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
