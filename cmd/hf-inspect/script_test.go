package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// raceOptions keep a process with the race detector in it from sleeping a second
// before it ends.
const raceOptions = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceOptions)
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
			env.Setenv("GORACE", raceOptions)
			env.Setenv("HF_HOME", filepath.Join(env.WorkDir, "hf"))
			env.Setenv("HF_INSPECT_CACHE", filepath.Join(env.WorkDir, "cache"))
			env.Values[hubKey{}] = &scriptHub{}
			return os.CopyFS(filepath.Join(env.WorkDir, "tiny"), os.DirFS("testdata/tiny"))
		},
		Cmds: commands,
	})
}
