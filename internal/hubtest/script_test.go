package hubtest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

func TestScript(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := hubtest.Start(t)
	for _, line := range [][]string{
		{"repo", "org/small", "dir=.", "alias=small"},
		{"repo", "org/big", "shards=2", "tensors=3", "gated"},
		{"push", "org/small", "dir=."},
		{"fail", "404"}, {"heal"},
		{"ref", "org/small", "refs/pr/1"},
		{"token", "hf_x", "org/big"},
		{"fail", "503", "path=big", "times=1", "Retry-After=0"},
		{"fail", "truncate", "cdn"},
		{"latency", "1ms"},
	} {
		if _, err := h.Script(dir, line); err != nil {
			t.Errorf("%v: %v", line, err)
		}
	}
	for path, want := range map[string]int{
		"/api/models/org/small/revision/main": 200, "/api/models/org/big": 503, "/org/small/resolve/main/config.json": 200,
		"/org/small/resolve/main/none": 404,
	} {
		resp, err := http.Get(h.Endpoint() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	if out, err := h.Script(dir, []string{"count"}); err != nil || out != "hub 5, cdn 0, leaks 0\n" {
		t.Errorf("count %q, %v", out, err)
	}
	for _, line := range [][]string{{}, {"nonsense"}, {"repo"}, {"ref", "org/x", "v1"}, {"fail"}, {"fail", "oddly"}, {"repo", "org/x", "dir=none"}} {
		if _, err := h.Script(dir, line); err == nil {
			t.Errorf("%v went well", line)
		}
	}
}
