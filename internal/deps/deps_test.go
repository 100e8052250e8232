// Package deps holds the order of the packages as a test: who may import whom.
package deps

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hf-inspect/hf-inspect"

// allowed lists, for each package, the packages of this module that it may
// import. The analytical side (hfconfig, estimator) never sees the checkpoint
// side (source, safetensors): it cannot peek at the answer. They meet in
// reconcile.
var allowed = map[string][]string{
	"hfconfig":                    {},
	"estimator":                   {"hfconfig"},
	"source":                      {},
	"safetensors":                 {"source"},
	"finding":                     {},
	"adapter":                     {"estimator", "hfconfig"},
	"reconcile":                   {"adapter", "estimator", "hfconfig", "safetensors", "finding"},
	"hub":                         {"source"},
	"fixtures":                    {"source"},
	"locate":                      {"source", "hub"},
	"cost":                        {"estimator", "hfconfig"},
	"shape":                       {"estimator", "hfconfig"},
	"inspect":                     {"source", "safetensors", "hfconfig", "estimator", "adapter", "reconcile", "finding"},
	"record":                      {"source", "safetensors", "finding", "fixtures", "inspect"},
	"audit":                       {"source", "safetensors", "reconcile", "finding", "inspect"},
	"report":                      {"audit", "record", "source", "estimator", "reconcile", "finding", "inspect", "cost", "shape"},
	"internal/deps":               {},
	"internal/hubtest":            {},
	"internal/truthtable":         {},
	"fixtures/internal/make":      {"fixtures", "source"},
	"safetensors/safetensorstest": {"safetensors", "source"},
	"cmd/hf-inspect":              {"*"},
}

// terminal are the modules that only commands may know.
var terminal = []string{"github.com/spf13/cobra", "github.com/schollz/progressbar/v3", "golang.org/x/term"}

func TestDependencyOrder(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); packages++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		checkPackage(t, strings.TrimPrefix(p.ImportPath, module+"/"), p.Imports)
	}
	if packages < 8 {
		t.Errorf("only %d packages listed", packages)
	}
}

func checkPackage(t *testing.T, name string, imports []string) {
	t.Helper()
	may, known := allowed[name]
	if !known {
		t.Errorf("package %s has no place in the order: add it to the table", name)
		return
	}
	if slices.Contains(may, "*") {
		return
	}
	for _, path := range imports {
		if slices.Contains(terminal, path) {
			t.Errorf("%s imports %s: only commands know the terminal", name, path)
		}
		if inner, ours := strings.CutPrefix(path, module+"/"); ours && !slices.Contains(may, inner) {
			t.Errorf("%s must not import %s", name, inner)
		}
		if name == "safetensors" && path == "net/http" || name == "estimator" && path == "os" {
			t.Errorf("%s must not import %s", name, path)
		}
	}
}
