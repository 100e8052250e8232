package inspect

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

var update = flag.Bool("update", false, "write the table of evidence anew")

// TestEvidenceIsTrue counts the cases that the tests hold each description
// against; that they agree is what those tests say.
func TestEvidenceIsTrue(t *testing.T) {
	counted := make(map[string]Evidence)
	add := func(modelType string, count func(*Evidence)) {
		if _, ok := estimator.Lookup(modelType); !ok {
			return
		}
		e := counted[modelType]
		count(&e)
		counted[modelType] = e
	}
	countCases(t, add)
	for _, r := range readRepos(t) {
		if r.Truth.Provenance == "reconstructed" {
			add(modelTypeOf(t, []byte(r.Config)), func(e *Evidence) { e.Index++ })
		}
	}
	addNamed(t, add)
	folders, err := filepath.Glob("../estimator/testdata/remote_code/*/config.json")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no repositories with code of their own: %v", err)
	}
	for _, file := range folders {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		add(modelTypeOf(t, data), func(e *Evidence) { e.Index++ })
	}
	var table strings.Builder
	table.WriteString("model_type\tdefault\trandomised\tpublished\tindex\n")
	for _, modelType := range slices.Sorted(maps.Keys(counted)) {
		e := counted[modelType]
		fmt.Fprintf(&table, "%s\t%d\t%d\t%d\t%d\n", modelType, e.Default, e.Randomised, e.Published, e.Index)
	}
	if *update {
		if err := os.WriteFile("evidence.tsv", []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table.String() != evidenceTable {
		t.Error("evidence.tsv is not what the testdata holds: run go test ./inspect -update")
	}
}

// addNamed counts the repositories known by name whose total is met.
func addNamed(t *testing.T, add func(string, func(*Evidence))) {
	t.Helper()
	repos := make(map[string]*repo)
	for _, r := range readRepos(t) {
		repos[r.Folder] = &r
	}
	for _, c := range namedCases {
		l := newLayout(t, c, repos[c.folder])
		if l.index.Metadata.Total > 0 && c.apart == 0 {
			add(modelTypeOf(t, l.config(repos[c.folder])), func(e *Evidence) { e.Index++ })
		}
	}
}

// TestUnconfirmedIsSaid checks that what calls itself unconfirmed is what has no
// evidence.
func TestUnconfirmedIsSaid(t *testing.T) {
	for _, a := range estimator.Architectures() {
		if e := evidence()[a.Type]; a.Confirmed() && e.None() {
			t.Errorf("%s calls itself confirmed and has no evidence", a.Type)
		}
	}
}

func countCases(t *testing.T, add func(string, func(*Evidence))) {
	t.Helper()
	truthtable.Each(t, "../estimator/testdata/params*.jsonl.gz", func(c *struct {
		Set  string `json:"set"`
		Type string `json:"model_type"`
	}) {
		add(c.Type, func(e *Evidence) {
			switch c.Set {
			case "default":
				e.Default++
			case "real":
				e.Published++
			default:
				e.Randomised++
			}
		})
	})
}

func modelTypeOf(t *testing.T, config []byte) string {
	t.Helper()
	c, _, err := hfconfig.Parse(config)
	if err != nil {
		t.Fatal(err)
	}
	return c.ModelType()
}
