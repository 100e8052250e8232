package record_test

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/record"
)

var update = flag.Bool("update", false, "keep the results that are found now")

// TestEmbedded verifies the embedded recordings. A result that moved on purpose
// is kept by go test ./record -update.
func TestEmbedded(t *testing.T) {
	names, err := record.Files([]string{filepath.Join("..", "fixtures", "recordings")})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(fixtures.List()) {
		t.Errorf("%d recordings in the folder, %d embedded", len(names), len(fixtures.List()))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			v := record.VerifyFile(t.Context(), name, *update)
			if v.Status == record.Failed {
				t.Fatal(v.Error)
			}
			for _, c := range v.Changes {
				t.Logf("%s: %s -> %s", c.Path, c.Old, c.New)
			}
			if v.Status == record.Moved {
				t.Error("the result moved; where that is right, keep it by -update")
			}
		})
	}
}
