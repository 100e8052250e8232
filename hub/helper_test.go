package hub_test

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
	"github.com/hf-inspect/hf-inspect/source"
)

const firstRead = 64 << 10

// quick are options with pauses that tests can afford.
func quick(h *hubtest.Hub) hub.Options {
	return hub.Options{
		Endpoint: h.Endpoint(),
		Timeouts: hub.Timeouts{Connect: 2 * time.Second, Stall: 5 * time.Second},
		Retry:    hub.Retry{Base: time.Millisecond, Max: 4 * time.Millisecond, MaxWait: 3 * time.Second},
	}
}

func client(t *testing.T, opts hub.Options) *hub.Client {
	t.Helper()
	c, err := hub.NewClient(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func model(t *testing.T, opts hub.Options, repo, revision string) *hub.Model {
	t.Helper()
	m, err := client(t, opts).Model(t.Context(), repo, revision)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// whole reads a file as a caller does that does not know its size.
func whole(ctx context.Context, m source.Source, name string) ([]byte, error) {
	return m.ReadRange(ctx, name, 0, 1<<30)
}

// headers reads what an inspection reads: the config, then all headers, in one
// answer where that is offered, else by ranges.
func headers(ctx context.Context, m *hub.Model, parallel int) (map[string][]byte, error) {
	if _, err := whole(ctx, m, "config.json"); err != nil {
		return nil, err
	}
	all, err := m.ShardHeaders(ctx, "model.safetensors.index.json")
	if err != nil || all != nil {
		return all, err
	}
	files, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	return byRanges(ctx, m, files, parallel)
}

func byRanges(ctx context.Context, m *hub.Model, files []source.File, parallel int) (map[string][]byte, error) {
	found := make([][]byte, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, f := range files {
		if !strings.HasSuffix(f.Path, ".safetensors") {
			continue
		}
		group.Go(func() (err error) {
			found[i], err = header(ctx, m, f.Path)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for i, f := range files {
		if found[i] != nil {
			all[f.Path] = found[i]
		}
	}
	return all, nil
}

// header reads the header of one file in at most two reads.
func header(ctx context.Context, m source.Source, name string) ([]byte, error) {
	start, err := m.ReadRange(ctx, name, 0, firstRead)
	if err != nil {
		return nil, err
	}
	if len(start) < 8 {
		return nil, errors.New("too short")
	}
	n := int64(binary.LittleEndian.Uint64(start))
	if n <= int64(len(start))-8 {
		return start[8 : 8+n], nil
	}
	rest, err := m.ReadRange(ctx, name, int64(len(start)), 8+n-int64(len(start)))
	return append(slices.Clone(start[8:]), rest...), err
}

func wantHeader(t *testing.T, got []byte, f hubtest.File) {
	t.Helper()
	if want := strings.TrimRight(string(f.Data[8:]), " "); strings.TrimRight(string(got), " ") != want {
		t.Errorf("header of %d bytes, want %d: %.80q", len(got), len(want), got)
	}
}

func wantHeaders(t *testing.T, got map[string][]byte, files map[string]hubtest.File) {
	t.Helper()
	for name := range maps.Keys(files) {
		if strings.HasSuffix(name, ".safetensors") {
			wantHeader(t, got[name], files[name])
		}
	}
}

func wantKind(t *testing.T, err error, kind hub.ErrorKind) *hub.Error {
	t.Helper()
	var e *hub.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("error %v, want %s", err, kind)
	}
	return e
}

// single is a repository of one weight file.
func single(h *hubtest.Hub, id string) hubtest.File {
	weights := hubtest.Safetensors(hubtest.Tensor{Name: "wte.weight", DType: "F32", Shape: []int64{50257, 768}})
	h.Add(hubtest.Repo{ID: id, Files: map[string]hubtest.File{
		"config.json":       hubtest.Text(`{"model_type": "gpt2"}`),
		"model.safetensors": weights,
	}})
	return weights
}
