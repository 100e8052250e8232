package hub_test

import (
	"math"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

// checkpoints are of the sizes that the documentation speaks of. The number
// of tensors a shard gives headers of about the real length.
var checkpoints = []struct {
	name             string
	shards, perShard int
}{
	{"8B in 4 shards", 4, 73},
	{"70B in 30 shards", 30, 24},
	{"671B in 163 shards", 163, 564},
}

func TestRequests(t *testing.T) {
	t.Run("gpt2", func(t *testing.T) {
		h := hubtest.Start(t)
		weights := single(h, "openai-community/gpt2")
		m := model(t, quick(h), "openai-community/gpt2", "")
		if _, err := whole(t.Context(), m, "config.json"); err != nil {
			t.Fatal(err)
		}
		got, err := header(t.Context(), m, "model.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		wantHeader(t, got, weights)
		wantCount(t, h, m, 3, 1, 1)
	})
	for _, c := range checkpoints {
		files := hubtest.Sharded(c.shards, c.perShard)
		t.Run(c.name+"/head of main", func(t *testing.T) {
			h := hubtest.Start(t)
			h.Add(hubtest.Repo{ID: "org/big", Files: files})
			m := model(t, quick(h), "org/big", "")
			got, err := headers(t.Context(), m, 16)
			if err != nil {
				t.Fatal(err)
			}
			wantHeaders(t, got, files)
			wantCount(t, h, m, 3, 0, 1)
			if len(m.IndexMetadata("model.safetensors.index.json")) == 0 {
				t.Error("the index's metadata got lost")
			}
		})
		t.Run(c.name+"/ranges", func(t *testing.T) {
			h := hubtest.Start(t)
			h.Add(hubtest.Repo{ID: "org/big", Files: files})
			opts := quick(h)
			opts.Headers = hub.HeadersRanges
			m := model(t, opts, "org/big", "")
			got, err := headers(t.Context(), m, 16)
			if err != nil {
				t.Fatal(err)
			}
			wantHeaders(t, got, files)
			// A header longer than the first read costs a second request to the
			// file server, and none to the Hub.
			second := 0
			for _, f := range files {
				if f.LFS && len(f.Data) > firstRead {
					second++
				}
			}
			wantCount(t, h, m, 2+c.shards, c.shards+second, 1)
		})
	}
}

// wantCount checks the requests to each host; hops are redirects that stay on
// the Hub. It reports the row of the table in the documentation.
func wantCount(t *testing.T, h *hubtest.Hub, m *hub.Model, onHub, onCDN, hops int) {
	t.Helper()
	gotHub, gotCDN, bytes := h.Count()
	t.Logf("%d to the Hub (%d hops), %d to the file server, %d bytes", gotHub, hops, gotCDN, bytes)
	if gotHub != onHub+hops || gotCDN != onCDN {
		t.Errorf("%d and %d requests, want %d and %d", gotHub, gotCDN, onHub+hops, onCDN)
		for _, r := range h.Requests()[:min(gotHub+gotCDN, 12)] {
			t.Log(r.Host, r.Path, r.Range)
		}
	}
	access := m.Access()
	if access.Requests != int64(gotHub+gotCDN) {
		t.Errorf("%d requests counted of %d", access.Requests, gotHub+gotCDN)
	}
	if access.Bytes > bytes || access.Bytes == 0 {
		t.Errorf("%d bytes counted of %d", access.Bytes, bytes)
	}
	if leaks := h.Leaks(); len(leaks) > 0 {
		t.Errorf("the file server was told too much: %v", leaks)
	}
}

// A run by ranges takes no more than half as long again as its round trips.
func TestRangesAreParallel(t *testing.T) {
	const latency, shards, parallel = 50 * time.Millisecond, 30, 16
	h := hubtest.Start(t)
	h.Latency = latency
	h.Add(hubtest.Repo{ID: "org/big", Files: hubtest.Sharded(shards, 24)})
	opts := quick(h)
	opts.Headers, opts.Parallel = hub.HeadersRanges, parallel
	trips := 2 + 2*math.Ceil(float64(shards)/parallel)
	bound := time.Duration(1.5 * trips * float64(latency))
	// The best of a few runs: the machine may be busy with other things.
	best := time.Hour
	for range 10 {
		start := time.Now()
		if _, err := headers(t.Context(), model(t, opts, "org/big", ""), parallel); err != nil {
			t.Fatal(err)
		}
		if best = min(best, time.Since(start)); best <= bound {
			return
		}
	}
	t.Errorf("took %s, want at most %s", best, bound)
}

// What was read of a commit is not read again: by branch one request finds the
// commit, by commit there is none.
func TestSecondInspection(t *testing.T) {
	for _, mode := range []hub.HeadersMode{hub.HeadersAuto, hub.HeadersRanges} {
		t.Run(string(mode), func(t *testing.T) {
			h := hubtest.Start(t)
			files := hubtest.Sharded(5, 20)
			repo := h.Add(hubtest.Repo{ID: "org/big", Files: files, Aliases: []string{"big"}})
			opts := quick(h)
			opts.Headers, opts.CacheDir = mode, t.TempDir()
			for i, run := range []struct {
				repo, revision string
				want           int // requests; -1 any
			}{{"org/big", "", -1}, {"org/big", "main", 1}, {"org/big", repo.Head, 0}, {"big", "", 2}, {"big", repo.Head, 0}} {
				h.Reset()
				m := model(t, opts, run.repo, run.revision)
				got, err := headers(t.Context(), m, 4)
				if err != nil {
					t.Fatal(err)
				}
				wantHeaders(t, got, files)
				if n := len(h.Requests()); run.want >= 0 && n != run.want {
					t.Errorf("run %d: %d requests, want %d: %v", i, n, run.want, h.Requests())
				}
			}
			cleared, err := hub.ClearCache(opts.CacheDir)
			if err != nil || cleared.Files == 0 || cleared.Bytes == 0 {
				t.Errorf("cleared %+v, %v", cleared, err)
			}
			if cleared, err := hub.ClearCache(opts.CacheDir); err != nil || cleared.Files != 0 {
				t.Errorf("cleared %+v, %v the second time", cleared, err)
			}
		})
	}
}
