package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/hf-inspect/hf-inspect/source"
)

// maxSmall bounds the files that are read in one piece, and compressed where
// the Hub does that. Larger ones live in large-file storage.
const maxSmall = 16 << 20

// mostAhead bounds the room that is made for an answer before it comes.
const mostAhead = 4 << 20

// ReadRange reads a part of a file of the pinned commit. What was read before
// at this commit comes from the cache, and what the listing knows (a missing
// file, an offset at the end) needs no request.
func (m *Model) ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := errors.Join(source.CheckPath(name), source.CheckRange(name, offset, length), ctx.Err()); err != nil {
		return nil, err
	}
	f, ok := m.files[name]
	if !ok {
		return nil, m.client.fault(m.subject(name), EntryNotFound, "")
	}
	if f.Size >= 0 {
		length = min(length, f.Size-offset)
	}
	if length <= 0 {
		return nil, nil
	}
	if data, ok := m.remembered(name, offset, length); ok {
		return data, nil
	}
	key := fmt.Sprintf("range %s %d+%d", name, offset, length)
	if data, ok := m.cached(key); ok && (f.Size < 0 || int64(len(data)) == length) {
		return data, nil
	}
	data, err := m.read(ctx, f, offset, length)
	if err != nil {
		return nil, err
	}
	m.keep(key, data)
	return data, nil
}

func (m *Model) read(ctx context.Context, f FileInfo, offset, length int64) ([]byte, error) {
	if offset == 0 && length == f.Size && f.SHA256 == "" && length <= maxSmall {
		return m.readSmall(ctx, f)
	}
	p := &part{m: m, f: f, offset: offset, length: length}
	p.buf.Grow(int(min(length, mostAhead)) + bytes.MinRead) // headers stay in memory: no room that is not needed
	err := m.client.again(ctx, func() error { return p.step(ctx) })
	return p.buf.Bytes(), err
}

// readSmall reads a whole file. The first one is asked for by branch where
// the answer for all shard headers may be used later: its X-Repo-Commit tells
// whether main still is what was resolved, at no further cost.
func (m *Model) readSmall(ctx context.Context, f FileInfo) ([]byte, error) {
	if m.wantsHead() {
		data, agrees, err := m.fetchSmall(ctx, f, mainBranch)
		m.setHead(agrees && err == nil)
		if agrees && err == nil {
			return data, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
	}
	data, _, err := m.fetchSmall(ctx, f, m.meta.Commit)
	return data, err
}

// fetchSmall reads a whole file at a revision and reports whether the Hub said
// that it is of the pinned commit.
func (m *Model) fetchSmall(ctx context.Context, f FileInfo, revision string) (data []byte, agrees bool, err error) {
	q := query{url: m.fileURL(f.Path, revision), gzip: true, subject: m.subject(f.Path)}
	err = m.client.again(ctx, func() error {
		a, err := m.client.get(ctx, q)
		if err != nil {
			return final(err)
		}
		defer a.Close()
		if err := m.checkAnswer(a, f); err != nil {
			return final(err)
		}
		agrees = a.commit == m.meta.Commit
		if data, err = m.client.whole(a, q, f.Size); err == nil && int64(len(data)) < f.Size {
			err = m.client.fault(q.subject, Truncated, fmt.Sprintf("%d bytes of %d came", len(data), f.Size))
		}
		return err
	})
	return data, agrees, err
}

// checkAnswer refuses answers that are no part of the file which the first
// answer of the Hub spoke of.
func (m *Model) checkAnswer(a *answer, f FileInfo) error {
	what := m.subject(f.Path)
	switch a.StatusCode {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
	default:
		return m.client.refusal(a.Response, what)
	}
	if a.commit == "" && looksHTML(a.Header.Get("Content-Type"), nil) && !strings.HasSuffix(f.Path, ".html") {
		return m.client.fault(what, NotTheHub, "a web page in place of "+f.Path)
	}
	if why := m.changed(a, f); why != "" {
		return m.client.fault(what, Changed, why)
	}
	return nil
}

// changed compares what the Hub says about a file with what it said before.
func (m *Model) changed(a *answer, f FileInfo) string {
	if a.commit != "" && a.commit != m.meta.Commit {
		return "it is now of commit " + a.commit + ", while " + m.meta.Commit + " was resolved; run again"
	}
	if n, err := strconv.ParseInt(a.linkedSize, 10, 64); err == nil && f.Size >= 0 && n != f.Size {
		return fmt.Sprintf("it now has %d bytes, while the list of files says %d; run again", n, f.Size)
	}
	if f.SHA256 != "" && len(a.etag) == len(f.SHA256) && a.etag != f.SHA256 {
		return "its content is not the one in the list of files; run again"
	}
	if a.etag == "" {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, ok := m.etags[f.Path]; ok && before != a.etag {
		return "it changed between two requests; run again"
	}
	m.etags[f.Path] = a.etag
	return ""
}
