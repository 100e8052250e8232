// Package truthtable reads what tests hold the program against: compressed
// tables of one JSON value a line, measured with the reference library or
// recorded from the Hub. Only tests import it.
package truthtable

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Each calls use for each line of the gzipped files of a pattern, in order of
// their names.
func Each[T any](t testing.TB, pattern string, use func(*T)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no such file (%v)", pattern, err)
	}
	for _, file := range files {
		eachLine(t, file, use)
	}
}

func eachLine[T any](t testing.TB, file string, use func(*T)) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	lines := bufio.NewReaderSize(zipped, 1<<20)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			one := new(T)
			if err := decode(line, one); err != nil {
				t.Fatalf("%s, line %d: %v", file, n, err)
			}
			use(one)
		}
		if err != nil {
			if n < 2 {
				t.Fatalf("%s: no line", file)
			}
			return
		}
	}
}

// Read returns all lines of the gzipped files of a pattern.
func Read[T any](t testing.TB, file string) []T {
	t.Helper()
	var values []T
	Each(t, file, func(v *T) { values = append(values, *v) })
	return values
}

// decode reads a line. In one that Python wrote, numbers that JSON does not have
// become null.
func decode(line []byte, value any) error {
	if json.Unmarshal(line, value) == nil {
		return nil
	}
	for _, word := range []string{"-Infinity", "Infinity", "NaN"} {
		for _, before := range []string{":", ": ", "[", ",", ", "} {
			line = bytes.ReplaceAll(line, []byte(before+word), []byte(before+"null"))
		}
	}
	return json.Unmarshal(line, value)
}
