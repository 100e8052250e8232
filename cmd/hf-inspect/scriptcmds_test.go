package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// commands are what the scripts can call besides testscript's own.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":       exits,
	"hub":         fakeHub,
	"interrupted": interrupted,
	"matches":     matches,
	"replace":     replace,
	"safetensors": writeSafetensors,
	"within":      within,
}

// exits runs hf-inspect and asserts its exit code: exits 3 ARG...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("hf-inspect", args[1:]...)
	got := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("hf-inspect %s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// matches holds the last standard output against a schema: matches inspection.
// Output of several lines is taken as JSON lines if the second argument says so.
func matches(ts *testscript.TestScript, neg bool, args []string) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/" + args[0] + ".schema.json")
	ts.Check(err)
	texts := []string{ts.ReadFile("stdout")}
	if len(args) > 1 && args[1] == "lines" {
		texts = strings.Split(strings.TrimSpace(texts[0]), "\n")
	}
	for _, text := range texts {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		ts.Check(err)
		if err := schema.Validate(value); (err == nil) == neg {
			ts.Fatalf("%s: %v", args[0], err)
		}
	}
}

// writeSafetensors writes a file of zeros from a table of tensors, one a line:
// safetensors FILE TABLE, with lines such as "wte.weight F32 [10,4]".
func writeSafetensors(ts *testscript.TestScript, neg bool, args []string) {
	var tensors []safetensorstest.Tensor
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var shape []int64
		ts.Check(json.Unmarshal([]byte(fields[2]), &shape))
		tensors = append(tensors, safetensorstest.Tensor{Name: fields[0], DType: fields[1], Shape: shape})
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), safetensorstest.Build(tensors...), 0o644))
}

// replace changes a text in a file, which must be there: replace OLD NEW FILE.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	old := ts.ReadFile(args[2])
	if !strings.Contains(old, args[0]) {
		ts.Fatalf("%s does not hold %s", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(old, args[0], args[1])), 0o644))
}
