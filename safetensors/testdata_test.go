package safetensors_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"testing"

	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// readArchive reads a tar.gz of testdata: contents by folder and file.
func readArchive(tb testing.TB, name string) map[string]map[string][]byte {
	tb.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	folders := make(map[string]map[string][]byte)
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return folders
		}
		if err != nil {
			tb.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		folder, base := path.Split(header.Name)
		folder = path.Clean(folder)
		if folders[folder] == nil {
			folders[folder] = make(map[string][]byte)
		}
		folders[folder][base] = data
	}
}

// asFolder serves the weight files and indexes of a case.
func asFolder(files map[string][]byte) *safetensorstest.Folder {
	blobs := make(map[string]safetensorstest.Blob)
	for name, data := range files {
		if name != "expect.json" && name != "truth.json" {
			blobs[name] = safetensorstest.Whole(data)
		}
	}
	return safetensorstest.NewFolder(blobs)
}

func unmarshal(tb testing.TB, text []byte, v any) {
	tb.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		tb.Fatal(err)
	}
}
