package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// companions are the small files that belong to a weight file beside them.
var companions = []string{
	"adapter_config.json", "config.json", "hf_quant_config.json",
	"params.json", "quant_config.json", "quantize_config.json",
}

// OpenFile returns one weight file together with the configs beside it, or,
// for an index (model.safetensors.index.json), the index with its shards.
func OpenFile(name string) (Source, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, explain(name, err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return &disk{
		root: filepath.Dir(name),
		info: Info{Kind: SingleFile, Location: filepath.ToSlash(filepath.Clean(name))},
		keep: keepOne(filepath.Base(name)),
	}, nil
}

// keepOne tells which files of a folder belong to the named one. Shards are
// found by name, since this package does not look into an index.
func keepOne(base string) func(string) bool {
	shards := shardPrefix(base)
	return func(name string) bool {
		if name == base || slices.Contains(companions, name) {
			return true
		}
		return shards != "" && strings.HasPrefix(name, shards) && strings.HasSuffix(name, ".safetensors")
	}
}

// shardPrefix gives what the shards of an index begin with, "" where the file
// is no index. A variant stands before the last extension of each:
// model.safetensors.index.fp16.json and model.fp16-00001-of-00002.safetensors.
func shardPrefix(index string) string {
	stem, rest, ok := strings.Cut(index, ".safetensors.index.")
	if !ok {
		return ""
	}
	if variant, ok := strings.CutSuffix(rest, ".json"); ok {
		stem += "." + variant
	}
	return stem + "-"
}
