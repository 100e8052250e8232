package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hf-inspect": func() {
			code := start(shortPauses)
			noteMemory()
			os.Exit(code)
		},
	})
}

// TestScripts runs the command as a user does; standard output, standard error
// and exit codes are all asserted. The scripts reach neither the network nor the
// user's own caches.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HF_HUB_OFFLINE", "1")
			env.Setenv("HF_HOME", filepath.Join(env.WorkDir, "hf"))
			env.Setenv("HF_INSPECT_CACHE", filepath.Join(env.WorkDir, "cache"))
			env.Values[hubKey{}] = &scriptHub{}
			return os.CopyFS(filepath.Join(env.WorkDir, "tiny"), os.DirFS("testdata/tiny"))
		},
		Cmds: commands,
	})
}
