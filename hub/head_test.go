package hub_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/hub"
	"github.com/hf-inspect/hf-inspect/internal/hubtest"
)

const index = "model.safetensors.index.json"

// The Hub's answer for all headers is about the head of main, whatever that
// is by now: it is only used where nothing speaks against it.
func TestShardHeadersAreOfTheCommit(t *testing.T) {
	old, moved := hubtest.Sharded(6, 10), hubtest.Sharded(6, 12)
	setup := func(t *testing.T) *hubtest.Hub {
		h := hubtest.Start(t)
		r := h.Add(hubtest.Repo{ID: "org/big", Files: old, Refs: map[string]string{"v1": hubtest.Commit("org/big"), "dev": hubtest.Commit("dev")}})
		r.Versions[hubtest.Commit("dev")] = hubtest.Sharded(6, 11)
		return h
	}
	count := func(h *hubtest.Hub) (n int) {
		for _, r := range h.Requests() {
			if strings.Contains(r.Path, "safetensors-metadata") {
				n++
			}
		}
		return n
	}
	tests := []struct {
		name, revision string
		before, after  func(h *hubtest.Hub) // before the metadata, after them
		asked          int                  // for all headers
		given          bool
	}{
		{name: "head of main", asked: 1, given: true},
		{name: "commit at head", revision: hubtest.Commit("org/big"), asked: 1, given: true},
		{name: "tag at head", revision: "v1", asked: 1, given: true},
		{name: "other branch", revision: "dev"},
		{name: "main moved", after: func(h *hubtest.Hub) { h.Push("org/big", hubtest.Commit("new"), moved) }},
		{name: "not offered", before: func(h *hubtest.Hub) { h.NoHeaders = true }, asked: 1},
		{name: "down", before: func(h *hubtest.Hub) { h.Fail(hubtest.Fault{Path: "safetensors-metadata", Do: hubtest.Status(503)}) }, asked: 1},
		{name: "portal", before: func(h *hubtest.Hub) { h.Fail(hubtest.Fault{Path: "safetensors-metadata", Do: hubtest.Portal()}) }, asked: 1},
		{name: "other commit said", before: func(h *hubtest.Hub) {
			h.Fail(hubtest.Fault{Path: "safetensors-metadata", Do: hubtest.Headers("X-Repo-Commit", hubtest.Commit("x"))})
		}, asked: 1},
		{name: "commit not said", before: func(h *hubtest.Hub) { h.Headerless = true }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := setup(t)
			if tt.before != nil {
				tt.before(h)
			}
			m := model(t, quick(h), "org/big", tt.revision)
			if tt.after != nil {
				tt.after(h)
			}
			files := old
			if tt.revision == "dev" {
				files = hubtest.Sharded(6, 11)
			}
			config, err := whole(t.Context(), m, "config.json")
			if err != nil || string(config) != string(files["config.json"].Data) {
				t.Fatalf("config %q, %v", config, err)
			}
			all, err := m.ShardHeaders(t.Context(), index)
			if err != nil || (all != nil) != tt.given || count(h) != tt.asked {
				t.Errorf("%d headers, asked for %d times, %v", len(all), count(h), err)
			}
			got, err := headers(t.Context(), m, 4)
			if err != nil {
				t.Fatal(err)
			}
			wantHeaders(t, got, files)
		})
	}
}

// A push between the config and the headers shows in the sizes.
func TestHeadersOfAnotherCommitDoNotFit(t *testing.T) {
	for name, moved := range map[string]map[string]hubtest.File{
		"more tensors": hubtest.Sharded(6, 11), "more shards": hubtest.Sharded(7, 10), "fewer shards": hubtest.Sharded(5, 10),
	} {
		h := hubtest.Start(t)
		h.Add(hubtest.Repo{ID: "org/big", Files: hubtest.Sharded(6, 10)})
		m := model(t, quick(h), "org/big", "")
		if _, err := whole(t.Context(), m, "config.json"); err != nil {
			t.Fatal(err)
		}
		h.Push("org/big", hubtest.Commit("new"), moved)
		if all, err := m.ShardHeaders(t.Context(), index); all != nil || err != nil {
			t.Errorf("%s: %d headers, %v", name, len(all), err)
		}
	}
}

// Where the headers are asked for first, the config that comes after them is
// the second look at main; a push in between shows, even one of equal sizes.
func TestMainIsLookedAtAfterTheHeaders(t *testing.T) {
	for _, push := range []bool{false, true} {
		h := hubtest.Start(t)
		files := hubtest.Sharded(6, 10)
		h.Add(hubtest.Repo{ID: "org/big", Files: files})
		m := model(t, quick(h), "org/big", "")
		if push {
			h.Push("org/big", hubtest.Commit("new"), files)
		}
		all, err := m.ShardHeaders(t.Context(), index)
		if err != nil || (all == nil) != push {
			t.Errorf("push %v: %d headers, %v", push, len(all), err)
		}
		config, err := whole(t.Context(), m, "config.json")
		if err != nil || string(config) != string(files["config.json"].Data) {
			t.Errorf("config %q, %v", config, err)
		}
		if !push {
			wantCount(t, h, m, 3, 0, 1)
		}
	}
}

