package hub_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
	"github.com/hf-inspect/hf-inspect/source"
)

type doFunc = func(http.ResponseWriter, *http.Request, http.Handler)

// Servers that answer a range in a way of their own.
func TestRangeAnswers(t *testing.T) {
	tests := []struct {
		name string
		host hubtest.Host
		do   doFunc
		kind hub.ErrorKind // "" where it goes well
	}{
		{"range ignored", hubtest.OnCDN, hubtest.IgnoreRange(), ""},
		{"no Content-Range", hubtest.OnCDN, hubtest.Headers("Content-Range", ""), hub.BadRange},
		{"other range", hubtest.OnCDN, hubtest.Headers("Content-Range", "bytes 8-15/154389576"), hub.BadRange},
		{"nonsense range", hubtest.OnCDN, hubtest.Headers("Content-Range", "bytes a-b/c"), hub.BadRange},
		{"other size", hubtest.OnCDN, hubtest.Headers("Content-Range", "bytes 0-65535/99999"), hub.Changed},
		{"packed part", hubtest.OnCDN, hubtest.Headers("Content-Encoding", "gzip"), hub.BadRange},
		{"416", hubtest.OnCDN, hubtest.Status(416, "Content-Range", "bytes */3"), hub.BadRange},
		{"portal", hubtest.OnHub, hubtest.Portal(), hub.NotTheHub},
		{"other commit", hubtest.OnHub, hubtest.Headers("X-Repo-Commit", hubtest.Commit("later")), hub.Changed},
		{"other linked size", hubtest.OnHub, hubtest.Headers("X-Linked-Size", "7"), hub.Changed},
		{"other content", hubtest.OnHub, hubtest.Headers("X-Linked-Etag", `"`+strings.Repeat("0", 64)+`"`), hub.Changed},
		{"file server refuses", hubtest.OnCDN, hubtest.Status(403), hub.Forbidden},
		{"gone at the file server", hubtest.OnCDN, hubtest.Status(404), hub.Inconsistency},
		{"short", hubtest.OnCDN, hubtest.Short(100), hub.Truncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := hubtest.Start(t)
			weights := single(h, "org/name")
			path := "model.safetensors"
			h.Fail(hubtest.Fault{Host: tt.host, Path: path, Do: tt.do})
			m := model(t, quick(h), "org/name", "")
			got, err := header(t.Context(), m, path)
			if tt.kind != "" {
				e := wantKind(t, err, tt.kind)
				t.Log(e)
				if strings.Contains(e.Error(), hubtest.Signature()) {
					t.Error("the signature is in the error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantHeader(t, got, weights)
		})
	}
}

// A server that ignores ranges is not read to its end, from whichever byte.
func TestIgnoredRangesCostLittle(t *testing.T) {
	h := hubtest.Start(t)
	single(h, "org/name")
	h.Fail(hubtest.Fault{Host: hubtest.OnCDN, Do: hubtest.IgnoreRange()})
	m := model(t, quick(h), "org/name", "")
	for _, offset := range []int64{0, 10, 1 << 20} {
		data, err := m.ReadRange(t.Context(), "model.safetensors", offset, 1000)
		if err != nil || len(data) != 1000 {
			t.Errorf("%d bytes from %d on: %v", len(data), offset, err)
		}
	}
	if read := m.Access().Bytes; read > 2<<20 {
		t.Errorf("%d bytes read", read)
	}
	if _, err := m.ReadRange(t.Context(), "model.safetensors", 100<<20, 10); err == nil {
		t.Error("100 MB were read and thrown away")
	}
}

// Ranges are exact at every boundary, whatever the server does on the way.
func TestRangesAreExact(t *testing.T) {
	content := make([]byte, 1000)
	for i := range content {
		content[i] = byte(i * 7)
	}
	for name, do := range map[string]doFunc{
		"well": nil, "ignored": hubtest.IgnoreRange(), "truncated": hubtest.Truncate(101), "short": hubtest.Short(333),
	} {
		for _, lfs := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", name, lfs), func(t *testing.T) {
				h := hubtest.Start(t)
				h.Add(hubtest.Repo{ID: "org/name", Files: map[string]hubtest.File{"dir/a file+%.bin": {Data: content, LFS: lfs}}})
				if do != nil {
					h.Fail(hubtest.Fault{Path: "a%20file", After: 1, Times: 3, Do: do})
				}
				opts := quick(h)
				m := model(t, opts, "org/name", "")
				for _, r := range [][2]int64{{0, 1}, {0, 999}, {0, 1000}, {0, 1001}, {999, 1}, {999, 5}, {500, 500}, {1000, 1}, {2000, 5}, {7, 0}, {1, 998}} {
					got, err := m.ReadRange(t.Context(), "dir/a file+%.bin", r[0], r[1])
					want := content[min(r[0], 1000):min(r[0]+r[1], 1000)]
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%v: %d bytes, want %d; %v", r, len(got), len(want), err)
					}
				}
			})
		}
	}
}

