package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTooManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for limit, fails := range map[int]bool{9: true, 10: false} {
		d := &disk{root: dir, limit: limit}
		if _, err := d.List(t.Context()); errors.Is(err, ErrTooManyFiles) != fails {
			t.Errorf("at most %d: %v", limit, err)
		}
	}
}
