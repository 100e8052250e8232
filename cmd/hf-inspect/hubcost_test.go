package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/inspect"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

// hubCosts are the rows of the table in docs/performance.md. Requests are those
// to the Hub, of which one is a redirect of config.json, and to the file server.
var hubCosts = []struct {
	row      string // as the table names it
	model    string
	shards   int
	head     [2]int // all headers in one answer
	ranges   [2]int
	headKB   int64 // bounds of the bytes that come over the wire
	rangesKB int64
}{
	{"gpt2, 1 file", "openai-community/gpt2", 1, [2]int{4, 1}, [2]int{4, 1}, 70, 70},
	{"Llama-3.1-8B, 4 shards", "meta-llama/Llama-3.1-8B", 4, [2]int{4, 0}, [2]int{7, 4}, 10, 80},
	{"Llama-3.1-70B, 30 shards", "meta-llama/Llama-3.1-70B", 30, [2]int{4, 0}, [2]int{33, 30}, 20, 300},
	{"DeepSeek-V3, 163 shards", "deepseek-ai/DeepSeek-V3", 163, [2]int{4, 0}, [2]int{166, 163}, 1500, 15000},
}

// recorded puts an embedded recording on a fake Hub: headers as they are, data
// of zeros.
func recorded(t testing.TB, h *hubtest.Hub, model string) {
	t.Helper()
	ctx := context.Background()
	src, ok := fixtures.Find(model)
	if !ok {
		t.Fatalf("no recording of %s", model)
	}
	list, err := src.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]hubtest.File{}
	for _, f := range list {
		data, err := src.ReadRange(ctx, f.Path, 0, f.Size)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Path] = hubtest.File{Data: data, Size: f.Size, LFS: strings.HasSuffix(f.Path, ".safetensors")}
	}
	h.Add(hubtest.Repo{ID: model, Files: files})
}

// measured is one run of the command.
type measured struct {
	inspect.Inspection
	took   time.Duration
	memory int64 // bytes that were resident at most; 0 where the system does not say
}

func measure(t testing.TB, h *hubtest.Hub, args ...string) measured {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("hf-inspect", append(args, "--no-cache", "--format=json")...)
	note := filepath.Join(t.TempDir(), "memory")
	cmd.Env = append(append(os.Environ(), h.Env(t.TempDir())...), "TEST_MEMORY="+note)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	h.Reset()
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	m := measured{took: time.Since(began), memory: notedMemory(note)}
	if err := json.Unmarshal(stdout.Bytes(), &m.Inspection); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m measured) seconds() time.Duration {
	return time.Duration(m.Access.Seconds * float64(time.Second))
}

// TestHubCosts reproduces the table of docs/performance.md.
func TestHubCosts(t *testing.T) {
	doc, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range hubCosts {
		row := fmt.Sprintf("| %s | %d | %d |", c.row, c.head[0]+c.head[1], c.ranges[0]+c.ranges[1])
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/performance.md has no row %q", row)
		}
		t.Run(c.model, func(t *testing.T) {
			h := hubtest.Start(t)
			recorded(t, h, c.model)
			for _, way := range []struct {
				flag  string
				want  [2]int
				bound int64
			}{{"--headers=auto", c.head, c.headKB}, {"--headers=ranges", c.ranges, c.rangesKB}} {
				m := measure(t, h, c.model, way.flag)
				onHub, onCDN, _ := h.Count()
				t.Logf("%s: %d to the Hub, %d to the file server, %d bytes, %d MB of memory, %s", way.flag, onHub, onCDN, m.Access.Bytes, m.memory>>20, m.took.Round(time.Millisecond))
				if got := [2]int{onHub, onCDN}; got != way.want || m.Access.Requests != int64(onHub+onCDN) {
					t.Errorf("%s: requests %v, want %v", way.flag, got, way.want)
				}
				if m.Access.Bytes > way.bound<<10 {
					t.Errorf("%s: %d bytes, want at most %d kB", way.flag, m.Access.Bytes, way.bound)
				}
				if m.memory > 100<<20 && !raced {
					t.Errorf("%s: %d MB of memory, want at most 100", way.flag, m.memory>>20)
				}
				if m.Source.Files != c.shards || m.Ledger.Unexplained == nil || *m.Ledger.Unexplained != 0 {
					t.Errorf("%s: %d files, unexplained %v", way.flag, m.Source.Files, m.Ledger.Unexplained)
				}
			}
		})
	}
}

// By ranges, a run takes no more than half as long again as its round trips.
func TestRangesTime(t *testing.T) {
	const latency, parallel = 50 * time.Millisecond, 8
	h := hubtest.Start(t)
	for _, c := range hubCosts[1:] {
		recorded(t, h, c.model)
		args := []string{c.model, "--headers=ranges", "--parallel=" + strconv.Itoa(parallel)}
		trips := 2 + 2*math.Ceil(float64(c.shards)/parallel)
		bound := time.Duration(1.5 * trips * float64(latency))
		var took, busy time.Duration
		for range 4 {
			// What a run takes without a network is to be forgiven where the machine
			// has other things to do.
			h.Latency = 0
			if busy = measure(t, h, args...).seconds(); busy < time.Second {
				busy = 0
			}
			h.Latency = latency
			if took = measure(t, h, args...).seconds(); took <= bound+busy {
				break
			}
		}
		t.Logf("%s: %s, at most %s + %s", c.model, took.Round(time.Millisecond), bound, busy.Round(time.Millisecond))
		if took > bound+busy {
			t.Errorf("%s: took too long", c.model)
		}
	}
}
