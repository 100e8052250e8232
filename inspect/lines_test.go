package inspect

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
)

// readLines reads a compressed testdata file of one JSON value a line.
func readLines[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var values []T
	for lines := bufio.NewReaderSize(zipped, 1<<20); ; {
		line, _ := lines.ReadBytes('\n')
		if len(line) == 0 {
			return values
		}
		var value T
		if err := json.Unmarshal(line, &value); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		values = append(values, value)
	}
}
