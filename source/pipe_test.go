//go:build unix

package source_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hf-inspect/hf-inspect/source"
)

// Opening a pipe would wait for somebody to write to it.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.safetensors")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	src, err := source.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantPaths(t, src)
	if _, err := src.ReadRange(t.Context(), "pipe.safetensors", 0, 1); err == nil {
		t.Error("a pipe was read")
	}
	if _, err := source.OpenFile(pipe); err == nil {
		t.Error("a pipe was opened")
	}
}
