// Package hubtest is a fake Hugging Face Hub for tests: two servers, of which
// the first answers like the Hub and redirects to the second, a file server
// with signed links that expire. It can be told to fail in every way that a
// network does, and counts what it is asked for. Files may be as large as real
// ones, since only their headers exist.
package hubtest

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hub is the fake. Set its fields before the first request.
type Hub struct {
	Tokens map[string]Grant // by token; others are refused as invalid

	Latency    time.Duration // before each answer, of either host
	PageSize   int           // of file lists; 1000 where zero
	LinkLife   time.Duration // of signed links; a minute where zero
	NoCodes    bool          // errors without X-Error-Code, as older servers send them
	NoSizes    bool          // metadata without sizes, as some mirrors send them
	NoHeaders  bool          // no safetensors-metadata, as mirrors have it
	SmallHops  bool          // small files redirect to /api/resolve-cache, as on the real Hub
	Headerless bool          // no X-… headers on files

	hub, cdn *httptest.Server

	order    sync.Mutex // puts what a script sets before the answers that follow
	answers  int
	mu       sync.Mutex
	repos    map[string]*Repo
	faults   []*Fault
	requests []Request
	bytes    int64
	leaks    []string
}

// Grant is what an account may do.
type Grant struct {
	Repos []string // private and gated repositories it may read
}

// Request is a request that was answered.
type Request struct {
	Host          Host
	Path          string // as sent, with its query
	Range         string
	Authorization string
}

// Host is one of the two servers.
type Host string

// The servers.
const (
	OnHub Host = "hub"
	OnCDN Host = "cdn"
)

// New starts a fake Hub, which Close ends.
func New() *Hub {
	h := &Hub{Tokens: map[string]Grant{}, repos: map[string]*Repo{}, SmallHops: true}
	h.hub = httptest.NewServer(h.serve(OnHub, http.HandlerFunc(h.serveHub)))
	h.cdn = httptest.NewServer(h.serve(OnCDN, http.HandlerFunc(h.serveCDN)))
	return h
}

// Start starts a fake Hub that ends with the test.
func Start(t testing.TB) *Hub {
	t.Helper()
	h := New()
	t.Cleanup(h.Close)
	return h
}

// Close ends both servers, stalled answers included.
func (h *Hub) Close() {
	for _, s := range []*httptest.Server{h.hub, h.cdn} {
		s.CloseClientConnections()
		s.Close()
	}
}

// Endpoint is the Hub's address, for HF_ENDPOINT.
func (h *Hub) Endpoint() string { return h.hub.URL }

// CDN is the file server's address.
func (h *Hub) CDN() string { return h.cdn.URL }

// Env is an environment in which the official client and ours use this Hub and
// keep everything below dir, as KEY=value.
func (h *Hub) Env(dir string) []string {
	return []string{
		"HF_ENDPOINT=" + h.Endpoint(),
		"HOME=" + filepath.Join(dir, "home"),
		"HF_HOME=" + filepath.Join(dir, "hf"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"),
		"HF_INSPECT_CACHE=" + filepath.Join(dir, "hf-inspect"),
		"HF_TOKEN=", "HUGGING_FACE_HUB_TOKEN=", "HF_TOKEN_PATH=", "HF_HUB_CACHE=", "HUGGINGFACE_HUB_CACHE=",
		"HF_HUB_OFFLINE=", "TRANSFORMERS_OFFLINE=", "HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=*",
	}
}

// Getenv is Env as a function, with more set on top of it.
func (h *Hub) Getenv(dir string, more ...string) func(string) string {
	env := map[string]string{}
	for _, pair := range append(h.Env(dir), more...) {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	return func(key string) string { return env[key] }
}

// Add puts a repository on the Hub and returns it. Its main may be moved later
// by Push.
func (h *Hub) Add(r Repo) *Repo {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Head == "" {
		r.Head = Commit(r.ID)
	}
	if r.Versions == nil {
		r.Versions = map[string]map[string]File{}
	}
	if r.Files != nil {
		r.Versions[r.Head] = r.Files
	}
	h.repos[r.ID] = &r
	return &r
}

// Push moves main of a repository to a new commit with these files.
func (h *Hub) Push(id, commit string, files map[string]File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.repos[id]
	r.Head = commit
	r.Versions[commit] = files
}

// Requests returns what was asked for since the start or the last Reset.
func (h *Hub) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request(nil), h.requests...)
}

// Count returns the requests to each host and the bytes of all bodies.
func (h *Hub) Count() (hub, cdn int, bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.requests {
		if r.Host == OnHub {
			hub++
		} else {
			cdn++
		}
	}
	return hub, cdn, h.bytes
}

// Leaks returns the requests to the file server that carried a token or the
// address of the one before.
func (h *Hub) Leaks() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.leaks...)
}

// Reset forgets what was counted.
func (h *Hub) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests, h.bytes, h.leaks = nil, 0, nil
}
