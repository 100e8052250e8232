package hub

import (
	"slices"
	"strings"
)

// headState is what is known about main being at the pinned commit.
type headState int

const (
	headUnknown headState = iota
	headAgrees
	headMoved
)

// wantsHead reports whether a read should be used to look at main: there are
// shards whose headers might come in one answer.
func (m *Model) wantsHead() bool {
	if m.revision != mainBranch || m.client.opts.Headers != HeadersAuto || !m.sharded() {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head == headUnknown
}

func (m *Model) setHead(agrees bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !agrees:
		m.head = headMoved
	case m.head == headUnknown:
		m.head = headAgrees
	}
}

func (m *Model) headState() headState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head
}

func (m *Model) sharded() bool {
	for _, f := range m.meta.Files {
		if strings.Contains(f.Path, ".safetensors.index.") {
			return true
		}
	}
	return false
}

func (m *Model) link(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.links[name]
}

func (m *Model) setLink(name, link string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.links[name] = link
}

// remember keeps a whole file that the caller will ask for.
func (m *Model) remember(name string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole[name] = data
}

// remembered gives a range within a file that was read ahead.
func (m *Model) remembered(name string, offset, length int64) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.whole[name]
	if !ok || offset+length > int64(len(data)) {
		return nil, false
	}
	return slices.Clone(data[offset : offset+length]), true
}

// cached and keep reach the cache of this commit.
func (m *Model) cached(key string) ([]byte, bool) {
	return m.client.store.get(m.meta.ID, m.meta.Commit, key)
}

func (m *Model) keep(key string, data []byte) {
	m.client.store.put(m.meta.ID, m.meta.Commit, key, data)
}