func TestReadRefusals(t *testing.T) {
	h := hubtest.Start(t)
	single(h, "org/name")
	m := model(t, quick(h), "org/name", "")
	h.Reset()
	for _, name := range []string{"../config.json", "/etc/passwd", "a/../../b", `..\x`, "", ".", "a//b", "./config.json", "a\x00b"} {
		if _, err := m.ReadRange(t.Context(), name, 0, 1); !errors.Is(err, source.ErrPath) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := m.ShardHeaders(t.Context(), name); !errors.Is(err, source.ErrPath) {
			t.Errorf("headers of %q: %v", name, err)
		}
	}
	if _, err := m.ReadRange(t.Context(), "config.json", -1, 1); !errors.Is(err, source.ErrPath) {
		t.Errorf("offset -1: %v", err)
	}
	if _, err := m.ReadRange(t.Context(), "none.json", 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if n := len(h.Requests()); n > 0 {
		t.Errorf("%d requests for what the list of files answers", n)
	}
}

// A link that expired between two reads of a file is asked for again.
func TestExpiredLinks(t *testing.T) {
	h := hubtest.Start(t)
	weights := single(h, "org/name")
	h.LinkLife = 30 * time.Millisecond
	m := model(t, quick(h), "org/name", "")
	for _, offset := range []int64{0, 8} {
		got, err := m.ReadRange(t.Context(), "model.safetensors", offset, 8)
		if err != nil || !bytes.Equal(got, weights.Data[offset:offset+8]) {
			t.Fatalf("%q, %v", got, err)
		}
		time.Sleep(60 * time.Millisecond)
	}
	if hub, cdn, _ := h.Count(); hub != 3 || cdn != 3 {
		t.Errorf("%d and %d requests, want 3 and 3", hub, cdn)
	}
}

// Mirrors leave things out: sizes, the Hub's own headers, redirects.
func TestPlainMirror(t *testing.T) {
	h := hubtest.Start(t)
	h.NoSizes, h.NoHeaders, h.Headerless, h.SmallHops, h.PageSize = true, true, true, false, 3
	files := hubtest.Sharded(7, 5)
	h.Add(hubtest.Repo{ID: "org/big", Files: files})
	m := model(t, quick(h), "org/big", "")
	got, err := headers(t.Context(), m, 4)
	if err != nil {
		t.Fatal(err)
	}
	wantHeaders(t, got, files)
	list, _ := m.List(t.Context())
	if len(list) != len(files) || list[1].Size != files[list[1].Path].Size {
		t.Errorf("list %v", list)
	}
}

func TestNextPageElsewhere(t *testing.T) {
	h := hubtest.Start(t)
	h.NoSizes = true
	h.Add(hubtest.Repo{ID: "org/big", Files: hubtest.Sharded(3, 5)})
	h.Fail(hubtest.Fault{Path: "/tree/", Do: hubtest.Headers("Link", `<https://elsewhere.test/x>; rel="next"`)})
	_, err := client(t, quick(h)).Model(t.Context(), "org/big", "")
	wantKind(t, err, hub.Inconsistency)
}
