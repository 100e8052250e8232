package truthtable

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestRead(t *testing.T) {
	type row struct {
		Name  string
		Limit *float64
		List  []any
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(`{"Name":"a","Limit":-Infinity,"List":[1, NaN,Infinity]}` + "\n" + `{"Name":"Infinity","Limit":2}`))
	w.Close()
	file := filepath.Join(t.TempDir(), "rows.jsonl.gz")
	if err := os.WriteFile(file, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	two := 2.0
	want := []row{{Name: "a", List: []any{1.0, nil, nil}}, {Name: "Infinity", Limit: &two}}
	if got := Read[row](t, file); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