func TestShardHeadersInFolders(t *testing.T) {
	h := hubtest.Start(t)
	files := map[string]hubtest.File{}
	for name, f := range hubtest.Sharded(3, 5) {
		files["text_encoder/"+name] = f
	}
	h.Add(hubtest.Repo{ID: "org/name", Files: files})
	m := model(t, quick(h), "org/name", "")
	all, err := m.ShardHeaders(t.Context(), "text_encoder/"+index)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d headers, %v", len(all), err)
	}
	wantHeaders(t, all, files)
	if all, err := m.ShardHeaders(t.Context(), index); all != nil || err != nil {
		t.Errorf("headers of an index that is not there: %v, %v", all, err)
	}
}

func TestHostileHeaders(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "null": "null", "list": "[]", "no headers": `{"index":{}}`, "text": `{"headers":"x"}`,
		"deep":       `{"headers":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `}`,
		"cut":        `{"headers":{"model-00001-of-00002.safetensors":{"a":`,
		"escape":     `{"headers":{"../../x.safetensors":{}}}`,
		"no objects": `{"headers":{"model-00001-of-00002.safetensors":1,"model-00002-of-00002.safetensors":[]}}`,
		"one":        `{"headers":{"model-00001-of-00002.safetensors":{}}}`,
	} {
		h := hubtest.Start(t)
		h.Add(hubtest.Repo{ID: "org/big", Files: hubtest.Sharded(2, 10)})
		h.Fail(hubtest.Fault{Path: "safetensors-metadata", Do: body200(body)})
		m := model(t, quick(h), "org/big", "")
		if all, err := m.ShardHeaders(t.Context(), index); all != nil || err != nil {
			t.Errorf("%s: %d headers, %v", name, len(all), err)
		}
	}
}

func TestNames(t *testing.T) {
	h := hubtest.Start(t)
	r := h.Add(hubtest.Repo{
		ID: "openai-community/gpt2", Aliases: []string{"gpt2", "org/old-name"}, Parameters: map[string]int64{"F32": 5, "I64": 2},
		Files: map[string]hubtest.File{"config.json": hubtest.Text("{}")}, Refs: map[string]string{"refs/pr/7": hubtest.Commit("pr"), "feature/x": hubtest.Commit("pr")},
	})
	r.Versions[hubtest.Commit("pr")] = map[string]hubtest.File{"config.json": hubtest.Text(`{"pr": 7}`)}
	for _, tt := range []struct{ repo, revision, commit, config string }{
		{"gpt2", "", r.Head, "{}"},
		{"org/old-name", "main", r.Head, "{}"},
		{"openai-community/gpt2", r.Head, r.Head, "{}"},
		{"gpt2", "refs/pr/7", hubtest.Commit("pr"), `{"pr": 7}`},
		{"openai-community/gpt2", "feature/x", hubtest.Commit("pr"), `{"pr": 7}`},
	} {
		m := model(t, quick(h), tt.repo, tt.revision)
		if info := m.Info(); info.Location != r.ID || info.Revision != tt.commit {
			t.Errorf("%s@%s is %+v", tt.repo, tt.revision, info)
		}
		if config, err := whole(t.Context(), m, "config.json"); err != nil || string(config) != tt.config {
			t.Errorf("%s@%s: config %q, %v", tt.repo, tt.revision, config, err)
		}
		if meta := m.Metadata(); meta.Total != 7 || meta.Parameters["F32"] != 5 || meta.Library != "transformers" {
			t.Errorf("metadata %+v", meta)
		}
	}
	if _, err := client(t, quick(h)).Model(t.Context(), "openai-community/gpt2", strings.Repeat("0", 40)); err == nil {
		t.Error("an unknown commit was found")
	}
}

func TestOddMetadata(t *testing.T) {
	commit := hubtest.Commit("x")
	for name, tt := range map[string]struct {
		body string
		ok   bool
	}{
		"odd fields": {`{"id":"org/name","sha":"` + commit + `","gated":[],"private":"no","tags":3,"safetensors":{"parameters":[],"total":"x"},"siblings":[{"rfilename":"../x"},{"rfilename":"config.json","size":1e99}]}`, false},
		"odd notes":  {`{"id":"org/name","sha":"` + commit + `","gated":[],"private":"no","tags":3,"safetensors":[],"siblings":[{"rfilename":"../x"},{"rfilename":"config.json","size":2}]}`, true},
		"no commit":  {`{"id":"org/name","siblings":[]}`, false},
		"no name":    {`{"sha":"` + commit + `"}`, false},
		"bad name":   {`{"id":"../../x","sha":"` + commit + `"}`, false},
		"list":       {`[]`, false}, "text": {`hello`, false}, "empty": {``, false},
	} {
		h := hubtest.Start(t)
		h.Fail(hubtest.Fault{Do: body200(tt.body)})
		m, err := client(t, quick(h)).Model(t.Context(), "org/name", "")
		var e *hub.Error
		switch {
		case tt.ok && err != nil, !tt.ok && !errors.As(err, &e):
			t.Errorf("%s: %v", name, err)
		case tt.ok:
			if files, _ := m.List(t.Context()); len(files) != 1 {
				t.Errorf("%s: %v", name, files)
			}
		case e.Kind != hub.NotTheHub:
			t.Errorf("%s: %v", name, err)
		}
	}
}
