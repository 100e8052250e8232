package estimator

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// hostile are values that a config can have in any field.
var hostile = []string{"null", "0", "-1", "[]", "{}", `"x"`, "7", "[3]", "1e300", "true", "4611686018427387904"}

var everyValue = flag.Bool("hostile", false, "try every value in every field, not one of them in every fourth")

// TestNoConfigPanics describes each architecture under configs whose fields hold
// what they should not, one field at a time. Whatever comes of it, it is a model
// or an error.
func TestNoConfigPanics(t *testing.T) {
	tried := 0
	for _, arch := range Architectures() {
		fields := map[string]json.RawMessage{}
		if class := hfconfig.ClassOf(arch.Type); class != nil {
			for _, field := range class.Fields() {
				fields[field] = nil
			}
		}
		for i, field := range slices.Sorted(maps.Keys(fields)) {
			values := hostile
			if at := i + len(arch.Type); !*everyValue {
				values = hostile[at%len(hostile):][:1]
				if at%4 != 0 {
					continue
				}
			}
			for _, value := range values {
				tried++
				describeHostile(t, arch, fmt.Sprintf(`{"model_type":%q,%q:%s}`, arch.Type, field, value))
			}
		}
		describeHostile(t, arch, fmt.Sprintf(`{"model_type":%q}`, arch.Type))
	}
	t.Logf("%d configs", tried)
	if tried < 1000 {
		t.Errorf("only %d configs", tried)
	}
}

func describeHostile(t *testing.T, arch Arch, text string) {
	t.Helper()
	if *everyValue {
		fmt.Println(text)
	}
	defer func() {
		if what := recover(); what != nil {
			t.Errorf("%s: panic: %v", text, what)
		}
	}()
	config, err := hfconfig.New([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Describe(config, "")
	if err != nil {
		return
	}
	p := Pass{Batch: 1, Seq: 2, EncoderSeq: 2}
	if m.Check(p) == nil {
		Total(m.Forward(p))
	}
}
